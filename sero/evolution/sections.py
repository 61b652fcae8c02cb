"""The configuration sections of training (method.md §6): types and ranges, no defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Lt, MinLen


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainConfig:
    """The `train` section. Epochs are passes over the training tasks."""

    warmup_epochs: Annotated[int, Ge(0)]
    main_epochs: Annotated[int, Ge(0)]
    batch: Annotated[int, Gt(0)]
    checkpoint_every: Annotated[int, Gt(0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReinforceConfig:
    """The `reinforce` section."""

    lr: Annotated[float, Gt(0)]
    beta: Annotated[float, Ge(0)]
    baseline: Literal["published", "baseline_first"]
    baseline_decay: Annotated[float, Ge(0), Lt(1)]
    clip: Annotated[float, Gt(0)]
    reward: Literal["delta", "gain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyConfig:
    """The `policy` section: the controller's inputs and its exploration."""

    hidden: Annotated[int, Gt(0)]
    op_embedding: Annotated[int, Gt(0)]
    bonus: Annotated[float, Ge(0)]
    credit_scale: Annotated[float, Ge(0)]
    credit_features: bool
    add_target: Literal["none", "anchor"]
    operations: Annotated[tuple[Literal["add", "remove", "noop"], ...], MinLen(1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolConfig:
    """The `pool` section: bounds on |P|."""

    p_min: Annotated[int, Gt(0)]
    p_max: Annotated[int, Gt(0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardConfig:
    """The `guard` section."""

    enabled: bool
    min_validators: Annotated[int, Ge(0)]
    max_family_share: Annotated[float, Gt(0), Le(1)]
    max_similarity: Annotated[float, Gt(0), Le(1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateConfig:
    """The `gate` section."""

    kind: Literal["published", "none"]
    warmup: Literal["nonharmful", "strict"]
    tasks: Annotated[int, Gt(0)]
    repeats: Annotated[int, Gt(0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomConfig:
    """The `random` section, read by `method=random_evolution` alone.

    Attributes:
        passes: passes over the training tasks.
        loo: refresh the credit on Sero's schedule; else it stays as it started.
    """

    passes: Annotated[int, Gt(0)]
    loo: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaConfig:
    """The `schema` section: bounds on a role card."""

    max_prompt_chars: Annotated[int, Gt(0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorConfig:
    """The `editor` section."""

    temperature: Annotated[float, Ge(0), Le(2)]
    attempts: Annotated[int, Gt(0)]
    max_tokens: Annotated[int, Gt(0)]
    excerpt_chars: Annotated[int, Gt(0)]
    anchor_types: Literal["specialists", "all"]
    leak_check: bool
    recent: Annotated[int, Ge(0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyStopConfig:
    """The `early_stop` section."""

    enabled: bool
    window: Annotated[int, Gt(0)]
    threshold: Annotated[float, Gt(0), Lt(1)]
    min_episodes: Annotated[int, Gt(0)]
    one_pass: bool
