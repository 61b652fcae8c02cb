"""Ground truth for diagnostics: the ceiling, and what cards really are. No method reads it."""

from __future__ import annotations

from collections.abc import Iterable

from sero.roles.card import RoleCard
from sero.roles.pool import RolePool
from sero.skillworld.cards import named_card, team_with
from sero.skillworld.sheet import Kind, Truth
from sero.skillworld.text import read_sheet_code
from sero.skillworld.world import WorldSpec, world_for


def all_good_pool(spec: WorldSpec, *, noise: float = 0.0) -> RolePool:
    """The ceiling regret is measured to: one good specialist per family and the infrastructure."""
    world = world_for(spec)
    good = tuple(
        named_card(world, f"good-{k}", Truth(kind=Kind.GOOD, family=k), noise=noise)
        for k in range(world.n_capabilities)
    )
    return team_with(world, good, noise=noise)


def kind_of(card: RoleCard, spec: WorldSpec) -> str:
    """What a card is: `good`, `medium`, `harmful`, `distractor`, `router`, ... or `unknown`."""
    code = read_sheet_code(card.prompt_text)
    return world_for(spec).truth(code or "").kind.value


def harmful_count(pool: Iterable[RoleCard], spec: WorldSpec) -> int:
    """Harmful cards of a pool; a distractor and a misleader count as one each."""
    harmful = (Kind.HARMFUL.value, Kind.DISTRACTOR.value, Kind.MISLEADER.value)
    return sum(kind_of(card, spec) in harmful for card in pool)
