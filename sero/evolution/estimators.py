"""How φ of the active roles of one task is measured: `credit.estimator` (method.md §2, §4.5).

All estimators ask for rollouts of the operator and nothing else, so what the call cache holds is
not sent again; samples at T > 0 are shared between a base run and its counterfactuals.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from sero.backbones.base import Phase
from sero.benchmarks.base import Task
from sero.credit import CreditConfig, PoolState
from sero.evolution.rolling import Roller, Scored
from sero.evolution.shapley import (
    Coalition,
    Estimate,
    draw_orders,
    permutation_shapley,
    scan,
)
from sero.inference.layout import template
from sero.roles.card import RoleType
from sero.seeding import rng_for


class Estimator(Protocol):
    """Measures φ on one task.

    Args:
        base: the rollout of the whole pool on the task.
        state: (P, C) the counterfactual runs read.
        names: roles that are asked for. The answer holds those of them that the estimator counts
            as active on the task, in pool order; the aggregator never is.

    Raises:
        BackboneError: the machine failed.
    """

    async def __call__(
        self,
        task: Task,
        base: Scored,
        state: PoolState,
        names: Collection[str],
        roll: Roller,
        *,
        episode: int,
    ) -> Estimate: ...


def estimator_for(cfg: CreditConfig) -> Estimator:
    """The estimator `credit.estimator` names."""
    match cfg.estimator:
        case "loo":
            return leave_one_out
        case "clamp":
            return clamped
        case "shapley_mc":
            return PermutationShapley(orders=cfg.orders, antithetic=cfg.antithetic, tol=0.0)
        case "tmc":
            return PermutationShapley(orders=cfg.orders, antithetic=cfg.antithetic, tol=cfg.tmc_tol)


async def leave_one_out(
    task: Task,
    base: Scored,
    state: PoolState,
    names: Collection[str],
    roll: Roller,
    *,
    episode: int,
) -> Estimate:
    """φ_r = s(F(P, C, x)) - s(F(P \\ {r}, C, x)): retrieval and DAG rebuilt without the role.

    A substitute may enter, so a redundant role gets about 0.
    """
    phi = {}
    for name in _speakers(base, state):
        if name in names:
            reduced = PoolState(state.pool.without_role(name), state.credit)
            without = await roll(task, reduced, Phase.LOO, episode)
            phi[name] = base.value - without.value
    return Estimate(phi=phi)


async def clamped(
    task: Task,
    base: Scored,
    state: PoolState,
    names: Collection[str],
    roll: Roller,
    *,
    episode: int,
) -> Estimate:
    """D_r = s(F) - s(F with m_r replaced by a fixed neutral message).

    The role still drafts, so team, order and DAG are those of the base run; what it would have
    said to its successors, to the aggregator and in the repair pass is the neutral text.

    Source: Wolpert and Tumer 2001.
    """
    neutral = template("counterfactual", "neutral")
    team = _members(base, state)
    phi = {}
    for name in _speakers(base, state):
        if name in names:
            silenced = await roll(
                task, state, Phase.LOO, episode, team_names=team, replace={name: neutral}
            )
            phi[name] = base.value - silenced.value
    return Estimate(phi=phi)


@dataclass(frozen=True, slots=True, kw_only=True)
class PermutationShapley:
    """φ_r = the mean marginal of r over random orders of B_t, v(S) = s(F(P, C, x | team S)).

    v(∅) is the aggregator alone, v(B_t) the base run. No coalition is rolled twice. The pool stays
    whole, so a validator outside the team may still repair; it is no player and gets no φ.

    Attributes:
        orders: random orders per task; with `antithetic` half of them are reverses.
        tol: truncation of the scans; 0 for none.

    Source: Castro et al. 2009; Ghorbani and Zou 2019 for `tol`.
    """

    orders: int
    antithetic: bool
    tol: float

    async def __call__(
        self,
        task: Task,
        base: Scored,
        state: PoolState,
        names: Collection[str],
        roll: Roller,
        *,
        episode: int,
    ) -> Estimate:
        players = _members(base, state)
        if not any(name in names for name in players):
            return Estimate(phi={})
        rng = rng_for(roll.run_seed, "shapley", episode, task.id)
        orders = draw_orders(players, self.orders, antithetic=self.antithetic, rng=rng)
        worths: dict[Coalition, float] = {frozenset(players): base.value}
        for order in orders:
            for coalition in scan(order, worths, tol=self.tol):
                if coalition not in worths:
                    team = tuple(name for name in players if name in coalition)
                    part = await roll(task, state, Phase.LOO, episode, team_names=team)
                    worths[coalition] = part.value
        whole = permutation_shapley(
            worths, players, orders, antithetic=self.antithetic, tol=self.tol
        )
        return Estimate(
            phi={name: value for name, value in whole.phi.items() if name in names},
            stderr={name: value for name, value in whole.stderr.items() if name in names},
        )


def _members(base: Scored, state: PoolState) -> tuple[str, ...]:
    """B_t of the base run in pool order."""
    team = base.rollout.team
    return tuple(c.name for c in state.pool if c.name in team and not _terminal(c.role_type))


def _speakers(base: Scored, state: PoolState) -> tuple[str, ...]:
    """B_t and the validator of the repair pass, in pool order."""
    heard = {*base.rollout.team, base.rollout.validator}
    return tuple(c.name for c in state.pool if c.name in heard and not _terminal(c.role_type))


def _terminal(role_type: RoleType) -> bool:
    return role_type is RoleType.AGGREGATOR
