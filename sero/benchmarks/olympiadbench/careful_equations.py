"""Equations and inequalities as wholes: rearranged, exchanged sides, multiplied through.

An equation L = R is the zero set of L - R. Two are the same when one difference is a constant
times the other, or when their quotient is a product of what either divides by, as in
`y = 1/x` and `xy = 1`. A factor that could be zero on its own never counts.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import mpmath

from sero.benchmarks.olympiadbench.careful_arithmetic import Undefined, as_mp
from sero.benchmarks.olympiadbench.careful_numbers import Setting, evaluate
from sero.benchmarks.olympiadbench.careful_terms import (
    Term,
    apply,
    divisors,
    free_symbols,
    has_bare_degrees,
)
from sero.benchmarks.olympiadbench.careful_values import points

_LEAST = 5
_ENOUGH = 9
_DIGITS = 50
_MAX_DIVISORS = 3
_POWERS = (0, -1, 1, -2, 2, -3, 3)
_FLIPPED = {"<": ">", ">": "<", "\\le": "\\ge", "\\ge": "\\le", "\\ne": "\\ne"}

Sides = tuple[Term, str, Term]
"""Left side, relation, right side."""


def same_equation(gold: tuple[Term, Term], answer: tuple[Term, Term]) -> bool:
    """Whether two equations, given by their sides, have the same solutions."""
    quotients = _quotients(
        apply("add", gold[0], apply("neg", gold[1])),
        apply("add", answer[0], apply("neg", answer[1])),
        _distinct_divisors([*gold, *answer]),
    )
    if quotients is None:
        return False
    first = quotients[0]
    n_divisors = len(first) - 1
    if n_divisors > _MAX_DIVISORS:
        n_divisors = 0
    with mpmath.workdps(_DIGITS):
        return any(
            _is_constant([_scaled(row, powers) for row in quotients])
            for powers in itertools.product(_POWERS, repeat=n_divisors)
        )


def same_inequalities(gold: Sequence[Sides], answer: Sequence[Sides]) -> bool:
    """Whether two chains say the same, each inequality up to a positive factor, in any order."""
    if len(gold) != len(answer):
        return False
    left = list(answer)
    for wanted in gold:
        match = next((given for given in left if _same_inequality(wanted, given)), None)
        if match is None:
            return False
        left.remove(match)
    return True


def _same_inequality(gold: Sides, answer: Sides) -> bool:
    left, relation, right = gold
    ours, theirs, their_right = answer
    quotients = _quotients(
        apply("add", left, apply("neg", right)),
        apply("add", ours, apply("neg", their_right)),
        [],
    )
    if quotients is None:
        return False
    factors = [row[0] for row in quotients]
    with mpmath.workdps(_DIGITS):
        if not _is_constant(factors):
            return False
    positive = mpmath.re(factors[0]) > 0
    return relation == (theirs if positive else _FLIPPED[theirs])


def _distinct_divisors(terms: Sequence[Term]) -> list[Term]:
    found: list[Term] = []
    for term in terms:
        for divisor in divisors(term):
            if divisor not in found and free_symbols(divisor):
                found.append(divisor)
    return found


def _quotients(gold: Term, answer: Term, others: Sequence[Term]) -> list[list[Any]] | None:
    """At each sampled point gold / answer, then the other terms; None when one is zero alone."""
    symbols = sorted({*free_symbols(gold), *free_symbols(answer)})
    if not symbols:
        return None
    rows: list[list[Any]] = []
    degrees = has_bare_degrees(gold) != has_bare_degrees(answer)
    with mpmath.workdps(_DIGITS):
        for values in points(symbols, (gold, answer)):
            try:
                row = [
                    as_mp(evaluate(term, Setting(values=values, bare_degrees=degrees)))
                    for term in (gold, answer, *others)
                ]
            except Undefined:
                continue
            zero = [abs(value) < mpmath.mpf(10) ** -40 for value in row]
            if zero[0] != zero[1]:
                return None
            if not any(zero):
                rows.append([row[0] / row[1], *row[2:]])
            if len(rows) == _ENOUGH:
                break
    return rows if len(rows) >= _LEAST else None


def _scaled(row: Sequence[Any], powers: Sequence[int]) -> Any:
    value = abs(row[0]) if any(powers) else row[0]
    for term, power in zip(row[1:], powers, strict=False):
        if power:
            value *= abs(term) ** power
    return value


def _is_constant(values: Sequence[Any]) -> bool:
    first = values[0]
    return all(abs(value - first) <= abs(first) * mpmath.mpf(10) ** -25 for value in values)
