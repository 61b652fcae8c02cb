"""Progress: what an episode adds to it, and its exact way through a checkpoint."""

import io
import json
from dataclasses import replace

import pytest
import torch

from sero.credit import RoleCredit
from sero.errors import CardError
from sero.evolution.actions import Action, Operation, TrainPhase
from sero.evolution.controller import Decision
from sero.evolution.gate import Verdict
from sero.evolution.progress import Progress, progress_from_data, progress_to_data
from sero.evolution.proposal import Proposal
from sero.evolution.step import Step
from sero.inference.trace import Cost

ADD, REMOVE, NOOP = Operation.ADD, Operation.REMOVE, Operation.NOOP


def step(toy, operation=NOOP, *, target=None, score=0.5, committed=False, phase="main", **changes):
    state = toy.state()
    own = {
        "task": toy.tasks(2)[1],
        "phase": TrainPhase(phase),
        "before": toy.scored(score),
        "view": None,
        "decision": Decision(
            action=Action(operation=operation, target=None),
            log_prob=0.0,
            entropy=0.0,
            op_probs=(),
        ),
        "proposal": Proposal(operation=operation, target=target),
        "contracts": None,
        "verdict": Verdict(state=state, committed=committed),
    }
    return Step(**{**own, **changes})


def test_an_episode_moves_everything_on(toy):
    start = Progress(state=toy.state(), episode=4, commits=1, cost=Cost(calls=10, prompt_tokens=5))
    state = toy.state(credits={"adder": RoleCredit(fast=0.5)})
    done = start.after(
        step(toy, REMOVE, target="guesser", committed=True),
        state,
        Cost(calls=3, prompt_tokens=2, completion_tokens=1),
        keep=3,
    )
    assert done == Progress(
        state=state,
        episode=5,
        commits=2,
        changed=(True,),
        failures=("odd: scored 0.50",),
        removed=("guesser",),
        cost=Cost(calls=13, prompt_tokens=7, completion_tokens=1),
    )
    assert done.state is state


@pytest.mark.parametrize(
    ("phase", "committed", "changed"),
    [("warmup", True, ()), ("main", True, (True,)), ("main", False, (False,))],
)
def test_only_main_episodes_count_for_the_early_stop(toy, phase, committed, changed):
    done = Progress(state=toy.state()).after(
        step(toy, ADD, committed=committed, phase=phase), toy.state(), Cost(), keep=3
    )
    assert done.changed == changed
    assert done.commits == committed


@pytest.mark.parametrize(
    ("operation", "committed", "removed"),
    [(REMOVE, True, ("x",)), (REMOVE, False, ()), (ADD, True, ())],
)
def test_only_committed_removals_are_remembered(toy, operation, committed, removed):
    done = Progress(state=toy.state()).after(
        step(toy, operation, target="x", committed=committed), toy.state(), Cost(), keep=3
    )
    assert done.removed == removed


@pytest.mark.parametrize(("keep", "kept"), [(2, (3, 4)), (0, ()), (9, (0, 1, 2, 3, 4))])
def test_histories_keep_their_last_entries_oldest_first(toy, keep, kept):
    progress = Progress(state=toy.state())
    for i in range(5):
        once = step(toy, REMOVE, target=f"r{i}", score=i / 10, committed=True)
        progress = progress.after(once, toy.state(), Cost(), keep=keep)
    assert progress.removed == tuple(f"r{i}" for i in kept)
    assert progress.failures == tuple(f"odd: scored 0.{i}0" for i in kept)


def test_a_full_score_is_no_failure_and_an_unread_answer_says_so(toy):
    start = Progress(state=toy.state())
    assert start.after(step(toy, score=1.0), toy.state(), Cost(), keep=3).failures == ()
    unread = step(toy, before=toy.scored(0.0, answer=""))
    told = start.after(unread, toy.state(), Cost(), keep=3).failures
    assert told == ("odd: scored 0.00, no readable answer",)


def full_progress(toy):
    card = replace(
        toy.skilled("new", "exact", "carrying"),
        parent="adder",
        created_at=7,
        temperature=0.3,
        capability_tags=("tens",),
        system_prompt=("Skill: exact.", "", "ünicode \u2028 line", " spaces "),
    )
    state = toy.state(
        toy.seed_pool().without_role("adder-2").with_role(card),
        {
            "new": RoleCredit(n_bonus=3),
            "adder": RoleCredit(ema=0.1 + 0.2, loo=-1 / 3, fast=1e-17, n_updates=4, n_bonus=4),
            "checker": RoleCredit(fast=0.35),
        },
    )
    return Progress(
        state=state,
        episode=12,
        commits=3,
        changed=(True, False, False),
        failures=("odd: scored 0.50", "even: scored 0.00, no readable answer"),
        removed=("adder-2",),
        cost=Cost(calls=99, prompt_tokens=12345, completion_tokens=678),
        finished=True,
    )


@pytest.mark.parametrize("through", ["json", "torch"])
def test_progress_comes_back_exactly(toy, through):
    progress = full_progress(toy)
    data = progress_to_data(progress)
    if through == "json":
        data = json.loads(json.dumps(data))
    else:
        raw = io.BytesIO()
        torch.save(data, raw)
        data = torch.load(io.BytesIO(raw.getvalue()), weights_only=True)
    back = progress_from_data(data, max_prompt_chars=400)
    assert back == progress
    assert back.state.pool.hash == progress.state.pool.hash
    assert list(back.state.credit.roles) == list(progress.state.credit.roles)
    assert progress_to_data(back) == progress_to_data(progress)


def test_a_fresh_progress_comes_back_too(toy):
    progress = Progress(state=toy.state())
    assert progress_from_data(progress_to_data(progress), max_prompt_chars=400) == progress


def test_a_damaged_pool_is_named(toy):
    data = progress_to_data(full_progress(toy))
    data["roles"][0]["role_type"] = "critic"
    with pytest.raises(CardError, match=r"checkpoint: 1 problem[\s\S]*router\.role_type"):
        progress_from_data(data, max_prompt_chars=400)
