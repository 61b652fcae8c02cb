"""Whether two terms are equal: exactly, within a tolerance, or at every sampled point.

Two closed forms must agree to many digits, whatever their size. Only where one of them is written
with a decimal point may they differ by `ABSOLUTE`, and then by no more than `RELATIVE` of the
gold, so that tiny values are told apart. An item's own `error` is an absolute tolerance.

Terms with symbols are compared at fixed pseudo-random points, exactly where they are rational.
Analytic terms that agree at that many points are equal; no simplification is needed, and none
can hang. Letters that stand for whole numbers get whole numbers, `x`, `y`, `z` and what stands in
an absolute value get both signs, every other quantity is taken as positive. Points where either
side is undefined in the real numbers say nothing.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import mpmath

from sero.benchmarks.olympiadbench.careful_arithmetic import Undefined, Value, as_mp, is_exact
from sero.benchmarks.olympiadbench.careful_numbers import Setting, evaluate
from sero.benchmarks.olympiadbench.careful_residues import same_residues
from sero.benchmarks.olympiadbench.careful_terms import (
    Apply,
    Term,
    free_symbols,
    has_bare_degrees,
    has_decimal,
    has_op,
    walk,
)

ABSOLUTE = Fraction(1, 10**8)
RELATIVE = Fraction(1, 10**6)
LARGE_RELATIVE = Fraction(1, 10**10)
"""For decimals of large numbers that are no integers; there `ABSOLUTE` asks for too many digits."""

_DIGITS = 50
_MORE_DIGITS = 110
_MAX_DIGITS = 3000
_WHOLE = frozenset("jklmnN")
_SIGNED = frozenset("xyz")
_DISCRETE = ("floor", "ceil", "factorial", "factorial2", "binom", "gcd", "lcm", "sum", "prod")
_SEED = 20240611
_ENOUGH = 12
_LEAST = 4
_ATTEMPTS = 60


def agree(gold: Term, answer: Term, error: Fraction | None = None) -> bool:
    """Whether the answer is equal to the gold, symbols and degree signs considered.

    Args:
        error: absolute tolerance for a number; None asks for the usual equality.
    """
    symbols = sorted({*free_symbols(gold), *free_symbols(answer)})
    for bare_degrees in _degree_readings(gold, answer):
        if symbols:
            equal = _agree_everywhere(gold, answer, symbols, bare_degrees)
        else:
            equal = _agree_as_numbers(gold, answer, error, bare_degrees)
        if equal:
            return True
    return False


def _degree_readings(gold: Term, answer: Term) -> tuple[bool, ...]:
    """60° is 60 where the other side has no degree sign, and pi/3 where it has a pi."""
    ours, theirs = has_bare_degrees(gold), has_bare_degrees(answer)
    if ours == theirs:
        return (False,)
    without = answer if ours else gold
    return (True, False) if has_op(without, "pi") else (True,)


def _agree_as_numbers(gold: Term, answer: Term, error: Fraction | None, bare_degrees: bool) -> bool:
    for real in (True, False):
        setting = (real, bare_degrees)
        try:
            if _same(gold, answer, {}, *setting):
                return True
            with mpmath.workdps(_DIGITS):
                wanted = evaluate(gold, Setting(real=real, bare_degrees=bare_degrees))
                given = evaluate(answer, Setting(real=real, bare_degrees=bare_degrees))
                decimals = has_decimal(gold), has_decimal(answer)
                return _close(wanted, given, error, *decimals)
        except Undefined:
            continue
    return False


def _close(
    gold: Value, answer: Value, error: Fraction | None, gold_decimal: bool, answer_decimal: bool
) -> bool:
    off = abs(gold - answer) if is_exact(gold) and is_exact(answer) else None
    off = abs(as_mp(gold) - as_mp(answer)) if off is None else off
    if error is not None:
        return _at_most(off, error)
    if not (gold_decimal or answer_decimal):
        return False
    size = abs(gold)
    if _at_most(off, ABSOLUTE) and _at_most(off, _times(size, RELATIVE)):
        return True
    whole = is_exact(gold) and gold.denominator == 1
    return answer_decimal and not whole and _at_most(off, _times(size, LARGE_RELATIVE))


def _times(size: Value, fraction: Fraction) -> Value:
    return size * fraction if is_exact(size) else size * as_mp(fraction)


def _at_most(value: Value, bound: Value) -> bool:
    if is_exact(value) and is_exact(bound):
        return bool(value <= bound)
    return bool(as_mp(value) <= as_mp(bound) * (1 + mpmath.mpf(10) ** -30))


def _same(
    gold: Term, answer: Term, values: dict[str, Fraction], real: bool, bare_degrees: bool
) -> bool:
    """Equality of two values, by digits that grow until noise and difference part.

    Raises:
        Undefined: a value is missing, or too large to be told from its neighbours.
    """

    def values_at(digits: int) -> tuple[Value, Value]:
        with mpmath.workdps(digits):
            return (
                evaluate(gold, Setting(values=values, real=real, bare_degrees=bare_degrees)),
                evaluate(answer, Setting(values=values, real=real, bare_degrees=bare_degrees)),
            )

    wanted, given = values_at(_DIGITS)
    if is_exact(wanted) and is_exact(given):
        return bool(wanted == given)
    off, size = _gap(wanted, given, _DIGITS)
    if size > mpmath.mpf(10) ** 30:
        digits = int(mpmath.log10(size)) + _DIGITS
        if off > size / 10**20:
            return False
        if digits > _MAX_DIGITS:
            return same_residues(gold, answer)
        off, size = _gap(*values_at(digits), digits)
        return bool(off <= mpmath.mpf(10) ** -20)
    if off == 0:
        return True
    if off > size / 10**20 and size > mpmath.mpf(10) ** -20:
        return False
    less, size = _gap(*values_at(_MORE_DIGITS), _MORE_DIGITS)
    return bool(less <= off / mpmath.mpf(10) ** 30 or less <= size / mpmath.mpf(10) ** 60)


def _gap(a: Value, b: Value, digits: int) -> tuple[Any, Any]:
    """How far apart two values are, and how large."""
    with mpmath.workdps(digits):
        a, b = as_mp(a), as_mp(b)
        return abs(a - b), max(abs(a), abs(b))


def _agree_everywhere(gold: Term, answer: Term, symbols: Sequence[str], bare_degrees: bool) -> bool:
    real = not (has_op(gold, "imaginary") or has_op(answer, "imaginary"))
    rounded = has_decimal(gold) or has_decimal(answer)
    enough = _ATTEMPTS if _is_discrete((gold, answer)) else _ENOUGH
    defined = 0
    for values in points(symbols, (gold, answer)):
        if defined == enough:
            break
        try:
            if not _same(gold, answer, values, real, bare_degrees):
                if not rounded:
                    return False
                with mpmath.workdps(_DIGITS):
                    wanted, given = (
                        evaluate(term, Setting(values=values, real=real, bare_degrees=bare_degrees))
                        for term in (gold, answer)
                    )
                    off, size = _gap(wanted, given, _DIGITS)
                    if off > size * as_mp(ABSOLUTE):
                        return False
            defined += 1
        except Undefined:
            continue
    return defined >= _LEAST


def points(symbols: Sequence[str], terms: Sequence[Term]) -> Iterator[dict[str, Fraction]]:
    """Where terms in these symbols are compared: always the same points for the same symbols."""
    whole = [name for name in symbols if name.partition("_")[0].rstrip("'") in _WHOLE]
    signed = {name for name in symbols if name in _SIGNED} | _inside_bars(terms)
    rng = random.Random(_SEED)
    if len(whole) == 1 and _is_discrete(terms):
        for n in range(1, 41):
            yield {name: _draw(rng, name, whole, signed) for name in symbols} | {
                whole[0]: Fraction(n)
            }
        return
    for _ in range(_ATTEMPTS):
        yield {name: _draw(rng, name, whole, signed) for name in symbols}


def _is_discrete(terms: Sequence[Term]) -> bool:
    """Whether a few points are too few to tell steps apart."""
    return any(has_op(term, op) for term in terms for op in _DISCRETE)


def _draw(rng: random.Random, name: str, whole: Sequence[str], signed: set[str]) -> Fraction:
    if name in whole:
        n = rng.choice((rng.randint(1, 9), rng.randint(1, 9), rng.randint(10, 40)))
        return Fraction(-n if name in signed and rng.random() < 0.5 else n)
    value = Fraction(rng.randint(3, 90), rng.choice((11, 13, 17, 19, 97)))
    return -value if name in signed and rng.random() < 0.5 else value


def _inside_bars(terms: Sequence[Term]) -> set[str]:
    found: set[str] = set()
    for term in terms:
        for part in walk(term):
            if isinstance(part, Apply) and part.op in ("abs", "sgn"):
                found.update(free_symbols(part))
    return found
