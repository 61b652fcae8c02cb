"""Held-out tasks on which Meta-Debate had little or nothing to decide by, from `assignments.jsonl`.

A role is unread if no candidate has a mean for it, and given up if its best mean is not above
`assign.min_score`: the candidate who is best over all roles takes either. Where every role is given
up, that is a uniform assignment.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

from sero.assignment.players import META_DEBATE
from sero.assignment.writing import Source
from sero.reporting.entries import AssignmentLine
from sero.reporting.records import RunRecord

EVAL = "eval"


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """One thing to know about a row: a stable code, what was found, and what to do about it."""

    code: str
    found: str
    advice: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of doubt: the count of `Doubts` it is told from, and what is said of these tasks."""

    count: str
    code: str
    said: str
    advice: str


KINDS = (
    Kind(
        count="unread",
        code="scores_unread",
        said="no score could be read, so the assignment is arbitrary: {row} not Meta-Debate",
        advice="Read the reviews in assignments.jsonl: raise assign.review_tokens where they are "
        "cut, or name other evaluators in assign.roster.",
    ),
    Kind(
        count="partly_unread",
        code="roles_unread",
        said="no score for some role could be read, so the candidate best at the others took it",
        advice="Read that role's reviews in assignments.jsonl: raise assign.review_tokens where "
        "they are cut, or name other evaluators in assign.roster.",
    ),
    Kind(
        count="uniform",
        code="all_given_up",
        said="no role had a mean above assign.min_score, so one candidate took all: {row} uniform",
        advice="Take stronger candidates into assign.roster, write the roles out, or lower "
        "assign.min_score if the reviewers are merely severe.",
    ),
    Kind(
        count="given_up",
        code="roles_given_up",
        said="some role had no mean above assign.min_score and went to the candidate best over all",
        advice="Take a candidate for that role into assign.roster, write the role out, or lower "
        "assign.min_score if its reviewers are merely severe.",
    ),
    Kind(
        count="defaulted",
        code="criteria_unwritten",
        said="no usable criteria were written for some role and the default ones were used",
        advice="Raise assign.criteria_tokens or assign.criteria_attempts, or write the criteria "
        "yourself in assign.roster.",
    ),
    Kind(
        count="flat",
        code="scores_flat",
        said="the means for some role differ less than its reviewers' scores do",
        advice="It may be noise, or reviewers who are unequally severe: compare with "
        "assign.by=random before crediting who plays.",
    ),
    Kind(
        count="dropped",
        code="scores_dropped",
        said="some of the scores could not be read and were left out",
        advice="Read the reviews in assignments.jsonl; where they are cut, raise "
        "assign.review_tokens.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubts:
    """Tasks of an evaluation, counted.

    Attributes:
        tasks: those with an assignment.
        unread: those without a single mean, so that nothing but the order of the list decided.
        partly_unread: those with means, but not for every role.
        uniform: those with means, on which every role was given up.
        given_up: those on which some role with means was given up, but not every role.
        defaulted: those where some role was judged by the default criteria.
        flat: those where the means for some role differ less than its reviewers do.
        dropped: those with means, on which some score could not be read.
    """

    tasks: int = 0
    unread: int = 0
    partly_unread: int = 0
    uniform: int = 0
    given_up: int = 0
    defaulted: int = 0
    flat: int = 0
    dropped: int = 0

    def __add__(self, other: Doubts) -> Doubts:
        names = [field.name for field in dataclasses.fields(self)]
        return Doubts(**{name: getattr(self, name) + getattr(other, name) for name in names})

    @property
    def found(self) -> tuple[Doubt, ...]:
        """What of it happened, the gravest first."""
        return tuple(
            Doubt(code=kind.code, found=self._said(n, kind.said), advice=kind.advice)
            for kind in KINDS
            if (n := getattr(self, kind.count))
        )

    @property
    def lines(self) -> tuple[str, ...]:
        """The same without codes and advice."""
        return tuple(doubt.found for doubt in self.found)

    def _said(self, n: int, what: str) -> str:
        row = "this row is" if n == self.tasks else "there this row is"
        return f"on {n} of {self.tasks} tasks {what.format(row=row)}"


def doubts_of(run: RunRecord) -> Doubts:
    """Of a run in which Meta-Debate assigned the roles; none of any other.

    Raises:
        UserError: a damaged file.
    """
    return count_doubts(run.assignments()) if run.played_by == META_DEBATE else Doubts()


def count_doubts(lines: Iterable[AssignmentLine]) -> Doubts:
    """Of the lines of an evaluation; each is looked at once and forgotten."""
    return sum((doubts_in(line) for line in lines if line.phase == EVAL), Doubts())


def doubts_in(line: AssignmentLine) -> Doubts:
    """Of one task; nothing without an assignment."""
    if line.assignment is None:
        return Doubts()
    roles = list(zip(line.roles, line.means, strict=False))
    unread = {role for role, row in roles if all(mean is None for mean in row)}
    is_read = len(unread) < len(roles)
    given_up = set(line.fallback)
    all_given_up = is_read and given_up.issuperset(line.roles)
    sources = [hearing.get("criteria_source") for hearing in line.hearings]
    return Doubts(
        tasks=1,
        unread=int(bool(roles) and not is_read),
        partly_unread=int(is_read and bool(unread)),
        uniform=int(all_given_up),
        given_up=int(not all_given_up and bool(given_up - unread)),
        defaulted=int(str(Source.DEFAULT) in sources),
        flat=int(bool(line.flat)),
        dropped=int(is_read and line.dropped > 0),
    )
