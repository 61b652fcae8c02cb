"""The symbolic steps of the published OlympiadBench judge; only worker processes import this.

Where the published code swallows an exception, so does this, at the same place: whether a failing
comparison ends a pair's test or leaves it to the next kind of comparison is part of the verdicts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import sympy

from sero.benchmarks.olympiadbench.official_pairs import (
    SLACK,
    is_interval,
    paired,
    same_number,
)
from sero.benchmarks.olympiadbench.official_symbols import parse

MAX_EXPONENT = 1000
SIMPLIFIED_TOLERANCE = 1e-3
_PI = sympy.Symbol("pi")


def all_paired(answers: Sequence[str], golds: Sequence[str], tolerances: Sequence[float]) -> bool:
    """Whether every answer finds a gold of its own, by text, value or algebra.

    Raises:
        IndexError: fewer tolerances than answers.
    """
    return paired(answers, golds, tolerances, same)


@lru_cache(maxsize=2048)
def same(answer: str, gold: str, tolerance: float) -> bool:
    """The test of one pair: text, interval, number, expression, equation, in this order."""
    if answer == gold and answer:
        return True
    if is_interval(answer) and is_interval(gold):
        verdict = _tested(lambda: same_interval(answer, gold, tolerance))
        if verdict is not False:
            return verdict is True  # a comparison that raised ends the test
    if same_number(answer, gold, tolerance):
        return True
    if not ("=" in answer and "=" in gold) and _tested(
        lambda: same_expression(answer, gold, tolerance)
    ):
        return True
    return bool(_tested(lambda: same_equation(answer, gold)))


def _tested(test: Callable[[], Any]) -> bool | None:
    """The verdict of a test, None when it raises. The published code swallows everything."""
    try:
        return bool(test())
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - SymPy raises whatever its parts raise
        return None


def same_interval(answer: str, gold: str, tolerance: float) -> bool:
    r"""Part by part between `\cup`, in order: the brackets, then what both have of the ends."""
    parts = answer.split("\\cup"), gold.split("\\cup")
    if len(parts[0]) != len(parts[1]):
        return False
    for one, other in zip(*parts, strict=True):
        if one[0] != other[0] or one[-1] != other[-1]:
            return False
        ends = one.strip("[]()").split(","), other.strip("[]()").split(",")
        for left, right in zip(*ends, strict=False):
            if not same_expression(left, right, tolerance):
                return False
    return True


def same_expression(answer: str, gold: str, tolerance: float) -> bool:
    """Whether the right-hand sides are one expression, numerically or after simplification.

    Raises:
        Exception: whatever reading and SymPy raise outside the last step.
    """
    one, other = parse(_right_side(answer)), parse(_right_side(gold))
    if one == other:
        return True
    one, other = one.subs(_PI, math.pi), other.subs(_PI, math.pi)
    symbolic = one.has(sympy.Symbol)
    if symbolic != other.has(sympy.Symbol):
        return False
    if not symbolic:
        return bool(_tested(lambda: _close(one, other, tolerance)))
    try:
        size = abs(sympy.simplify(one - other).evalf())
        small = size < SIMPLIFIED_TOLERANCE
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - as in `_tested`
        return False
    return bool(small)  # raises when symbols are left in it


def _right_side(text: str) -> str:
    return (text.split("=")[1] if "=" in text else text).strip()


def _close(one: Any, other: Any, tolerance: float) -> Any:
    if not (_computable(one) and _computable(other)):
        return False
    return abs(one.evalf() - other.evalf()) <= tolerance * SLACK


def _computable(value: Any) -> bool:
    """Whether a power is small enough to be worked out. Powers inside a sum are not looked at."""
    if not isinstance(value, sympy.Pow):
        return True
    base, exponent = value.as_base_exp()
    if not (base.is_number and exponent.is_number):
        return False
    return not abs(exponent.evalf()) > MAX_EXPONENT


def same_equation(answer: str, gold: str) -> bool:
    """Whether the two forms "left minus right" have an integer ratio, either way round.

    Raises:
        Exception: not two equations, or whatever reading and SymPy raise.
    """
    one, other = _zero_form(answer), _zero_form(gold)
    return _is_multiple(one, other) or _is_multiple(other, one)


def _is_multiple(one: Any, other: Any) -> bool:
    ratio = sympy.simplify(one / other)
    whole = ratio.is_Integer or (
        ratio.is_Float and float(ratio).is_integer() and _floats_vanish(one / other)
    )
    return bool(whole and ratio != 0)


def _floats_vanish(quotient: Any) -> bool:
    """Whether SymPy 1.12 cancels to an exact number: `y - 0.5x` by `y - x/2`, not `y - 2.0x`.

    Where clearing the denominators leaves a factor of 1.0 before symbols, it drops that factor.
    """
    quotient = sympy.signsimp(quotient)
    before = [term for part in sympy.fraction(quotient) for term in sympy.Add.make_args(part)]
    if any(term.has(sympy.Float) and float(term.as_coeff_Mul()[0]) == 1 for term in before):
        return False
    for part in sympy.fraction(quotient.normal()):
        for term in sympy.Add.make_args(sympy.expand(part)):
            factor, symbols = term.as_coeff_Mul()
            if symbols.has(sympy.Float):
                return False
            if factor.is_Float and (float(factor) != 1 or symbols == 1):
                return False
    return True


def _zero_form(text: str) -> Any:
    left, right = map(parse, text.split("="))
    equation = sympy.Eq(left, right)
    return sympy.simplify(equation.lhs - equation.rhs)
