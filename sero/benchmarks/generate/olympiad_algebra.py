"""Made-up problems of algebra: roots, inequalities, systems of equations."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from fractions import Fraction
from operator import ge, gt, le, lt

from sero.benchmarks.generate import olympiad_reading as reading
from sero.benchmarks.generate.olympiad_family import (
    Drawn,
    Family,
    Holes,
    combination,
    describes,
    fraction,
    near,
    nonzero,
    polynomial,
    product,
    whole,
)
from sero.benchmarks.generate.olympiad_reading import Number

_LETTERS = "xyzw"
_POWER = re.compile(r"x\^\{(\d+)\}")
_RELATIONS = {"<": lt, ">": gt, "\\leqslant": le, "\\geqslant": ge}


# Roots of a polynomial built from them.


def _draw_roots(rng: random.Random, level: int) -> Drawn:
    degree = 2 + (level > 2) + (level > 4)
    roots: list[Fraction] = []
    while len(roots) < degree:
        root = Fraction(nonzero(rng, 12 + 3 * level), rng.randint(1, 1 + level // 2))
        if root not in roots:
            roots.append(root)
    left = product([(root.denominator, -root.numerator) for root in roots])
    gold = ",".join(fraction(root) for root in roots)
    return Drawn(holes={"left": polynomial(left, "x")}, gold=f"${gold}$")


def _roots_hold(holes: Holes, answer: str, _tolerance: float) -> bool:
    """As many different zeros as the degree allows are all of them."""
    found = reading.numbers(answer)
    degree = max((int(power) for power in _POWER.findall(holes["left"])), default=1)
    zeros = all(near(reading.value(holes["left"], {"x": x}), 0) for x in found)
    return zeros and len(found) == degree == len(set(found))


# A quadratic inequality: an interval or two, with rational or irrational ends.


def _draw_inequality(rng: random.Random, level: int) -> Drawn:
    if level > 1 and rng.random() < 0.5:
        middle, square = nonzero(rng, 6 + 2 * level), rng.choice((2, 3, 5, 6, 7, 10, 11, 13))
        left = [1, -2 * middle, middle * middle - square]
        low, high = f"{middle}-\\sqrt{{{square}}}", f"{middle}+\\sqrt{{{square}}}"
    else:
        bottom = rng.randint(1, level)
        ends = sorted(Fraction(k, bottom) for k in rng.sample(range(-9 - 9 * level, 10 * level), 2))
        left = product([(end.denominator, -end.numerator) for end in ends])
        low, high = map(fraction, ends)
    relation = rng.choice(tuple(_RELATIONS))
    opening, closing = "()" if relation in "<>" else "[]"
    if _RELATIONS[relation] in (lt, le):
        gold = f"${opening}{low},{high}{closing}$"
    else:
        gold = f"$(-\\infty,{low}{closing} \\cup {opening}{high},\\infty)$"
    return Drawn(holes={"left": polynomial(left, "x"), "relation": relation}, gold=gold)


def _inequality_holds(holes: Holes, answer: str, _tolerance: float) -> bool:
    """Its two ends are the zeros, and everywhere membership is the relation."""
    found = reading.pieces(answer)
    ends = {end for p in found for end in (p.low, p.high) if not math.isinf(end)}
    if len(ends) != 2 or not all(_is_zero(holes["left"], end) for end in ends):
        return False
    related = _RELATIONS[holes["relation"]]
    return describes(
        found,
        lambda x: related(0 if x in ends else reading.value(holes["left"], {"x": x}), 0),
        turns=(),
    )


def _is_zero(left: str, x: Number) -> bool:
    """Exactly, or for an irrational number by what the largest terms leave of each other."""
    at = {"x": reading.size(x)}
    scale = sum(reading.size(reading.value(t, at)) for t in re.split(r"[+-]", left) if t)
    slack = 0 if isinstance(x, Fraction) else 1e-12 * scale
    return reading.size(reading.value(left, {"x": x})) <= slack


# A linear system with one solution.


def _draw_system(rng: random.Random, level: int) -> Drawn:
    n = 2 + (level > 2) + (level > 4)
    letters = _LETTERS[:n]
    while True:
        solution = [Fraction(nonzero(rng, 9), rng.choice((1, 1, level))) for _ in letters]
        rows = [[nonzero(rng, 3 + level) for _ in letters] for _ in letters]
        if _determinant(rows) != 0:
            break
    sides = [sum(a * x for a, x in zip(row, solution, strict=True)) for row in rows]
    system = ", ".join(
        f"${combination(list(zip(row, letters, strict=True)))}={fraction(side)}$"
        for row, side in zip(rows, sides, strict=True)
    )
    gold = f"$({','.join(fraction(x) for x in solution)})$"
    return Drawn(holes={"letters": ",".join(letters), "system": system}, gold=gold)


def _system_holds(holes: Holes, answer: str, _tolerance: float) -> bool:
    """It solves every equation, and the determinant says that nothing else does."""
    (point,) = reading.tuples(answer)
    letters = holes["letters"].split(",")
    equations = reading.split(holes["system"])
    if len(point) != len(letters) or len(equations) != len(letters):
        return False
    zero: dict[str, Number] = dict.fromkeys(letters, Fraction(0))
    rows = [
        [
            reading.difference(e, {**zero, letter: Fraction(1)}) - reading.difference(e, zero)
            for letter in letters
        ]
        for e in equations
    ]
    at = dict(zip(letters, point, strict=True))
    return _determinant(rows) != 0 and all(near(reading.difference(e, at), 0) for e in equations)


def _determinant(rows: Sequence[Sequence[Number]]) -> Number:
    if not rows:
        return Fraction(1)
    total: Number = Fraction(0)
    for i, row in enumerate(rows):
        minor = [other[1:] for j, other in enumerate(rows) if j != i]
        total += (-1) ** i * row[0] * _determinant(minor)
    return total


# Two numbers from their sum and the sum of their squares.


def _draw_symmetric(rng: random.Random, level: int) -> Drawn:
    x, y = rng.sample(range(-10 - 6 * level, 15 + 6 * level), 2)
    holes = {"sum": x + y, "squares": x * x + y * y}
    return Drawn(holes=holes, gold=f"$({x},{y}),({y},{x})$")


def _symmetric_holds(holes: Holes, answer: str, _tolerance: float) -> bool:
    """Two different pairs that fit are all, for a line meets a circle at most twice."""
    total, squares = whole(holes, "sum", "squares")
    found = reading.tuples(answer)
    return len(found) == 2 == len(set(found)) and all(
        len(p) == 2 and near(p[0] + p[1], total) and near(p[0] ** 2 + p[1] ** 2, squares)
        for p in found
    )


FAMILIES = (
    Family(
        name="roots",
        subfield="Algebra",
        answer_type="Numerical",
        wording="Determine all real values of $x$ for which $<left>=0$.",
        draw=_draw_roots,
        holds=_roots_hold,
        several=True,
    ),
    Family(
        name="inequality",
        subfield="Algebra",
        answer_type="Interval",
        wording="Determine the set of all real numbers $x$ with $<left> <relation> 0$.",
        draw=_draw_inequality,
        holds=_inequality_holds,
    ),
    Family(
        name="system",
        subfield="Algebra",
        answer_type="Tuple",
        wording="Determine $(<letters>)$, given that these real numbers satisfy <system>.",
        draw=_draw_system,
        holds=_system_holds,
    ),
    Family(
        name="symmetric",
        subfield="Algebra",
        answer_type="Tuple",
        wording="Find all ordered pairs $(x,y)$ of real numbers with $x+y=<sum>$ and "
        "$x^{2}+y^{2}=<squares>$.",
        draw=_draw_symmetric,
        holds=_symmetric_holds,
        several=True,
    ),
)
