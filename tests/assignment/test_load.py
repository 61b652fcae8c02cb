"""Rosters and score tables from files: what they become, and every fault at once."""

import numpy as np
import pytest
import yaml

from sero.assignment.checks import generic_reason, roster_faults, roster_warnings
from sero.assignment.load import load_roster, load_scores, roster_from_data
from sero.assignment.roster import Candidate, DebateRole, Seat
from sero.errors import RosterError

ADVOCATE = (
    "Argues for the proposed architecture: states its strengths with evidence from the "
    "requirements, answers objections, and succeeds when each claim rests on a number."
)


def raw(**changes):
    data = {
        "roles": [{"name": "advocate", "description": ADVOCATE}],
        "candidates": [
            {"name": "A"},
            {"name": "B", "backbone": "gpt_4o_mini", "prompt": "Be brief.", "temperature": 0.5},
        ],
    }
    return {**data, **changes}


def faults(data):
    with pytest.raises(RosterError) as error:
        roster_from_data(data, where="roster.yaml")
    return list(error.value.faults)


def test_a_roster_is_read(tmp_path):
    tools = {"search": {"index": "wiki"}}
    options = {"tools": [{"type": "function"}], "top_p": 0.9}
    data = raw(task="Which one?", evaluators=["B", {"name": "judge", "backbone": "qwen3_32b"}])
    data["candidates"][0] |= {"tools": tools, "request": options}
    (tmp_path / "r.yaml").write_text(yaml.safe_dump(data))
    found = load_roster(tmp_path / "r.yaml")
    a, b = found.roster.candidates
    assert found.task == "Which one?"
    assert (a.tools, a.request, a.temperature, a.prompt) == (tools, options, 0.0, "")
    assert a.seat == Seat(None, '{"tools":[{"type":"function"}],"top_p":0.9}')
    assert b == Candidate(name="B", backbone="gpt_4o_mini", prompt="Be brief.", temperature=0.5)
    assert found.roster.evaluators == (b, Candidate(name="judge", backbone="qwen3_32b"))
    assert found.roster.own == (1, None)
    assert found.roster.seats == (a.seat, Seat("gpt_4o_mini"), Seat("qwen3_32b"))


def test_the_candidates_judge_unless_others_are_named():
    found = roster_from_data(raw(), where="x").roster
    assert found.evaluators == found.candidates
    assert found.own == (0, 1)


def test_every_fault_at_once():
    data = raw(evaluators=["a", {"name": "judge", "temprature": 1}], roels=[])
    data["roles"] = [
        {"name": "critic", "descripton": "x"},
        {
            "name": "judge",
            "description": "Weighs.",
            "criteria": [{"name": "Cost", "lower_is_beter": 1}],
        },
        7,
    ]
    data["candidates"] = [
        {"name": "A", "temperature": 3},
        {"name": "B", "request": {"messages": [], "seed": 1}},
        {"name": "C", "tools": {"x": {1, 2}}},
    ]
    assert faults(data) == [
        "roels: unknown field; did you mean 'roles'?",
        "roles.critic.description: missing",
        "roles.critic.descripton: unknown field; did you mean 'description'?",
        "roles.judge.criteria.Cost.description: missing",
        "roles.judge.criteria.Cost.lower_is_beter: unknown field; did you mean 'lower_is_better'?",
        "roles[2]: got int; a record with a name is expected",
        "candidates.A.temperature: got 3. Input should be less than or equal to 1",
        "candidates.B.request: messages, seed are set by Sero and cannot be set",
        "candidates.C.tools: holds something that JSON has no form for",
        "evaluators[0]: got 'a'; no candidate has this name",
        "evaluators.judge.temprature: unknown field; did you mean 'temperature'?",
    ]


def test_a_misspelt_evaluator_gets_a_hint():
    data = raw(candidates=[{"name": "solver"}, {"name": "critic"}], evaluators=["solvr", "critic"])
    assert faults(data) == [
        "evaluators[0]: got 'solvr'; no candidate has this name; did you mean 'solver'?"
    ]


@pytest.mark.parametrize("data", [None, [], "x", 3, {}])
def test_what_is_no_roster(data):
    assert any("roles" in fault for fault in faults(data))


def test_names_are_unique_and_evaluators_enough():
    twice = [{"name": "A"}, {"name": "A"}]
    assert faults(raw(candidates=twice)) == [
        "candidates: 2 of them are called 'A'",
        "evaluators: 2 of them are called 'A'",
    ]
    assert faults(raw(evaluators=["A"])) == [
        "evaluators: 1; at least 2 are needed, so that no single opinion decides"
    ]
    one = roster_from_data(raw(candidates=[{"name": "A"}]), where="x").roster
    assert len(one.evaluators) == 1  # a single candidate is not judged


def test_an_evaluator_under_a_candidates_name_is_that_candidate():
    other = [{"name": "A", "prompt": "Another."}, "B"]
    (fault,) = faults(raw(evaluators=other))
    assert fault.startswith("evaluators: 'A' is a candidate's name and says something else")


def test_criteria_that_people_give_are_checked_too():
    rows = [{"name": "Overall quality", "description": "How good it is."}]
    data = raw(roles=[{"name": "advocate", "description": ADVOCATE, "criteria": rows}])
    assert faults(data) == [
        "advocate.criteria: 1 of them; from 3 to 5 are wanted",
        "advocate.criteria: 'Overall quality' is vague; name one thing to look for",
    ]


def test_a_roster_made_in_code_is_checked_by_the_same_function(make_roster):
    assert roster_faults(make_roster(2, 3)) == []
    assert roster_faults(make_roster(0, 0)) == [
        "roles: none; at least one is needed",
        "candidates: none; at least one is needed",
    ]


@pytest.mark.parametrize(
    ("name", "description", "generic"),
    [
        ("Solver", "You are a helpful assistant.", True),
        ("Solver", "An expert who answers the question as well as possible.", True),
        ("Critic", "Criticises the proposed solution and gives feedback.", True),
        # seven words of its own: states, strengths, evidence, objections, claim, number, example
        ("Advocate", "States strengths with evidence, objections, claim, number, example.", True),
        (
            "Advocate",
            "States strengths, evidence, objections, claim, number, example, cost.",
            False,
        ),
        ("Advocate", ADVOCATE, False),
        # the role's own name does not count
        ("evidence cost", "States strengths, evidence, objections, claim, number, cost.", True),
    ],
)
def test_a_generic_description_is_one_with_fewer_than_eight_words_of_its_own(
    name, description, generic
):
    reason = generic_reason(DebateRole(name=name, description=description))
    assert (reason is not None) is generic


def test_what_is_odd_is_warned_about():
    data = raw(candidates=[{"name": "A"}, {"name": "B"}])
    data["roles"].append({"name": "helper", "description": "Helps."})
    lines = roster_warnings(roster_from_data(data, where="x").roster)
    assert [line.partition(":")[0] for line in lines] == [
        "role 'helper'",
        "candidates 'A' and 'B' send the same requests, so their proposals are equal",
    ]


class TestScores:
    def test_rows_alone_beside_a_roster(self, tmp_path, make_roster):
        (tmp_path / "m.yaml").write_text("[[4.3, 3.6], [null, 5]]")
        found = load_scores(tmp_path / "m.yaml", make_roster(2, 2))
        assert (found.roles, found.candidates) == (("r0", "r1"), ("A", "B"))
        assert found.scores.shape == (2, 2, 1)
        assert found.scores[0, 0, 0] == 4.3
        assert np.isnan(found.scores[1, 0, 0])

    def test_a_table_with_names_and_evaluators(self, tmp_path):
        text = "roles: [x]\ncandidates: [p, q]\nscores: [[[1, 2], [3, null]]]\n"
        (tmp_path / "m.yaml").write_text(text)
        found = load_scores(tmp_path / "m.yaml")
        assert found.scores.shape == (1, 2, 2)
        assert found.scores[0, 1, 0] == 3

    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            ("[[1, 2]]", "scores: a list of 2 rows is expected, one per role"),
            ("[[1, 2], [3]]", "scores.r1: 2 entries expected, one per candidate"),
            ("[[1, 2], [3, 6]]", "scores.r1.B: got [6]; numbers from 1 to 5 are expected, or null"),
            ("[[1, 2], [3, true]]", "scores.r1.B: got [True]; numbers from 1 to 5"),
            ("[[1, 2], [3, [4, 4]]]", "scores: every entry needs the same number"),
            ("{scors: [], scores: [[1, 2], [3, 4]]}", "scors: unknown field; did you mean"),
            ("{roles: [a, b], scores: [[1, 2], [3, 4]]}", "roles: got a, b; the roster has r0, r1"),
            ("3", "scores: a list of 2 rows"),
        ],
    )
    def test_faults(self, tmp_path, make_roster, text, fault):
        (tmp_path / "m.yaml").write_text(text)
        with pytest.raises(RosterError) as error:
            load_scores(tmp_path / "m.yaml", make_roster(2, 2))
        assert error.value.faults[0].startswith(fault)

    def test_a_missing_file(self, tmp_path):
        with pytest.raises(RosterError, match="no such file"):
            load_scores(tmp_path / "m.yaml")
