"""Characters of what an assignment asks, and of cards that candidates play."""

from __future__ import annotations

from collections.abc import Sequence

from sero.assignment.asking import FILE
from sero.assignment.config import AssignConfig
from sero.assignment.roster import (
    MAX_CRITERIA,
    MAX_CRITERION_CHARS,
    MAX_TEXT_CHARS,
    Roster,
)
from sero.benchmarks.base import Task
from sero.inference.layout import template
from sero.inference.span import Span
from sero.planning.assumed import LINE_CHARS, REASON_LINES
from sero.roles.card import MAX_NAME_CHARS

FORM_CHARS = 100
"""Characters of one proposal's entry in the form of a review's reply, at most."""


def strategy_chars(roster: Roster) -> int:
    """Of the longest prompt strategy, which stands before a card's own prompt."""
    return max(len(one.prompt) for one in (*roster.candidates, *roster.evaluators))


def asked_chars(cards: Span, roster: Roster, cfg: AssignConfig) -> Span:
    """Characters around the task in one prompt of an assignment, replies shown in it left out.

    Args:
        cards: characters of a card that describes a role.
    """
    given = [len(role.description) for role in roster.roles]
    longest = max(cards.high, *given, MAX_TEXT_CHARS if cfg.max_revisions else 0)
    criteria = MAX_CRITERIA * (MAX_CRITERION_CHARS + MAX_NAME_CHARS + 40)
    fixed = max(len(template(FILE, name)) for name in ("review", "criteria", "revision"))
    notes = len(template(FILE, "excerpt_note")) + len(template(FILE, "retry"))
    most = fixed + notes + criteria + REASON_LINES * LINE_CHARS + strategy_chars(roster)
    forms = len(roster.candidates) * FORM_CHARS
    return Span(min(cards.low, *given, cards.low), most + longest + MAX_NAME_CHARS + forms)


def shown_task_chars(tasks: Sequence[Task], cfg: AssignConfig) -> list[int]:
    """Characters of each task that a proposal is asked on."""
    return [min(len(task.prompt), cfg.excerpt_chars or len(task.prompt)) for task in tasks]


def longest_reply(cfg: AssignConfig) -> int:
    """Tokens of a reply, at most."""
    return max(cfg.proposal_tokens, cfg.criteria_tokens, cfg.review_tokens)
