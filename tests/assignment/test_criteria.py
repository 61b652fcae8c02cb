"""Which criteria can be used, and how they are written in bounded attempts."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sero.assignment.asking import Floor
from sero.assignment.criteria import (
    criteria_faults,
    criteria_from_reply,
    criteria_lines,
    default_criteria,
    is_vague,
    oriented,
)
from sero.assignment.roster import Candidate, Criterion, DebateRole
from sero.assignment.schemas import CRITERIA_SCHEMA, REVISION_SCHEMA, review_schema
from sero.assignment.writing import Pen, Source, revise_role, write_criteria
from sero.backbones.scripted import ScriptedBackbone
from sero.roles.load import first_json_object


def rows(*names):
    return [
        {"name": name, "description": f"Look for sign {n}.", "lower_is_better": False}
        for n, name in enumerate(names)
    ]


def reply(*names):
    return json.dumps({"criteria": rows(*names)})


GOOD = ("Cites a line", "Names the fix", "Length")


@pytest.mark.parametrize(
    ("name", "vague"),
    [
        ("Overall quality", True),
        ("quality of the response", True),
        ("Suitability for the role", True),
        ("General performance score", True),
        ("Effectiveness", True),
        ("The", True),
        ("", True),
        ("Code quality", False),
        ("Correctness", False),
        ("Coverage of edge cases", False),
        ("Overall cost", False),
    ],
)
def test_a_name_is_vague_when_it_could_stand_for_any_role(name, vague):
    assert is_vague(name) is vague


@pytest.mark.parametrize(
    ("names", "faults"),
    [
        (GOOD, []),
        ((*GOOD, "Evidence", "Order"), []),
        (GOOD[:2], ["criteria: 2 of them; from 3 to 5 are wanted"]),
        ((), ["criteria: 0 of them; from 3 to 5 are wanted"]),
        ((*GOOD, "x", "y", "z"), ["criteria: 6 of them; from 3 to 5 are wanted"]),
        (
            (*GOOD[:2], "Overall quality"),
            ["criteria: 'Overall quality' is vague; name one thing to look for"],
        ),
        (
            ("Quality", "Evidence", "Quality"),
            [
                "criteria: 'Quality' is vague; name one thing to look for",
                "criteria: 2 of them are called 'quality'",
            ],
        ),
        ((*GOOD, "cites  a LINE!"), ["criteria: 2 of them are called 'cites a line'"]),
    ],
)
def test_what_criteria_must_be(names, faults):
    found, reasons = criteria_from_reply({"criteria": rows(*names)})
    assert list(reasons) == faults
    assert [one.name for one in found] == [" ".join(name.split()) for name in names]


def test_equal_descriptions_are_one_criterion_twice():
    same = [Criterion(name=name, description="Look here.") for name in GOOD]
    assert criteria_faults(same) == ["criteria: 3 of them say 'look here'"]


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        (None, "reply: no JSON object in it"),
        ({}, "criteria: missing; a list of criteria is wanted"),
        ({"criteria": "x"}, "criteria: missing; a list of criteria is wanted"),
        ({"criteria": [1, 2, 3]}, "criteria[1]: a name (at most 64 characters) and a sentence"),
        ({"criteria": [{"name": "x" * 65, "description": "y"}] * 3}, "criteria[1]: a name"),
        ({"criteria": [{"name": "x", "description": " \n"}] * 3}, "criteria[1]: a name"),
        (
            {"criteria": [{"name": "x", "description": "y", "lower_is_better": "no"}] * 3},
            "criteria[1].lower_is_better: true or false is wanted",
        ),
        ({"criteria": rows(*map(str, range(5000)))}, "criteria: 5000 of them; from 3 to 5"),
    ],
)
def test_a_reply_that_cannot_be_used_says_why(raw, fault):
    assert any(reason.startswith(fault) for reason in criteria_from_reply(raw)[1])


def test_texts_of_a_model_are_put_on_one_line():
    raw = {"criteria": rows(*GOOD[:2], "A\n### The task\x00 B")}
    found, faults = criteria_from_reply(raw)
    assert faults == ()
    assert found[2].name == "A ### The task B"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner),
    max_leaves=20,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.sampled_from(["criteria", "x"]), json_values))
def test_no_reply_is_a_crash(raw):
    found, faults = criteria_from_reply(raw)
    assert faults or 3 <= len(found) <= 5


def test_lists_and_scores_that_are_turned():
    plain = Criterion(name="Evidence", description="Numbers stand behind claims.")
    turned = Criterion(name="Length", description="How long it is.", lower_is_better=True)
    assert criteria_lines([plain, turned]) == [
        "c1 = Evidence (Numbers stand behind claims)",
        "c2 = Length (How long it is; lower is better)",
    ]
    assert [oriented(value, turned) for value in (1, 2.5, 5)] == [5, 3.5, 1]
    assert oriented(2, plain) == 2


def test_the_default_criteria_can_be_used():
    assert criteria_faults(default_criteria()) == []


@pytest.mark.parametrize("schema", [CRITERIA_SCHEMA, REVISION_SCHEMA, review_schema(3, 5)])
def test_schemas_are_closed_and_require_everything(schema):
    """What strict servers demand of every object in a schema."""

    def check(node):
        if isinstance(node, dict):
            if node.get("type") == "object":
                assert node["additionalProperties"] is False
                assert node["required"] == list(node["properties"])
            for value in node.values():
                check(value)

    tree = json.loads(schema.text)
    assert tree["type"] == "object"
    check(tree)


def test_the_schema_of_a_review():
    tree = json.loads(review_schema(2, 3).text)
    assert list(tree["properties"]) == ["proposal_1", "proposal_2"]
    entry = tree["properties"]["proposal_2"]
    assert entry["properties"]["c3"] == {"type": "integer", "enum": [1, 2, 3, 4, 5]}
    assert list(entry["properties"]) == ["c1", "c2", "c3"]


class TestWriting:
    ROLE = DebateRole(name="Reviewer", description="Finds faults in a patch.")

    def pen(self, call, seat, replies, attempts=3):
        said = iter(replies)
        backbone = ScriptedBackbone(lambda _: next(said))
        author = Candidate(name="judge", prompt="You are strict.", temperature=0.3)
        floor = Floor(panel={seat: backbone}, call=call)
        return backbone, Pen(author=author, floor=floor, attempts=attempts, max_tokens=77)

    async def test_the_first_usable_reply_is_taken(self, call, seat):
        backbone, pen = self.pen(call, seat, [reply(*GOOD)])
        found = await write_criteria("Fix it.", self.ROLE, pen)
        assert (found.source, found.refused) == (Source.GENERATED, ())
        assert [one.name for one in found.chosen] == list(GOOD)
        (request,) = backbone.requests
        assert request.messages[0].content == "You are strict."
        assert (request.temperature, request.max_tokens, request.role) == (0.3, 77, "judge")
        assert request.schema == CRITERIA_SCHEMA
        assert [m.kind for m in found.messages] == ["criteria"]

    @pytest.mark.parametrize(
        "bad", [reply(*GOOD[:2]), reply(*GOOD, "1", "2", "3"), reply(*GOOD[:2], "Overall quality")]
    )
    async def test_few_many_and_vague_ones_are_written_again_with_the_reasons(
        self, call, seat, bad
    ):
        backbone, pen = self.pen(call, seat, [bad, "no json", f"Sure: {reply(*GOOD)}"])
        found = await write_criteria("Fix it.", self.ROLE, pen)
        assert [one.name for one in found.chosen] == list(GOOD)
        first, second, third = (request.messages[-1].content for request in backbone.requests)
        (reason,) = found.refused[0]
        assert found.refused[1] == ("reply: no JSON object in it",)
        assert second == f"{first}\n\n### Your previous reply was refused\n- {reason}"
        assert third.endswith("refused\n- reply: no JSON object in it")
        assert len({request.sample_index for request in backbone.requests}) == 3
        assert [m.round for m in found.messages] == [1, 2, 3]

    async def test_after_the_last_attempt_the_default_ones_stand_in(self, call, seat):
        backbone, pen = self.pen(call, seat, ["", "{", "[]"])
        found = await write_criteria("Fix it.", self.ROLE, pen)
        assert (found.source, found.chosen) == (Source.DEFAULT, default_criteria())
        assert len(found.refused) == len(backbone.requests) == 3

    async def test_given_criteria_take_no_call(self, call, seat):
        backbone, pen = self.pen(call, seat, [])
        given = default_criteria()
        role = DebateRole(name="x", description="y", criteria=given)
        found = await write_criteria("Fix it.", role, pen)
        assert (found.source, found.chosen, backbone.requests) == (Source.GIVEN, given, [])

    async def test_a_role_is_described_anew(self, call, seat):
        bad = json.dumps({"criteria": rows(*GOOD)})
        good = json.dumps({"description": "Finds\nfaults by line.", "criteria": rows(*GOOD)})
        backbone, pen = self.pen(call, seat, [bad, good])
        written = await revise_role("Fix it.", self.ROLE, default_criteria(), 2.25, pen)
        assert written.found is not None
        assert written.found.description == "Finds faults by line."
        assert [one.name for one in written.found.criteria] == list(GOOD)
        assert written.refused == (
            ("description: a paragraph of at most 1200 characters is wanted",),
        )
        assert backbone.requests[0].schema == REVISION_SCHEMA
        assert "scored 2.25 on a scale" in backbone.requests[0].messages[-1].content

    async def test_a_role_that_cannot_be_described_anew(self, call, seat):
        _, pen = self.pen(call, seat, ["x"], attempts=1)
        written = await revise_role("Fix it.", self.ROLE, default_criteria(), 2.0, pen)
        assert (written.found, len(written.messages)) == (None, 1)


def test_think_text_and_fences_around_a_reply_do_no_harm():
    raw = first_json_object(f"Here you are:\n```json\n{reply(*GOOD)}\n```")
    assert criteria_from_reply(raw)[1] == ()
