"""What a method is, and what a run lends it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from sero.backbones.base import CallContext, Phase
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
from sero.inference.span import Span
from sero.inference.trace import Cost, Rollout
from sero.roles.pool import RolePool


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What a method starts from before anything is trained.

    Attributes:
        pool: its cards.
        more: what else it reads from files, as plain data; like the pool, it may not change while
            a run is under way.
    """

    pool: RolePool
    more: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCalls:
    """What a method will ask for, before it asks.

    Attributes:
        by_phase: logical calls of each phase that can have any, failed items left out.
        distinct_per_task: different requests that the first rollout on a task sends at least
            where the call cache holds nothing; later ones may be answered by it.
        shown_per_call: earlier completions in the prompt of a call, at most, on average over the
            calls of one rollout.
    """

    by_phase: Mapping[Phase, Span]
    distinct_per_task: int
    shown_per_call: float


class Method(Protocol):
    """One row of the table. `fit` sees the training split, `answer` a prompt and nothing else.

    Attributes:
        takes_pool: it answers with a pool of roles, so `from_pool` may give it one.
        needs_training: what it answers with is found by `fit` and is not in its pool, so it cannot
            be evaluated without.
        takes_players: its roles can be played by candidates, so `assign.by` may say by whom.
    """

    takes_pool: ClassVar[bool]
    needs_training: ClassVar[bool]
    takes_players: ClassVar[bool]

    @classmethod
    def start(cls, cfg: Any, benchmark: Benchmark) -> Start:
        """What the method starts from where `from_pool` gives nothing else.

        Args:
            cfg: an instance of the method's `Config`.

        Raises:
            UserError: a file of it is missing or has faults.
        """
        ...

    @property
    def name(self) -> str: ...

    @property
    def state(self) -> PoolState:
        """The pool the method answers with."""
        ...

    def planned_episodes(self, n_train: int) -> int:
        """Episodes `fit` runs at most; 0 for a method without training."""
        ...

    def planned_calls(self, n_train: int, n_heldout: int) -> PlannedCalls:
        """The calls of `fit` and of one `answer` per held-out task. Pure; asks nobody."""
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
