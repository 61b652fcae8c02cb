"""A method on a split: order, look-ahead, failures, stopping, and the summary."""

import asyncio
import contextlib
import dataclasses
import random
import time
from types import MappingProxyType

import pytest

from sero.backbones.base import Phase
from sero.benchmarks.base import TIMED_OUT, Parsed, Score, Task
from sero.errors import (
    BackboneError,
    DeadlineExceeded,
    MalformedReply,
    RequestRejected,
    ServerUnavailable,
    StorageError,
    UserError,
)
from sero.evaluation import (
    REORDER,
    Prediction,
    Summary,
    concerns_everybody,
    evaluate,
    evaluate_item,
    failed,
    summarise,
)
from sero.evolution.rolling import score_rollout
from sero.inference.trace import CallKind, Cost, RoleMessage, Rollout

SEED = 5
ITEM_ERRORS = (
    RequestRejected("too long", status=400),
    RequestRejected("unprocessable", status=422),
    DeadlineExceeded("no answer within 60 s"),
    MalformedReply("no choices"),
    ServerUnavailable("still failing", status=503),
)
FATAL_ERRORS = (
    ServerUnavailable("nobody there"),
    RequestRejected("bad key", status=401),
    RequestRejected("forbidden", status=403),
    RequestRejected("no such model", status=404),
)


def tasks(n):
    return tuple(
        Task(id=f"t{i}", group=f"g{i % 2}", prompt=str(i), reference=MappingProxyType({"gold": i}))
        for i in range(n)
    )


class Echo:
    """The right answer is the prompt; nothing else is parsed."""

    name, scorer, simulated, output_protocol = "echo", "equal", False, "a number"
    scores_slowly = False

    def parse(self, prompt, response):
        answer = response if response.isdigit() else None
        return Parsed(answer=answer, text=response, reason="" if answer else "no number")

    def score(self, parsed, task):
        if parsed.answer is None:
            return Score(value=0.0, reason="")
        right = parsed.answer == str(task.reference["gold"])
        metrics = MappingProxyType({"digits": float(len(parsed.answer))})
        return Score(value=float(right), reason="equal" if right else "differs", metrics=metrics)


def rollout(answer, *, reason=""):
    message = RoleMessage(
        role="scribe",
        kind=CallKind.AGGREGATE,
        round=1,
        text=answer,
        finish_reason="stop",
        prompt_tokens=10,
        completion_tokens=2,
        cached=True,
        latency_s=0.0,
        retries=0,
        trimmed=0,
    )
    return Rollout(
        team=("scribe",),
        order=(),
        edges=(),
        levels=(),
        similarity={},
        fast={},
        final_fast={},
        messages=(message, message),
        answer=answer,
        reason=reason,
    )


class Answers:
    """A method whose answers are given by a rule of the item's number, plain or async."""

    name, state = "answers", None

    def __init__(self, rule=str):
        self._rule = rule
        self.begun, self.calls, self.at_once, self.most_at_once = [], [], 0, 0

    async def answer(self, prompt, call):
        self.begun.append(int(prompt))
        self.calls.append(call)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            outcome = self._rule(int(prompt))
            if asyncio.iscoroutine(outcome):
                outcome = await outcome
        finally:
            self.at_once -= 1
        if isinstance(outcome, Exception):
            raise outcome
        return outcome if isinstance(outcome, Rollout) else rollout(outcome)


def others():
    return [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]


async def alive():
    """The server answers."""


async def collect(method, items, *, concurrency=4, into=None, check_alive=alive):
    found = [] if into is None else into
    evaluated = evaluate(
        method,
        items,
        Echo(),
        run_seed=SEED,
        concurrency=concurrency,
        check_alive=check_alive,
    )
    async with contextlib.aclosing(evaluated):
        async for one in evaluated:
            found.append(one)
    return found


def run(work, *, within_s=20.0):
    """On a loop of its own, with a bound: a test must not hang where the code would."""

    async def bounded():
        try:
            async with asyncio.timeout(within_s):
                return await work
        finally:
            assert others() == []

    return asyncio.run(bounded())


# ---- one item


def test_a_right_answer():
    method = Answers()
    one = run(evaluate_item(method, tasks(8)[7], Echo(), run_seed=SEED))
    assert one.prediction == Prediction(
        id="t7",
        group="g1",
        response="7",
        answer="7",
        score=1.0,
        reason="equal",
        failure=None,
        metrics={"digits": 1.0},
        calls=2,  # logical: hits count
        prompt_tokens=20,
        completion_tokens=4,
    )
    assert one.rollout == rollout("7")
    (call,) = method.calls
    assert (call.run_seed, call.phase, call.episode, call.item, call.repeat) == (
        SEED,
        Phase.EVAL,
        None,
        "t7",
        0,
    )


def test_figures_of_the_rollout_stand_beside_the_scorers():
    own = dataclasses.replace(rollout("12"), metrics={"confidence": 0.5, "digits": 9.0})
    one = run(evaluate_item(Answers(lambda i: own), tasks(1)[0], Echo(), run_seed=SEED))
    assert one.prediction.metrics == {"confidence": 0.5, "digits": 2.0}  # the scorer's goes first


@pytest.mark.parametrize(
    ("answer", "parsed", "reason"),
    [("12", "12", "differs"), ("twelve", None, "no number"), ("", None, "no number")],
)
def test_a_wrong_or_unreadable_answer_scores_zero_as_an_answer(answer, parsed, reason):
    one = run(evaluate_item(Answers(lambda i: answer), tasks(1)[0], Echo(), run_seed=SEED))
    prediction = one.prediction
    assert (prediction.score, prediction.answer, prediction.failure) == (0.0, parsed, None)
    assert (prediction.reason, prediction.response) == (reason, answer)


def test_a_pool_without_terminal_scores_zero_with_its_reason():
    silent = Answers(lambda i: rollout("0", reason="no_terminal"))
    prediction = run(evaluate_item(silent, tasks(1)[0], Echo(), run_seed=SEED)).prediction
    assert (prediction.score, prediction.reason) == (0.0, "no_terminal")


def test_a_prediction_is_plain_data_and_knows_its_cost():
    prediction = Prediction(
        id="t",
        group="g",
        response="7",
        answer="7",
        score=0.5,
        reason="",
        failure=None,
        metrics={"em": 0.25},
        calls=3,
        prompt_tokens=30,
        completion_tokens=6,
    )
    assert prediction.to_data() == {
        "id": "t",
        "group": "g",
        "response": "7",
        "answer": "7",
        "score": 0.5,
        "reason": "",
        "failure": None,
        "subgroup": "",
        "metrics": {"em": 0.25},
        "calls": 3,
        "prompt_tokens": 30,
        "completion_tokens": 6,
    }
    assert prediction.cost == Cost(calls=3, prompt_tokens=30, completion_tokens=6)


# ---- many items


@pytest.mark.parametrize("concurrency", [1, 3, 16, 100])
@pytest.mark.parametrize("n", [0, 1, 40])
def test_items_come_in_the_order_of_the_split_however_they_finish(n, concurrency):
    rng = random.Random(n + concurrency)

    async def sometime(i):
        for _ in range(1 + rng.randrange(12)):
            await asyncio.sleep(0)
        return str(i)

    method = Answers(sometime)
    found = run(collect(method, tasks(n), concurrency=concurrency))
    assert [one.prediction.id for one in found] == [f"t{i}" for i in range(n)]
    assert all(one.prediction.score == 1.0 for one in found)
    assert sorted(method.begun) == list(range(n))  # each once
    assert method.most_at_once == min(concurrency, n)


def test_methods_that_never_suspend_work_too():
    found = run(collect(Answers(), tasks(200), concurrency=3))
    assert [one.prediction.id for one in found] == [f"t{i}" for i in range(200)]


@pytest.mark.parametrize("concurrency", [1, 2, 5])
def test_the_look_ahead_is_bounded(concurrency):
    """While the first item is open, at most REORDER items per concurrent one are begun."""
    release, most = asyncio.Event(), REORDER * concurrency

    async def first_waits(i):
        if i == 0:
            await release.wait()
        return str(i)

    method = Answers(first_waits)

    async def watched():
        work = asyncio.ensure_future(collect(method, tasks(200), concurrency=concurrency))
        for _ in range(500):
            await asyncio.sleep(0)
        begun = len(method.begun)
        release.set()
        return begun, await work

    begun, found = run(watched())
    assert begun == (1 if concurrency == 1 else most)
    assert [one.prediction.id for one in found] == [f"t{i}" for i in range(200)]


def test_a_slow_reader_holds_the_work_back():
    method = Answers()

    async def read_three():
        evaluated = evaluate(
            method, tasks(100), Echo(), run_seed=SEED, concurrency=2, check_alive=alive
        )
        async with contextlib.aclosing(evaluated):
            for expected in range(3):
                one = await anext(evaluated)
                assert one.prediction.id == f"t{expected}"
                for _ in range(100):
                    await asyncio.sleep(0)

    run(read_three())
    assert len(method.begun) <= 3 + 2 * REORDER


# ---- failures


@pytest.mark.parametrize("error", ITEM_ERRORS, ids=repr)
def test_an_item_that_fails_is_kept_apart_from_wrong_answers(error):
    wrong = {2: error, 3: "99"}
    found = run(collect(Answers(lambda i: wrong.get(i, str(i))), tasks(6)))
    assert [one.prediction.score for one in found] == [1.0, 1.0, None, 0.0, 1.0, 1.0]
    broken = found[2]
    assert broken.rollout is None
    assert broken.prediction == Prediction(
        id="t2",
        group="g0",
        response="",
        answer=None,
        score=None,
        reason="",
        failure=f"{type(error).__name__}: {error}",
    )
    assert broken.prediction.cost == Cost()
    assert found[3].prediction.failure is None


@pytest.mark.parametrize("error", FATAL_ERRORS, ids=repr)
@pytest.mark.parametrize("concurrency", [1, 4])
def test_an_error_that_concerns_everybody_is_raised_behind_the_items_before_it(error, concurrency):
    found = []
    with pytest.raises(BackboneError) as caught:
        run(
            collect(
                Answers(lambda i: error if i == 5 else str(i)),
                tasks(50),
                concurrency=concurrency,
                into=found,
            )
        )
    assert caught.value is error
    assert [one.prediction.id for one in found] == [f"t{i}" for i in range(5)]


@pytest.mark.parametrize("error", [*ITEM_ERRORS, *FATAL_ERRORS], ids=repr)
def test_what_concerns_everybody(error):
    assert concerns_everybody(error) is (error in FATAL_ERRORS)


def fails_at(numbers):
    return Answers(lambda i: DeadlineExceeded("no answer within 60 s") if i in numbers else str(i))


@pytest.mark.parametrize("concurrency", [1, 4, 32])
@pytest.mark.parametrize("first", [0, 10, 59])
def test_a_server_that_answers_nobody_is_no_fault_of_an_item(concurrency, first):
    """From item `first` on nothing answers, the last item alone included: nothing is marked."""

    async def nobody():
        raise ServerUnavailable("down", status=503)

    found = []
    with pytest.raises(ServerUnavailable, match="down"):
        run(
            collect(
                fails_at(range(first, 60)),
                tasks(60),
                concurrency=concurrency,
                into=found,
                check_alive=nobody,
            )
        )
    assert [one.prediction.score for one in found] == [1.0] * first


def test_items_that_fail_while_the_server_answers_are_marked_however_many():
    probes = []

    async def answers():
        probes.append(1)

    failing = {*range(10, 49), 59}
    found = run(collect(fails_at(failing), tasks(60), check_alive=answers))
    assert [one.prediction.score is None for one in found] == [i in failing for i in range(60)]
    assert len(probes) == len(failing)


def test_several_errors_at_once_raise_the_first_and_lose_none():
    """An exception nobody looked at would be a warning, and warnings are errors here."""
    error = ServerUnavailable("nobody there")
    with pytest.raises(ServerUnavailable):
        run(collect(Answers(lambda i: error), tasks(50), concurrency=8))


@pytest.mark.parametrize("error", [StorageError("the disk is full"), ZeroDivisionError("a bug")])
@pytest.mark.parametrize("at", [0, 7, 49])
def test_any_other_error_ends_the_evaluation_instead_of_hanging_it(error, at):
    found = []
    with pytest.raises(type(error)):
        run(collect(Answers(lambda i: error if i == at else str(i)), tasks(50), into=found))
    assert len(found) == at


# ---- stopping


async def for_ever(i):
    await asyncio.Event().wait()


async def second_never(i):
    if i == 1:
        await for_ever(i)
    return str(i)


@pytest.mark.parametrize("rule", [for_ever, second_never])
@pytest.mark.parametrize("turns", [0, 1, 2, 3, 10, 100])
def test_cancelling_the_reader_leaves_no_pending_task(rule, turns):
    method = Answers(rule)

    async def cancelled():
        work = asyncio.ensure_future(collect(method, tasks(100)))
        for _ in range(turns):
            await asyncio.sleep(0)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        assert others() == []

    run(cancelled())
    assert method.at_once == 0


def test_closing_early_leaves_no_pending_task():
    method = Answers(second_never)

    async def closed_after_one():
        evaluated = evaluate(
            method, tasks(100), Echo(), run_seed=SEED, concurrency=4, check_alive=alive
        )
        async for one in evaluated:
            assert one.prediction.id == "t0"
            break
        assert method.at_once > 0
        await evaluated.aclose()
        return method.at_once

    assert run(closed_after_one()) == 0


def test_an_error_of_the_reader_stops_the_work():
    method = Answers(second_never)

    async def reads():
        evaluated = evaluate(
            method, tasks(100), Echo(), run_seed=SEED, concurrency=4, check_alive=alive
        )
        async with contextlib.aclosing(evaluated):
            async for _ in evaluated:
                raise StorageError("the disk is full")

    with pytest.raises(StorageError):
        run(reads())
    assert method.at_once == 0


# ---- the summary


def row(group, score, *, subgroup="", metrics=None, calls=0, prompt_tokens=0, completion_tokens=0):
    return {
        "group": group,
        "subgroup": subgroup,
        "metrics": metrics or {},
        "score": score,
        "calls": calls,
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
    }


def test_summary_by_hand():
    """S = (1 + .5 + 0 + .25) / 4 = .4375; trip (1 + 0) / 2; the failed item is in no mean."""
    rows = [
        row("trip", 1.0, calls=7, prompt_tokens=100, completion_tokens=10),
        row("meeting", 0.5, calls=8, prompt_tokens=200, completion_tokens=20),
        row("trip", None),
        row("trip", 0.0, calls=9, prompt_tokens=300, completion_tokens=30),
        row("calendar", None, calls=1, prompt_tokens=5),
        row("meeting", 0.25, calls=6, prompt_tokens=400, completion_tokens=40),
    ]
    assert summarise(iter(rows)) == Summary(
        n=4,
        failures=2,
        mean_score=0.4375,
        groups={
            "calendar": {"n": 0, "mean_score": None},
            "meeting": {"n": 2, "mean_score": 0.375},
            "trip": {"n": 2, "mean_score": 0.5},
        },
        cost=Cost(calls=31, prompt_tokens=1005, completion_tokens=100),
    )


def test_finer_means_and_further_metrics_stand_beside_the_groups():
    rows = [
        row("tables", 1.0, subgroup="counting", metrics={"recall": 1.0}),
        row("tables", 0.0, subgroup="counting", metrics={"recall": 0.5, TIMED_OUT: 1.0}),
        row("tables", 0.5, subgroup="ranking"),
        row("tables", None, subgroup="ranking"),
    ]
    summary = summarise(rows)
    assert summary.subgroups == {
        "tables/counting": {"n": 2, "mean_score": 0.5},
        "tables/ranking": {"n": 1, "mean_score": 0.5},
    }
    assert summary.metrics == {"recall": {"n": 2, "mean": 0.75}}
    assert summary.scorer_timeouts == 1


async def test_a_slow_scorer_does_not_hold_up_the_event_loop():
    """While one verdict takes 0.2 s, the loop goes on turning."""

    class Slow(Echo):
        scores_slowly = True

        def score(self, parsed, task):
            time.sleep(0.2)
            return super().score(parsed, task)

    turns = 0

    async def turn():
        nonlocal turns
        while True:
            await asyncio.sleep(0.01)
            turns += 1

    turning = asyncio.create_task(turn())
    scored = await score_rollout(Slow(), tasks(1)[0], rollout("0"))
    turning.cancel()
    assert scored.value == 1.0
    assert turns >= 5


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2.0, -0.1])
async def test_a_score_outside_its_range_is_a_fault_of_the_benchmark(value):
    class Broken(Echo):
        def score(self, parsed, task):
            return Score(value=value, reason="")

    with pytest.raises(UserError, match=r"got the score .*; a score lies in \[0, 1\]"):
        await score_rollout(Broken(), tasks(1)[0], rollout("0"))


def test_the_overall_mean_weighs_items_not_groups():
    rows = [row("a", 1.0), row("b", 0.0), row("b", 0.0), row("b", 0.0)]
    assert summarise(rows).mean_score == 0.25


def test_groups_are_listed_in_one_order_and_the_mean_does_not_depend_on_it():
    rows = [row(group, score) for group in "cab" for score in (0.1, 0.2, 0.3)]
    summaries = [summarise(rows), summarise(sorted(rows, key=lambda r: r["group"]))]
    assert summaries[0] == summaries[1]
    assert list(summaries[0].groups) == ["a", "b", "c"]


def test_nothing_scored_has_no_mean():
    assert summarise([]) == Summary(n=0, failures=0, mean_score=None, groups={}, cost=Cost())
    only_failed = summarise([failed(tasks(1)[0], DeadlineExceeded("late")).to_data()])
    assert (only_failed.n, only_failed.failures, only_failed.mean_score) == (0, 1, None)
