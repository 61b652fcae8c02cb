"""A hearing: every candidate proposes for one role, every evaluator scores the proposals."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from sero.assignment.asking import Floor, ask
from sero.assignment.config import AssignConfig
from sero.assignment.excerpt import task_for_proposals, task_for_reviews
from sero.assignment.reviewing import Review, proposal_prompt, review
from sero.assignment.roster import DebateRole, Roster
from sero.assignment.scores import Floats, plain
from sero.assignment.writing import Criteria
from sero.inference.parts import together
from sero.inference.trace import CallKind, RoleMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class Hearing:
    """All that was said and scored about one role.

    Attributes:
        role: as it was described; a revision makes another hearing.
        proposals: one message per candidate.
        reviews: one per evaluator.
    """

    role: DebateRole
    criteria: Criteria
    proposals: tuple[RoleMessage, ...]
    reviews: tuple[Review, ...]

    @property
    def scores(self) -> Floats:
        """S_ije of the role, the mean over the criteria that were scored; nan without any.

        Shape (J, E).
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            return np.stack([np.nanmean(r.scores, axis=1) for r in self.reviews], axis=1)

    @property
    def messages(self) -> tuple[RoleMessage, ...]:
        """Every logical call, in the order they are counted."""
        said = (message for review in self.reviews for message in review.messages)
        return (*self.criteria.messages, *self.proposals, *said)

    @property
    def dropped(self) -> int:
        """Scores that were asked for and could not be read."""
        return sum(review.dropped for review in self.reviews)

    def to_data(self) -> dict[str, Any]:
        """The hearing as plain data for `assignments.jsonl`; usage stands with the messages."""
        return {
            "role": self.role.name,
            "description": self.role.description,
            "criteria": [
                {
                    "name": one.name,
                    "description": one.description,
                    "lower_is_better": one.lower_is_better,
                }
                for one in self.criteria.chosen
            ],
            "criteria_source": str(self.criteria.source),
            "criteria_refused": [list(reasons) for reasons in self.criteria.refused],
            "proposals": [message.text for message in self.proposals],
            "reviews": [
                {
                    "evaluator": review.evaluator,
                    "order": list(review.order),
                    "scores": plain(review.scores),
                    "dropped": review.dropped,
                    "unreadable": review.unreadable,
                }
                for review in self.reviews
            ],
        }


async def hold_hearing(
    task: str, role: DebateRole, criteria: Criteria, roster: Roster, cfg: AssignConfig, floor: Floor
) -> Hearing:
    """p_ij from every candidate, then S_ije from every evaluator.

    Raises:
        BackboneError: the machine failed.
    """
    prompt = proposal_prompt(task_for_proposals(task, cfg.excerpt_chars), role)
    proposals = await together(
        ask(
            candidate,
            prompt,
            floor,
            kind=CallKind.PROPOSAL,
            max_tokens=cfg.proposal_tokens,
        )
        for candidate in roster.candidates
    )
    texts = [proposal.text for proposal in proposals]
    reviewed = task_for_reviews(task, cfg.excerpt_chars)
    reviews = await together(
        review(
            reviewed,
            role,
            criteria.chosen,
            texts,
            evaluator,
            floor,
            skip=own if skips_own_reviews(roster, cfg) else None,
            single=cfg.review == "single",
            max_tokens=cfg.review_tokens,
        )
        for evaluator, own in zip(roster.evaluators, roster.own, strict=True)
    )
    return Hearing(role=role, criteria=criteria, proposals=tuple(proposals), reviews=tuple(reviews))


def skips_own_reviews(roster: Roster, cfg: AssignConfig) -> bool:
    """Whether nobody is asked about its own proposal.

    Only calls for single proposals can be saved, only where exclusion does not wait for the
    scores, and not where it would leave a single reviewer.
    """
    return cfg.review == "single" and cfg.exclude_self is True and len(roster.evaluators) > 2
