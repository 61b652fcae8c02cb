"""Actions of the controller, and which of them a pool admits (method.md §4.7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sero.evolution.sections import GuardConfig, PoolConfig
from sero.roles.card import RoleType
from sero.roles.pool import RolePool


class Operation(StrEnum):
    """ω: what an edit does to the pool."""

    ADD = "add"
    REMOVE = "remove"
    NOOP = "noop"


class TrainPhase(StrEnum):
    """Warm-up adds only and hides credit from the controller; the main phase does neither."""

    WARMUP = "warmup"
    MAIN = "main"


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """a = (ω, z). `target` is a pool index: who leaves, or an Add's anchor; None where unused."""

    operation: Operation
    target: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Legal:
    """What a pool admits.

    Attributes:
        operations: one flag per entry of `policy.operations`, in its order.
        targets: one flag per pool index: the role may be removed. Says nothing of the phase.
    """

    operations: tuple[bool, ...]
    targets: tuple[bool, ...]


def legal_actions(
    pool: RolePool,
    seed_families: Collection[str],
    phase: TrainPhase,
    *,
    pool_cfg: PoolConfig,
    guard: GuardConfig,
    reserved: bool,
    operations: Sequence[str],
) -> Legal:
    """The masks of both heads.

    Add needs a free place; Remove the main phase and a removable role; Noop is always legal.

    Args:
        pool: P before the edit.
        seed_families: capability families of the seed pool, each of which keeps a role.
        phase: Remove is off in warm-up, with guards or without.
        pool_cfg: P_min and P_max.
        guard: `enabled=False` leaves P_max and the last card as the only bounds.
        reserved: `repair.reserved`; only then does the validator minimum bind.
        operations: `policy.operations`, the order of the flags returned.
    """
    targets = removable(pool, seed_families, pool_cfg=pool_cfg, guard=guard, reserved=reserved)
    legal = {
        Operation.ADD: len(pool) < pool_cfg.p_max,
        Operation.REMOVE: phase is TrainPhase.MAIN and any(targets),
        Operation.NOOP: True,
    }
    return Legal(operations=tuple(legal[Operation(name)] for name in operations), targets=targets)


def removable(
    pool: RolePool,
    seed_families: Collection[str],
    *,
    pool_cfg: PoolConfig,
    guard: GuardConfig,
    reserved: bool,
) -> tuple[bool, ...]:
    """Which roles a Remove may name, one flag per pool index.

    A role stays if it is protected, the last of a seed family, a validator at the reserved
    minimum, or if |P| ≤ P_min.
    """
    if not guard.enabled:
        return (len(pool) > 1,) * len(pool)
    if len(pool) <= pool_cfg.p_min:
        return (False,) * len(pool)
    families = Counter(card.capability_family for card in pool)
    spare_validator = not reserved or len(pool.of_type(RoleType.VALIDATOR)) > guard.min_validators
    return tuple(
        not card.protected
        and not (card.capability_family in seed_families and families[card.capability_family] == 1)
        and (card.role_type is not RoleType.VALIDATOR or spare_validator)
        for card in pool
    )
