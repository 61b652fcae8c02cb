"""Meta-Debate, straight down the page: who plays which role on this task (method.md §5).

Source: Zhang et al., "Dynamic Role Assignment for Multi-Agent Debate" (2026), arXiv:2601.17152.
"""

from __future__ import annotations

import numpy as np

from sero.assignment.asking import Floor
from sero.assignment.checks import roster_warnings
from sero.assignment.config import AssignConfig
from sero.assignment.decision import Decision, decide
from sero.assignment.hearing import Hearing, hold_hearing, skips_own_reviews
from sero.assignment.record import Assignment, names_of
from sero.assignment.revising import Heard, heard_anew
from sero.assignment.roster import DebateRole, Panel, Roster
from sero.assignment.writing import Criteria, Pen, Source, write_criteria
from sero.backbones.base import CallContext
from sero.inference.parts import together


async def assign_roles(
    task: str, roster: Roster, panel: Panel, cfg: AssignConfig, *, call: CallContext
) -> Assignment:
    """Criteria, proposals, reviews, assignment; roles nobody is fit for are described anew.

    The outcome reads nothing but the replies, so a caller can settle it (`backbones.settling`).

    Args:
        task: the task's whole text.
        roster: roles, candidates and evaluators, as `sero.assignment.load` checks them.
        panel: a backbone for each of `roster.seats`.
        call: where in the run this assignment stands; reaches every request.

    Raises:
        BackboneError: the machine failed; no partial assignment is returned.
    """
    if len(roster.candidates) == 1:
        return only_candidate(roster, panel, call)
    floor = Floor(panel=panel, call=call)
    pen = Pen(
        author=roster.evaluators[0],
        floor=floor,
        attempts=cfg.criteria_attempts,
        max_tokens=cfg.criteria_tokens,
    )

    # C_i: from the task, by the first evaluator, unless people gave them
    criteria = await together(write_criteria(task, role, pen) for role in roster.roles)

    # p_ij and S_ije: every candidate proposes for every role, every evaluator scores the proposals
    async def hear(role: DebateRole, by: Criteria) -> Hearing:
        return await hold_hearing(task, role, by, roster, cfg, floor)

    heard = Heard(
        hearings=tuple(
            await together(hear(r, c) for r, c in zip(roster.roles, criteria, strict=True))
        )
    )

    # M̄_ij and the assignment; max_j M̄_ij too low: the role is described anew and heard again
    decision = decided(heard, roster, cfg)
    for _ in range(cfg.max_revisions):
        heard = await heard_anew(task, heard, decision, pen, hear)
        decision = decided(heard, roster, cfg)

    return Assignment(
        item=call.item,
        roster=roster,
        chosen=decision.chosen,
        decision=decision,
        hearings=heard.hearings,
        superseded=heard.superseded,
        rewriting=heard.rewriting,
        simulated=is_simulated(panel),
        warnings=(*roster_warnings(roster), *doubts(heard), *decision.warnings),
    )


def decided(heard: Heard, roster: Roster, cfg: AssignConfig) -> Decision:
    """The decision over the hearings so far. S has shape (I, J, E)."""
    scores = np.stack([hearing.scores for hearing in heard.hearings])
    unasked = skips_own_reviews(roster, cfg)
    return decide(scores, roster.own, names_of(roster), cfg, own_unasked=unasked)


def only_candidate(roster: Roster, panel: Panel, call: CallContext) -> Assignment:
    """The uniform assignment to a single candidate, without a call."""
    name = roster.candidates[0].name
    return Assignment(
        item=call.item,
        roster=roster,
        chosen=(0,) * len(roster.roles),
        decision=None,
        hearings=(),
        superseded=(),
        rewriting=(),
        simulated=is_simulated(panel),
        warnings=(f"'{name}' is the only candidate: it takes every role and nobody was asked",),
    )


def is_simulated(panel: Panel) -> bool:
    """Whether somebody on the panel answers from a simulated world."""
    return any(backbone.identity.simulated for backbone in panel.values())


def doubts(heard: Heard) -> list[str]:
    """What went wrong on the way without stopping it."""
    every = (*heard.superseded, *heard.hearings)
    lines = [
        f"role '{hearing.role.name}': no usable criteria in {len(hearing.criteria.refused)} "
        "attempt(s); the default ones were used"
        for hearing in every
        if hearing.criteria.source is Source.DEFAULT
    ]
    lines += [f"role '{hearing.role.name}' was described anew" for hearing in heard.superseded]
    if heard.given_up:
        lines.append(f"{len(heard.given_up)} role(s) could not be described anew: no usable reply")
    dropped = sum(hearing.dropped for hearing in every)
    unreadable = sum(review.unreadable for hearing in every for review in hearing.reviews)
    if dropped:
        lines.append(
            f"{dropped} score(s) dropped, {unreadable} review(s) without a JSON object, or with "
            "two that disagree"
        )
    empty = sum(not said.text.strip() for hearing in heard.hearings for said in hearing.proposals)
    if empty:
        lines.append(f"{empty} proposal(s) without text")
    return lines
