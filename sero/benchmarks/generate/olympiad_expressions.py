"""Made-up problems of algebra whose answer is an expression: sums in closed form, functions."""

from __future__ import annotations

import random
from fractions import Fraction

from sero.benchmarks.generate import olympiad_reading as reading
from sero.benchmarks.generate.olympiad_family import (
    Drawn,
    Family,
    Holes,
    combination,
    near,
    nonzero,
    polynomial,
)
from sero.benchmarks.generate.olympiad_reading import Number

# Closed forms of sums.


def _draw_power_sum(rng: random.Random, level: int) -> Drawn:
    """The sum of a polynomial, from the sums of 1, k, k^2 and k^3."""
    degree = 1 + (level > 1) + (level > 3)
    term = [rng.randint(1, 9), *(nonzero(rng, 9 + 3 * level) for _ in range(degree))]
    sums = ([1, 0], [1, 1, 0], [2, 3, 1, 0], [1, 2, 1, 0, 0])  # over 1, 2, 6, 4
    total = [0] * (degree + 2)
    for power, coefficient in enumerate(reversed(term)):
        scaled = [coefficient * 12 // (1, 2, 6, 4)[power] * c for c in sums[power]]
        total = [a + b for a, b in zip(total, [0] * (degree - power) + scaled, strict=True)]
    over = Fraction(1, 12)
    if all(c % 12 == 0 for c in total):
        gold = polynomial([c * over for c in total], "n")
    else:
        bottom = min(b for b in (2, 3, 4, 6, 12) if all(c * b % 12 == 0 for c in total))
        top = polynomial([c * bottom * over for c in total], "n")
        gold = f"\\frac{{{top}}}{{{bottom}}}"
    return Drawn(holes={"term": polynomial(term, "k")}, gold=f"${gold}$")


def _draw_mixed_sum(rng: random.Random, level: int) -> Drawn:
    """A geometric part and an arithmetic one."""
    ratio = rng.randint(2, 3 + level)
    times, step = (ratio - 1) * rng.randint(1, 5 + level), rng.randint(1, 20 + 5 * level)
    first = combination([(times * ratio // (ratio - 1), f"\\left({ratio}^{{n}}-1\\right)")])
    second = f"\\frac{{{combination([(step, 'n(n+1)')])}}}{{2}}"
    power = f"{ratio}^{{k}}" if times == 1 else f"{times} \\cdot {ratio}^{{k}}"
    term = f"{power}+{combination([(step, 'k')])}"
    return Drawn(holes={"term": term}, gold=f"${first}+{second}$")


def _sum_holds(holes: Holes, answer: str, _tolerance: float) -> bool:
    """It agrees with the sum added up term by term for n = 1 to 12."""
    (closed,) = reading.functions(answer, "n")
    total: Number = Fraction(0)
    for k in range(1, 13):
        total += reading.value(holes["term"], {"k": Fraction(k)})
        if not near(closed(Fraction(k)), total):
            return False
    return True


# A functional equation among linear functions.


def _draw_iterate(rng: random.Random, level: int) -> Drawn:
    slope, shift = rng.randint(2, 6 + 3 * level), nonzero(rng, 30 + 10 * level)
    other = Fraction(shift * (slope + 1), 1 - slope)
    gold = ",".join(
        f"$f(x)={combination([(a, 'x'), (b, '')])}$" for a, b in ((slope, shift), (-slope, other))
    )
    twice = combination([(slope * slope, "x"), (shift * (slope + 1), "")])
    return Drawn(holes={"twice": twice}, gold=gold)


def _iterates_hold(holes: Holes, answer: str, _tolerance: float) -> bool:
    """Two different linear functions, each right at three points when applied twice."""
    found = reading.functions(answer, "x")
    points = [Fraction(x) for x in (0, 1, 2)]
    values = {tuple(f(x) for x in points) for f in found}
    return len(found) == 2 == len(values) and all(
        near(f(points[0]) + f(points[2]), 2 * f(points[1]))
        and all(near(f(f(x)), reading.value(holes["twice"], {"x": x})) for x in points)
        for f in found
    )


FAMILIES = (
    Family(
        name="power-sum",
        subfield="Algebra",
        answer_type="Expression",
        wording="Express $\\sum_{k=1}^{n}\\left(<term>\\right)$ in closed form in terms of $n$.",
        draw=_draw_power_sum,
        holds=_sum_holds,
    ),
    Family(
        name="mixed-sum",
        subfield="Algebra",
        answer_type="Expression",
        wording="Find a closed form, in terms of $n$, of the sum of $<term>$ over the integers "
        "$k$ from $1$ to $n$.",
        draw=_draw_mixed_sum,
        holds=_sum_holds,
    ),
    Family(
        name="iterate",
        subfield="Algebra",
        answer_type="Expression",
        wording="Determine all functions of the form $f(x)=a x+b$ with real $a$ and $b$ such that "
        "$f(f(x))=<twice>$ for every real number $x$.",
        draw=_draw_iterate,
        holds=_iterates_hold,
        several=True,
    ),
)
