"""The world's answer to a card request: family by need, quality by the anchor's truth (§7)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from sero.roles.load import card_to_data
from sero.skillworld.cards import make_card
from sero.skillworld.chat import unfill
from sero.skillworld.sheet import Kind, Truth
from sero.skillworld.text import data, read_case_id, read_sheet_code
from sero.skillworld.world import World

EditorName = Literal["benign", "hostile"]

NEEDED = 0.7
"""Chance that the family is one the task needs, a missing one first; else any of the K."""
_OUTCOMES: tuple[Kind | None, ...] = (Kind.GOOD, Kind.MEDIUM, Kind.HARMFUL, None)
"""Kinds of new cards; None is a duplicate of the anchor."""
MIXES: Mapping[EditorName, Mapping[bool, tuple[float, ...]]] = MappingProxyType(
    {
        "benign": MappingProxyType(
            {True: (0.55, 0.20, 0.15, 0.10), False: (0.30, 0.20, 0.35, 0.15)}
        ),
        "hostile": MappingProxyType(
            {True: (0.20, 0.15, 0.50, 0.15), False: (0.10, 0.15, 0.60, 0.15)}
        ),
    }
)
"""Chances of good, medium, harmful and duplicate, by whether the anchor is a good card."""
NO_ANCHOR = "There is no role to start from."
_FAMILY = re.compile(r"\bf([0-9]{1,2})\b")


def is_card_request(system: str) -> bool:
    """A request for a new card begins with the first line of the shared template."""
    first: str = data("shared/add_role.yaml")["system"].partition("\n")[0]
    return system.startswith(first)


def write_card(world: World, editor: EditorName, user: str, *, seed: int, noise: float) -> str:
    """The reply to a card request: one JSON card, or a sentence when there is nothing to copy.

    Args:
        world: the world the cards belong to.
        editor: the mix of qualities.
        user: the request's user part; the excerpt names the case, `present` the pool's families,
            the anchor's protocol its method sheet.
        seed: the request's seed, the only source of randomness.
        noise: temperature of the card.
    """
    asked = unfill(data("shared/add_role.yaml")["user"], user)
    code = read_sheet_code(asked.get("anchor_protocol", ""))
    anchor = world.truth(code or "")
    u = world.draws("editor", str(seed))
    kind = pick(u[0], MIXES[editor][anchor.kind is Kind.GOOD])
    letters = "".join(chr(ord("a") + int(v * 26)) for v in u[4:10])
    if kind is None:
        if code is None or anchor.kind is Kind.UNKNOWN:
            return NO_ANCHOR
        truth, sheet = anchor, code
    else:
        families = _needed(world, asked) if u[1] < NEEDED else range(world.n_capabilities)
        truth = Truth(kind=kind, family=families[int(u[2] * len(families))])
        sheet = world.sheet(truth, nonce=f"editor/{seed}/{u[3]}")
    stem = "role" if truth.family is None else f"f{truth.family}"
    card = card_to_data(make_card(f"{stem}-{letters}", truth, sheet, noise=noise))
    return json.dumps({key: value for key, value in card.items() if key != "protected"})


def pick(u: float, chances: Sequence[float]) -> Kind | None:
    """The outcome a uniform falls on; None is a duplicate."""
    for outcome, chance in zip(_OUTCOMES, chances, strict=True):
        u -= chance
        if u < 0.0:
            return outcome
    return _OUTCOMES[-1]


def _needed(world: World, asked: Mapping[str, str]) -> Sequence[int]:
    """Families the case requires, those no role of the pool has first; all K without a case."""
    case_id = read_case_id(asked.get("excerpt", ""))
    if case_id is None:
        return range(world.n_capabilities)
    required = world.case(case_id).required
    present = {int(k) for k in _FAMILY.findall(asked.get("present", ""))}
    return [k for k in required if k not in present] or required
