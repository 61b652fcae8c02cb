"""Edge learning on the toy: what an episode writes, and that nothing is lost or done twice."""

import asyncio
import itertools
import re
from dataclasses import replace

import pytest
import torch

from sero.backbones.scripted import ScriptedBackbone
from sero.errors import BudgetSpent, ServerUnavailable
from sero.evolution import trainer as algorithm2
from sero.evolution.edge_logits import EdgeLogits, forward, ordered_pairs
from sero.evolution.edge_training import EdgeTrainer, train_edges
from sero.evolution.progress import Progress, progress_from_data, progress_to_data
from sero.inference.trace import Cost
from sero.tracking import METRICS

PASSES, N_TRAIN, GRAPHS, EVERY = 4, 2, 3, 3
EPISODES = PASSES * N_TRAIN


def listening(request):
    """Who hears somebody knows the total; the score is 0, 0.5 or 1 for none, one or more such."""
    user = request.messages[-1].content
    total = sum(map(int, re.search(r"What is ([0-9]+) plus ([0-9]+)", user).groups()))
    if request.role == "checker":
        return "VERDICT: ok"
    if request.role == "scribe":
        right = user.count(f"ANSWER: {total}")
        return f"ANSWER: {total + max(0, 2 - right)}"
    return f"ANSWER: {total if '### Message from' in user else 7}"


class Interruptions:
    """Replies as above until the k-th call (from 1), where `strike(request)` happens."""

    def __init__(self, at, strike):
        self.at, self.strike, self.calls = at, strike, 0

    async def __call__(self, request):
        self.calls += 1
        if self.calls == self.at:
            await self.strike(request)
        return listening(request)


def edge_trainer(toy, backbone=None, *, encoder=None, **changes):
    """Eight episodes: gradient steps after 3, 6 and 8, checkpoints after 3 and 6."""
    own = {
        "tasks": toy.tasks(N_TRAIN),
        "roll": toy.roller(backbone or ScriptedBackbone(listening), encoder=encoder),
        "logits": EdgeLogits(
            ordered_pairs(toy.seed_pool().cards),
            initial=0.5,
            lr=0.3,
            graphs=GRAPHS,
            baseline="leave_one_out",
        ),
        "passes": PASSES,
        "threshold": 0.5,
        "checkpoint_every": EVERY,
        "run_seed": toy.SEED,
        "check_budget": lambda cost: None,
    }
    return EdgeTrainer(**{**own, **changes})


def everything(progress, recorder, trainer):
    """All that has to be equal after a resume; `str` shows every digit, tensors included."""
    return {
        "progress": progress_to_data(progress),
        "episodes": recorder.episodes,
        "metrics": recorder.metrics,
        "traces": recorder.traces,
        "logits": trainer.logits.probabilities.tobytes(),
        "state": str(trainer.logits.state()),
    }


def run_to_end(toy, trainer, recorder=None, progress=None):
    recorder = recorder or toy.Recorder()
    progress = progress or Progress(state=toy.state())
    return toy.run(train_edges(trainer, progress, recorder)), recorder


@pytest.fixture(scope="module")
def encoder(toy):
    return toy.Encoder()


@pytest.fixture(scope="module")
def undisturbed(toy, encoder):
    """(everything, number of calls) of a run in one go."""
    backbone = ScriptedBackbone(listening)
    trainer = edge_trainer(toy, backbone, encoder=encoder)
    progress, recorder = run_to_end(toy, trainer)
    return everything(progress, recorder, trainer), len(backbone.requests)


# ---- an undisturbed run


def test_each_pass_visits_every_task_in_the_order_sero_does(toy, undisturbed):
    visited = [row["task"] for row in undisturbed[0]["episodes"]]
    n = len(visited) // PASSES
    for start in range(0, len(visited), n):
        assert sorted(visited[start : start + n]) == sorted({t.id for t in toy.tasks(n)})
    both = list(zip(visited, algorithm2.schedule(toy.trainer(n_train=n), done=0), strict=False))
    assert len(both) >= 2 * n
    assert all(ours == theirs[3].id for ours, theirs in both)


def test_an_episode_leaves_the_line_of_an_episode_without_edit(toy, undisturbed):
    rows = undisturbed[0]["episodes"]
    plain = toy.Recorder()
    toy.run(algorithm2.train(toy.trainer(), Progress(state=toy.state()), plain))
    core = set(plain.episodes[0])
    seed = toy.seed_pool()
    for k, row in enumerate(rows, start=1):
        assert set(row) - core == {"edges"} | ({"edge_probabilities"} if k in (3, 6, 8) else set())
        assert core <= set(row)
        assert (row["episode"], row["verdict"], row["committed"]) == (k, "unchanged", False)
        assert row["reward"] == row["score_before"]
        assert (row["pool_size"], row["pool_hash"]) == (len(seed), seed.hash)
    assert {row["score_before"] for row in rows} == {0.0, 0.5, 1.0}


def test_edges_that_are_run_are_the_drawn_ones_that_go_forward(undisturbed):
    found = undisturbed[0]
    graphs = set()
    for row, trace in zip(found["episodes"], found["traces"], strict=True):
        rollout = trace["rollout"]
        assert [list(edge) for edge in rollout["edges"]] == row["edges"]
        flags = forward([tuple(edge) for edge in row["edges"]], rollout["order"])
        assert all(flags)
        assert trace["phase"] == "pre"
        graphs.add(str(row["edges"]))
    assert len(graphs) > 2


def test_only_pairs_that_were_candidates_are_learnt(toy, undisturbed):
    """The team is the router and two of three specialists; the validator is kept for repair."""
    last = undisturbed[0]["episodes"][-1]["edge_probabilities"]
    candidates = {
        pair
        for trace in undisturbed[0]["traces"]
        for pair in itertools.combinations(trace["rollout"]["order"], 2)
    }
    moved = {(a, b) for a, row in last.items() for b, p in row.items() if p != 0.5}
    assert moved
    assert moved <= candidates
    assert len(ordered_pairs(toy.seed_pool().cards)) == sum(map(len, last.values())) == 13


def test_probabilities_stand_after_every_step_and_metrics_carry_the_curves(undisturbed):
    found = undisturbed[0]
    for k, (row, point) in enumerate(zip(found["episodes"], found["metrics"], strict=True), 1):
        assert point.keys() <= METRICS.keys()
        stepped = {"edges/loss", "edges/grad_norm", "edges/frac_zero_std"} <= point.keys()
        assert stepped == ("edge_probabilities" in row) == (k in (3, 6, 8))
        assert point["edges/drawn"] == len(row["edges"])
        assert point["train/reward"] == row["reward"]
    announced = {name for name in METRICS if name.startswith("edges/")}
    assert {n for point in found["metrics"] for n in point if n.startswith("edges/")} == announced
    p = [v for row in found["episodes"][-1]["edge_probabilities"].values() for v in row.values()]
    assert found["metrics"][-1]["edges/probability"] == pytest.approx(sum(p) / len(p))
    assert found["metrics"][-1]["edges/likely"] == sum(v > 0.5 for v in p)


def test_costs_add_up_to_the_calls_that_were_made(undisturbed):
    found, n_calls = undisturbed
    assert sum(row["calls"] for row in found["episodes"]) == n_calls
    assert found["progress"]["cost"]["calls"] == n_calls == found["metrics"][-1]["cost/calls"]


def test_the_last_step_has_what_is_left_of_a_batch(toy):
    trainer = edge_trainer(
        toy,
        passes=1,
        logits=EdgeLogits(
            ordered_pairs(toy.seed_pool().cards), initial=0.5, lr=0.3, graphs=9, baseline="none"
        ),
    )
    _, recorder = run_to_end(toy, trainer)
    assert "edge_probabilities" in recorder.episodes[-1]
    assert trainer.logits.state()["batch"] == []


def test_checkpoints_come_on_their_cadence_and_at_the_end(toy):
    _, recorder = run_to_end(toy, edge_trainer(toy))
    seen = [recorder.resumed(i)[0] for i in range(len(recorder.checkpoints))]
    assert [body["progress"]["episode"] for body in seen] == [3, 6, 8]
    assert [body["progress"]["finished"] for body in seen] == [False, False, True]


def test_a_warm_role_draws_another_sample_in_every_episode(toy):
    """Both passes ask the same of a task; above T = 0 the sample's name tells them apart."""
    pool = toy.seed_pool()
    warm = pool.with_role(toy.skilled("warm", "near", "warming", temperature=0.5))
    backbone = ScriptedBackbone(listening)
    trainer = edge_trainer(toy, backbone, passes=3)
    run_to_end(toy, trainer, progress=Progress(state=toy.state(warm)))
    samples = {request.sample_index for request in backbone.requests if request.temperature > 0}
    asked = {index[2] for index in samples}
    assert all(index[:2] == (toy.SEED, "pre") for index in samples)
    assert len(asked) > 1


def test_a_pool_without_terminal_answers_nothing_and_learns_nothing(toy):
    silent = Progress(state=toy.state(toy.seed_pool().without_role("scribe")))
    trainer = edge_trainer(toy)
    progress, recorder = run_to_end(toy, trainer, progress=silent)
    assert progress.cost == Cost()
    assert {row["score_before"] for row in recorder.episodes} == {0.0}
    assert set(trainer.logits.probabilities) == {0.5}


def test_a_finished_run_is_left_alone(toy):
    backbone = ScriptedBackbone(listening)
    done = Progress(state=toy.state(), episode=EPISODES, finished=True)
    progress, recorder = run_to_end(toy, edge_trainer(toy, backbone), progress=done)
    assert progress is done
    assert (recorder.episodes, recorder.checkpoints, backbone.requests) == ([], [], [])


# ---- interruptions


def resumed_to_end(toy, recorder, encoder):
    """A new process: new parts, the checkpoint read back, the journals cut to it."""
    trainer = edge_trainer(toy, encoder=encoder)
    progress = None
    if recorder.checkpoints:
        body, recorder = recorder.resumed()
        trainer.logits.restore(body["controller"])
        progress = progress_from_data(body["progress"], max_prompt_chars=400)
    else:
        recorder = toy.Recorder()
    progress, recorder = run_to_end(toy, trainer, recorder, progress)
    return everything(progress, recorder, trainer)


async def trained(trainer, recorder, hold, progress):
    work = asyncio.ensure_future(train_edges(trainer, progress, recorder))
    hold.append(work)
    await asyncio.wait([work])
    left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    assert left == []
    if work.cancelled():
        return asyncio.CancelledError()
    return work.exception() or work.result()


async def cancel_and_wait(hold):
    hold[0].cancel()
    await asyncio.sleep(0)


async def fail(hold):
    raise ServerUnavailable("http://localhost:1 does not answer")


@pytest.mark.parametrize(
    ("strike", "error"), [(cancel_and_wait, asyncio.CancelledError), (fail, ServerUnavailable)]
)
def test_a_run_stopped_at_any_call_resumes_to_the_same_end(
    toy, encoder, undisturbed, strike, error
):
    expected, n_calls = undisturbed
    for at in range(1, n_calls + 1):
        hold = []
        interruption = Interruptions(at, lambda request, hold=hold: strike(hold))
        trainer = edge_trainer(toy, ScriptedBackbone(interruption), encoder=encoder)
        recorder = toy.Recorder()
        outcome = toy.run(trained(trainer, recorder, hold, Progress(state=toy.state())))
        assert isinstance(outcome, error | Progress), at
        n = recorder.resumed()[0]["progress"]["episode"]
        assert recorder.episodes == expected["episodes"][:n]
        assert recorder.traces == expected["traces"][:n]
        assert trainer.roll.ledger.take() == (Cost(), [])
        assert resumed_to_end(toy, recorder, encoder) == expected, at


def test_a_run_cancelled_at_any_turn_of_the_event_loop_resumes_to_the_same_end(
    toy, encoder, undisturbed
):
    expected, _ = undisturbed

    async def cancelled_after(turns, trainer, recorder):
        work = asyncio.ensure_future(train_edges(trainer, Progress(state=toy.state()), recorder))
        for _ in range(turns):
            await asyncio.sleep(0)
        work.cancel()
        await asyncio.wait([work])
        return work.cancelled()

    turns, cancelled = 0, True
    while cancelled:
        trainer, recorder = edge_trainer(toy, encoder=encoder), toy.Recorder()
        cancelled = toy.run(cancelled_after(turns, trainer, recorder))
        assert resumed_to_end(toy, recorder, encoder) == expected, turns
        turns += 1
    assert turns > 50


def test_a_killed_process_resumes_from_any_checkpoint(toy, encoder, undisturbed):
    """A checkpoint after every episode; no way out was taken, as after SIGKILL."""
    expected, _ = undisturbed
    _, recorder = run_to_end(toy, edge_trainer(toy, encoder=encoder, checkpoint_every=1))
    assert len(recorder.checkpoints) == EPISODES + 1
    for i in range(EPISODES + 1):
        _, cut = recorder.resumed(i)
        cut.checkpoints = [recorder.checkpoints[i]]
        assert resumed_to_end(toy, cut, encoder) == expected


@pytest.mark.parametrize("room", [0, 1, 4, 7])
def test_a_spent_budget_stops_between_episodes_and_the_run_goes_on_later(
    toy, encoder, undisturbed, room
):
    expected, _ = undisturbed
    seen = []

    def check(cost):
        seen.append(cost.calls)
        if len(seen) > room:
            raise BudgetSpent("budget.calls: spent")

    trainer = edge_trainer(toy, encoder=encoder, check_budget=check)
    recorder = toy.Recorder()
    with pytest.raises(BudgetSpent):
        toy.run(train_edges(trainer, Progress(state=toy.state()), recorder))
    assert len(recorder.episodes) == room
    assert seen == [sum(r["calls"] for r in expected["episodes"][:n]) for n in range(room + 1)]
    assert resumed_to_end(toy, recorder, encoder) == expected


def test_an_unexpected_error_leaves_the_last_checkpoint_as_it_is(toy):
    async def bug(request):
        raise ZeroDivisionError

    interruption = Interruptions(45, bug)
    recorder = toy.Recorder()
    trainer = edge_trainer(toy, ScriptedBackbone(interruption))
    with pytest.raises(ZeroDivisionError):
        run_to_end(toy, trainer, recorder)
    assert [recorder.resumed(i)[0]["progress"]["episode"] for i in range(2)] == [3, 6]
    assert len(recorder.checkpoints) == 2


def test_replies_are_durable_before_an_episode_is_written(toy):
    backbone = ScriptedBackbone(listening)
    marks = []
    trainer = edge_trainer(toy, backbone)
    roll = replace(trainer.roll, commit=lambda: marks.append(len(backbone.requests)))
    recorder = toy.Recorder(
        after_episode=lambda n: marks.append(("episode", len(backbone.requests)))
    )
    run_to_end(toy, replace(trainer, roll=roll), recorder)
    written = [
        (before, after) for before, after in itertools.pairwise(marks) if isinstance(after, tuple)
    ]
    assert len(written) == EPISODES
    assert all(after == ("episode", before) for before, after in written)


def test_a_checkpoint_loads_without_running_code(toy):
    _, recorder = run_to_end(toy, edge_trainer(toy))
    state = recorder.resumed()[0]["controller"]  # weights_only=True read it
    assert isinstance(state["logits"], torch.Tensor)
    assert state["optimizer"]["state"][0]["step"] == 3
