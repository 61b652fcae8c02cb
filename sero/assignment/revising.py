"""Roles nobody is fit for: described anew and heard again (method.md §5, `assign.min_score`).

A new description decides who plays the role and no more: proposals and reviews read it, the card
that is played afterwards stays as written.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import numpy as np

from sero.assignment.decision import Decision
from sero.assignment.hearing import Hearing
from sero.assignment.roster import DebateRole
from sero.assignment.writing import Criteria, Pen, Source, revise_role
from sero.inference.parts import together
from sero.inference.trace import RoleMessage

Hear = Callable[[DebateRole, Criteria], Awaitable[Hearing]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """The hearings so far.

    Attributes:
        hearings: the last one of each role.
        superseded: those of roles before they were described anew.
        rewriting: the calls that asked for new descriptions, usable or not. The criteria of such a
            role came with its description, so its hearing counts no call for them.
        given_up: roles whose new description never came.
    """

    hearings: tuple[Hearing, ...]
    superseded: tuple[Hearing, ...] = ()
    rewriting: tuple[RoleMessage, ...] = ()
    given_up: frozenset[int] = frozenset()


async def heard_anew(task: str, heard: Heard, decision: Decision, pen: Pen, hear: Hear) -> Heard:
    """Describe every role anew that scored too low, and hear those again.

    A role without a single score is left alone: there is nothing to mend in its description.

    Raises:
        BackboneError: the machine failed.
    """
    best = {
        i: float(np.nanmax(means))
        for i, means in enumerate(decision.found.means)
        if decision.low[i] and not np.isnan(means).all() and i not in heard.given_up
    }
    asked = await together(
        revise_role(task, heard.hearings[i].role, heard.hearings[i].criteria.chosen, mean, pen)
        for i, mean in best.items()
    )
    roles = {i: w.found for i, w in zip(best, asked, strict=True) if w.found is not None}
    again = await together(
        hear(role, Criteria(chosen=role.criteria, source=Source.GENERATED))
        for role in roles.values()
    )
    fresh = dict(zip(roles, again, strict=True))
    return Heard(
        hearings=tuple(fresh.get(i, hearing) for i, hearing in enumerate(heard.hearings)),
        superseded=(*heard.superseded, *(heard.hearings[i] for i in fresh)),
        rewriting=(*heard.rewriting, *(m for written in asked for m in written.messages)),
        given_up=heard.given_up | (set(best) - set(fresh)),
    )
