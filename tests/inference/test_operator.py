"""The inference operator as a whole: what it asks, in which order, and what it leaves."""

import dataclasses
import json
import re

import pytest

from sero.backbones.base import CallContext, Phase, request_key
from sero.backbones.scripted import ScriptedBackbone
from sero.credit import CreditState, FastWeights, PoolState, RoleCredit
from sero.errors import ServerUnavailable
from sero.inference.operator import answer
from sero.inference.trace import CallKind, Cost, Rollout

WORTH = {"TASK": (1, 0), "right": (1, 0), "so-so": (0.6, 0.8), "wrong": (0, 1)}
PEER = FastWeights(similarity=0, history=0, agreement=0, validity=0, peer=0.5)
TEAM = ("r1", "s1", "s2", "s3", "v1", "a1")


@pytest.fixture
def run(parts, config, call):
    """The rollout of a pool, and the backbone that was asked.

    By default everybody says their name and the aggregator an answer that can be read.
    """

    def speak_name(request):
        return "ANSWER 4" if request.role.startswith("a") else f"said by {request.role}"

    async def roll(state, answering=speak_name, *, where=call, encoder=None, **changes):
        names = changes.pop("team_names", None)
        mouths = changes.pop("replace", None)
        backbone = ScriptedBackbone(answering)
        others = {"sentinel-backbone": backbone}
        made = parts(backbone, *([] if encoder is None else [encoder]), backbones=others)
        rollout = await answer(
            "TASK",
            state,
            made,
            config(**changes),
            call=where,
            team_names=names,
            replace=mouths,
        )
        return rollout, backbone

    return roll


def keys(backbone):
    return [request_key(backbone.identity, request) for request in backbone.requests]


def in_turn(replies):
    """Answers by role, or, where a list is given, its entries in turn."""
    left = {role: list(texts) for role, texts in replies.items() if isinstance(texts, list)}

    def answering(request):
        if request.role in left:
            return left[request.role].pop(0)
        return replies.get(request.role, "nothing new")

    return answering


class TestCalls:
    @pytest.mark.parametrize("rounds", [1, 2, 3])
    @pytest.mark.parametrize(
        ("always", "verdict", "repair_calls"),
        [(False, "", 0), (True, "VERDICT: ok", 1), (True, "VERDICT: revise", 2)],
    )
    async def test_logical_calls(self, run, state_of, rounds, always, verdict, repair_calls):
        answering = in_turn({"v1": verdict or "fine", "a1": "ANSWER 4"})
        rollout, backbone = await run(
            state_of(*TEAM), answering, exec={"rounds": rounds}, repair={"always": always}
        )
        n = 5  # the team without its aggregator
        assert rollout.cost.calls == n + n * rounds + 1 + repair_calls
        assert len(backbone.requests) == rollout.cost.calls

    async def test_each_call_stands_in_the_trace_in_its_place(self, run, state_of):
        answering = in_turn({"v1": "VERDICT: revise", "a1": ["ANSWER 4", "ANSWER 5"]})
        rollout, _ = await run(
            state_of("s1", "s2", "v1", "a1"),
            answering,
            exec={"rounds": 2},
            repair={"always": True},
        )
        assert [(m.kind, m.round) for m in rollout.messages] == (
            [("draft", 1)] * 3
            + [("message", 1)] * 3
            + [("message", 2)] * 3
            + [("aggregate", 1), ("validate", 1), ("revise", 1)]
        )
        assert [m.role for m in rollout.messages[3:6]] == list(rollout.order)
        assert [m.role for m in rollout.messages[9:]] == ["a1", "v1", "a1"]

    async def test_tokens_are_the_sum_over_the_calls(self, run, state_of):
        rollout, backbone = await run(state_of("s1", "a1"))
        prompts = [sum(len(m.content) for m in r.messages) for r in backbone.requests]
        texts = [len(m.text) for m in rollout.messages]
        assert rollout.cost == Cost(
            calls=3,
            prompt_tokens=sum(-(-chars // 4) for chars in prompts),
            completion_tokens=sum(-(-chars // 4) for chars in texts),
        )

    @pytest.mark.parametrize(
        ("dag", "distinct"),
        [
            # five drafts, of which the first in order is its message too; four messages; one answer
            ({}, 5 + 4 + 1),
            ({"order": "flat"}, 5 + 0 + 1),  # every message is the draft again
            ({"rule": "cross_stage"}, 5 + 4 + 1),
        ],
    )
    @pytest.mark.parametrize("temperature", [0.0, 0.7])
    async def test_a_draft_and_a_first_message_are_one_request(
        self, run, state_of, dag, distinct, temperature
    ):
        rollout, backbone = await run(state_of(*TEAM, temperature=temperature), dag=dag)
        assert len(backbone.requests) == 11
        assert len(set(keys(backbone))) == distinct
        drafts, said = rollout.messages[:5], rollout.messages[5:10]
        sources = {
            name for name, level in zip(rollout.order, rollout.levels, strict=True) if not level
        }
        texts = {m.role: m.text for m in drafts}
        assert all(m.text == texts[m.role] for m in said if m.role in sources)

    async def test_a_team_of_nobody(self, run, state_of):
        rollout, backbone = await run(state_of("a1"))
        assert (rollout.answer, rollout.team, rollout.order) == ("ANSWER 4", ("a1",), ())
        assert len(backbone.requests) == 1
        assert (rollout.fast, rollout.final_fast) == ({}, {})


class TestOrder:
    async def test_the_drafts_decide_it(self, run, state_of, table_encoder):
        answering = in_turn({"s1": "wrong", "s2": "right", "s3": "so-so", "a1": "ANSWER"})
        rollout, _ = await run(
            state_of("s1", "s2", "s3", "a1"),
            answering,
            encoder=table_encoder(WORTH),
            credit={"fast_alpha": 1.0},
        )
        assert rollout.fast == pytest.approx({"s1": 0.0, "s2": 1.0, "s3": 0.6})
        assert rollout.order == ("s2", "s3", "s1")
        assert rollout.edges == (("s2", "s3"), ("s2", "s1"))  # n = 3: {12, 13}
        assert rollout.levels == (0, 1, 1)

    async def test_final_credit_is_that_of_the_final_messages(self, run, state_of, table_encoder):
        # s1 drafts `wrong`, hears s2 and says `right`
        answering = in_turn({"s1": ["wrong", "right"], "s2": "so-so", "a1": "ANSWER 4"})
        rollout, _ = await run(
            state_of("s1", "s2", "a1"),
            answering,
            encoder=table_encoder(WORTH),
            credit={"fast_alpha": 1.0},
        )
        assert rollout.fast == pytest.approx({"s1": 0.0, "s2": 0.6})
        assert rollout.final_fast == pytest.approx({"s1": 1.0, "s2": 0.6})

    async def test_stored_credit_asks_for_no_drafts(self, run, pool_of):
        credit = CreditState().updated({"s2": RoleCredit(fast=0.4), "s3": RoleCredit(fast=-0.1)})
        state = PoolState(pool_of("s1", "s2", "s3", "a1"), credit)
        rollout, backbone = await run(state, credit={"order_source": "stored"})
        assert rollout.fast == {"s1": 0.0, "s2": 0.4, "s3": -0.1}  # unknown is 0
        assert rollout.order == ("s2", "s1", "s3")
        assert rollout.cost.calls == len(backbone.requests) == 3 + 1
        assert CallKind.DRAFT not in {m.kind for m in rollout.messages}
        assert set(rollout.final_fast) == {"s1", "s2", "s3"}

    async def test_peers_decide_it_where_the_texts_do_not(self, run, state_of, table_encoder):
        """Every draft is as near to the task; each names its role, and s2 is rated best."""
        worth = {"draft of s1": 1, "draft of s2": 5, "draft of s3": 3}

        def answering(request):
            shown = request.messages[1].content
            if "### Your job now" not in shown:
                return "ANSWER" if request.role == "a1" else f"draft of {request.role}"
            blocks = re.findall(r"^=== draft (\d) \w+ ===\n(.*)$", shown, re.MULTILINE)
            return json.dumps({f"draft_{number}": worth[text] for number, text in blocks})

        rollout, backbone = await run(
            state_of("s1", "s2", "s3", "a1"),
            answering,
            encoder=table_encoder({"": (1, 0)}),
            credit={"peer_ratings": True, "fast_weights": PEER, "fast_alpha": 1.0},
        )
        # the others' weights: s1 rates 5 3, s2 rates 1 3, s3 rates 1 5; a third of their sums,
        # and a third for the last layer
        peers = {"s1": 1 / 4 + 1 / 6, "s2": 5 / 8 + 5 / 6, "s3": 3 / 8 + 3 / 4}
        wanted = {name: 1.0 + 0.5 * (share + 1) / 3 for name, share in peers.items()}
        assert rollout.fast == pytest.approx(wanted)
        assert rollout.final_fast == pytest.approx(wanted)  # the ratings are those of the drafts
        assert rollout.order == ("s2", "s3", "s1")
        kinds = [str(m.kind) for m in rollout.messages]
        assert kinds == ["draft"] * 3 + ["rating"] * 3 + ["message"] * 3 + ["aggregate"]
        assert rollout.cost.calls == len(backbone.requests) == 3 + 3 + 3 + 1
        assert rollout.metrics == {"peer_ratings_dropped": 0, "peer_raters_undecided": 0}

    async def test_nobody_is_asked_to_rate_unless_told_so(self, run, state_of):
        rollout, _ = await run(state_of("s1", "s2", "a1"))
        assert CallKind.RATING not in {m.kind for m in rollout.messages}
        assert rollout.metrics == {}

    async def test_stages_come_before_credit(self, run, state_of):
        rollout, _ = await run(state_of("v1", "s1", "r1", "a1"))
        assert rollout.order == ("r1", "s1", "v1")
        assert rollout.team == ("v1", "s1", "r1", "a1")

    async def test_rules_and_orders_of_the_configuration(self, run, state_of):
        rollout, _ = await run(state_of(*TEAM), dag={"rule": "cross_stage"})
        assert set(rollout.edges) == (
            {("r1", s) for s in ("s1", "s2", "s3", "v1")} | {(s, "v1") for s in ("s1", "s2", "s3")}
        )
        assert rollout.levels == (0, 1, 1, 1, 2)


class TestWhoAnswers:
    async def test_the_aggregator_from_all_messages(self, run, state_of):
        rollout, backbone = await run(state_of("s1", "s2", "a1"))
        assert rollout.answer == "ANSWER 4"
        heard = backbone.requests[-1].messages[1].content
        first, second = rollout.order
        assert heard == (
            f"TASK\n\n### Message from {first} (f)\nsaid by {first}"
            f"\n\n### Message from {second} (f)\nsaid by {second}"
        )

    async def test_an_empty_answer_falls_back_and_is_checked(self, run, state_of):
        answering = in_turn({"s1": "ANSWER 3", "v1": ["draft", " ", "VERDICT: ok"], "a1": ""})
        rollout, backbone = await run(state_of("s1", "v1", "a1"), answering)
        # the validator is the last in order but says nothing as a member
        assert rollout.order == ("s1", "v1")
        assert rollout.answer == "ANSWER 3"
        assert rollout.validator == "v1"
        assert "### Draft answer\nANSWER 3" in backbone.requests[-1].messages[1].content

    async def test_everybody_silent(self, run, state_of):
        rollout, _ = await run(state_of("s1", "a1"), lambda request: "")
        assert (rollout.answer, rollout.reason) == ("", "")

    async def test_a_pool_without_terminal_asks_nobody(self, run, state_of):
        rollout, backbone = await run(state_of("r1", "s1", "v1"))
        assert backbone.requests == []
        assert rollout == Rollout.without_terminal(("r1", "s1", "v1"), rollout.similarity)
        assert rollout.reason == "no_terminal"

    @pytest.mark.parametrize(
        ("first", "always", "validator"),
        [
            ("ANSWER 4", False, None),
            ("four", False, "v1"),  # cannot be read
            ("", False, "v1"),
            ("ANSWER 4", True, "v1"),
        ],
    )
    async def test_when_a_validator_is_asked(self, run, state_of, first, always, validator):
        answering = in_turn({"a1": [first], "v1": "VERDICT: ok"})
        rollout, _ = await run(
            state_of("s1", "v1", "a1"),
            answering,
            repair={"always": always},
            retrieval={"val_slots": 0},
        )
        assert rollout.validator == validator
        assert (rollout.revised, rollout.adopted) == (False, False)

    async def test_a_repair_and_the_floors(self, run, state_of):
        answering = in_turn({"v1": "a member", "v2": "VERDICT: revise", "a1": ["four", "ANSWER 4"]})
        rollout, _ = await run(state_of("s1", "v1", "v2", "a1"), answering)
        assert rollout.team == ("s1", "v1", "a1")  # v2 is kept for the repair
        assert (rollout.answer, rollout.validator) == ("ANSWER 4", "v2")
        assert (rollout.revised, rollout.adopted) == (True, True)
        assert rollout.final_fast["v2"] == 1.0
        assert rollout.final_fast["v1"] >= 0.35
        assert "v2" not in rollout.fast

    async def test_a_single_validator_serves_in_both_places(self, run, state_of):
        answering = in_turn({"v1": ["draft", "member", "VERDICT: ok"], "a1": "four"})
        rollout, _ = await run(state_of("s1", "v1", "a1"), answering)
        assert rollout.team == ("s1", "v1", "a1")
        assert [m.text for m in rollout.messages if m.role == "v1"] == [
            "draft",
            "member",
            "VERDICT: ok",
        ]
        assert rollout.final_fast["v1"] >= 0.55

    @pytest.mark.parametrize(
        ("pool", "repair"),
        [(("s1", "a1"), {}), (("s1", "v1", "a1"), {"enabled": False})],
    )
    async def test_nobody_to_ask(self, run, state_of, pool, repair):
        rollout, _ = await run(
            state_of(*pool),
            in_turn({"a1": "four"}),
            repair={"always": True, **repair},
        )
        assert (rollout.answer, rollout.validator) == ("four", None)


class TestCounterfactuals:
    async def test_an_explicit_team(self, run, state_of):
        state = state_of("r1", "s1", "s2", "v1", "v2", "a1")
        rollout, backbone = await run(state, team_names=["v2", "s2"])
        assert rollout.team == ("s2", "v2", "a1")
        assert {request.role for request in backbone.requests} == {"s2", "v2", "a1"}

    async def test_an_empty_explicit_team_is_no_retrieval(self, run, state_of):
        rollout, _ = await run(state_of("s1", "a1"), team_names=[])
        assert rollout.team == ("a1",)

    async def test_a_replaced_message(self, run, state_of):
        rollout, backbone = await run(state_of("s1", "s2", "a1"), replace={"s1": "neutral"})
        # s1 drafts, so that team, order and DAG are those of the whole run; it is not asked again
        roles = [request.role for request in backbone.requests]
        assert sorted(roles) == ["a1", "s1", "s2", "s2"]
        assert rollout.cost.calls == 4
        assert rollout.final_message("s1") == "neutral"
        assert "neutral" in backbone.requests[-1].messages[1].content
        assert "said by s1" not in backbone.requests[-1].messages[1].content

    async def test_whoever_is_silenced_drafts_and_rates(self, run, state_of):
        rated = {"credit": {"peer_ratings": True, "fast_weights": PEER}}
        rollout, backbone = await run(
            state_of("s1", "s2", "a1"), replace={"s1": "neutral"}, **rated
        )
        roles = [request.role for request in backbone.requests]
        assert sorted(roles) == ["a1", "s1", "s1", "s2", "s2", "s2"]
        assert rollout.cost.calls == 6

    async def test_a_replaced_report(self, run, state_of):
        """The neutral text holds no verdict, so the draft stands; nobody is asked for it."""
        says = {"v1": "VERDICT: revise", "a1": ["ANSWER 4", "ANSWER 5"]}
        always = {"retrieval": {"val_slots": 0}, "repair": {"always": True}}
        state = state_of("s1", "v1", "a1")
        asked, _ = await run(state, in_turn(says), **always)
        assert (asked.answer, asked.validator, asked.revised) == ("ANSWER 5", "v1", True)
        silent, backbone = await run(state, in_turn(says), replace={"v1": "neutral"}, **always)
        assert (silent.answer, silent.validator, silent.revised) == ("ANSWER 4", "v1", False)
        assert [r.role for r in backbone.requests] == ["s1", "s1", "a1"]
        report = silent.messages[-1]
        assert (report.kind, report.text, report.replaced) == (CallKind.VALIDATE, "neutral", True)
        assert silent.cost.calls == 3


class TestPurity:
    async def test_neither_pool_nor_credit_is_written(self, run, state_of):
        state = state_of(*TEAM, ema={"s1": 0.3})
        before = (state.pool, dict(state.credit.roles), state.pool.hash)
        await run(state, repair={"always": True})
        assert (state.pool, dict(state.credit.roles), state.pool.hash) == before

    async def test_equal_states_roll_out_equally(self, run, state_of):
        one, backbone = await run(state_of(*TEAM))
        two, again = await run(state_of(*TEAM))
        assert one == two
        assert keys(backbone) == keys(again)

    async def test_nothing_but_card_task_and_messages_is_said(self, run, pool_of):
        """Credit, lineage, tags, seed, phase, episode, task id, other roles: in no prompt."""
        marks = {
            "capability_tags": ("sentinel-tag",),
            "parent": "sentinel parent",
            "created_at": 918273,
            "backbone": "sentinel-backbone",
        }
        pool = pool_of("r1", "s1", "s2", "v1", "v2", "a1", **marks)
        unpicked = dataclasses.replace(
            pool["s1"], name="sentinel-role", system_prompt=("sentinel prompt",)
        )
        credit = {
            name: RoleCredit(ema=0.918273, fast=0.918273, n_bonus=918273) for name in pool.names
        }
        state = PoolState(pool.with_role(unpicked), CreditState().updated(credit))
        _, backbone = await run(
            state,
            in_turn({"v2": "VERDICT: revise"}),
            where=CallContext(
                run_seed=918273, phase=Phase.GATE, episode=918273, item="sentinel-item", repeat=0
            ),
            repair={"always": True},
            retrieval={"spec_slots": 2},
            credit={"peer_ratings": True, "fast_weights": PEER},
        )
        assert len(backbone.requests) == 4 + 4 + 4 + 1 + 2
        for request in backbone.requests:
            text = "\n".join(m.content for m in request.messages).lower()
            for secret in ("sentinel", "918273", "gate", "ledger", "episode"):
                assert secret not in text

    async def test_greedy_requests_are_the_same_wherever_they_are_asked(self, run, state_of):
        wanted = None
        for seed, phase, episode, item in [
            (0, Phase.PRE, 0, "a"),
            (1, Phase.POST, 5, "a"),
            (2, Phase.EVAL, None, "b"),
        ]:
            where = CallContext(run_seed=seed, phase=phase, episode=episode, item=item)
            _, backbone = await run(state_of(*TEAM), where=where, credit={"peer_ratings": True})
            wanted = wanted or keys(backbone)
            assert keys(backbone) == wanted

    async def test_a_role_that_leaves_keeps_the_others_requests(self, run, state_of):
        """What makes a reduced pool cheap: drafts of the others are asked for again, unchanged."""
        _, whole = await run(state_of(*TEAM))
        _, reduced = await run(state_of("r1", "s1", "s2", "v1", "a1"))
        drafts = keys(reduced)[:4]
        assert set(drafts) <= set(keys(whole))

    async def test_a_broken_machine_leaves_no_rollout(self, run, state_of):
        def answering(request):
            if request.role == "a1":
                raise ServerUnavailable("down", status=503)
            return "fine"

        with pytest.raises(ServerUnavailable, match="down"):
            await run(state_of(*TEAM), answering)
