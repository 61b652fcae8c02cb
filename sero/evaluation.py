"""A method on a split: one prediction per item, failures kept apart from wrong answers."""

from __future__ import annotations

import asyncio
import itertools
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from sero.backbones.base import CallContext, Phase
from sero.benchmarks.base import TIMED_OUT, Benchmark, Task
from sero.errors import BackboneError, RequestRejected, ServerUnavailable
from sero.evolution.rolling import score_rollout
from sero.inference.trace import Cost, Rollout
from sero.methods.base import Method

Means = dict[str, dict[str, float | int | None]]
"""Name to n and mean."""

REORDER = 8
"""How many items per concurrent one may be begun from the oldest open one on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A line of `predictions.jsonl`.

    Attributes:
        id, group, subgroup: the item.
        response: the method's whole answer.
        answer: the canonical parsed answer, None if none could be read.
        score: in [0, 1]; None when the machine failed, which is never a 0.
        reason: the scorer's.
        failure: why the item has no score, None if it has one.
        metrics: further named metrics of the item, the rollout's and the scorer's.
        calls, prompt_tokens, completion_tokens: logical cost.
        elsewhere: the part of it on backbones other than the run's own.
    """

    id: str
    group: str
    response: str
    answer: str | None
    score: float | None
    reason: str
    failure: str | None
    subgroup: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    elsewhere: Mapping[str, Cost] = field(default_factory=dict)

    @property
    def cost(self) -> Cost:
        return Cost(
            calls=self.calls,
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
            elsewhere=self.elsewhere,
        )

    def to_data(self) -> dict[str, Any]:
        data = asdict(replace(self, elsewhere={}))
        del data["elsewhere"]
        return {**data, "metrics": dict(self.metrics), **self.cost.to_data()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """A prediction with its rollout; no rollout when the item failed."""

    prediction: Prediction
    rollout: Rollout | None


async def evaluate_item(
    method: Method, task: Task, benchmark: Benchmark, *, run_seed: int
) -> Evaluated:
    """Answer, parse and score one held-out item.

    Raises:
        BackboneError: the machine failed.
    """
    call = CallContext(run_seed=run_seed, phase=Phase.EVAL, episode=None, item=task.id)
    rollout = await method.answer(task.prompt, call)
    scored = await score_rollout(benchmark, task, rollout)
    cost = rollout.cost
    return Evaluated(
        prediction=Prediction(
            id=task.id,
            group=task.group,
            subgroup=task.subgroup,
            response=rollout.answer,
            answer=scored.parsed.answer,
            score=scored.value,
            reason=scored.score.reason or scored.parsed.reason,
            failure=None,
            metrics={**rollout.metrics, **scored.score.metrics},
            calls=cost.calls,
            prompt_tokens=cost.prompt_tokens,
            completion_tokens=cost.completion_tokens,
            elsewhere=cost.elsewhere,
        ),
        rollout=rollout,
    )


async def evaluate(
    method: Method,
    tasks: Sequence[Task],
    benchmark: Benchmark,
    *,
    run_seed: int,
    concurrency: int,
    check_alive: Callable[[], Awaitable[None]],
) -> AsyncGenerator[Evaluated, None]:
    """Evaluate items, `concurrency` at once, and yield them in the order of `tasks`.

    An item that fails for good while the server answers others (`check_alive` tells) becomes a
    prediction with a `failure` and no score; if the server answers nobody, that is no item's
    fault, and the evaluation stops. Memory holds a bounded number of items whatever their
    number. Items begun ahead are stopped when the generator is closed, so close it
    (`contextlib.aclosing`) where it may be left early.

    Raises:
        BackboneError: the server cannot be reached, refuses everybody, or answers nobody.
    """
    slots = asyncio.Semaphore(concurrency)

    async def attempt(task: Task) -> Evaluated:
        async with slots:
            try:
                return await evaluate_item(method, task, benchmark, run_seed=run_seed)
            except BackboneError as error:
                if concerns_everybody(error):
                    raise
                await check_alive()
                return Evaluated(prediction=failed(task, error), rollout=None)

    waiting = iter(tasks)
    ahead: deque[asyncio.Task[Evaluated]] = deque()
    try:
        while True:
            for task in itertools.islice(waiting, REORDER * concurrency - len(ahead)):
                ahead.append(asyncio.ensure_future(attempt(task)))
            if not ahead:
                return
            yield await ahead[0]
            ahead.popleft()
    finally:
        for begun in ahead:
            begun.cancel()
        await asyncio.gather(*ahead, return_exceptions=True)


def concerns_everybody(error: BackboneError) -> bool:
    """Whether an error is the server's or the account's rather than one item's."""
    if isinstance(error, ServerUnavailable):
        return error.status is None
    return isinstance(error, RequestRejected) and not error.blames_the_request


def failed(task: Task, error: BackboneError) -> Prediction:
    """The prediction of an item the machine could not answer: no score, never a 0."""
    return Prediction(
        id=task.id,
        group=task.group,
        subgroup=task.subgroup,
        response="",
        answer=None,
        score=None,
        reason="",
        failure=f"{type(error).__name__}: {error}",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Means over the scored items: S_B, S_{B,g}, and what it cost.

    Attributes:
        groups, subgroups: n and mean score of each; a subgroup is called `group/subgroup`.
        metrics: n and mean of each further metric, over the items that have it.
        scorer_timeouts: items whose scorer was stopped at its deadline; they score 0.
    """

    n: int
    failures: int
    mean_score: float | None
    groups: Means
    cost: Cost
    subgroups: Means = field(default_factory=dict)
    metrics: Means = field(default_factory=dict)
    scorer_timeouts: int = 0


def summarise(rows: Iterable[Mapping[str, Any]]) -> Summary:
    """S_B = (1/N) Σ s_i over the items that have a score, and the same by group.

    Failed items are counted beside, never averaged in. Reads one row at a time.
    """
    scores: dict[str, list[float]] = {}
    finer: dict[str, list[float]] = {}
    metrics: dict[str, list[float]] = {}
    failures = 0
    cost = Cost()
    for row in rows:
        inside = scores.setdefault(row["group"], [])
        if row["score"] is None:
            failures += 1
        else:
            inside.append(row["score"])
            if row.get("subgroup"):
                finer.setdefault(f"{row['group']}/{row['subgroup']}", []).append(row["score"])
            for name, value in row["metrics"].items():
                metrics.setdefault(name, []).append(value)
        cost += Cost.from_data(row)
    every = [score for group in sorted(scores) for score in scores[group]]
    return Summary(
        n=len(every),
        failures=failures,
        mean_score=_mean(every),
        groups=_means(scores),
        subgroups=_means(finer),
        scorer_timeouts=len(metrics.pop(TIMED_OUT, ())),
        metrics=_means(metrics, "mean"),
        cost=cost,
    )


def _means(values: Mapping[str, Sequence[float]], name: str = "mean_score") -> Means:
    return {key: {"n": len(values[key]), name: _mean(values[key])} for key in sorted(values)}


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
