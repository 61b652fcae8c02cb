"""The exact chats, pinned by golden files; and how a chat that is too long is cut."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sero.backbones.scripted import ScriptedBackbone
from sero.benchmarks.base import Task
from sero.credit import PoolState
from sero.evolution.editor import Situation, add_prompt
from sero.evolution.reasons import Code, Reason
from sero.inference.layout import TRIMMED, Upstream, fill, role_chat, system_message, template
from sero.inference.operator import answer
from sero.roles.card import RoleCard, RoleType
from sero.roles.pool import RolePool

TASK = "Plan a trip of 5 days.\nCities: {Oslo}, Rome.\n\nFormat: one line."


def card(name, role_type, family, *lines, protocol="One line.", **changes):
    return RoleCard(
        name=name,
        role_type=RoleType(role_type),
        capability_family=family,
        communication_protocol=protocol,
        system_prompt=lines,
        **changes,
    )


READER = card("Reader", "router", "task-parsing", "You read the task.", "List what it asks.")
ROUTE = card("Route planner", "specialist", "trip-routing", "You order {cities}.")
STAYS = card("Day counter", "specialist", "trip-days", "You count days.", temperature=0.5)
CHECK = card("Checker", "validator", "validation", "You check.", protocol="A verdict.\nReasons.")
SCRIBE = card("Scribe", "aggregator", "final-answer", "You answer.", protected=True)
POOL = RolePool((READER, ROUTE, STAYS, CHECK, SCRIBE))


def shown(messages):
    """A chat as a golden file holds it; the last line's end is the file's own."""
    return "".join(f"<<{m.role}>>\n{m.content}\n" for m in messages)


class TestGolden:
    """One rollout of a pool: reader to planner and counter, a check, and a second answer."""

    @pytest.fixture
    async def asked(self, parts, config, call):
        replies = {
            "Reader": "Five days in two cities.\n",
            "Route planner": "Oslo, then Rome {name}.",
            "Day counter": "2 + 3 days.",
            "Checker": "VERDICT: revise\nThe days do not add up.",
            "Scribe": "Oslo 2, Rome 4",
        }
        backbone = ScriptedBackbone(lambda request: replies[request.role])
        cfg = config(
            dag={"rule": "cross_stage"},
            repair={"always": True},
            retrieval={"val_slots": 0},
        )
        await answer(TASK, PoolState(POOL), parts(backbone), cfg, call=call)
        return backbone.requests

    @pytest.mark.parametrize(
        ("number", "role", "file"),
        [
            (0, "Reader", "layout_role_alone.txt"),
            (6, "Scribe", "layout_aggregator.txt"),
            (7, "Checker", "layout_validator.txt"),
            (8, "Scribe", "layout_revise.txt"),
        ],
    )
    async def test_calls_of_a_rollout(self, asked, golden, number, role, file):
        # three drafts, three messages, the aggregator, the validator, the second answer
        assert len(asked) == 9
        assert asked[number].role == role
        assert shown(asked[number].messages) == golden(file)

    def test_a_role_with_two_predecessors(self, golden):
        upstream = [
            Upstream("Reader", "task-parsing", "Five days in two cities.\n"),
            Upstream("Day counter", "trip-days", "2 + 3 days."),
        ]
        chat = role_chat(ROUTE, TASK, upstream, max_chars=None)
        assert shown(chat.messages) == golden("layout_two_predecessors.txt")
        assert chat.trimmed == 0

    def test_a_second_round_ends_with_the_own_message(self, golden):
        upstream = [Upstream("Reader", "task-parsing", "Five days.")]
        chat = role_chat(ROUTE, TASK, upstream, own="Oslo, Rome.", max_chars=None)
        assert shown(chat.messages) == golden("layout_second_round.txt")

    def test_a_trimmed_message(self, golden):
        upstream = [
            Upstream("Reader", "task-parsing", "What the task asks: " + "x" * 100),
            Upstream("Day counter", "trip-days", "2 + 3 days."),
        ]
        whole = sum(
            len(m.content) for m in role_chat(ROUTE, TASK, upstream, max_chars=None).messages
        )
        chat = role_chat(ROUTE, TASK, upstream, max_chars=whole - 71)
        assert shown(chat.messages) == golden("layout_trimmed.txt")

    @pytest.mark.parametrize(
        ("refused", "file"),
        [
            ((), "add_role_prompt.txt"),
            (
                (
                    Reason(Code.LEAK, "taken from the task: Oslo"),
                    Reason(Code.DUPLICATE_NAME, "the pool already has 'Reader'"),
                ),
                "add_role_retry.txt",
            ),
        ],
    )
    def test_add_role(self, golden, refused, file):
        task = Task(id="t", group="trip", prompt=TASK + " " * 10 + "cut", reference={})
        situation = Situation(
            pool=POOL,
            seed_families=("task-parsing", "trip-routing", "trip-flights"),
            anchor=dataclasses.replace(ROUTE, capability_tags=("cities", "order")),
            failures=("trip: no plan found", "trip: 4 days of 5"),
            removed=("Old planner",),
        )
        user = add_prompt(task, situation, refused, len(TASK))
        text = f"<<system>>\n{template('add_role', 'system')}\n<<user>>\n{user}\n"
        assert text == golden(file)

    def test_add_role_with_nothing_to_tell(self):
        task = Task(id="t", group="trip", prompt=TASK, reference={})
        situation = Situation(
            pool=RolePool((SCRIBE,)), seed_families=(), anchor=None, failures=(), removed=()
        )
        text = add_prompt(task, situation, (), 800)
        assert "missing: none\n\n### Recent failures\nnone\n\n### Recently removed\nnone\n" in text
        assert "name: none\ntags: none\nprotocol: none\n" in text


class TestFill:
    def test_fields_are_filled_once(self):
        assert fill("{a} and {b}", {"a": "{b}", "b": "{a}"}) == "{b} and {a}"

    def test_what_is_no_field_stays(self):
        assert fill("{a} {x} { a } {{a}} {}", {"a": "1"}) == "1 {x} { a } {1} {}"

    def test_text_is_no_template_nor_a_pattern(self):
        assert fill("{a}", {"a": r"\1 \g<0> {task}"}) == r"\1 \g<0> {task}"


def test_nothing_but_name_prompt_and_protocol_of_a_card_is_said():
    rich = dataclasses.replace(
        ROUTE, capability_tags=("secret",), temperature=0.7, parent="Reader", created_at=17
    )
    assert system_message(rich) == system_message(ROUTE)
    assert system_message(ROUTE).content == (
        "You are Route planner.\n\nYou order {cities}.\n\nFormat of your reply:\nOne line."
    )


def test_a_bare_prompt_is_verbatim_and_counts_as_long_as_it_is():
    rich = dataclasses.replace(ROUTE, system_prompt=("You order {cities}.", "", "Then go.\n"))
    upstream = [Upstream("r", "f", "a" * 100)]
    chat = role_chat(rich, TASK, upstream, bare=True, max_chars=None)
    assert chat.messages[0].content == "You order {cities}.\n\nThen go.\n"
    size = sum(len(m.content) for m in chat.messages)
    assert role_chat(rich, TASK, upstream, bare=True, max_chars=size) == chat
    assert role_chat(rich, TASK, upstream, bare=True, max_chars=size - 1).trimmed == 1


class TestTrimming:
    """Messages of 100 letters that the note for what was cut, of 28 characters, does not have."""

    UPSTREAM = tuple(Upstream(f"r{i}", "f", letter * 100) for i, letter in enumerate("qyz"))

    def chat(self, over, upstream=UPSTREAM, **changes):
        """The chat when the whole one is `over` characters longer than it may be."""
        whole = role_chat(ROUTE, TASK, upstream, max_chars=None, **changes)
        self.whole = sum(len(m.content) for m in whole.messages)
        return role_chat(ROUTE, TASK, upstream, max_chars=self.whole - over, **changes)

    def lengths(self, chat):
        blocks = chat.messages[1].content.split("### Message from ")[1:]
        return [
            block.split("\n")[1].count(letter) for block, letter in zip(blocks, "qyz", strict=True)
        ]

    @pytest.mark.parametrize(
        ("over", "lengths", "trimmed"),
        [
            (0, [100, 100, 100], 0),
            (-5, [100, 100, 100], 0),
            # the oldest gives way: 100 - 1 - 28 for the note - 1 for its line = 70 letters
            (1, [70, 100, 100], 1),
            (70, [1, 100, 100], 1),
            # the note alone takes 28 of 100: 72 saved; for one more the next is cut
            (71, [0, 100, 100], 1),
            (72, [0, 100, 100], 1),
            (73, [0, 70, 100], 2),
            (144, [0, 0, 100], 2),
            (145, [0, 0, 70], 3),
            (216, [0, 0, 0], 3),
            (10_000, [0, 0, 0], 3),
        ],
    )
    def test_the_oldest_first_and_counted(self, over, lengths, trimmed):
        assert len(TRIMMED) == 28
        chat = self.chat(over)
        assert self.lengths(chat) == lengths
        assert chat.trimmed == trimmed
        assert chat.messages[1].content.count(TRIMMED) == trimmed
        if over <= 216:
            assert sum(len(m.content) for m in chat.messages) <= self.whole - over

    def test_the_card_the_task_the_own_message_and_the_suffix_are_never_cut(self):
        chat = self.chat(10**6, own="my own words", suffix="\n\nthe draft")
        system, user = chat.messages
        assert system == system_message(ROUTE)
        assert user.content.startswith(TASK)
        assert user.content.endswith("my own words\n\nthe draft")
        assert user.content.count("### Message from") == 3  # who spoke is still told

    def test_a_message_shorter_than_the_note_is_left(self):
        short = (Upstream("r0", "f", "a" * 28), Upstream("r1", "f", "b" * 29))
        chat = self.chat(10, short)
        assert "a" * 28 in chat.messages[1].content
        assert "b" * 29 not in chat.messages[1].content
        assert chat.trimmed == 1

    @given(
        texts=st.lists(st.text("ab\n{}", max_size=80), max_size=5),
        max_chars=st.integers(0, 600),
        own=st.none() | st.text("o", max_size=30),
    )
    def test_properties(self, texts, max_chars, own):
        upstream = [Upstream(f"r{i}", "f", text) for i, text in enumerate(texts)]
        whole = role_chat(ROUTE, TASK, upstream, own=own, max_chars=None)
        chat = role_chat(ROUTE, TASK, upstream, own=own, max_chars=max_chars)
        size, most = (sum(len(m.content) for m in c.messages) for c in (chat, whole))
        assert size <= most
        assert (chat.trimmed == 0) is (chat == whole)
        # too long only when everything that can be cut was cut
        cuttable = sum(len(text) > len(TRIMMED) for text in texts)
        assert size <= max_chars or chat.trimmed == cuttable
