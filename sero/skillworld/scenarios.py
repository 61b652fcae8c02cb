"""Frozen pools with known action values, for asking what a controller learns (method.md §8.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sero.roles.card import RoleCard
from sero.roles.pool import RolePool
from sero.skillworld.cards import named_card, seed_pool, team_with
from sero.skillworld.sheet import Kind, Truth
from sero.skillworld.world import World

FrozenName = Literal["seed_pool", "distractors", "polluted"]

P_MAX = 14
"""Places of a frozen pool's run: an Add is legal even beside the thirteen roles of `polluted`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenPool:
    """A pool that no edit changes, and what goes with it.

    Attributes:
        covered: families whose last role may not be removed.
        credit_mode: how retrieval reads credit; without it nothing but similarity picks a team.
    """

    pool: RolePool
    covered: tuple[str, ...]
    credit_mode: Literal["raw", "none"]


def frozen_pool(world: World, name: FrozenName) -> FrozenPool:
    """A pool in which some operation pays.

    - `seed_pool`: the world's seed pool; two families are missing, so Add pays.
    - `distractors`: a good role for each of the six families, and three that match every case and
      mislead; removing one of the three pays, and only the infrastructure must stay covered.
    - `polluted`: the seed pool with three good and two harmful roles more, thirteen in all; four
      of the nine that may go are worth removing.
    """
    match name:
        case "seed_pool":
            pool = seed_pool(world, noise=0.0)
            return FrozenPool(pool=pool, covered=pool.families, credit_mode="raw")
        case "distractors":
            good = [_card(world, f"good-{k}", Kind.GOOD, k) for k in range(world.n_capabilities)]
            misleading = [_card(world, f"misleader-{k}", Kind.MISLEADER, k) for k in range(3)]
            return FrozenPool(
                pool=team_with(world, (*good, *misleading), noise=0.0),
                covered=team_with(world, (), noise=0.0).families,
                credit_mode="none",
            )
        case "polluted":
            seed = seed_pool(world, noise=0.0)
            _, *specialists, _, _ = seed
            more = [
                _card(world, f"more-{kind.value}-{k}", kind, k)
                for kind, k in (
                    (Kind.GOOD, 4),
                    (Kind.GOOD, 5),
                    (Kind.HARMFUL, 0),
                    (Kind.HARMFUL, 1),
                    (Kind.GOOD, 2),
                )
            ]
            return FrozenPool(
                pool=team_with(world, (*specialists, *more), noise=0.0),
                covered=seed.families,
                credit_mode="raw",
            )


def _card(world: World, name: str, kind: Kind, family: int) -> RoleCard:
    return named_card(world, name, Truth(kind=kind, family=family), noise=0.0)
