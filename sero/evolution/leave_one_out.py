"""The periodic precise credit (method.md §4.5): φ per role over a few tasks, folded into the EMA.

By default φ_r(x) = s(F(P, C, x)) - s(F(P \\ {r}, C, x)); `credit.estimator` names another measure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import fsum, sqrt

import numpy as np

from sero.backbones.base import Phase
from sero.benchmarks.base import Task
from sero.credit import CreditConfig, PoolState, ema_update
from sero.evolution.causal import mean_effects
from sero.evolution.estimators import estimator_for
from sero.evolution.rolling import Roller
from sero.evolution.shapley import Estimate
from sero.roles.card import RoleType
from sero.seeding import rng_for


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh:
    """The state after a refresh, φ of every role that was measured, and what is known of its error.

    Attributes:
        loo: φ per role; None when no refresh was due.
        loo_stderr: standard error of φ given the tasks, for estimators that have one.
        causal: mean CAPE and TCTE over the tasks, as metrics; empty unless `credit.causal`.
    """

    state: PoolState
    loo: dict[str, float] | None = None
    loo_stderr: dict[str, float] | None = None
    causal: dict[str, float] = field(default_factory=dict)


def refresh_is_due(episode: int, pool_size: int, cfg: CreditConfig) -> bool:
    """Every `credit.loo_every` episodes (0: never), in pools of at least `loo_min_pool`."""
    return cfg.loo_every > 0 and episode % cfg.loo_every == 0 and pool_size >= cfg.loo_min_pool


def refresh_tasks(
    train: Sequence[Task], cfg: CreditConfig, *, run_seed: int, episode: int
) -> list[Task]:
    """Up to `credit.loo_tasks` training tasks, drawn without replacement."""
    n = min(cfg.loo_tasks, len(train))
    drawn = rng_for(run_seed, "loo", episode).choice(len(train), size=n, replace=False)
    return [train[i] for i in drawn]


async def refresh(
    state: PoolState, tasks: Sequence[Task], roll: Roller, cfg: CreditConfig, *, episode: int
) -> Refresh:
    """Measure φ of every role and fold it into the EMA.

    The base run is made once per task. A role that was not active on a task costs no request: its
    φ is unknown there (`credit.loo_inactive=skip`) or 0 (`zero`). Pools are not guarded; the
    aggregator has no φ, for a pool without it is not defined. All runs read the same snapshot of
    C, unless `credit.loo_sequential` measures role by role and folds each φ in before the next.

    Raises:
        BackboneError: the machine failed; the caller still holds the old state.
    """
    estimate = estimator_for(cfg)
    base = [await roll(task, state, Phase.LOO, episode) for task in tasks]
    names = [card.name for card in state.pool if card.role_type is not RoleType.AGGREGATOR]
    phi: dict[str, float] = {}
    stderr: dict[str, float] = {}
    credit = state.credit
    for together in [[name] for name in names] if cfg.loo_sequential else [names]:
        snapshot = PoolState(state.pool, credit)
        estimates = [
            await estimate(task, whole, snapshot, together, roll, episode=episode)
            for task, whole in zip(tasks, base, strict=True)
        ]
        measured = mean_over_tasks(estimates, together, absent_is_zero=cfg.loo_inactive == "zero")
        credit = credit.updated(
            {name: ema_update(credit[name], v, mu=cfg.mu) for name, v in measured.phi.items()}
        )
        phi |= measured.phi
        stderr |= measured.stderr
    return Refresh(
        state=PoolState(state.pool, credit),
        loo=phi,
        loo_stderr=stderr or None,
        causal=await mean_effects(tasks, state, roll, episode=episode) if cfg.causal else {},
    )


def mean_over_tasks(
    estimates: Sequence[Estimate], names: Sequence[str], *, absent_is_zero: bool
) -> Estimate:
    """The mean of φ over tasks, per role.

    Args:
        estimates: one per task.
        names: the roles wanted; one that no estimate holds is left out.
        absent_is_zero: a task whose estimate lacks the role counts as an exact 0 instead of not
            at all.

    Returns:
        φ and sqrt(Σ_x stderr(x)²) / n over the n tasks counted, the latter only where every
        measured task has one. The tasks are taken as given: their own spread is not part of it.
    """
    phi, stderr = {}, {}
    for name in names:
        found = [one for one in estimates if name in one.phi]
        counted = len(estimates) if absent_is_zero else len(found)
        if not counted:
            continue
        values = [one.phi[name] for one in found] + [0.0] * (counted - len(found))
        phi[name] = float(np.mean(values))
        if found and all(name in one.stderr for one in found):
            stderr[name] = sqrt(fsum(one.stderr[name] ** 2 for one in found)) / counted
    return Estimate(phi=phi, stderr=stderr)
