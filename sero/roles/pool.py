"""The role pool P: an ordered, immutable tuple of cards. The index is the tie-break everywhere."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property

from sero.roles.card import RoleCard, RoleType
from sero.storage import dumps


@dataclass(frozen=True)
class RolePool:
    """Cards in order; edits give a new pool.

    Raises:
        ValueError: two cards share a name.
    """

    cards: tuple[RoleCard, ...]

    def __post_init__(self) -> None:
        twice = [name for name, n in Counter(card.name for card in self.cards).items() if n > 1]
        if twice:
            raise ValueError(f"RolePool got duplicate role names {twice}; names are unique")

    def __len__(self) -> int:
        return len(self.cards)

    def __iter__(self) -> Iterator[RoleCard]:
        return iter(self.cards)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __getitem__(self, name: str) -> RoleCard:
        try:
            return self._by_name[name]
        except KeyError:
            raise KeyError(
                f"no role {name!r} in the pool; it has {sorted(self._by_name)}"
            ) from None

    def index(self, name: str) -> int:
        """Position of a role, the deterministic tie-break."""
        return self.cards.index(self[name])

    @cached_property
    def _by_name(self) -> dict[str, RoleCard]:
        return {card.name: card for card in self.cards}

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(card.name for card in self.cards)

    @cached_property
    def families(self) -> tuple[str, ...]:
        """Capability families in order of first appearance."""
        return tuple(dict.fromkeys(card.capability_family for card in self.cards))

    @cached_property
    def terminal(self) -> RoleCard | None:
        """r_agg, the first aggregator; None only in pools that lost it with guards off."""
        return next((c for c in self.cards if c.role_type is RoleType.AGGREGATOR), None)

    @cached_property
    def hash(self) -> str:
        """sha256 over every field of every card in order, as 16 hex digits."""
        text = dumps([asdict(card) for card in self.cards])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def of_type(self, role_type: RoleType) -> tuple[RoleCard, ...]:
        return tuple(card for card in self.cards if card.role_type is role_type)

    def with_role(self, card: RoleCard) -> RolePool:
        """P plus a card at the end."""
        return RolePool((*self.cards, card))

    def without_role(self, name: str) -> RolePool:
        """P without the named role.

        Raises:
            KeyError: no such role.
        """
        gone = self[name]
        return RolePool(tuple(card for card in self.cards if card is not gone))
