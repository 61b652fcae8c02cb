"""Plain data of a card, and cards made of it."""

from collections.abc import Callable
from typing import Any

import pytest

from sero.roles.card import RoleCard, RoleType

PLAIN = {
    "name": "solver",
    "role_type": "specialist",
    "capability_family": "trip-routing",
    "communication_protocol": "One line.",
    "system_prompt": ["You plan trips.", "Fly direct."],
}


@pytest.fixture
def plain() -> Callable[..., dict[str, Any]]:
    """Data of a good card with changes; a value of None leaves the field out."""

    def make(**changes: Any) -> dict[str, Any]:
        merged = {**PLAIN, **changes}
        return {key: value for key, value in merged.items() if value is not None}

    return make


@pytest.fixture
def card() -> Callable[..., RoleCard]:
    """A card by name; the rest is filler."""

    def make(name: str, role_type: str = "specialist", **changes: Any) -> RoleCard:
        values: dict[str, Any] = {
            "capability_family": "f",
            "communication_protocol": "One line.",
            "system_prompt": (f"You are {name}.",),
        }
        return RoleCard(name=name, role_type=RoleType(role_type), **{**values, **changes})

    return make
