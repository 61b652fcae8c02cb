r"""Solutions with a free whole number, such as `\frac{\pi}{6} + \pi k`: equal as sets.

Only families whose step is a rational multiple of pi count, for there the letter is certainly a
counter and no quantity of the problem; `2k + 1` and `2n + 1` remain two answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import mpmath

from sero.benchmarks.olympiadbench.careful_arithmetic import Undefined, as_mp
from sero.benchmarks.olympiadbench.careful_items import expansions
from sero.benchmarks.olympiadbench.careful_numbers import Setting, evaluate
from sero.benchmarks.olympiadbench.careful_reader import read_terms
from sero.benchmarks.olympiadbench.careful_sides import sides_of
from sero.benchmarks.olympiadbench.careful_terms import Term, Unreadable, free_symbols, has_op

_COUNTERS = frozenset("jklmnN")
_MAX_DENOMINATOR = 10_000
_MAX_MEMBERS = 2_000

Family = tuple[Fraction, Fraction]
"""Start and step in units of pi."""


def same_families(gold: Sequence[str], answer: Sequence[str]) -> bool:
    """Whether two lists describe the same set of numbers by families with a step of pi."""
    if not any("\\pi" in item for item in gold):
        return False
    wanted, given = _families(gold), _families(answer)
    if not wanted or not given:
        return False
    period = Fraction(1)
    for _, step in (*wanted, *given):
        period = _common(period, step)
    ours, theirs = _members(wanted, period), _members(given, period)
    return ours is not None and ours == theirs


def _families(items: Sequence[str]) -> list[Family] | None:
    found: list[Family] = []
    for item in expansions(list(items))[0]:
        sided = sides_of(item)
        if sided is None or len(sided.values) != 1:
            return None
        try:
            family = _family(read_terms(sided.values[0])[0])
        except (Unreadable, Undefined):
            return None
        if family is None:
            return None
        found.append(family)
    return found


def _family(term: Term) -> Family | None:
    names = free_symbols(term)
    if len(names) != 1 or names[0] not in _COUNTERS or has_op(term, "degrees"):
        return None
    with mpmath.workdps(60):
        at = [
            as_mp(evaluate(term, Setting(values={names[0]: Fraction(k)}))) / mpmath.pi
            for k in (0, 1, 2, 5)
        ]
        start, step = _fraction(at[0]), _fraction(at[1] - at[0])
        if start is None or not step:
            return None
        for k, value in ((2, at[2]), (5, at[3])):
            if _fraction(value) != start + k * step:
                return None
    return start, abs(step)


def _fraction(value: Any) -> Fraction | None:
    scaled = Fraction(int(mpmath.nint(value * mpmath.mpf(10) ** 45)), 10**45)
    near = scaled.limit_denominator(_MAX_DENOMINATOR)
    return near if abs(near - scaled) < Fraction(1, 10**40) else None


def _common(a: Fraction, b: Fraction) -> Fraction:
    """The least common multiple of two fractions."""
    denominator = lcm(a.denominator, b.denominator)
    return Fraction(lcm(int(a * denominator), int(b * denominator)), denominator)


def _members(families: Sequence[Family], period: Fraction) -> set[Fraction] | None:
    found: set[Fraction] = set()
    for start, step in families:
        n = int(period / step)
        if n > _MAX_MEMBERS:
            return None
        found |= {(start + i * step) % period for i in range(n)}
    return found
