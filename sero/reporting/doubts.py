"""Held-out tasks on which Meta-Debate had nothing to decide by, from `assignments.jsonl`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sero.assignment.players import META_DEBATE
from sero.assignment.writing import Source
from sero.reporting.entries import AssignmentLine
from sero.reporting.records import RunRecord

EVAL = "eval"


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubts:
    """Tasks of an evaluation, counted.

    Attributes:
        tasks: those with an assignment.
        unread: those without a single mean, so that nothing but the order of the list decided.
        defaulted: those where some role was judged by the default criteria.
    """

    tasks: int = 0
    unread: int = 0
    defaulted: int = 0

    def __add__(self, other: Doubts) -> Doubts:
        return Doubts(
            tasks=self.tasks + other.tasks,
            unread=self.unread + other.unread,
            defaulted=self.defaulted + other.defaulted,
        )

    @property
    def arbitrary(self) -> str:
        """What the unread scores make of a row; empty where every task has one."""
        if not self.unread:
            return ""
        which = "this row is" if self.unread == self.tasks else "there this row is"
        return (
            f"on {self.unread} of {self.tasks} tasks no score could be read, so the assignment is "
            f"arbitrary: {which} not Meta-Debate"
        )

    @property
    def unwritten(self) -> str:
        """Where the evaluator wrote no criteria; empty where it always did."""
        if not self.defaulted:
            return ""
        return (
            f"on {self.defaulted} of {self.tasks} tasks no usable criteria were written for some "
            "role and the default ones were used"
        )

    @property
    def lines(self) -> tuple[str, ...]:
        """Those of the two that say something."""
        return tuple(line for line in (self.arbitrary, self.unwritten) if line)


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
    means = [mean for row in line.means for mean in row]
    sources = [hearing.get("criteria_source") for hearing in line.hearings]
    return Doubts(
        tasks=1,
        unread=int(bool(means) and all(mean is None for mean in means)),
        defaulted=int(str(Source.DEFAULT) in sources),
    )
