"""The world's role cards: one text per family, the worth hidden in a method sheet."""

from __future__ import annotations

from sero.roles.card import RoleCard, RoleType
from sero.roles.pool import RolePool
from sero.skillworld.sheet import Kind, Truth
from sero.skillworld.text import data, fill, output_protocol
from sero.skillworld.world import World


def make_card(name: str, truth: Truth, sheet: str, *, noise: float) -> RoleCard:
    """The card of a truth under a name.

    Args:
        name: the card's name.
        truth: kind and family; decides the text's family, never its quality.
        sheet: the method sheet that hides `truth`.
        noise: temperature of a specialist's card; the others stay at 0, their draws are never
            rolled again.
    """
    role_type = truth.kind.role_type
    prose = data("skillworld/cards.yaml")[role_type.value]
    values = {"k": truth.family, "sheet": sheet, "output": output_protocol()}
    return RoleCard(
        name=name,
        role_type=role_type,
        protected=role_type is RoleType.AGGREGATOR,
        capability_family=fill(prose["family"], **values),
        capability_tags=tuple(fill(tag, **values) for tag in prose["tags"]),
        communication_protocol=fill(prose["protocol"], **values),
        system_prompt=tuple(fill(line, **values) for line in prose["system_prompt"]),
        temperature=noise if role_type is RoleType.SPECIALIST else 0.0,
    )


def named_card(world: World, name: str, truth: Truth, *, noise: float) -> RoleCard:
    """A card whose sheet is a function of its name."""
    return make_card(name, truth, world.sheet(truth, nonce=f"card/{name}"), noise=noise)


def team_with(world: World, specialists: tuple[RoleCard, ...], *, noise: float) -> RolePool:
    """Router, the specialists given, validator and the protected aggregator, in that order."""
    router, validator, aggregator = (
        named_card(world, kind.value, Truth(kind=kind), noise=noise)
        for kind in (Kind.ROUTER, Kind.VALIDATOR, Kind.AGGREGATOR)
    )
    return RolePool((router, *specialists, validator, aggregator))


def seed_pool(world: World, *, noise: float) -> RolePool:
    """The seed pool of the world's scenario: specialists `seed-0`, `seed-1`, ..."""
    specialists = tuple(
        named_card(world, f"seed-{i}", truth, noise=noise)
        for i, truth in enumerate(world.scenario.seed_specialists)
    )
    return team_with(world, specialists, noise=noise)
