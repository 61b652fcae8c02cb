"""Made-up problems of geometry: lattice points, angles, medians, reflections, lines and circles."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import product

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
    proportional,
    same,
    whole,
)

_GRID = tuple(
    (Fraction(x), Fraction(y)) for x, y in product((-7, -3, 0, 2, 5, 11), (-5, -2, 1, 3, 8, 13))
)
"""Points at which two equations of degree two at most are compared."""


# Lattice points inside a triangle.


def _draw_lattice(rng: random.Random, level: int) -> Drawn:
    size = 6 + 5 * level
    while True:
        a, b, c = ((rng.randint(0, size), rng.randint(0, size)) for _ in range(3))
        twice = abs((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]))
        border = sum(math.gcd(p[0] - q[0], p[1] - q[1]) for p, q in ((a, b), (b, c), (c, a)))
        inside = (twice - border + 2) // 2  # Pick: area = inside + border / 2 - 1
        if twice and inside > 2:
            break
    holes = {
        f"{letter}{axis}": p[i]
        for letter, p in zip("abc", (a, b, c), strict=True)
        for i, axis in enumerate("xy")
    }
    return Drawn(holes=holes, gold=str(inside))


def _lattice_holds(holes: Holes, answer: str, _tolerance: float) -> bool:
    """Each lattice point is tried: it is inside when the three turns around it agree."""
    ax, ay, bx, by, cx, cy = whole(holes, "ax", "ay", "bx", "by", "cx", "cy")
    sides = ((ax, ay, bx, by), (bx, by, cx, cy), (cx, cy, ax, ay))
    count = 0
    for x, y in product(range(max(ax, bx, cx)), range(max(ay, by, cy))):
        turns = [(x2 - x1) * (y - y1) - (x - x1) * (y2 - y1) for x1, y1, x2, y2 in sides]
        count += all(t > 0 for t in turns) or all(t < 0 for t in turns)
    return same(reading.numbers(answer), [Fraction(count)])


# Angles of a triangle from their ratio.


def _draw_angles(rng: random.Random, level: int) -> Drawn:
    ratio = rng.sample(range(1, 10 + 4 * level), 3)
    total = sum(ratio)
    gold = ",".join(fraction(Fraction(180 * part, total)) for part in ratio)
    return Drawn(holes=dict(zip("pqr", ratio, strict=True)), gold=f"${gold}$")


def _angles_hold(holes: Holes, answer: str, _tolerance: float) -> bool:
    """They add up to a straight angle and are in the ratio."""
    found = sorted(reading.numbers(answer))
    ratio = sorted(whole(holes, "p", "q", "r"))
    return (
        len(found) == 3
        and near(sum(found), Fraction(180))
        and all(near(found[i] * ratio[0], found[0] * ratio[i]) for i in (1, 2))
    )


# The median between two sides.


def _draw_median(rng: random.Random, level: int) -> Drawn:
    a, b = rng.sample(range(2, 30 + 15 * level), 2)
    low, high = Fraction(abs(a - b), 2), Fraction(a + b, 2)
    return Drawn(holes={"a": a, "b": b}, gold=f"$({fraction(low)},{fraction(high)})$")


def _median_holds(holes: Holes, answer: str, _tolerance: float) -> bool:
    """A length is in the answer when the third side that belongs to it makes a triangle."""
    a, b = whole(holes, "a", "b")

    def exists(m: reading.Number) -> bool:
        third = 2 * a * a + 2 * b * b - 4 * m * m  # squared, by the law of the parallelogram
        return m > 0 and (a - b) ** 2 < third < (a + b) ** 2

    return describes(reading.pieces(answer), exists, (Fraction(abs(a - b), 2), Fraction(a + b, 2)))


# The reflection of a point in a line.


def _draw_reflection(rng: random.Random, level: int) -> Drawn:
    while True:
        a, b = nonzero(rng, 2 + level), nonzero(rng, 2 + level)
        c, p, q = (rng.randint(-9 - level, 9 + level) for _ in range(3))
        off = a * p + b * q - c
        if off and math.gcd(a, b) == 1:
            break
    step = Fraction(2 * off, a * a + b * b)
    line = f"{combination([(a, 'x'), (b, 'y')])}={c}"
    gold = f"$({fraction(p - step * a)},{fraction(q - step * b)})$"
    return Drawn(holes={"p": p, "q": q, "line": line}, gold=gold)


def _reflection_holds(holes: Holes, answer: str, _tolerance: float) -> bool:
    """The midpoint is on the line, and the line's direction is at right angles to the way."""
    (point,) = reading.tuples(answer)
    if len(point) != 2:
        return False
    p, q = whole(holes, "p", "q")

    def off(x: reading.Number, y: reading.Number) -> reading.Number:
        return reading.difference(holes["line"], {"x": x, "y": y})

    zero, one = Fraction(0), Fraction(1)
    a, b = off(one, zero) - off(zero, zero), off(zero, one) - off(zero, zero)
    middle = off((p + point[0]) / 2, (q + point[1]) / 2)
    across = (point[0] - p) * -b + (point[1] - q) * a
    return near(middle, zero) and near(across, zero)


# Lines and circles.


def _draw_bisector(rng: random.Random, level: int) -> Drawn:
    size = 6 + 3 * level
    while True:
        ax, ay, bx, by = (rng.randint(-size, size) for _ in range(4))
        if ax != bx and ay != by:
            break
    a, b = 2 * (bx - ax), 2 * (by - ay)
    c = bx * bx + by * by - ax * ax - ay * ay
    shared = math.gcd(a, b, c) * (1 if a > 0 else -1)
    gold = f"${combination([(a // shared, 'x'), (b // shared, 'y')])}={c // shared}$"
    return Drawn(holes={"ax": ax, "ay": ay, "bx": bx, "by": by}, gold=gold)


def _bisector_holds(holes: Holes, answer: str, _tolerance: float) -> bool:
    """Proportional to the difference of the squared distances."""
    ax, ay, bx, by = whole(holes, "ax", "ay", "bx", "by")
    return proportional(
        (
            reading.difference(answer, {"x": x, "y": y}),
            (x - ax) ** 2 + (y - ay) ** 2 - (x - bx) ** 2 - (y - by) ** 2,
        )
        for x, y in _GRID
    )


def _draw_circle(rng: random.Random, level: int) -> Drawn:
    size = 4 + 3 * level
    while True:
        ax, ay, bx, by = (rng.randint(-size, size) for _ in range(4))
        if (ax - bx) % 2 == 0 == (ay - by) % 2 and (ax, ay) != (bx, by):
            break
    x, y = (ax + bx) // 2, (ay + by) // 2
    square = ((ax - bx) ** 2 + (ay - by) ** 2) // 4
    squares = "+".join(
        f"{letter}^{{2}}" if m == 0 else f"({letter}{-m:+d})^{{2}}"
        for letter, m in (("x", x), ("y", y))
    )
    holes = {"ax": ax, "ay": ay, "bx": bx, "by": by}
    return Drawn(holes=holes, gold=f"${squares}={square}$")


def _circle_holds(holes: Holes, answer: str, _tolerance: float) -> bool:
    """Proportional to the product that vanishes where the diameter is seen at a right angle."""
    ax, ay, bx, by = whole(holes, "ax", "ay", "bx", "by")
    return proportional(
        (
            reading.difference(answer, {"x": x, "y": y}),
            (x - ax) * (x - bx) + (y - ay) * (y - by),
        )
        for x, y in _GRID
    )


FAMILIES = (
    Family(
        name="lattice",
        subfield="Geometry",
        answer_type="Numerical",
        wording="A triangle has the vertices $(<ax>,<ay>)$, $(<bx>,<by>)$ and $(<cx>,<cy>)$. How "
        "many points with integer coordinates lie strictly inside it?",
        draw=_draw_lattice,
        holds=_lattice_holds,
    ),
    Family(
        name="angles",
        subfield="Geometry",
        answer_type="Numerical",
        wording="The three angles of a triangle are in the ratio $<p>:<q>:<r>$. Determine all "
        "three of them in degrees.",
        draw=_draw_angles,
        holds=_angles_hold,
        several=True,
        unit="^{\\circ}",
    ),
    Family(
        name="median",
        subfield="Geometry",
        answer_type="Interval",
        wording="Two sides of a triangle have the lengths $<a>$ and $<b>$. Which values can the "
        "length of the median to the third side take? Give the set of all of them.",
        draw=_draw_median,
        holds=_median_holds,
    ),
    Family(
        name="reflection",
        subfield="Geometry",
        answer_type="Tuple",
        wording="The point $(<p>,<q>)$ is reflected in the line $<line>$. Determine the "
        "coordinates of the point that results.",
        draw=_draw_reflection,
        holds=_reflection_holds,
    ),
    Family(
        name="bisector",
        subfield="Geometry",
        answer_type="Equation",
        wording="Find an equation, in $x$ and $y$, of the set of all points in the plane that are "
        "as far from $(<ax>,<ay>)$ as from $(<bx>,<by>)$.",
        draw=_draw_bisector,
        holds=_bisector_holds,
    ),
    Family(
        name="circle",
        subfield="Geometry",
        answer_type="Equation",
        wording="Find an equation, in $x$ and $y$, of the circle that has the segment from "
        "$(<ax>,<ay>)$ to $(<bx>,<by>)$ as a diameter.",
        draw=_draw_circle,
        holds=_circle_holds,
    ),
)
