"""What a family of made-up problems is: a wording with holes, a draw, and a verifier.

The question is the single source: a verifier reads the numbers back out of it and decides on an
answer by substitution or by brute force, without the formula that the draw has used.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from sero.benchmarks.generate.olympiad_reading import Number, Piece

Holes = Mapping[str, str]
"""What stands in a question's holes, by name."""

_HOLE = re.compile(r"<(\w+)>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """One problem of a family.

    Attributes:
        holes: what to write into the wording.
        gold: the answer as it stands in the data.
        error: absolute tolerance, or one for each answer joined by commas; None is exact.
    """

    holes: Mapping[str, object]
    gold: str
    error: str | None = None


@dataclass(frozen=True, kw_only=True)
class Family:
    """Problems of one wording.

    Attributes:
        name: names its random stream.
        wording: the text with holes `<name>`; what stands before a line break is the context.
        draw: a problem of the given difficulty, 1 to 5.
        holds: whether an answer is right for the holes read back, within a tolerance; may raise
            ValueError for an answer it cannot read.
        several: it asks for several answers.
    """

    name: str
    subfield: str
    answer_type: str
    wording: str
    draw: Callable[[random.Random, int], Drawn]
    holds: Callable[[Holes, str, float], bool]
    several: bool = False
    unit: str | None = None

    def text(self, holes: Mapping[str, object]) -> str:
        """The wording with its holes filled."""
        return _HOLE.sub(lambda hole: str(holes[hole[1]]), self.wording)

    def read(self, text: str) -> Holes | None:
        """The holes of a text of this wording; None for another text."""
        match = self._pattern.fullmatch(text)
        return None if match is None else match.groupdict()

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        parts = _HOLE.split(self.wording)
        wrapped = [f"(?P<{part}>.+)" if i % 2 else re.escape(part) for i, part in enumerate(parts)]
        return re.compile("".join(wrapped))


def whole(holes: Holes, *names: str) -> tuple[int, ...]:
    """Holes that hold integers."""
    return tuple(int(holes[name]) for name in names)


def values(holes: Holes, *names: str) -> tuple[Fraction, ...]:
    """Holes that hold decimal numbers."""
    return tuple(Fraction(holes[name]) for name in names)


def same(found: Iterable[Number], wanted: Iterable[Number], tolerance: float = 0.0) -> bool:
    """Whether two lists hold the same values in any order, each within the tolerance.

    Irrational values agree to a relative 1e-9.
    """
    found, wanted = sorted(found), sorted(wanted)
    return len(found) == len(wanted) and all(
        near(a, b, tolerance) for a, b in zip(found, wanted, strict=True)
    )


def near(a: Number, b: Number, tolerance: float = 0.0) -> bool:
    """Equal, or apart by no more than the tolerance; roots agree to a relative 1e-9."""
    if isinstance(a, Fraction) and isinstance(b, Fraction) and not tolerance:
        return a == b
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=tolerance)


def describes(
    found: Sequence[Piece], holds: Callable[[Number], bool], turns: Iterable[Number]
) -> bool:
    """Whether a union of intervals is the set of all x for which something holds.

    Tried at the ends of the intervals, at the points where the truth may turn, between any two
    neighbours of these and beyond the outermost.
    """
    ends = {end for piece in found for end in (piece.low, piece.high) if not math.isinf(end)}
    points = sorted(ends.union(turns))
    between = [(a + b) / 2 for a, b in pairwise(points)]
    tried = [points[0] - 1, *points, *between, points[-1] + 1]
    return all(any(x in piece for piece in found) == holds(x) for x in tried)


def proportional(pairs: Iterable[tuple[Number, Number]]) -> bool:
    """Whether the first of each pair is the same non-zero multiple of the second.

    Two equations of low degree describe the same curve when this holds for their differences at
    enough points in general position.
    """
    factor: Number | None = None
    for a, b in pairs:
        if factor is None and b != 0:
            factor = a / b
        if factor is None and a != 0:
            return False
        if factor is not None and not near(a, factor * b):
            return False
    return bool(factor)


# Writing numbers and polynomials.


def fraction(x: Fraction | int) -> str:
    """`7`, `-7`, `\\frac{7}{2}`."""
    x = Fraction(x)
    if x.denominator == 1:
        return str(x.numerator)
    return f"{'-' if x < 0 else ''}\\frac{{{abs(x.numerator)}}}{{{x.denominator}}}"


def decimal(x: Fraction | int, places: int) -> str:
    """Rounded half away from zero, trailing zeros gone."""
    scaled = abs(Fraction(x)) * 10**places
    digits = int(scaled + Fraction(1, 2))
    text = f"{digits // 10**places}.{digits % 10**places:0{places}}" if places else str(digits)
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"-{text}" if x < 0 and digits else text


def combination(terms: Sequence[tuple[Fraction | int, str]]) -> str:
    """`2 x^{2}-x+7` from coefficients and what they multiply; zero terms are dropped."""
    text = ""
    for coefficient, factor in terms:
        if coefficient == 0:
            continue
        sign = "-" if coefficient < 0 else "+" if text else ""
        size = abs(Fraction(coefficient))
        number = "" if size == 1 and factor else fraction(size)
        text += sign + (f"{number} {factor}" if number and factor else number + factor)
    return text or "0"


def polynomial(coefficients: Sequence[Fraction | int], letter: str) -> str:
    """A polynomial from its coefficients, highest power first."""
    degree = len(coefficients) - 1
    powers = [f"{letter}^{{{degree - i}}}" for i in range(degree - 1)]
    return combination(list(zip(coefficients, [*powers, letter, ""][-degree - 1 :], strict=True)))


def product(factors: Iterable[Sequence[int]]) -> list[int]:
    """The coefficients of a product of polynomials, highest power first."""
    result = [1]
    for factor in factors:
        total = [0] * (len(result) + len(factor) - 1)
        for i, a in enumerate(result):
            for j, b in enumerate(factor):
                total[i + j] += a * b
        result = total
    return result


def nonzero(rng: random.Random, bound: int) -> int:
    """An integer from -bound to bound without 0."""
    return rng.choice((-1, 1)) * rng.randint(1, bound)
