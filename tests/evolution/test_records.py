"""What an episode leaves behind: the record's keys and values, the curves, and nothing else."""

from dataclasses import replace

import pytest

from sero.backbones.base import Completion, Usage
from sero.backbones.scripted import ScriptedBackbone
from sero.credit import RoleCredit
from sero.evolution.actions import Action, Operation, TrainPhase
from sero.evolution.contracts import static_contracts
from sero.evolution.controller import Decision
from sero.evolution.gate import Verdict
from sero.evolution.progress import Progress
from sero.evolution.proposal import Proposal
from sero.evolution.reasons import Code, Reason
from sero.evolution.records import episode_metrics, episode_record
from sero.evolution.step import Step
from sero.evolution.trainer import train
from sero.inference.trace import Cost
from sero.storage import dumps
from sero.tracking import METRICS

ADD, REMOVE, NOOP = Operation.ADD, Operation.REMOVE, Operation.NOOP
KEYS = [
    "episode", "epoch", "phase", "task", "group", "action", "target", "role", "verdict",
    "reasons", "details", "score_before", "score_after", "reward", "gate_delta", "committed",
    "contracts", "contract_reasons", "pool_size", "pool_hash", "calls", "prompt_tokens",
    "completion_tokens", "loo",
]  # fmt: skip
COST = Cost(calls=15, prompt_tokens=300, completion_tokens=40)


def step(toy, proposal, verdict, contracts=None):
    return Step(
        task=toy.tasks(2)[1],
        phase=TrainPhase.MAIN,
        before=toy.scored(0.5),
        view=None,
        decision=Decision(
            action=Action(operation=proposal.operation, target=None),
            log_prob=-1.0,
            entropy=0.75,
            op_probs=(0.5, 0.25, 0.25),
        ),
        proposal=proposal,
        contracts=contracts,
        verdict=verdict,
    )


def test_a_committed_add(toy):
    card = toy.skilled("new", "exact", "carrying")
    state = toy.state(toy.seed_pool().with_role(card))
    once = step(
        toy,
        Proposal(operation=ADD, target="adder", card=card, candidate=state),
        Verdict(state=state, committed=True, reward=0.5, score_after=1.0, delta=0.25),
        static_contracts(state.pool, toy.terms()),
    )
    record = episode_record(once, 7, 3, state, COST, {"adder": 0.5})
    assert list(record) == KEYS
    assert record == {
        "episode": 7,
        "epoch": 3,
        "phase": "main",
        "task": "sum-1",
        "group": "odd",
        "action": "add",
        "target": "adder",
        "role": "new",
        "verdict": "committed",
        "reasons": [],
        "details": [],
        "score_before": 0.5,
        "score_after": 1.0,
        "reward": 0.5,
        "gate_delta": 0.25,
        "committed": True,
        "contracts": {
            "capability": True,
            "communication": True,
            "validation": True,
            "aggregation": True,
            "output": True,
        },
        "contract_reasons": [],
        "pool_size": 7,
        "pool_hash": state.pool.hash,
        "calls": 15,
        "prompt_tokens": 300,
        "completion_tokens": 40,
        "loo": {"adder": 0.5},
    }


def test_a_rejected_remove_says_why_and_what_the_candidate_broke(toy):
    state = toy.state()
    candidate = toy.state(state.pool.without_role("guesser"))
    reasons = (Reason(Code.POOL_TOO_SMALL, "5 roles"), Reason(Code.FAMILY_LOST, "the last"))
    record = episode_record(
        step(
            toy,
            Proposal(operation=REMOVE, target="guesser", candidate=candidate),
            Verdict(state=state, committed=False, reasons=reasons),
            static_contracts(candidate.pool, toy.terms()),
        ),
        8, 3, state, COST, None,
    )  # fmt: skip
    assert record["verdict"] == "rejected"
    assert record["reasons"] == ["pool_too_small", "family_lost"]
    assert record["details"] == ["5 roles", "the last"]
    assert record["contracts"]["capability"] is False
    assert record["contract_reasons"] == ["capability: no role covers family 'guessing'"]
    assert (record["score_after"], record["gate_delta"], record["reward"]) == (None, None, 0.0)
    assert (record["pool_size"], record["pool_hash"]) == (6, state.pool.hash)


def test_noop_leaves_the_pool_unchanged_and_an_add_without_a_card_is_rejected(toy):
    state = toy.state()
    noop = step(toy, Proposal(operation=NOOP), Verdict(state=state, committed=False))
    record = episode_record(noop, 1, 1, state, COST, None)
    assert (record["verdict"], record["contracts"], record["role"]) == ("unchanged", None, None)
    assert record["contract_reasons"] is None
    leak = (Reason(Code.LEAK, "Nadia"),)
    failed = step(
        toy,
        Proposal(operation=ADD, target="adder", reasons=leak),
        Verdict(state=state, committed=False, reasons=leak),
    )
    record = episode_record(failed, 1, 1, state, COST, None)
    assert (record["verdict"], record["reasons"], record["role"]) == ("rejected", ["leak"], None)


def test_a_record_is_one_line_of_plain_json(toy):
    state = toy.state()
    noop = step(toy, Proposal(operation=NOOP), Verdict(state=state, committed=False))
    assert "\n" not in dumps(episode_record(noop, 1, 1, state, COST, {"adder": 0.5}))


def test_standard_errors_stand_there_only_when_there_are_some(toy):
    state = toy.state()
    noop = step(toy, Proposal(operation=NOOP), Verdict(state=state, committed=False, reward=0.0))
    for nothing in (None, {}):
        assert list(episode_record(noop, 1, 1, state, COST, {"adder": 0.5}, nothing)) == KEYS
    record = episode_record(noop, 1, 1, state, COST, {"adder": 0.5}, {"adder": 0.25})
    assert list(record) == [*KEYS, "loo_stderr"]
    assert record["loo_stderr"] == {"adder": 0.25}


def test_what_is_unknown_has_no_metric(toy):
    """A Noop runs no candidate; before the first refresh nothing is measured."""
    state = toy.state()
    noop = step(toy, Proposal(operation=NOOP), Verdict(state=state, committed=False))
    metrics = episode_metrics(noop, Progress(state=state, episode=1), toy.CREDIT)
    absent = {"train/score_after", "train/gate_delta", "credit/loo_mean", "credit/ema_loo_rank"}
    assert not absent & metrics.keys()


def test_a_refresh_is_compared_with_the_credit_before_it(toy):
    """c before: .1 < .2 < .3; φ: -.5 < .4 < .6 in another order; ranks 1,2,3 against 1,3,2."""
    names = ("adder", "guesser", "adder-2")
    old = toy.state(
        credits={
            n: RoleCredit(ema=c, n_updates=1) for n, c in zip(names, (0.1, 0.2, 0.3), strict=True)
        }
    )
    new = toy.state(credits={n: RoleCredit(ema=9.0, loo=9.0, n_updates=2) for n in names})
    noop = step(toy, Proposal(operation=NOOP), Verdict(state=old, committed=False))
    phi = dict(zip(names, (-0.5, 0.6, 0.4), strict=True))
    metrics = episode_metrics(noop, Progress(state=new, episode=1), toy.CREDIT, phi)
    assert metrics["credit/ema_loo_rank"] == pytest.approx(0.5)  # 1 - 6·(0+1+1)/(3·8)
    assert metrics["credit/loo_mean"] == pytest.approx(4.5)  # three of six roles


def test_metrics_by_hand(toy):
    """c = .4, 0, 0, 0, 0, 0: mean 1/15, population variance .16/6 - 1/225 = .022222."""
    state = toy.state(credits={"adder": RoleCredit(ema=0.4, loo=0.6, n_updates=1)})
    progress = Progress(
        state=state,
        episode=8,
        commits=2,
        cost=Cost(calls=100, prompt_tokens=2000, completion_tokens=300),
    )
    once = step(
        toy,
        Proposal(operation=ADD),
        Verdict(state=state, committed=True, reward=0.25, score_after=0.75, delta=0.25),
    )
    metrics = episode_metrics(once, progress, toy.CREDIT)
    assert metrics == pytest.approx(
        {
            "train/reward": 0.25,
            "train/score_before": 0.5,
            "train/score_after": 0.75,
            "train/gate_delta": 0.25,
            "train/committed": 1.0,
            "train/acceptance": 0.25,
            "pool/size": 6.0,
            "pool/family_share": 0.4,  # adding holds 2 of 5 unprotected roles
            "pool/validators": 1.0,
            "controller/op_entropy": 0.75,
            "credit/mean": 1 / 15,
            "credit/spread": 0.0222222222**0.5,
            "credit/loo_mean": 0.1,  # φ = .6 of one role of six
            "cost/calls": 100.0,
            "cost/prompt_tokens": 2000.0,
            "cost/completion_tokens": 300.0,
        }
    )
    assert metrics.keys() <= METRICS.keys()
    corrected = episode_metrics(once, progress, replace(toy.CREDIT, bias_correction=True))
    assert corrected["credit/mean"] == pytest.approx(4.0 / 6)  # .4 / (1 - .9) = 4


def test_every_metric_of_a_run_is_in_the_table_of_names(toy):
    recorder = toy.Recorder()
    toy.run(train(toy.trainer(), Progress(state=toy.state()), recorder))
    logged = {name for row in recorder.metrics for name in row}
    assert "controller/loss" in logged
    assert logged <= set(METRICS)


def test_time_retries_and_cache_hits_are_not_in_the_record(toy):
    """The same answers, slow and from the cache: equal records, equal curves."""

    def noisy(request):
        text = toy.reply(request)
        return Completion(
            text=text,
            finish_reason="stop",
            usage=Usage(prompt_tokens=len(request.messages[-1].content), completion_tokens=5),
            cached=noisy.hits,
            latency_s=1.5 * noisy.hits,
            retries=3 * noisy.hits,
        )

    runs = []
    for hits in (False, True):
        noisy.hits = hits
        recorder = toy.Recorder()
        toy.run(train(toy.trainer(ScriptedBackbone(noisy)), Progress(state=toy.state()), recorder))
        runs.append(recorder)
    plain, cached = runs
    assert plain.traces != cached.traces
    assert plain.episodes == cached.episodes
    assert plain.metrics == cached.metrics
    assert all(list(record) == KEYS for record in plain.episodes)


def test_every_announced_curve_is_written(toy):
    """A run with refreshes, candidates and gradient steps leaves no name of the table unused."""
    recorder = toy.Recorder()
    trainer = toy.trainer(
        n_train=6,
        train=replace(toy.TRAIN, main_epochs=5),
        credit=replace(toy.CREDIT, loo_tasks=3, loo_inactive="zero", causal=True),
    )
    toy.run(train(trainer, Progress(state=toy.state()), recorder))
    written = {name for point in recorder.metrics for name in point}
    assert written == {name for name in METRICS if not name.startswith(("eval/", "edges/"))}
