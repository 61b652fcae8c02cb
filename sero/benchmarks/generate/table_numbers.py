"""Exact arithmetic of the table generator: fractions in, the text of a gold answer out.

Everything runs on integers and fractions, so the text never depends on a platform's floats. A
result that lies on the edge of two roundings is refused: no gold may hang on a rounding rule.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

_MICRO = 10**6
_NEAR = 10


class Unclear(ValueError):
    """The drawn table leaves a question without one clear answer; another one is drawn."""


def figure(x: Fraction) -> str:
    """A number as an answer: two places, half up, without trailing zeros.

    Raises:
        Unclear: within 1e-5 of the edge between two roundings, or too small for two places.
    """
    if x.denominator == 1:
        return str(x.numerator)
    return _trimmed(_hundredths(x < 0, int(abs(x) * _MICRO), exact=(x * 100).denominator == 1))


def root_figure(x: Fraction) -> str:
    """The square root of `x` as an answer, from an integer root.

    Raises:
        Unclear: as `figure`.
    """
    micro = math.isqrt(int(x * _MICRO**2))
    return _trimmed(_hundredths(False, micro, exact=Fraction(micro, _MICRO) ** 2 == x))


def root_places(x: Fraction, *, negative: bool) -> str:
    """The square root of `x` with a sign and exactly two places, as a coefficient is written.

    Raises:
        Unclear: as `figure`.
    """
    micro = math.isqrt(int(x * _MICRO**2))
    return _hundredths(negative, micro, exact=Fraction(micro, _MICRO) ** 2 == x)


def _hundredths(negative: bool, micro: int, *, exact: bool) -> str:
    whole, rest = divmod(micro, 10**4)
    if not exact and abs(rest - 5000) <= _NEAR:
        raise Unclear("between two roundings")
    hundredths = whole + (rest >= 5000)
    if hundredths == 0 or (hundredths < 10 and not exact):
        raise Unclear("too small for two places")
    return f"{'-' if negative else ''}{hundredths // 100}.{hundredths % 100:02}"


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".")


def mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction()) / len(values)


def median(values: Sequence[Fraction]) -> Fraction:
    """The middle value, or halfway between the two middle ones."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def variance(values: Sequence[Fraction], *, sample: bool) -> Fraction:
    """Mean squared deviation, divided by n, or by n - 1 of a sample."""
    centre = mean(values)
    return sum(((x - centre) ** 2 for x in values), Fraction()) / (len(values) - sample)


def squared_correlation(a: Sequence[int], b: Sequence[int]) -> tuple[Fraction, bool]:
    """r² of two columns, and whether r is negative.

    Raises:
        Unclear: a column is constant, or there are fewer than three rows.
    """
    n = len(a)
    shared = n * sum(x * y for x, y in zip(a, b, strict=True)) - sum(a) * sum(b)
    spread = (n * sum(x * x for x in a) - sum(a) ** 2) * (n * sum(y * y for y in b) - sum(b) ** 2)
    if not spread or n < 3:
        raise Unclear("no correlation is defined")
    return Fraction(shared * shared, spread), shared < 0
