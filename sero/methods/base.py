"""What a method is, and what a run lends it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sero.backbones.base import CallContext
from sero.benchmarks.base import Benchmark, Task
from sero.credit import PoolState
from sero.evolution.controller import Controller
from sero.evolution.records import Recorder
from sero.evolution.sections import (
    EarlyStopConfig,
    EditorConfig,
    GateConfig,
    GuardConfig,
    PolicyConfig,
    PoolConfig,
    RandomConfig,
    SchemaConfig,
    TrainConfig,
)
from sero.inference.operator import InferenceConfig
from sero.inference.parts import Parts
from sero.inference.trace import Cost, Rollout


@dataclass(frozen=True, slots=True, kw_only=True)
class Lab:
    """What every method of a run is built from: one engine, one accounting.

    Attributes:
        parts, inference: the operator's parts and sections.
        benchmark: parser and scorer; methods see the training split only in `fit`.
        make_controller: a fresh controller for this run's encoder.
        commit: makes the replies so far durable.
        strict_add: the benchmark asks Add to be strictly better in warm-up too.
        run_seed: the run's seed.
    """

    parts: Parts
    inference: InferenceConfig
    benchmark: Benchmark
    make_controller: Callable[[], Controller]
    commit: Callable[[], int]
    strict_add: bool
    run_seed: int
    train: TrainConfig
    policy: PolicyConfig
    pool: PoolConfig
    guard: GuardConfig
    gate: GateConfig
    schema: SchemaConfig
    editor: EditorConfig
    early_stop: EarlyStopConfig
    random: RandomConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitting:
    """What a run gives a method while it trains.

    Attributes:
        recorder: where episodes and checkpoints go.
        resume: the last checkpoint (`progress`, `controller`), None at a fresh start.
        check_budget: raises BudgetSpent when the logical cost so far leaves no room.
    """

    recorder: Recorder
    resume: Mapping[str, Any] | None
    check_budget: Callable[[Cost], None]


class Method(Protocol):
    """One row of the table. `fit` sees the training split, `answer` a prompt and nothing else."""

    @property
    def name(self) -> str: ...

    @property
    def state(self) -> PoolState:
        """The pool the method answers with."""
        ...

    def planned_episodes(self, n_train: int) -> int:
        """Episodes `fit` runs at most; 0 for a method without training."""
        ...

    async def fit(self, tasks: tuple[Task, ...], fitting: Fitting) -> None:
        """Train to the end, from the checkpoint if there is one.

        Raises:
            BackboneError: the machine failed; what was done is checkpointed.
        """
        ...

    async def answer(self, prompt: str, call: CallContext) -> Rollout:
        """Answer one task with everything frozen; writes no state.

        Raises:
            BackboneError: the machine failed.
        """
        ...
