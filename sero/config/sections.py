"""RunConfig: everything a run was asked to be, typed and checked, without defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, MinLen

from sero.assignment.config import RunAssignConfig
from sero.credit import CreditConfig
from sero.evolution.sections import (
    EarlyStopConfig,
    EditorConfig,
    GateConfig,
    GuardConfig,
    PolicyConfig,
    PoolConfig,
    RandomConfig,
    ReinforceConfig,
    SchemaConfig,
    TrainConfig,
)
from sero.inference.execution import ExecConfig
from sero.inference.graph import DagConfig
from sero.inference.repair import RepairConfig
from sero.inference.retrieval import RetrievalConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class PathsConfig:
    """The `paths` section: folders, relative to the working directory."""

    runs: Annotated[str, MinLen(1)]
    cache: Annotated[str, MinLen(1)]
    data: Annotated[str, MinLen(1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggerConfig:
    """The `logger` group: a tracker beside the run's own files."""

    kind: Literal["wandb", "none"]
    project: Annotated[str, MinLen(1)]
    mode: Literal["offline", "online", "disabled"]
    entity: str | None
    group: str | None
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetConfig:
    """The `budget` group: limits that stop a run, None for no limit.

    Attributes:
        calls: logical calls.
        tokens: prompt and completion tokens.
        hours: wall time.
        usd: US dollars for what is really sent, cache hits left out; needs the model's price.
        runs: runs that one command starts, finished ones left out; the others limit each run.
    """

    calls: Annotated[int, Gt(0)] | None
    tokens: Annotated[int, Gt(0)] | None
    hours: Annotated[float, Gt(0)] | None
    usd: Annotated[float, Gt(0)] | None
    runs: Annotated[int, Gt(0)] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateConfig:
    """The `evaluate` section: held-out items in flight at once, and whether traces are kept."""

    concurrency: Annotated[int, Gt(0)]
    traces: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """A swappable part: the class that was chosen, and its checked configuration.

    Attributes:
        choice: name of the chosen file of the group, such as `qwen3_8b`.
        target: the class `_target_` names; it is called with its configuration first.
        config: an instance of `target.Config`.
    """

    choice: str
    target: type[Any]
    config: Any

    def build(self, **parts: Any) -> Any:
        """The component itself; `parts` are what its constructor takes besides."""
        return self.target(self.config, **parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """One run. Field names are the keys of the composed tree.

    Attributes:
        experiment: name of the experiment, the first part of the run's directory.
        row: name of the table row the run belongs to, None for a run of its own.
        seed: names every random stream.
        from_pool: run directory or pool file to evaluate; None is the benchmark's seed pool.
        backbones: further backbones by the names that cards and candidates know them by.
    """

    experiment: str
    row: str | None
    seed: int
    progress: Literal["auto", "bar", "plain", "none"]
    from_pool: str | None
    paths: PathsConfig
    logger: LoggerConfig
    budget: BudgetConfig
    evaluate: EvaluateConfig
    backbone: Component
    encoder: Component
    benchmark: Component
    method: Component
    controller: Component
    train: TrainConfig
    reinforce: ReinforceConfig
    policy: PolicyConfig
    pool: PoolConfig
    retrieval: RetrievalConfig
    credit: CreditConfig
    exec: ExecConfig
    dag: DagConfig
    repair: RepairConfig
    gate: GateConfig
    guard: GuardConfig
    schema: SchemaConfig
    editor: EditorConfig
    early_stop: EarlyStopConfig
    random: RandomConfig
    assign: RunAssignConfig
    backbones: Mapping[str, Component]


COMPONENTS = ("backbone", "encoder", "benchmark", "method", "controller")
"""The groups in which a class is swapped."""

PLAIN: dict[str, Any] = {
    "experiment": Annotated[str, MinLen(1)],
    "row": Annotated[str, MinLen(1)] | None,
    "seed": Annotated[int, Ge(0)],
    "progress": Literal["auto", "bar", "plain", "none"],
    "paths": PathsConfig,
    "logger": LoggerConfig,
    "budget": BudgetConfig,
    "evaluate": EvaluateConfig,
    "train": TrainConfig,
    "reinforce": ReinforceConfig,
    "policy": PolicyConfig,
    "pool": PoolConfig,
    "retrieval": RetrievalConfig,
    "credit": CreditConfig,
    "exec": ExecConfig,
    "dag": DagConfig,
    "repair": RepairConfig,
    "gate": GateConfig,
    "guard": GuardConfig,
    "schema": SchemaConfig,
    "editor": EditorConfig,
    "early_stop": EarlyStopConfig,
    "random": RandomConfig,
    "assign": RunAssignConfig,
}
"""Key to type and range, for every other key of the tree; the components bring their own."""
