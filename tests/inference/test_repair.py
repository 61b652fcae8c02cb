"""The terminal answer, and at most one repair of it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sero.backbones.scripted import ScriptedBackbone
from sero.credit import CreditState, PoolState, RoleCredit
from sero.inference.layout import Upstream
from sero.inference.repair import (
    Draft,
    Repair,
    aggregate,
    choose_validator,
    needs_repair,
    read_verdict,
    repair,
)
from sero.inference.retrieval import Team
from sero.inference.trace import CallKind

UPSTREAM = (Upstream("s1", "f", "first"), Upstream("s2", "g", "second"), Upstream("v1", "h", " \n"))


def replies(*texts):
    """Says these in turn."""
    left = list(texts)
    return ScriptedBackbone(lambda request: left.pop(0))


class TestAggregate:
    @pytest.mark.parametrize(
        ("said", "upstream", "text", "empty"),
        [
            ("ANSWER 4", UPSTREAM, "ANSWER 4", False),
            ("", UPSTREAM, "second", True),  # the last that is not empty
            (" \n\t", UPSTREAM, "second", True),
            ("", (), "", True),
            ("", UPSTREAM[2:], "", True),
        ],
    )
    async def test_an_empty_answer_falls_back(self, card, parts, call, said, upstream, text, empty):
        draft = await aggregate(
            "TASK", card("a1", "aggregator"), upstream, parts(replies(said)), call=call
        )
        assert (draft.text, draft.empty) == (text, empty)
        assert (draft.message.text, draft.message.kind) == (said, CallKind.AGGREGATE)


class TestChooseValidator:
    @pytest.fixture
    def choose(self, section):
        def run(state, inside, **changes):
            members = tuple(card for card in state.pool if card.name in inside)
            team = Team(members=members, aggregator=state.pool.terminal, similarity={})
            chosen = choose_validator(state, team, section("repair", **changes), section("credit"))
            return chosen.name if chosen else None

        return run

    @pytest.mark.parametrize(
        ("inside", "ema", "chosen"),
        [
            ({"s1", "v1"}, {"v2": 0.1, "v3": 0.2}, "v3"),  # the best that is not in A_t
            ({"s1", "v1"}, {"v1": 0.9, "v2": -0.1, "v3": -0.2}, "v2"),
            ({"s1"}, {}, "v1"),  # ties by index
            ({"s1"}, {"v2": 0.1}, "v2"),
            ({"v1", "v2", "v3"}, {"v2": 0.1}, "v2"),  # all inside: the best of them
        ],
    )
    def test_who(self, choose, state_of, inside, ema, chosen):
        assert choose(state_of("s1", "v1", "v2", "v3", "a1", ema=ema), inside) == chosen

    def test_a_single_one_serves_in_both_places(self, choose, state_of):
        assert choose(state_of("s1", "v1", "a1"), {"s1", "v1"}) == "v1"

    def test_nobody(self, choose, state_of):
        assert choose(state_of("s1", "a1"), {"s1"}) is None
        assert choose(state_of("s1", "v1", "a1"), {"s1"}, enabled=False) is None

    def test_credit_is_read_as_the_rest_of_the_method_reads_it(self, section, pool_of):
        credit = CreditState().updated(
            {"v1": RoleCredit(ema=0.1, n_updates=9), "v2": RoleCredit(ema=0.05, n_updates=1)}
        )
        state = PoolState(pool_of("v1", "v2", "a1"), credit)
        team = Team(members=(), aggregator=state.pool.terminal, similarity={})
        # corrected: .1 / (1 - .9^9) = .163 against .05 / .1 = .5
        for corrected, chosen in ((False, "v1"), (True, "v2")):
            cfg = section("credit", bias_correction=corrected)
            assert choose_validator(state, team, section("repair"), cfg).name == chosen


class TestTriggers:
    @pytest.mark.parametrize(
        ("text", "empty", "always", "needed"),
        [
            ("ANSWER 4", False, False, False),
            ("ANSWER 4", False, True, True),
            ("four", False, False, True),  # fails the format check
            ("ANSWER 4", True, False, True),  # a message stands in for an empty answer
            ("", True, False, True),
        ],
    )
    def test_when(self, parts, section, message, text, empty, always, needed):
        draft = Draft(message=message("a1", text), text=text, empty=empty)
        parse = parts(replies()).parse
        assert needs_repair("TASK", draft, parse, section("repair", always=always)) is needed


class TestVerdict:
    @pytest.mark.parametrize(
        ("report", "verdict"),
        [
            ("VERDICT: ok", "ok"),
            ("VERDICT: revise", "revise"),
            ("VERDICT: revise\nThe sum is wrong.", "revise"),
            ("\n\n  VERDICT: ok", "ok"),
            ("verdict: Revise", "revise"),
            ("VERDICT:ok", "ok"),
            ("VERDICT : ok", "ok"),
            ("**VERDICT:** revise", "revise"),
            ("**VERDICT: revise**", "revise"),
            ("`VERDICT: ok`", "ok"),
            ("# VERDICT: ok", "ok"),
            ("> VERDICT: ok", "ok"),
            ("VERDICT: ok.", "ok"),
            ("VERDICT: revise, for the sum is wrong", "revise"),
            ("VERDICT: ok\r\nfine", "ok"),
            ("VERDICT: ok\nVERDICT: revise", "ok"),  # the first line counts
            # no verdict
            ("", None),
            ("  \n ", None),
            ("ok", None),
            ("revise", None),
            ("Let me see.\nVERDICT: revise", None),
            ("The VERDICT: revise", None),
            ("VERDICT: revised", None),
            ("VERDICT: okay", None),
            ("VERDICT: not ok", None),
            ("VERDICT revise", None),
            ("VERDICT:\nrevise", None),
            ("VERDICT: ", None),
        ],
    )
    def test_table(self, report, verdict):
        assert read_verdict(report) == verdict

    @pytest.mark.parametrize(
        "report",
        [" " * 10**6, "*" * 10**6, "VERDICT" + " " * 10**6, "\n" * 10**6, "VERDICT:" * 10**5],
        ids=["spaces", "stars", "gap", "lines", "repeated"],
    )
    def test_bounded_time(self, report):
        start = time.perf_counter()
        assert read_verdict(report) is None
        assert time.perf_counter() - start < 2

    @given(st.text())
    def test_any_text(self, report):
        assert read_verdict(report) in (None, "ok", "revise")


class TestRepair:
    @pytest.fixture
    def repaired(self, card, parts, section, message, call):
        """The repair of a draft when validator and aggregator say these, and the backbone."""

        async def run(*texts, draft="draft", always=True, validator=True, **changes):
            backbone = replies(*texts)
            got = await repair(
                "TASK",
                Draft(message=message("a1", draft), text=draft, empty=False),
                UPSTREAM,
                card("v9", "validator", capability_family="check") if validator else None,
                card("a1", "aggregator"),
                parts(backbone),
                section("repair", always=always, **changes),
                call=call,
            )
            assert len(backbone.requests) == len(got.messages) == len(texts)
            return got, backbone

        return run

    async def test_no_need(self, repaired):
        assert (await repaired(draft="ANSWER 4", always=False))[0] == Repair(answer="ANSWER 4")
        assert (await repaired(validator=False))[0] == Repair(answer="draft")

    @pytest.mark.parametrize(
        ("texts", "answer", "said_ok", "revised", "adopted"),
        [
            (["VERDICT: ok"], "draft", True, False, False),
            (["what a draft"], "draft", False, False, False),  # no verdict changes nothing
            ([""], "draft", False, False, False),
            (["VERDICT: revise", "better"], "better", False, True, True),
            (["VERDICT: revise", "draft"], "draft", False, True, False),  # the same again
            (["VERDICT: revise", " draft\n"], " draft\n", False, True, False),
            (["VERDICT: revise", " "], "draft", False, True, False),  # empty keeps the draft
            # at most one repair, whatever the second answer is like
            (["VERDICT: revise", "VERDICT: revise"], "VERDICT: revise", False, True, True),
        ],
    )
    async def test_verdicts(self, repaired, texts, answer, said_ok, revised, adopted):
        got, _ = await repaired(*texts)
        assert (got.answer, got.validator) == (answer, "v9")
        assert (got.said_ok, got.revised, got.adopted) == (said_ok, revised, adopted)
        kinds = [CallKind.VALIDATE, CallKind.REVISE][: len(texts)]
        assert [(m.kind, m.text) for m in got.messages] == list(zip(kinds, texts, strict=True))

    async def test_what_the_two_are_told(self, repaired):
        _, backbone = await repaired("VERDICT: revise\nno {text}", "better")
        check, second = (request.messages[1].content for request in backbone.requests)
        assert [request.role for request in backbone.requests] == ["v9", "a1"]
        messages = (
            "TASK\n\n### Message from s1 (f)\nfirst\n\n### Message from s2 (g)\nsecond"
            "\n\n### Message from v1 (h)\n \n\n\n### Draft answer\ndraft"
        )
        assert check.startswith(messages + "\n\n### Your job now\nCheck the draft")
        assert second.startswith(
            messages + "\n\n### Report from v9 (check)\nVERDICT: revise\nno {text}"
            "\n\n### Your job now\nThe report asks for a revision"
        )
