"""The gate: the commit rule, what is run to apply it, and what a verdict carries."""

from dataclasses import replace

import numpy as np
import pytest

from sero.credit import RoleCredit
from sero.errors import RequestRejected
from sero.evolution.actions import Operation, TrainPhase
from sero.evolution.gate import ScoreGate, accepts
from sero.evolution.proposal import Proposal
from sero.evolution.reasons import Code, Reason
from sero.evolution.rolling import score_rollout

ADD, REMOVE, NOOP = Operation.ADD, Operation.REMOVE, Operation.NOOP
WARMUP, MAIN = TrainPhase.WARMUP, TrainPhase.MAIN
EPISODE = 5


@pytest.mark.parametrize(
    ("operation", "phase", "warmup", "strict_add", "harm", "nothing", "gain"),
    [
        # warm-up, non-strict benchmark: R >= 0
        (ADD, WARMUP, "nonharmful", False, False, True, True),
        (REMOVE, WARMUP, "nonharmful", False, False, True, True),
        # warm-up, strict-add benchmark: Add needs R > 0
        (ADD, WARMUP, "nonharmful", True, False, False, True),
        (REMOVE, WARMUP, "nonharmful", True, False, True, True),
        # gate.warmup=strict: R > 0 throughout
        (ADD, WARMUP, "strict", False, False, False, True),
        (ADD, WARMUP, "strict", True, False, False, True),
        (REMOVE, WARMUP, "strict", False, False, False, True),
        (REMOVE, WARMUP, "strict", True, False, False, True),
        # main phase: R > 0, whatever else is set
        (ADD, MAIN, "nonharmful", False, False, False, True),
        (ADD, MAIN, "nonharmful", True, False, False, True),
        (ADD, MAIN, "strict", False, False, False, True),
        (ADD, MAIN, "strict", True, False, False, True),
        (REMOVE, MAIN, "nonharmful", False, False, False, True),
        (REMOVE, MAIN, "nonharmful", True, False, False, True),
        (REMOVE, MAIN, "strict", False, False, False, True),
        (REMOVE, MAIN, "strict", True, False, False, True),
        # nothing to commit
        (NOOP, WARMUP, "nonharmful", False, False, False, False),
        (NOOP, WARMUP, "strict", True, False, False, False),
        (NOOP, MAIN, "nonharmful", False, False, False, False),
    ],
)
def test_the_gate_follows_the_commit_rule(
    operation, phase, warmup, strict_add, harm, nothing, gain
):
    for reward, committed in ((-0.1, harm), (0.0, nothing), (0.1, gain)):
        taken = accepts(operation, reward, phase, warmup=warmup, strict_add=strict_add)
        assert taken is committed, reward


def test_rounding_is_neither_gain_nor_harm():
    """(0.1 + 0.2 - 0.3) / 3 is 1.9e-17, not an improvement; its negative is no harm."""
    dust = (0.1 + 0.2 - 0.3) / 3
    assert dust > 0.0
    assert not accepts(ADD, dust, MAIN, warmup="nonharmful", strict_add=False)
    assert accepts(ADD, -dust, WARMUP, warmup="nonharmful", strict_add=False)


@pytest.fixture
def setting(toy):
    """An Add of a card to the seed pool, and a way to have it judged by given scores."""

    class Setting:
        state = toy.state(credits={"adder": RoleCredit(ema=0.2, fast=0.4)})
        newcomer = toy.skilled("new", "exact", "carrying")
        candidate = replace(
            state,
            pool=state.pool.with_role(newcomer),
            credit=state.credit.updated({"new": RoleCredit(n_bonus=3)}),
        )
        proposal = Proposal(operation=ADD, target="adder", card=newcomer, candidate=candidate)
        tasks = toy.tasks(5)

        def judge(
            self, after, before=0.5, *, cfg=None, strict_add=False, phase=MAIN, broken=(),
            proposal=None, episode=EPISODE, task=0, seed=3, train=None,
        ):  # fmt: skip
            """`after`: a score, or a rule of (task, is the candidate asked, phase, repeat)."""
            rule = after if callable(after) else lambda task, new, phase, repeat: after
            self.roll = toy.Roll(
                lambda task, state, phase, repeat: rule(
                    task, state is self.candidate, phase, repeat
                )
            )
            gate = ScoreGate(
                cfg=cfg or toy.GATE,
                strict_add=strict_add,
                train=self.tasks if train is None else train,
                run_seed=seed,
            )
            return toy.run(
                gate.judge(
                    self.tasks[task],
                    toy.scored(before),
                    self.state,
                    proposal or self.proposal,
                    broken,
                    phase,
                    self.roll,
                    episode,
                )
            )

        def asked(self):
            """(task, phase, repeat, whether the candidate was asked), in order."""
            return [
                (task, phase, repeat, state is self.candidate)
                for task, phase, _, repeat, state in self.roll.asked
            ]

    return Setting()


def test_a_commit_takes_the_candidate_with_its_post_edit_fast_credit(setting, toy):
    after = toy.scored(0.75, final_fast={"adder": 0.9, "new": 0.6})
    verdict = setting.judge(lambda task, new, phase, repeat: after)
    assert verdict.committed
    assert verdict.state.pool is setting.candidate.pool
    # the EMA is untouched, the fast credit is that of the rollout after the edit
    assert verdict.state.credit["adder"] == RoleCredit(ema=0.2, fast=0.9)
    assert verdict.state.credit["new"] == RoleCredit(fast=0.6, n_bonus=3)
    assert (verdict.score_after, verdict.reward, verdict.delta) == (0.75, 0.25, 0.25)
    assert verdict.reasons == ()
    assert setting.asked() == [("sum-0", toy.POST, 0, True)]


@pytest.mark.parametrize(
    ("score", "code", "detail"),
    [
        (0.5, Code.NO_GAIN, "score difference +0.0000"),
        (0.25, Code.HARMFUL, "score difference -0.2500"),
    ],
)
def test_a_rejection_returns_the_very_state_that_stood_before(setting, toy, score, code, detail):
    after = toy.scored(score, final_fast={"adder": 0.9})
    verdict = setting.judge(lambda task, new, phase, repeat: after)
    assert verdict.state is setting.state
    assert not verdict.committed
    assert verdict.reasons == (Reason(code, detail),)
    assert (verdict.score_after, verdict.reward) == (score, score - 0.5)


def test_a_candidate_that_breaks_a_guard_is_not_run(setting):
    broken = (Reason(Code.POOL_FULL, "full"), Reason(Code.NEAR_DUPLICATE, "alike"))
    verdict = setting.judge(1.0, broken=broken)
    assert verdict.state is setting.state
    assert verdict.reasons == broken
    assert (verdict.reward, verdict.score_after, verdict.delta) == (0.0, None, None)
    assert setting.roll.asked == []


def test_no_candidate_is_nothing_to_run(setting):
    noop = setting.judge(1.0, proposal=Proposal(operation=NOOP))
    assert (noop.state is setting.state, noop.committed, noop.reasons) == (True, False, ())
    reasons = (Reason(Code.LEAK, "taken from the task: Nadia"),)
    failed = setting.judge(1.0, proposal=Proposal(operation=ADD, target="adder", reasons=reasons))
    assert (failed.state is setting.state, failed.reward, failed.reasons) == (True, 0.0, reasons)
    assert setting.roll.asked == []


@pytest.mark.parametrize(
    ("strict_add", "warmup", "committed"),
    [(False, "nonharmful", True), (True, "nonharmful", False), (False, "strict", False)],
)
def test_the_rule_is_read_from_the_configuration(setting, toy, strict_add, warmup, committed):
    cfg = replace(toy.GATE, warmup=warmup)
    verdict = setting.judge(0.5, cfg=cfg, strict_add=strict_add, phase=WARMUP)
    assert verdict.committed is committed


def test_without_a_gate_everything_that_passes_the_guards_is_committed(setting, toy):
    cfg = replace(toy.GATE, kind="none")
    verdict = setting.judge(0.0, cfg=cfg)
    assert (verdict.committed, verdict.reward, verdict.delta) == (True, -0.5, -0.5)
    assert verdict.state.pool is setting.candidate.pool
    refused = setting.judge(1.0, cfg=cfg, broken=(Reason(Code.POOL_FULL, "full"),))
    assert (refused.committed, refused.state is setting.state) == (False, True)


# scores of the candidate on the other training tasks; the old pool scores 0.5 everywhere
OTHERS = {"sum-1": 0.4, "sum-2": 0.3, "sum-3": 0.2, "sum-4": 0.1}


def on_tasks(task, new, phase, repeat):
    return (1.0 if task.id == "sum-0" else OTHERS[task.id]) if new else 0.5


def test_gate_tasks_averages_over_all_tasks_there_are(setting, toy):
    """(+.5 -.1 -.2 -.3 -.4) / 5 = -.1: harmful on the whole, although x itself gained."""
    verdict = setting.judge(on_tasks, cfg=replace(toy.GATE, tasks=8))
    assert verdict.delta == pytest.approx(-0.1, abs=1e-12)
    assert verdict.reward == 0.5  # the policy's reward stays the single-task difference
    assert verdict.reasons[0].code is Code.HARMFUL
    assert verdict.state is setting.state
    assert len(setting.asked()) == 1 + 2 * 4


def test_gate_tasks_draws_without_replacement_and_never_the_task_itself(setting, toy):
    drawn_by_episode = set()
    for episode in range(1, 30):
        for task in range(5):
            setting.judge(0.5, cfg=replace(toy.GATE, tasks=3), episode=episode, task=task)
            first, *others = setting.asked()
            assert first == (f"sum-{task}", toy.POST, 0, True)
            names = [name for name, *_ in others[::2]]
            assert len(set(names)) == 2
            assert f"sum-{task}" not in names
            # each drawn task once with the old pool, once with the candidate
            assert [(n, new) for n, _, _, new in others] == [
                (n, new) for n in names for new in (False, True)
            ]
            assert {phase for _, phase, *_ in others} == {toy.GATING}
            drawn_by_episode.add((task, tuple(names)))
    # 12 ordered pairs per task; 29 draws reach most of them
    assert len(drawn_by_episode) > 5 * 8


def test_gate_tasks_mean_by_hand(setting, toy):
    verdict = setting.judge(on_tasks, cfg=replace(toy.GATE, tasks=3))
    names = [name for name, _, _, new in setting.asked()[1:] if new]
    expected = (0.5 + sum(OTHERS[name] - 0.5 for name in names)) / 3
    assert verdict.delta == pytest.approx(expected, abs=1e-12)
    assert verdict.committed is (expected > 0)


def test_the_draw_is_a_function_of_seed_and_episode(setting, toy):
    cfg = replace(toy.GATE, tasks=3)

    def drawn(**where):
        setting.judge(0.5, cfg=cfg, **where)
        return [name for name, *_ in setting.asked()]

    assert drawn() == drawn()
    assert len({tuple(drawn(episode=e)) for e in range(1, 20)}) > 3
    assert len({tuple(drawn(seed=s)) for s in range(20)}) > 3


def test_gate_repeats_asks_again_under_its_own_number(setting, toy):
    """Differences .5 (R), then .25 and 0 on the repeats: their mean is .25."""
    later = {1: (0.5, 0.75), 2: (0.5, 0.5)}

    def rule(task, new, phase, repeat):
        return 1.0 if phase is toy.POST else later[repeat][new]

    verdict = setting.judge(rule, cfg=replace(toy.GATE, repeats=3))
    assert verdict.delta == pytest.approx(0.25)
    assert verdict.reward == 0.5
    assert setting.asked() == [
        ("sum-0", toy.POST, 0, True),
        ("sum-0", toy.GATING, 1, False),
        ("sum-0", toy.GATING, 1, True),
        ("sum-0", toy.GATING, 2, False),
        ("sum-0", toy.GATING, 2, True),
    ]


def test_gate_tasks_and_repeats_together(setting, toy):
    """2 tasks, 2 repeats: R, one other task, then both again; every difference weighs the same."""
    rng = np.random.default_rng(0)
    table = {}

    def rule(task, new, phase, repeat):
        return table.setdefault((task.id, new, repeat), round(float(rng.random()), 3))

    verdict = setting.judge(rule, 0.125, cfg=replace(toy.GATE, tasks=2, repeats=2))
    other = setting.asked()[1][0]
    deltas = [
        table["sum-0", True, 0] - 0.125,
        table[other, True, 0] - table[other, False, 0],
        table["sum-0", True, 1] - table["sum-0", False, 1],
        table[other, True, 1] - table[other, False, 1],
    ]
    assert verdict.delta == pytest.approx(sum(deltas) / 4)


def test_one_training_task_has_no_others(setting, toy):
    verdict = setting.judge(0.75, cfg=replace(toy.GATE, tasks=8), train=setting.tasks[:1])
    assert (verdict.delta, len(setting.asked())) == (0.25, 1)


def test_a_pool_that_lost_its_terminal_scores_nothing(toy):
    """Possible without guards only: nobody is asked, whatever the parser makes of silence."""
    state = toy.state(toy.seed_pool().without_role("scribe"))
    roll = toy.roller()
    scored = toy.run(roll(toy.tasks()[0], state, toy.POST, 1))
    assert (scored.value, scored.score.reason, scored.rollout.answer) == (0.0, "no_terminal", "")
    assert roll.parts.backbone.requests == []
    again = toy.run(score_rollout(toy.Benchmark(), toy.tasks()[0], scored.rollout))
    assert again.score.reason == "no_terminal"


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_prompt_the_server_refuses_is_a_refused_card(setting, status):
    """A filter or a length: the card's fault, and training goes on."""

    def refused(task, new, phase, repeat):
        raise RequestRejected("filtered", status=status)

    verdict = setting.judge(refused)
    assert verdict.state is setting.state
    assert (verdict.committed, verdict.reward, verdict.score_after) == (False, 0.0, None)
    assert [(r.code, r.detail) for r in verdict.reasons] == [(Code.REQUEST_REJECTED, "filtered")]


@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_the_server_refuses_everybody_is_no_cards_fault(setting, status):
    def refused(task, new, phase, repeat):
        raise RequestRejected("no key", status=status)

    with pytest.raises(RequestRejected, match="no key"):
        setting.judge(refused)
