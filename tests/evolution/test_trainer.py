"""Algorithm 2 end to end on the toy, and every way it can be interrupted."""

import asyncio
import itertools
from collections import Counter
from dataclasses import replace

import pytest
import torch

from sero.backbones.base import Phase
from sero.backbones.scripted import ScriptedBackbone
from sero.errors import BudgetSpent, ServerUnavailable
from sero.evolution.actions import Action, Operation, TrainPhase
from sero.evolution.gate import ScoreGate
from sero.evolution.progress import Progress, progress_from_data, progress_to_data
from sero.evolution.sections import EarlyStopConfig, TrainConfig
from sero.evolution.trainer import refreshed_credit, schedule, train, train_step
from sero.inference.trace import Cost

ADD = Action(operation=Operation.ADD, target=None)
NOOP = Action(operation=Operation.NOOP, target=None)
WARMUP, MAIN = TrainPhase.WARMUP, TrainPhase.MAIN


def remove(index):
    return Action(operation=Operation.REMOVE, target=index)


def run_to_end(toy, trainer, recorder=None, progress=None):
    recorder = recorder if recorder is not None else toy.Recorder()
    progress = progress or Progress(state=toy.state())
    return toy.run(train(trainer, progress, recorder)), recorder


# ---- the schedule


def test_each_epoch_is_a_permutation_and_warm_up_comes_first(toy):
    cfg = TrainConfig(warmup_epochs=2, main_epochs=3, batch=4, checkpoint_every=9)
    rows = list(schedule(toy.trainer(n_train=7, train=cfg), done=0))
    assert [episode for episode, *_ in rows] == list(range(1, 36))
    assert [epoch for _, epoch, *_ in rows] == [1 + i // 7 for i in range(35)]
    assert [phase for _, _, phase, _ in rows] == [WARMUP] * 14 + [MAIN] * 21
    orders = [tuple(task.id for *_, task in rows[7 * e : 7 * e + 7]) for e in range(5)]
    for order in orders:
        assert sorted(order) == [f"sum-{i}" for i in range(7)]
    assert len(set(orders)) == 5  # 7! orders: five equal ones would be no accident


def test_the_schedule_goes_on_in_the_middle_of_an_epoch(toy):
    trainer = toy.trainer(n_train=3, train=replace(toy.TRAIN, warmup_epochs=2, main_epochs=2))
    rows = list(schedule(trainer, done=0))
    for done in range(13):
        assert list(schedule(trainer, done=done)) == rows[done:]


def test_the_order_is_a_function_of_the_seed(toy):
    orders = {
        seed: tuple(t.id for *_, t in schedule(toy.trainer(n_train=7, run_seed=seed), done=0))
        for seed in (1, 2)
    }
    assert orders[1] != orders[2]


@pytest.mark.parametrize(("warmup", "main"), [(0, 1), (1, 0), (0, 0)])
def test_a_phase_may_be_empty(toy, warmup, main):
    cfg = replace(toy.TRAIN, warmup_epochs=warmup, main_epochs=main)
    phases = [phase for _, _, phase, _ in schedule(toy.trainer(train=cfg), done=0)]
    assert phases == [WARMUP] * 2 * warmup + [MAIN] * 2 * main
    progress, recorder = run_to_end(toy, toy.trainer(train=cfg))
    assert progress.finished
    assert progress.episode == len(recorder.episodes) == len(phases)


# ---- one episode


@pytest.fixture
def one_step(toy):
    """One `train_step` in the main phase with a given action; (step, state before, trainer)."""

    def one_step(action, *, state=None, reply=None, phase=MAIN, **changes):
        backbone = ScriptedBackbone(reply or toy.reply)
        trainer = toy.trainer(backbone, controller=toy.Fixed([action]), **changes)
        progress = Progress(state=state or toy.state())
        step = toy.run(train_step(trainer, toy.tasks()[0], phase, progress, 1))
        return step, progress.state, trainer

    return one_step


def editor_says(toy, text):
    return lambda request: text if request.role == "editor" else toy.reply(request)


EXACT = ("Skill: exact.", "alpha beta gamma delta epsilon")


def test_noop_keeps_the_fast_credit_of_the_rollout(one_step):
    step, before, _ = one_step(NOOP)
    state = step.verdict.state
    fast = step.before.rollout.final_fast
    assert set(fast) >= {"router"}
    assert {name: state.credit[name].fast for name in fast} == fast
    assert state.pool is before.pool
    assert before.credit.roles == {}  # the state of before is as it was
    assert (step.outcome, step.verdict.reward, step.contracts) == ("unchanged", 0.0, None)


def test_the_controller_sees_the_fresh_fast_credit_and_the_score(one_step, toy):
    step, _, trainer = one_step(NOOP)
    (view,) = trainer.controller.views
    assert view is step.view
    assert view.state is step.verdict.state
    assert view.score == step.before.value
    assert view.anchors == (False, True, True, True, False, False)
    assert view.legal.targets == (False, True, False, True, False, False)
    assert view.legal.operations == (True, True, True)


def test_a_rejected_edit_returns_the_state_that_stood_before_it(one_step, toy):
    """A card that changes nothing, in the main phase: run, and not taken."""
    useless = toy.card_json("idle", capability_family="idling",
                            system_prompt=["Skill: none.", "zeta eta theta iota"])  # fmt: skip
    step, _, _ = one_step(ADD, reply=editor_says(toy, useless))
    assert step.verdict.score_after is not None
    assert step.verdict.state is step.view.state
    assert step.proposal.candidate.pool.names[-1] == "idle"
    assert (step.outcome, step.verdict.committed) == ("rejected", False)


def test_an_edit_refused_by_a_guard_is_not_run(one_step):
    step, _, trainer = one_step(remove(5))  # the protected terminal
    assert step.verdict.state is step.view.state
    codes = [reason.code for reason in step.verdict.reasons]
    assert codes == ["protected", "family_lost", "terminal_count"]
    assert (step.verdict.reward, step.verdict.score_after) == (0.0, None)
    assert [c.name for c in step.contracts if not c.holds] == [
        "capability",
        "communication",
        "aggregation",
        "output",
    ]
    _, traces = trainer.roll.ledger.take()
    assert [trace["phase"] for trace in traces] == ["pre"]


def test_a_committed_add_brings_its_own_fast_credit_and_a_bonus_count(one_step, toy):
    """`near` alone is one off (.5); one vote each, and the vote takes the smaller: exact (1)."""
    good = toy.card_json("helper", capability_family="carrying", system_prompt=list(EXACT))
    pool = toy.seed_pool().without_role("guesser").without_role("adder-2")
    trainer_guard = toy.guard(own_terms=toy.terms(seed_families=pool.families))
    step, before, _ = one_step(
        ADD, state=toy.state(pool), reply=editor_says(toy, good), guard=trainer_guard
    )
    verdict = step.verdict
    assert (step.before.value, verdict.score_after, verdict.reward) == (0.5, 1.0, 0.5)
    assert (step.outcome, verdict.committed) == ("committed", True)
    state = verdict.state
    assert state.pool.names == (*pool.names, "helper")
    newcomer = state.credit["helper"]
    assert (newcomer.ema, newcomer.loo, newcomer.n_updates) == (0.0, 0.0, 0)
    assert newcomer.n_bonus == toy.CREDIT.new_n
    assert newcomer.fast is not None
    assert state.credit["adder"].fast != step.view.state.credit["adder"].fast
    assert "helper" not in before.pool


def test_a_committed_remove_drops_the_role_from_the_credit(one_step, toy):
    gate = ScoreGate(
        cfg=replace(toy.GATE, kind="none"), strict_add=False, train=toy.tasks(), run_seed=1
    )
    step, _, _ = one_step(remove(3), gate=gate)
    state = step.verdict.state
    assert step.verdict.committed
    assert "adder-2" not in state.pool
    assert "adder-2" not in state.credit.roles
    assert set(state.credit.roles) <= set(state.pool.names)


def test_warm_up_is_told_to_masks_and_observation(one_step):
    step, _, _ = one_step(NOOP, phase=WARMUP)
    assert step.view.legal.operations == (True, False, True)
    assert step.phase is step.view.phase is WARMUP


def test_the_refresh_happens_on_schedule_only(toy):
    trainer = toy.trainer()
    state = toy.state()
    kept = toy.run(refreshed_credit(trainer, state, 1))
    assert kept.state is state
    assert kept.loo is None
    new = toy.run(refreshed_credit(trainer, state, 2))
    assert new.state.pool is state.pool
    assert set(new.state.credit.roles) == set(new.loo)


# ---- a whole run

LONG = TrainConfig(warmup_epochs=3, main_epochs=4, batch=4, checkpoint_every=5)


@pytest.fixture(scope="module")
def long_run(toy):
    """14 episodes undisturbed: (progress, recorder, trainer)."""
    trainer = toy.trainer(train=LONG)
    progress, recorder = run_to_end(toy, trainer)
    return progress, recorder, trainer


def test_a_run_goes_through_its_whole_plan(long_run, toy):
    progress, recorder, _ = long_run
    assert [record["episode"] for record in recorder.episodes] == list(range(1, 15))
    assert [record["phase"] for record in recorder.episodes] == ["warmup"] * 6 + ["main"] * 8
    assert (progress.episode, progress.finished) == (14, True)
    assert progress.changed == tuple(r["committed"] for r in recorder.episodes[6:])
    assert progress.commits == sum(r["committed"] for r in recorder.episodes) > 0
    outcomes = Counter(record["verdict"] for record in recorder.episodes)
    assert set(outcomes) == {"committed", "rejected", "unchanged"}


def test_the_pool_changes_with_commits_only(long_run, toy):
    _, recorder, _ = long_run
    pool_hash = toy.seed_pool().hash
    for record in recorder.episodes:
        assert (record["pool_hash"] != pool_hash) is record["committed"]
        pool_hash = record["pool_hash"]
        if record["committed"]:
            assert recorder.pools[record["episode"]].pool.hash == pool_hash
    assert set(recorder.pools) == {r["episode"] for r in recorder.episodes if r["committed"]}


def test_costs_add_up_and_match_the_traces(long_run):
    progress, recorder, trainer = long_run
    calls = sum(record["calls"] for record in recorder.episodes)
    assert progress.cost.calls == calls == len(trainer.roll.parts.backbone.requests)
    tokens = sum(record["completion_tokens"] for record in recorder.episodes)
    assert progress.cost.completion_tokens == tokens
    for record in recorder.episodes:
        own = [trace for trace in recorder.traces if trace["episode"] == record["episode"]]
        assert own[0]["phase"] == "pre"
        assert own[0]["score"] == record["score_before"]
        said = [m for t in own for m in (t.get("messages") or t["rollout"]["messages"])]
        assert len(said) == record["calls"]
    assert trainer.roll.ledger.take() == (Cost(), [])


def test_refreshes_follow_the_episode_number(long_run, toy):
    _, recorder, _ = long_run
    for record in recorder.episodes:
        assert (record["loo"] is not None) is (record["episode"] % toy.CREDIT.loo_every == 0)


def test_gradient_steps_come_every_batch_and_the_last_is_flushed(long_run, toy):
    _, recorder, trainer = long_run
    learnt = [i + 1 for i, row in enumerate(recorder.metrics) if "controller/loss" in row]
    assert learnt == [4, 8, 12]
    assert trainer.controller.pending == 0
    # the two episodes behind the last full batch moved the weights once more
    body, _ = recorder.resumed()
    steps = {int(s["step"]) for s in body["controller"]["optimizer"]["state"].values()}
    assert max(steps) == 4  # the target head takes part only where a Remove was sampled
    assert body["controller"]["buffer"] == []


def test_the_editor_is_told_of_recent_failures_and_removals(toy):
    """Episodes 1 and 2 score .5; episode 2 removes adder-2; episode 3 asks for a card."""
    cfg = TrainConfig(warmup_epochs=0, main_epochs=2, batch=9, checkpoint_every=9)
    trainer = toy.trainer(
        train=cfg,
        controller=toy.Fixed([NOOP, remove(3), ADD, NOOP]),
        gate=ScoreGate(
            cfg=replace(toy.GATE, kind="none"), strict_add=False, train=toy.tasks(), run_seed=1
        ),
    )
    _, recorder = run_to_end(toy, trainer)
    assert [record["score_before"] for record in recorder.episodes[:2]] == [0.5, 0.5]
    told = next(r for r in trainer.roll.parts.backbone.requests if r.role == "editor")
    text = told.messages[-1].content
    groups = [record["group"] for record in recorder.episodes[:2]]
    lines = "\n".join(f"- {group}: scored 0.50" for group in groups)
    assert f"### Recent failures\n{lines}\n\n### Recently removed\nadder-2\n" in text


def test_rewards_reach_the_controller(toy):
    controller = toy.Fixed([NOOP, ADD, remove(3), NOOP])
    progress, recorder = run_to_end(toy, toy.trainer(controller=controller))
    assert controller.rewards == [record["reward"] for record in recorder.episodes]
    assert controller.updates == 0  # nothing due, nothing pending
    assert progress.finished


def test_checkpoints_come_on_their_cadence_and_at_the_end(long_run):
    _, recorder, _ = long_run
    bodies = [recorder.resumed(i)[0] for i in range(len(recorder.checkpoints))]
    assert [body["progress"]["episode"] for body in bodies] == [5, 10, 14]
    assert [body["progress"]["finished"] for body in bodies] == [False, False, True]
    assert [body["lengths"][0] for body in bodies] == [5, 10, 14]


def test_a_finished_run_is_left_alone(long_run, toy):
    progress, _, _ = long_run
    again = toy.trainer(train=LONG)
    fresh = toy.Recorder()
    assert run_to_end(toy, again, fresh, progress)[0] is progress
    assert fresh.checkpoints == []
    assert again.roll.parts.backbone.requests == []


def test_early_stop_ends_the_run_after_the_window(toy):
    """Window 4, threshold .7: three unchanged of four (.75) stop, so Noop stops at 2 + 4."""
    cfg = EarlyStopConfig(enabled=True, window=4, threshold=0.7, min_episodes=4, one_pass=False)
    train_cfg = TrainConfig(warmup_epochs=1, main_epochs=9, batch=4, checkpoint_every=100)
    controller = toy.controller(batch=4)
    noop_only = toy.trainer(train=train_cfg, early_stop=cfg, controller=toy.Fixed([NOOP] * 20))
    progress, recorder = run_to_end(toy, noop_only)
    assert (progress.episode, progress.finished) == (6, True)
    assert progress.changed == (False,) * 4
    assert len(recorder.checkpoints) == 1
    # the batch that was open at the stop is flushed as well: 6 = 4 + 2
    learner = toy.trainer(train=train_cfg, early_stop=cfg, controller=controller)
    progress, recorder = run_to_end(toy, learner)
    assert progress.finished
    assert progress.episode < 20
    assert controller.pending == 0
    steps = recorder.resumed()[0]["controller"]["optimizer"]["state"][0]["step"]
    assert int(steps) == -(-progress.episode // 4)


# ---- interruptions

SHORT = TrainConfig(warmup_epochs=1, main_epochs=1, batch=2, checkpoint_every=3)


def everything(progress, recorder, controller):
    """All that has to be equal after a resume."""
    return {
        "progress": progress_to_data(progress),
        "episodes": recorder.episodes,
        "metrics": recorder.metrics,
        "traces": recorder.traces,
        "pools": recorder.pools,
        "controller": controller.state(),
    }


def assert_bit_equal(left, right, path=""):
    assert type(left) is type(right), path
    if isinstance(left, torch.Tensor):
        assert left.dtype == right.dtype
        assert torch.equal(left, right), path
    elif isinstance(left, dict):
        assert list(left) == list(right), path
        for key in left:
            assert_bit_equal(left[key], right[key], f"{path}.{key}")
    elif isinstance(left, list):
        assert len(left) == len(right), path
        for i, pair in enumerate(zip(left, right, strict=True)):
            assert_bit_equal(*pair, f"{path}[{i}]")
    else:
        assert left == right, path


def short_trainer(toy, backbone, encoder):
    return toy.trainer(backbone, train=SHORT, encoder=encoder)


@pytest.fixture(scope="module")
def encoder(toy):
    return toy.Encoder()


@pytest.fixture(scope="module")
def undisturbed(toy, encoder):
    """Four episodes with all that can be interrupted in them; (everything, number of calls)."""
    backbone = ScriptedBackbone(toy.reply)
    trainer = short_trainer(toy, backbone, encoder)
    progress, recorder = run_to_end(toy, trainer)
    verdicts = {record["verdict"] for record in recorder.episodes}
    assert verdicts == {"committed", "rejected", "unchanged"}
    phases = {trace["phase"] for trace in recorder.traces}
    assert phases == {"pre", "edit", "post", "loo"}
    assert recorder.episodes[0]["action"] == "add"
    assert [t["phase"] for t in recorder.traces if t["episode"] == 1].count("edit") == 2
    return everything(progress, recorder, trainer.controller), len(backbone.requests)


def resumed_to_end(toy, recorder, encoder):
    """A new process: new parts, the checkpoint read back, the journals cut to it."""
    trainer = short_trainer(toy, ScriptedBackbone(toy.reply), encoder)
    progress = Progress(state=toy.state())
    if recorder.checkpoints:
        body, recorder = recorder.resumed()
        trainer.controller.restore(body["controller"])
        progress = progress_from_data(body["progress"], max_prompt_chars=400)
    else:
        recorder = toy.Recorder()
    progress, recorder = run_to_end(toy, trainer, recorder, progress)
    return everything(progress, recorder, trainer.controller)


@pytest.fixture(scope="module")
def assert_resumes(toy, encoder, undisturbed):
    """Whatever stopped a run, it goes on to the undisturbed end.

    A new process knows what was left and nothing else, so one whose leavings are those of an
    earlier one, bit for bit, need not be run again.
    """
    known = {}

    def assert_resumes(recorder, where):
        body, cut = assert_whole_episodes(recorder, undisturbed[0])
        left = [body, cut.episodes, cut.metrics, cut.traces, cut.pools]
        episode = body["progress"]["episode"]
        if episode not in known:
            assert_bit_equal(resumed_to_end(toy, recorder, encoder), undisturbed[0], where)
            known[episode] = left
        assert_bit_equal(left, known[episode], where)

    return assert_resumes


async def trained(trainer, recorder, progress, hold):
    """Train in a task of its own, which `hold` makes known; its outcome or its exception."""
    work = asyncio.ensure_future(train(trainer, progress, recorder))
    hold.append(work)
    await asyncio.wait([work])
    left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    assert left == []  # nothing goes on behind the back of a stopped run
    if work.cancelled():
        return asyncio.CancelledError()
    return work.exception() or work.result()


def interrupted(toy, encoder, at, strike):
    """A run that is struck at its `at`-th call; (outcome, recorder, calls that were made)."""
    hold = []
    interruption = toy.Interruptions(at, lambda request: strike(hold))
    trainer = short_trainer(toy, ScriptedBackbone(interruption), encoder)
    recorder = toy.Recorder()
    outcome = toy.run(trained(trainer, recorder, Progress(state=toy.state()), hold))
    assert trainer.roll.ledger.take() == (Cost(), [])
    return outcome, recorder


async def cancel_and_wait(hold):
    hold[0].cancel()
    await asyncio.sleep(0)


async def cancel_and_answer(hold):
    hold[0].cancel()


async def fail(hold):
    raise ServerUnavailable("http://localhost:1 does not answer")


async def fail_after_a_while(hold):
    for _ in range(3):
        await asyncio.sleep(0)
    raise ServerUnavailable("http://localhost:1 does not answer")


def assert_whole_episodes(recorder, expected):
    """The checkpoint covers a prefix of the undisturbed run, and nothing more was written.

    Returns the checkpoint, and what a new process finds of the recorder.
    """
    body, cut = recorder.resumed()
    n = body["progress"]["episode"]
    assert body["lengths"][0] == len(recorder.episodes) == n
    assert recorder.episodes == expected["episodes"][:n]
    assert recorder.traces == expected["traces"][: body["lengths"][2]]
    assert all(trace["episode"] <= n for trace in recorder.traces)
    return body, cut


@pytest.mark.parametrize(("strike", "stride"), [(cancel_and_wait, 3), (cancel_and_answer, 3)])
def test_a_run_cancelled_at_any_call_resumes_to_the_same_end(
    toy, encoder, undisturbed, assert_resumes, strike, stride
):
    _, n_calls = undisturbed
    for at in range(1, n_calls + 1, stride):
        outcome, recorder = interrupted(toy, encoder, at, strike)
        if isinstance(outcome, Progress):  # the very last call answered, and the run was over
            assert at == n_calls
        else:
            assert isinstance(outcome, asyncio.CancelledError), at
        assert_resumes(recorder, f"call {at}: ")


def test_a_run_cancelled_at_any_turn_of_the_event_loop_resumes_to_the_same_end(
    toy, encoder, assert_resumes
):
    """Between any two awaits, whether a call is under way or not."""

    async def cancelled_after(turns, trainer, recorder):
        async def strike(hold):
            for _ in range(turns):
                await asyncio.sleep(0)
            hold[0].cancel()

        hold = []
        striking = asyncio.ensure_future(strike(hold))
        work = asyncio.ensure_future(train(trainer, Progress(state=toy.state()), recorder))
        hold.append(work)
        await asyncio.wait([work])
        striking.cancel()
        await asyncio.wait([striking])
        return work.cancelled()

    turns, cancelled = 0, True
    while cancelled:
        trainer = short_trainer(toy, ScriptedBackbone(toy.reply), encoder)
        recorder = toy.Recorder()
        cancelled = toy.run(cancelled_after(turns, trainer, recorder))
        if turns:
            assert_resumes(recorder, f"turn {turns}: ")
        else:
            assert recorder.checkpoints == []  # the run was not even begun
        turns += 1
    assert turns > 50


@pytest.mark.parametrize(("strike", "stride"), [(fail, 1), (fail_after_a_while, 3)])
def test_a_machine_that_fails_at_any_call_rolls_the_episode_back(
    toy, encoder, undisturbed, assert_resumes, strike, stride
):
    _, n_calls = undisturbed
    for at in range(1, n_calls + 1, stride):
        outcome, recorder = interrupted(toy, encoder, at, strike)
        assert isinstance(outcome, ServerUnavailable), at
        assert_resumes(recorder, f"call {at}: ")


def test_a_cancellation_between_two_episodes_keeps_both_whole(toy, encoder, undisturbed):
    """A signal that comes while no call is under way waits for the next episode's start."""
    expected, _ = undisturbed
    for last in range(1, 5):
        hold = []
        recorder = toy.Recorder(
            after_episode=lambda n, last=last, hold=hold: (
                asyncio.get_running_loop().call_soon(hold[0].cancel) if n == last else None
            )
        )
        trainer = short_trainer(toy, ScriptedBackbone(toy.reply), encoder)
        outcome = toy.run(trained(trainer, recorder, Progress(state=toy.state()), hold))
        assert isinstance(outcome, Progress if last == 4 else asyncio.CancelledError)
        assert len(recorder.episodes) == last
        assert_whole_episodes(recorder, expected)
        assert_bit_equal(resumed_to_end(toy, recorder, encoder), expected)


def test_a_signal_comes_in_even_where_no_call_is_made(toy):
    """A pool that lost its terminal asks nobody, so no call suspends the run."""
    hold = []
    recorder = toy.Recorder(
        after_episode=lambda n: asyncio.get_running_loop().call_soon(hold[0].cancel)
    )
    trainer = toy.trainer(controller=toy.Fixed([NOOP] * 4), credit=replace(toy.CREDIT, loo_every=0))
    silent = Progress(state=toy.state(toy.seed_pool().without_role("scribe")))
    outcome = toy.run(trained(trainer, recorder, silent, hold))
    assert isinstance(outcome, asyncio.CancelledError)
    assert len(recorder.episodes) == 1


def test_a_run_interrupted_again_and_again_gets_there(toy, encoder, undisturbed):
    """Every process fails at its 50th call: one or two episodes each, none lost, none twice."""
    expected, _ = undisturbed
    recorder, progress = toy.Recorder(), Progress(state=toy.state())
    controller_state, restarts = None, 0
    while True:
        hold = []
        interruption = toy.Interruptions(50, lambda request: fail(None))
        trainer = short_trainer(toy, ScriptedBackbone(interruption), encoder)
        if controller_state is not None:
            trainer.controller.restore(controller_state)
        outcome = toy.run(trained(trainer, recorder, progress, hold))
        if isinstance(outcome, Progress):
            break
        restarts += 1
        assert restarts < 20
        body, recorder = recorder.resumed()
        progress = progress_from_data(body["progress"], max_prompt_chars=400)
        controller_state = body["controller"]
    assert restarts >= 2
    assert_bit_equal(everything(outcome, recorder, trainer.controller), expected)


def test_a_killed_process_resumes_from_any_checkpoint(toy, encoder, undisturbed):
    """Checkpoints after every episode; no way out was taken, as after SIGKILL."""
    expected, _ = undisturbed
    every = toy.trainer(encoder=encoder, train=replace(SHORT, checkpoint_every=1))
    _, recorder = run_to_end(toy, every)
    assert len(recorder.checkpoints) == 5  # four episodes and the end
    for i in range(5):
        _, cut = recorder.resumed(i)
        cut.checkpoints = [recorder.checkpoints[i]]
        assert_bit_equal(resumed_to_end(toy, cut, encoder), expected)


def test_an_unexpected_error_leaves_the_last_checkpoint_as_it_is(toy, encoder):
    """A fault of the program is no way to stop: nothing is saved over the checkpoint."""

    async def bug(hold):
        raise ZeroDivisionError

    recorder = interrupted_by_bug(toy, encoder, bug)
    assert len(recorder.checkpoints) == 1
    assert recorder.resumed()[0]["progress"]["episode"] == 3


def interrupted_by_bug(toy, encoder, bug):
    trainer = short_trainer(toy, ScriptedBackbone(toy.reply), encoder)
    _, whole = run_to_end(toy, trainer)
    calls_of_three = sum(record["calls"] for record in whole.episodes[:3])
    interruption = toy.Interruptions(calls_of_three + 2, bug)
    trainer = short_trainer(toy, ScriptedBackbone(interruption), encoder)
    recorder = toy.Recorder()
    with pytest.raises(ZeroDivisionError):
        toy.run(train(trainer, Progress(state=toy.state()), recorder))
    return recorder


@pytest.mark.parametrize("room", [0, 1, 2, 3])
def test_a_spent_budget_stops_between_episodes_and_the_run_goes_on_later(
    toy, encoder, undisturbed, room
):
    expected, n_calls = undisturbed
    seen = []

    def check(cost):
        seen.append(cost)
        if len(seen) > room:
            raise BudgetSpent("budget.calls: spent")

    trainer = toy.trainer(train=SHORT, encoder=encoder, check_budget=check)
    recorder = toy.Recorder()
    with pytest.raises(BudgetSpent):
        toy.run(train(trainer, Progress(state=toy.state()), recorder))
    assert len(recorder.episodes) == room
    assert seen[0] == Cost()
    totals = [sum(r["calls"] for r in expected["episodes"][:n]) for n in range(room + 1)]
    assert [cost.calls for cost in seen] == totals
    assert len(trainer.roll.parts.backbone.requests) == totals[-1]  # no call was made for nothing
    assert_whole_episodes(recorder, expected)
    assert_bit_equal(resumed_to_end(toy, recorder, encoder), expected)
    assert n_calls == sum(record["calls"] for record in expected["episodes"])


def test_replies_are_durable_before_anything_depends_on_them(toy):
    """A commit before and after each rollout and editor call, none while one is under way."""
    at_commit = []
    trainer = toy.trainer()
    backbone = trainer.roll.parts.backbone

    def commit():
        at_commit.append(len(backbone.requests))

    trainer = replace(
        trainer,
        roll=replace(trainer.roll, commit=commit),
        editor=replace(trainer.editor, commit=commit),
    )
    recorder = toy.Recorder(
        after_episode=lambda n: at_commit.append(("episode", len(backbone.requests)))
    )
    run_to_end(toy, trainer, recorder)
    assert len([c for c in at_commit if isinstance(c, int)]) == 2 * len(recorder.traces)
    for before, after in itertools.pairwise(at_commit):
        if isinstance(after, tuple):
            assert after == ("episode", before)  # no reply is open when an episode is written


def test_phases_of_calls(toy):
    """Pre, edit and post calls of one episode at T > 0 are different samples of one run."""
    trainer = toy.trainer(train=replace(toy.TRAIN, main_epochs=0))
    run_to_end(toy, trainer)
    editor = [r for r in trainer.roll.parts.backbone.requests if r.role == "editor"]
    assert editor
    assert all(r.sample_index[:2] == (toy.SEED, str(Phase.EDIT)) for r in editor)
