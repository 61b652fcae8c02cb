"""The `assign` section: types and ranges; the values stand in `conf/`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, MinLen

from sero.assignment.rules import AssignMode


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignConfig:
    """The `assign` section.

    Attributes:
        mode: how conflicts over a candidate are settled.
        min_score: a role whose best mean is not above it is described anew, then given up.
        max_revisions: how often a role may be described anew.
        exclude_self: leave evaluators' scores for themselves out; `auto` only of those who favour
            themselves.
        self_margin: `auto`: how far the own score must lie above the others' mean for it.
        severity_correction: take each reviewer's severity out; needs three candidates.
        review: one call per role and evaluator, or one per proposal.
        excerpt_chars: characters of the task that proposals are asked on; None: all of it.
        criteria_attempts: calls until a role's criteria can be used.
        proposal_tokens, criteria_tokens, review_tokens: bounds on completions.
    """

    mode: AssignMode
    min_score: Annotated[float, Ge(1), Le(5)]
    max_revisions: Annotated[int, Ge(0)]
    exclude_self: bool | Literal["auto"]
    self_margin: Annotated[float, Ge(0), Le(4)]
    severity_correction: bool
    review: Literal["joint", "single"]
    excerpt_chars: Annotated[int, Gt(0)] | None
    criteria_attempts: Annotated[int, Gt(0)]
    proposal_tokens: Annotated[int, Gt(0)]
    criteria_tokens: Annotated[int, Gt(0)]
    review_tokens: Annotated[int, Gt(0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAssignConfig(AssignConfig):
    """The section as a run has it: who decides, and between whom.

    Attributes:
        by: `meta_debate`, `random`, `oracle` in a world that knows the best, or a candidate's name,
            who then plays every role; None: every role is played as its card stands.
        roster: YAML file with `candidates`, optionally `evaluators`, and `roles` that describe
            cards of the same names.
    """

    by: Annotated[str, MinLen(1)] | None
    roster: Annotated[str, MinLen(1)]
