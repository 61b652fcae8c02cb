"""Arithmetic on exact fractions and, where those end, on many-digit numbers, within bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import mpmath

Value = Any
"""A Fraction where exact, else an mpmath real or complex number."""

MAX_BITS = 1_000_000
MAX_FACTORIAL = 20_000
MAX_COMBINATION_BITS = 30_000
MAX_EXPONENT_BITS = 1 << 40
NEAR_INTEGER = mpmath.mpf(10) ** -30


class Undefined(ArithmeticError):
    """A term has no value here, or none within reach."""


def is_exact(value: Value) -> bool:
    return isinstance(value, Fraction)


def as_mp(value: Value) -> Any:
    """The value as an mpmath number."""
    if isinstance(value, Fraction):
        return mpmath.mpf(value.numerator) / value.denominator
    return value


def bits(value: Fraction) -> int:
    return value.numerator.bit_length() + value.denominator.bit_length()


def _pair(a: Value, b: Value) -> tuple[Value, Value]:
    if is_exact(a) and is_exact(b):
        return a, b
    return as_mp(a), as_mp(b)


def add(*args: Value) -> Value:
    total: Value = Fraction(0)
    for arg in args:
        a, b = _pair(total, arg)
        total = a + b
    return total


def multiply(*args: Value) -> Value:
    total: Value = Fraction(1)
    for arg in args:
        a, b = _pair(total, arg)
        if is_exact(a) and bits(a) + bits(b) > MAX_BITS:
            raise Undefined("too large")
        total = a * b
    return total


def _div(a: Value, b: Value) -> Value:
    a, b = _pair(a, b)
    return a / b


def _pow(base: Value, exponent: Value) -> Value:
    if is_exact(exponent) and exponent.denominator == 1 and is_exact(base):
        return _whole_power(base, exponent.numerator)
    if is_exact(base) and is_exact(exponent) and exponent.denominator <= 64:
        root = _exact_root(base, exponent.denominator)
        if root is not None:
            return _whole_power(root, exponent.numerator)
    if is_exact(exponent) and exponent.denominator % 2 and _is_negative(base):
        sign = -1 if exponent.numerator % 2 else 1
        return sign * _power(-as_mp(base), as_mp(exponent))
    return _power(as_mp(base), as_mp(exponent))


def _whole_power(base: Fraction, exponent: int) -> Value:
    if base == 0 and exponent <= 0:
        raise Undefined("0 to the power 0, or less")
    if base in (0, 1) or exponent == 0:
        return base if exponent else Fraction(1)
    if base == -1:
        return Fraction(-1 if exponent % 2 else 1)
    if abs(exponent) * bits(base) <= MAX_BITS:
        return base**exponent
    if abs(exponent) > MAX_EXPONENT_BITS:
        raise Undefined("too large")
    return _power(as_mp(base), as_mp(Fraction(exponent)))


def _power(base: Any, exponent: Any) -> Any:
    if base == 0:
        if mpmath.re(exponent) <= 0:
            raise Undefined("0 to the power 0, or less")
        return mpmath.mpf(0)
    if abs(exponent * mpmath.log(abs(base))) > MAX_EXPONENT_BITS:
        raise Undefined("too large")
    return mpmath.power(base, exponent)


def _exact_root(base: Fraction, degree: int) -> Fraction | None:
    """The real root of a fraction when it is a fraction."""
    if base < 0 and degree % 2 == 0:
        return None
    parts = []
    for part in (abs(base.numerator), base.denominator):
        if part.bit_length() > 20_000:
            return None
        root = _integer_root(part, degree)
        if root**degree != part:
            return None
        parts.append(root)
    return Fraction(-parts[0] if base < 0 else parts[0], parts[1])


def _integer_root(value: int, degree: int) -> int:
    if degree == 2:
        return math.isqrt(value)
    low, high = 0, 1 << (value.bit_length() // degree + 1)
    while low < high:
        middle = (low + high + 1) // 2
        if middle**degree <= value:
            low = middle
        else:
            high = middle - 1
    return low


def _is_negative(value: Value) -> bool:
    return not isinstance(value, mpmath.mpc) and value < 0


def _root(value: Value, degree: Value) -> Value:
    if not (is_exact(degree) and degree.denominator == 1 and degree > 0):
        return _pow(value, _div(Fraction(1), degree))
    return _pow(value, 1 / degree)


def _whole(value: Value) -> int | None:
    """The integer that a value is, if it is one."""
    if is_exact(value):
        return value.numerator if value.denominator == 1 else None
    if isinstance(value, mpmath.mpc) or abs(value) > 10**20:
        return None
    nearest = mpmath.nint(value)
    return int(nearest) if abs(value - nearest) < NEAR_INTEGER else None


def _factorial(value: Value) -> Value:
    n = _whole(value)
    if n is None:
        if abs(as_mp(value)) > 10**6:
            raise Undefined("too large")
        return mpmath.gamma(as_mp(value) + 1)
    if n < 0 or n > 10**9:
        raise Undefined("a factorial out of reach")
    return Fraction(math.factorial(n)) if n <= MAX_FACTORIAL else mpmath.gamma(mpmath.mpf(n) + 1)


def _factorial2(value: Value) -> Value:
    n = _whole(value)
    if n is None or not 0 <= n <= MAX_FACTORIAL:
        raise Undefined("a factorial out of reach")
    return Fraction(math.prod(range(n, 0, -2)))


def _binom(above: Value, below: Value) -> Value:
    n, k = _whole(above), _whole(below)
    if n is None or k is None:
        if max(abs(as_mp(above)), abs(as_mp(below))) > 10**6:
            raise Undefined("too large")
        return mpmath.binomial(as_mp(above), as_mp(below))
    if n < 0:
        raise Undefined("a binomial coefficient of a negative number")
    if k < 0 or k > n:
        return Fraction(0)
    if min(n, min(k, n - k) * n.bit_length()) > MAX_COMBINATION_BITS:
        return mpmath.binomial(as_mp(above), as_mp(below))
    return Fraction(math.comb(n, k))


def _rounded(rounding: Callable[[Any], Any]) -> Callable[[Value], Value]:
    def rounded(value: Value) -> Value:
        if is_exact(value):
            return Fraction(rounding(value))
        n = _whole(value)
        if n is not None:
            return Fraction(n)
        if isinstance(value, mpmath.mpc) or abs(value) > mpmath.mpf(10) ** (mpmath.mp.dps - 20):
            raise Undefined("not to be rounded")
        return Fraction(int(mpmath.floor(value) if rounding is math.floor else mpmath.ceil(value)))

    return rounded


def _log(value: Value, base: Value) -> Value:
    value, base = as_mp(value), as_mp(base)
    if value == 0 or base in (0, 1):
        raise Undefined("a logarithm of 0")
    return mpmath.log(value) / mpmath.log(base)


def integers(*args: Value) -> list[int]:
    found = [_whole(arg) for arg in args]
    if any(n is None for n in found):
        raise Undefined("no integers")
    return [n for n in found if n is not None]


def _extreme(choose: Callable[..., Value]) -> Callable[..., Value]:
    return lambda *args: choose(args, key=as_mp)


def _function(function: Callable[[Any], Any], *, reach: float = 1e9) -> Callable[[Value], Value]:
    def apply_it(value: Value) -> Value:
        value = as_mp(value)
        if abs(value) > reach:
            raise Undefined("too large")
        return function(value)

    return apply_it


CONSTANTS: Mapping[str, Callable[[], Value]] = {
    "pi": lambda: +mpmath.pi,
    "e": lambda: +mpmath.e,
    "imaginary": lambda: mpmath.mpc(0, 1),
}
OPERATIONS: Mapping[str, Callable[..., Value]] = {
    "add": add,
    "mul": multiply,
    "div": _div,
    "neg": lambda a: -a,
    "pow": _pow,
    "root": _root,
    "abs": abs,
    "floor": _rounded(math.floor),
    "ceil": _rounded(math.ceil),
    "factorial": _factorial,
    "factorial2": _factorial2,
    "binom": _binom,
    "gcd": lambda *args: Fraction(math.gcd(*integers(*args))),
    "lcm": lambda *args: Fraction(math.lcm(*integers(*args))),
    "max": _extreme(max),
    "min": _extreme(min),
    "log": _log,
    "sgn": lambda a: Fraction((a > 0) - (a < 0)),
    "sin": _function(mpmath.sin),
    "cos": _function(mpmath.cos),
    "tan": _function(mpmath.tan),
    "cot": _function(mpmath.cot),
    "sec": _function(mpmath.sec),
    "csc": _function(mpmath.csc),
    "arcsin": _function(mpmath.asin),
    "arccos": _function(mpmath.acos),
    "arctan": _function(mpmath.atan),
    "arccot": _function(mpmath.acot),
    "sinh": _function(mpmath.sinh, reach=1e6),
    "cosh": _function(mpmath.cosh, reach=1e6),
    "tanh": _function(mpmath.tanh, reach=1e6),
    "coth": _function(mpmath.coth, reach=1e6),
    "arcsinh": _function(mpmath.asinh),
    "arccosh": _function(mpmath.acosh),
    "arctanh": _function(mpmath.atanh),
}
