"""Roll F out on a task and score it; remember what an episode asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sero.backbones.base import CallContext, Phase
from sero.backbones.settling import settled
from sero.benchmarks.base import Benchmark, Parsed, Score, Task
from sero.credit import PoolState
from sero.errors import RequestRejected, UserError
from sero.inference.graph import Edge
from sero.inference.operator import InferenceConfig, answer
from sero.inference.parts import Parts
from sero.inference.trace import Cost, Rollout


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A rollout, its parsed answer and its score s in [0, 1]."""

    rollout: Rollout
    parsed: Parsed
    score: Score

    @property
    def value(self) -> float:
        return self.score.value


async def score_rollout(benchmark: Benchmark, task: Task, rollout: Rollout) -> Scored:
    """Parse and score; a pool without terminal answers nothing and scores 0.

    A slow scorer runs in a thread, so that replies under way are read meanwhile.

    Raises:
        UserError: the benchmark's score is no number in [0, 1]; no figure could be trusted.
    """
    parsed = benchmark.parse(task.prompt, rollout.answer)
    if rollout.reason:
        return Scored(rollout=rollout, parsed=parsed, score=Score(value=0.0, reason=rollout.reason))
    if benchmark.scores_slowly:
        score = await asyncio.to_thread(benchmark.score, parsed, task)
    else:
        score = benchmark.score(parsed, task)
    if not 0.0 <= score.value <= 1.0:
        raise UserError(
            f"benchmark {benchmark.name}: item {task.id} got the score {score.value!r}; a score "
            "lies in [0, 1]. Mend the scorer, then run the same command again."
        )
    return Scored(rollout=rollout, parsed=parsed, score=score)


@dataclass(slots=True, kw_only=True)
class Ledger:
    """Logical cost and traces since the last `take`."""

    cost: Cost = field(default_factory=Cost)
    traces: list[dict[str, Any]] = field(default_factory=list)

    def add(self, cost: Cost, trace: dict[str, Any]) -> None:
        self.cost = self.cost + cost
        self.traces.append(trace)

    def take(self) -> tuple[Cost, list[dict[str, Any]]]:
        """What was noted, and start afresh."""
        taken = (self.cost, self.traces)
        self.cost, self.traces = Cost(), []
        return taken


@dataclass(frozen=True, slots=True, kw_only=True)
class Roller:
    """s(F(P, C, x)) for the training loop.

    Attributes:
        commit: makes the replies of a rollout durable; called before anything depends on them.
        ledger: where costs and traces are noted.
    """

    parts: Parts
    inference: InferenceConfig
    benchmark: Benchmark
    run_seed: int
    commit: Callable[[], int]
    ledger: Ledger

    async def __call__(
        self,
        task: Task,
        state: PoolState,
        phase: Phase,
        episode: int,
        *,
        repeat: int = 0,
        team_names: Sequence[str] | None = None,
        replace: Mapping[str, str] | None = None,
        edges: frozenset[Edge] | None = None,
    ) -> Scored:
        """One scored rollout.

        Raises:
            BackboneError: the machine failed; nothing was noted.
        """
        call = CallContext(
            run_seed=self.run_seed, phase=phase, episode=episode, item=task.id, repeat=repeat
        )

        def roll() -> Awaitable[Rollout]:
            return answer(
                task.prompt,
                state,
                self.parts,
                self.inference,
                call=call,
                team_names=team_names,
                replace=replace,
                edges=edges,
            )

        try:
            rollout = await settled(roll, self.commit)
        except RequestRejected as error:
            raise RequestRejected(
                f"training task {task.id} ({phase}): {error}", status=error.status
            ) from error
        scored = await score_rollout(self.benchmark, task, rollout)
        self.ledger.add(
            rollout.cost,
            {
                "episode": episode,
                "phase": str(phase),
                "item": task.id,
                "score": scored.value,
                "rollout": rollout.to_data(),
            },
        )
        return scored
