"""Sets of real numbers with finitely many ends, in one form for each set.

A set is its boundary points with a flag for each gap and each point, so that order and overlap of
its parts do not matter, and open and closed ends do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import mpmath

from sero.benchmarks.olympiadbench.careful_arithmetic import Value, as_mp, is_exact
from sero.benchmarks.olympiadbench.careful_terms import Term, Unreadable
from sero.benchmarks.olympiadbench.careful_values import agree

DIGITS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """A boundary point; `term` is None for the two infinite ones."""

    value: Value
    term: Term | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RealSet:
    """Flags of gap, point, gap, ..., gap; every point is a boundary, and they ascend."""

    points: tuple[End, ...] = ()
    inside: tuple[bool, ...] = (False,)


LINE = RealSet(inside=(True,))
EMPTY = RealSet()
BELOW, ABOVE = End(value=mpmath.ninf), End(value=mpmath.inf)


def same(gold: RealSet, answer: RealSet, error: Fraction | None = None) -> bool:
    """Whether two sets are the same, ends compared as numbers are (within `error`)."""
    return gold.inside == answer.inside and all(
        ours.term is not None and theirs.term is not None and agree(ours.term, theirs.term, error)
        for ours, theirs in zip(gold.points, answer.points, strict=True)
    )


def interval(low: End, low_closed: bool, high: End, high_closed: bool) -> RealSet:
    """From one end to the other; an end at infinity is open.

    Raises:
        Unreadable: nothing lies between them, or a closed end at infinity.
    """
    order = _order(low, high)
    if (low.term is None and low_closed) or (high.term is None and high_closed):
        raise Unreadable("a closed end at infinity")
    if order > 0 or (order == 0 and not (low_closed and high_closed)):
        raise Unreadable("an interval without points")
    if order == 0:
        return RealSet(points=(low,), inside=(False, True, False))
    points: list[End] = []
    inside = [low.term is None]
    if low.term is not None:
        points.append(low)
        inside += [low_closed, True]
    if high.term is not None:
        points.append(high)
        inside += [high_closed, False]
    return RealSet(points=tuple(points), inside=tuple(inside))


def point(end: End) -> RealSet:
    return interval(end, True, end, True)


def union(a: RealSet, b: RealSet) -> RealSet:
    return _combined(a, b, lambda x, y: x or y)


def meeting(a: RealSet, b: RealSet) -> RealSet:
    return _combined(a, b, lambda x, y: x and y)


def difference(a: RealSet, b: RealSet) -> RealSet:
    return _combined(a, b, lambda x, y: x and not y)


def _order(a: End, b: End) -> int:
    """-1, 0 or 1."""
    if is_exact(a.value) and is_exact(b.value):
        return int(a.value > b.value) - int(a.value < b.value)
    with mpmath.workdps(DIGITS):
        ours, theirs = as_mp(a.value), as_mp(b.value)
        if isinstance(ours, mpmath.mpc) or isinstance(theirs, mpmath.mpc):
            raise Unreadable("an end that is not real")
        if ours == theirs:
            return 0
        if mpmath.isfinite(ours) and mpmath.isfinite(theirs):
            noise = mpmath.mpf(10) ** -40 * max(1, abs(ours), abs(theirs))
            if abs(ours - theirs) <= noise:
                return 0
        return 1 if ours > theirs else -1


def _combined(a: RealSet, b: RealSet, rule: Callable[[bool, bool], bool]) -> RealSet:
    """Gap by gap and point by point over the boundaries of both."""
    points: list[End] = []
    flags = [rule(a.inside[0], b.inside[0])]
    i = j = 0
    while i < len(a.points) or j < len(b.points):
        if i == len(a.points):
            order = 1
        elif j == len(b.points):
            order = -1
        else:
            order = _order(a.points[i], b.points[j])
        points.append(a.points[i] if order <= 0 else b.points[j])
        at_a = a.inside[2 * i + 1] if order <= 0 else a.inside[2 * i]
        at_b = b.inside[2 * j + 1] if order >= 0 else b.inside[2 * j]
        i += order <= 0
        j += order >= 0
        flags += [rule(at_a, at_b), rule(a.inside[2 * i], b.inside[2 * j])]
    return _without_idle_points(points, flags)


def _without_idle_points(points: list[End], flags: list[bool]) -> RealSet:
    kept: list[End] = []
    inside = flags[:1]
    for k, end in enumerate(points):
        at, after = flags[2 * k + 1], flags[2 * k + 2]
        if not inside[-1] == at == after:
            kept.append(end)
            inside += [at, after]
    return RealSet(points=tuple(kept), inside=tuple(inside))
