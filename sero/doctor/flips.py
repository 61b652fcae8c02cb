"""How often an answer at temperature 0 is another one when the server is busy.

Batches change the order of floating-point sums, so a server may answer one and the same request
differently alone and in a crowd. Every probe is asked alone first, then all of them at once beside
fillers. Those whose text differs are asked alone once more: that tells a server that depends on
its load from one that is never the same.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from scipy.stats import binomtest

from sero.backbones.base import Completion, Request
from sero.benchmarks.base import Benchmark, Task
from sero.doctor.bounding import in_thread
from sero.doctor.probing import Prober, probe
from sero.errors import BackboneError
from sero.evolution.gate import EPS

LEVEL = 0.95
CROWD_PATIENCE = 2.0
"""Deadline of a call in the crowd over that of a call alone."""

TOPICS = (
    *("the sea", "a mountain", "bread", "winter", "a violin", "the moon", "a bridge", "rice"),
    *("a library", "the wind", "chess", "a garden", "glass", "a train", "honey", "a desert"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """k of n, with an exact 95 % interval of the share (Clopper and Pearson).

    Attributes:
        k: how many differed.
        n: of how many.
    """

    k: int
    n: int

    @property
    def rate(self) -> float:
        return self.k / self.n if self.n else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        if self.n == 0:
            return 0.0, 1.0
        found = binomtest(self.k, self.n).proportion_ci(LEVEL, method="exact")
        return float(found.low), float(found.high)

    def of(self, what: str) -> str:
        """`2 of 8 texts (95 % interval 0.032 to 0.651)`."""
        low, high = self.interval
        return f"{self.k} of {self.n} {what} ({100 * LEVEL:g} % interval {low:.3f} to {high:.3f})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flips:
    """What the crowd changed.

    Attributes:
        texts: probes whose text differed.
        scores: probes whose score differed, among those whose both answers were whole; None where
            there is no benchmark to score them.
        again: among the probes whose text differed, those that differed from themselves alone too.
        crowd: calls that were made at once.
        failures: why calls of the crowd had no answer.
        alone_s: median seconds of a call alone.
        alone_tokens_s, crowd_tokens_s: new tokens per second.
    """

    texts: Share
    scores: Share | None
    again: int
    crowd: int
    failures: tuple[str, ...]
    alone_s: float
    alone_tokens_s: float
    crowd_tokens_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """A benchmark, and the tasks that the first probes are."""

    benchmark: Benchmark
    tasks: tuple[Task, ...]


async def measure_flips(
    prober: Prober, n: int, max_tokens: int, *, fillers: int, scoring: Scoring | None
) -> Flips:
    """Ask `n` probes alone, then at once with fillers: n + (n + fillers) calls, n more at most.

    Args:
        prober: makes the calls.
        n: probes.
        max_tokens: bound on each completion; longer ones flip more often.
        fillers: other calls in the crowd.
        scoring: tasks to ask instead of short questions, and who scores them.

    Raises:
        BackboneError: a call alone had no answer.
    """
    tasks = scoring.tasks[:n] if scoring else ()
    requests = [probe(task.prompt, max_tokens) for task in tasks]
    requests += [_topic_probe(i, "three", max_tokens) for i in range(n - len(requests))]
    others = [_topic_probe(i, "five", max_tokens) for i in range(fillers)]

    started = time.monotonic()
    alone = [await prober.ask(request) for request in requests]
    alone_wall = time.monotonic() - started
    started = time.monotonic()
    together = await asyncio.gather(
        *(
            prober.ask(request, deadline_s=CROWD_PATIENCE * prober.deadline_s)
            for request in [*requests, *others]
        ),
        return_exceptions=True,
    )
    crowd_wall = time.monotonic() - started
    answered = [found for found in together if isinstance(found, Completion)]
    failures = [found for found in together if isinstance(found, BaseException)]
    for failure in failures:
        if not isinstance(failure, BackboneError):
            raise failure

    pairs = [
        (i, first, second)
        for i, (first, second) in enumerate(zip(alone, together[:n], strict=True))
        if isinstance(second, Completion)
    ]
    differing = [(i, first) for i, first, second in pairs if first.text != second.text]
    again = 0
    for i, first in differing:
        again += (await prober.ask(requests[i])).text != first.text
    return Flips(
        texts=Share(k=len(differing), n=len(pairs)),
        scores=await _score_flips(scoring, pairs[: len(tasks)]) if scoring else None,
        again=again,
        crowd=len(together),
        failures=tuple(map(str, failures)),
        alone_s=median(found.latency_s for found in alone),
        alone_tokens_s=_tokens(alone) / max(alone_wall, 1e-9),
        crowd_tokens_s=_tokens(answered) / max(crowd_wall, 1e-9),
    )


async def _score_flips(
    scoring: Scoring, pairs: Sequence[tuple[int, Completion, Completion]]
) -> Share:
    """Probes whose score differed; an answer that was cut says nothing about its score."""
    whole = [
        (scoring.tasks[i], first, second)
        for i, first, second in pairs
        if i < len(scoring.tasks) and "length" not in (first.finish_reason, second.finish_reason)
    ]

    def score(task: Task, found: Completion) -> float:
        parsed = scoring.benchmark.parse(task.prompt, found.text)
        return scoring.benchmark.score(parsed, task).value

    def count() -> int:
        return sum(abs(score(task, a) - score(task, b)) > EPS for task, a, b in whole)

    return Share(k=await in_thread(count), n=len(whole))


def _topic_probe(i: int, lines: str, max_tokens: int) -> Request:
    """One of a series of questions without a right answer, which leave room to differ."""
    topic = TOPICS[i % len(TOPICS)]
    number = f", number {i // len(TOPICS) + 1}" if i >= len(TOPICS) else ""
    return probe(f"Write {lines} lines about {topic}{number}.", max_tokens)


def _tokens(found: Sequence[Completion]) -> int:
    return sum(one.usage.completion_tokens for one in found)
