"""The periodic precise credit: φ_r(x) = s(F(P, C, x)) - s(F(P \\ {r}, C, x)) (method.md §4.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sero.backbones.base import Phase
from sero.benchmarks.base import Task
from sero.credit import CreditConfig, CreditState, PoolState, ema_update
from sero.evolution.rolling import Roller
from sero.roles.card import RoleType
from sero.seeding import rng_for


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh:
    """The state after a refresh, and φ of every role that was measured."""

    state: PoolState
    loo: dict[str, float]


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
    """Measure φ role by role and fold it into the EMA.

    The base run is made once per task, retrieval and DAG are rebuilt for each reduced pool, so a
    substitute may enter. A role that was not in the team of a task costs no request: its φ is
    unknown there (`credit.loo_inactive=skip`) or 0 (`zero`). Reduced pools are not guarded; the
    aggregator has no φ, for a pool without it is not defined. All reduced runs read the same
    snapshot of C unless `credit.loo_sequential`.

    Raises:
        BackboneError: the machine failed; the caller still holds the old state.
    """
    base = [await roll(task, state, Phase.LOO, episode) for task in tasks]
    measured: dict[str, float] = {}
    credit = state.credit
    for card in state.pool:
        if card.role_type is RoleType.AGGREGATOR:
            continue
        snapshot = credit if cfg.loo_sequential else state.credit
        reduced = PoolState(state.pool.without_role(card.name), snapshot)
        phis = []
        for task, whole in zip(tasks, base, strict=True):
            if card.name in whole.rollout.team or card.name == whole.rollout.validator:
                without = await roll(task, reduced, Phase.LOO, episode)
                phis.append(whole.value - without.value)
            elif cfg.loo_inactive == "zero":
                phis.append(0.0)
        if phis:
            measured[card.name] = float(np.mean(phis))
            credit = _updated(credit, card.name, measured[card.name], cfg)
    return Refresh(state=PoolState(state.pool, credit), loo=measured)


def _updated(credit: CreditState, name: str, loo: float, cfg: CreditConfig) -> CreditState:
    return credit.updated({name: ema_update(credit[name], loo, mu=cfg.mu)})
