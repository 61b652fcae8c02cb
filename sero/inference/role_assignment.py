"""Who plays the roles on a task: the cards as they are played there (method.md §5).

A card says what a role does. With several candidates, models or ways of using one, an assigner
decides for each task which of them plays which role; without one every card stands as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from sero.backbones.base import CallContext
from sero.inference.span import ZERO, Span
from sero.inference.trace import RoleMessage
from sero.roles.card import RoleCard


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleAssignment:
    """Roles with their players.

    Attributes:
        cards: the cards that were given, in their order, backbone, temperature and prompt strategy
            of their players filled in; names and stages stay.
        suitability: how fit the players were found to be, in [0, 1]; absent where nobody said so.
        messages: what was asked to find out.
        record: the line of `assignments.jsonl`; None where nothing was decided.
    """

    cards: tuple[RoleCard, ...] = ()
    suitability: Mapping[str, float] = field(default_factory=dict)
    messages: tuple[RoleMessage, ...] = ()
    record: Mapping[str, Any] | None = None


AS_WRITTEN = RoleAssignment()
"""Nobody decided anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedAssignment:
    """What an assignment asks for on one task.

    Attributes:
        calls: logical calls.
        distinct: different requests it sends at least where the call cache holds nothing.
        shown: completions in the prompts of its calls, at most.
    """

    calls: Span
    distinct: int
    shown: int


NOTHING_ASKED = PlannedAssignment(calls=ZERO, distinct=0, shown=0)


class Assigner(Protocol):
    """Decides who plays which role."""

    async def assign(
        self, prompt: str, cards: Sequence[RoleCard], call: CallContext
    ) -> RoleAssignment:
        """The cards as they are played on this task.

        Raises:
            BackboneError: the machine failed.
        """
        ...

    def planned(self, n_roles: int, cards: Sequence[RoleCard] | None = None) -> PlannedAssignment:
        """What that asks for. Pure.

        Args:
            cards: the roles themselves where they are known before the task is read.
        """
        ...


async def assign_cards(
    prompt: str, cards: Sequence[RoleCard], assigner: Assigner | None, *, call: CallContext
) -> RoleAssignment:
    """The cards as they are played on this task; as they stand where nobody assigns roles.

    Raises:
        BackboneError: the machine failed.
    """
    if assigner is None:
        return RoleAssignment(cards=tuple(cards))
    return await assigner.assign(prompt, cards, call)
