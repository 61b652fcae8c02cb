"""Made-up problems of number theory and combinatorics."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import combinations

from sero.benchmarks.generate import olympiad_reading as reading
from sero.benchmarks.generate.olympiad_family import (
    Drawn,
    Family,
    Holes,
    decimal,
    near,
    same,
    whole,
)

_MODULI = (3, 4, 5, 7, 11, 13)


# Positive solutions of a linear Diophantine equation.


def _draw_diophantine(rng: random.Random, level: int) -> Drawn:
    while True:
        a, b = rng.sample(range(3, 9 + 6 * level), 2)
        if math.gcd(a, b) == 1:
            break
    total = a * rng.randint(1, 12 * level) + b * rng.randint(1, 12 * level)
    first = total * pow(a, -1, b) % b or b  # the smallest positive x of the right residue
    last = (total - b) // a  # y is at least 1
    count = (last - first) // b + 1 if last >= first else 0
    return Drawn(holes={"a": a, "b": b, "total": total}, gold=str(count))


def _diophantine_holds(holes: Holes, answer: str, _tolerance: float) -> bool:
    """Every x is tried."""
    a, b, total = whole(holes, "a", "b", "total")
    count = sum((total - a * x) % b == 0 for x in range(1, total) if total > a * x)
    return same(reading.numbers(answer), [Fraction(count)])


# Remainders.


def _draw_remainders(rng: random.Random, level: int) -> Drawn:
    while True:
        moduli = sorted(rng.sample(_MODULI[: 4 + level // 2], 2 + (level > 1)))
        extra = rng.randint(14, 20 + 25 * level)
        if all(math.gcd(extra, m) == 1 for m in moduli):
            break
    moduli.append(extra)
    number = rng.randint(extra, math.prod(moduli) - 1)
    holes = {
        "moduli": ",".join(f"${m}$" for m in moduli),
        "remainders": ",".join(f"${number % m}$" for m in moduli),
    }
    return Drawn(holes=holes, gold=str(number))


def _remainders_hold(holes: Holes, answer: str, _tolerance: float) -> bool:
    """Candidates are tried upwards, in steps of the largest modulus."""
    moduli = [int(m) for m in reading.numbers(holes["moduli"])]
    wanted = [int(r) for r in reading.numbers(holes["remainders"])]
    step = moduli[-1]
    smallest = next(
        n
        for n in range(wanted[-1] or step, math.prod(moduli) + step, step)
        if all(n % m == r for m, r in zip(moduli, wanted, strict=True))
    )
    return same(reading.numbers(answer), [Fraction(smallest)])


# Pairs from a product that hides in an equation.


def _draw_product_pairs(rng: random.Random, level: int) -> Drawn:
    while True:
        p, q = rng.randint(2, 7 + 3 * level), rng.randint(2, 7 + 3 * level)
        rest = rng.randint(2, 60 * level)
        whole_product = rest + p * q  # (x + q)(y + p)
        pairs = [
            (d - q, whole_product // d - p)
            for d in range(q + 1, whole_product // (p + 1) + 1)
            if whole_product % d == 0
        ]
        if 2 <= len(pairs) <= 3 + level:
            break
    gold = ",".join(f"({x},{y})" for x, y in pairs)
    holes = {"p": p, "q": q, "rest": rest}
    return Drawn(holes=holes, gold=f"${gold}$")


def _product_pairs_hold(holes: Holes, answer: str, _tolerance: float) -> bool:
    """Every x is tried; y follows from it."""
    p, q, rest = whole(holes, "p", "q", "rest")
    pairs = []
    for x in range(1, rest // p + 1):
        y, left = divmod(rest - p * x, x + q)
        if left == 0 and y > 0:
            pairs.append((Fraction(x), Fraction(y)))
    return sorted(reading.tuples(answer)) == sorted(pairs)


# Multiples in a range: how many, and what share.


def _divisors(rng: random.Random, n: int, bound: int) -> list[int]:
    """Numbers of which none is a multiple of another."""
    while True:
        found = sorted(rng.sample(range(2, bound), n))
        if all(b % a for a, b in combinations(found, 2)):
            return found


def _draw_multiples(rng: random.Random, level: int) -> Drawn:
    a, b, c = _divisors(rng, 3, 8 + 4 * level)
    top = rng.randint(60, 300 * level)
    count = 0
    for sign, group in (
        (1, ((a,), (b,), (c,))),
        (-1, ((a, b), (a, c), (b, c))),
        (1, ((a, b, c),)),
    ):
        count += sign * sum(top // math.lcm(*numbers) for numbers in group)
    return Drawn(holes={"a": a, "b": b, "c": c, "top": top}, gold=str(count))


def _multiples_hold(holes: Holes, answer: str, _tolerance: float) -> bool:
    a, b, c, top = whole(holes, "a", "b", "c", "top")
    count = sum(n % a == 0 or n % b == 0 or n % c == 0 for n in range(1, top + 1))
    return same(reading.numbers(answer), [Fraction(count)])


def _draw_share(rng: random.Random, level: int) -> Drawn:
    a, b = _divisors(rng, 2, 9 + 3 * level)
    top = rng.randint(50, 200 * level)
    count = top - top // a - top // b + top // math.lcm(a, b)
    gold = decimal(Fraction(100 * count, top), 1)
    return Drawn(holes={"a": a, "b": b, "top": top}, gold=gold, error="1e-1")


def _share_holds(holes: Holes, answer: str, tolerance: float) -> bool:
    a, b, top = whole(holes, "a", "b", "top")
    count = sum(n % a != 0 and n % b != 0 for n in range(1, top + 1))
    return same(reading.numbers(answer), [Fraction(100 * count, top)], tolerance)


# Lattice paths around a closed crossing.


def _draw_paths(rng: random.Random, level: int) -> Drawn:
    m, n = rng.randint(4, 7 + 2 * level), rng.randint(4, 7 + 2 * level)
    a, b = rng.randint(1, m - 1), rng.randint(1, n - 1)
    through = math.comb(a + b, a) * math.comb(m + n - a - b, m - a)
    holes = {"m": m, "n": n, "a": a, "b": b}
    return Drawn(holes=holes, gold=str(math.comb(m + n, m) - through))


def _paths_hold(holes: Holes, answer: str, _tolerance: float) -> bool:
    """Paths are added up from crossing to crossing."""
    m, n, a, b = whole(holes, "m", "n", "a", "b")
    ways = [[0] * (n + 1) for _ in range(m + 1)]
    for x in range(m + 1):
        for y in range(n + 1):
            before = (ways[x - 1][y] if x else 0) + (ways[x][y - 1] if y else 0)
            ways[x][y] = 0 if (x, y) == (a, b) else before or 1
    return same(reading.numbers(answer), [Fraction(ways[m][n])])


# Rooks on a board whose size depends on n.


def _draw_rooks(rng: random.Random, level: int) -> Drawn:
    rooks = 2 + (level > 3)
    times, more = rng.randint(2, 9 + level), rng.randint(1, 40)
    rows = "".join(f"(n-{i})" for i in range(1, rooks))
    columns = "".join(
        f"({times} n{more - i:+d})" if more != i else f"({times} n)" for i in range(rooks)
    )
    gold = f"$\\frac{{n{rows}{columns}}}{{{math.factorial(rooks)}}}$"
    return Drawn(holes={"rooks": rooks, "times": times, "more": more}, gold=gold)


def _rooks_hold(holes: Holes, answer: str, _tolerance: float) -> bool:
    """A recursion over the rows, for boards of 3 to 9 rows."""
    rooks, times, more = whole(holes, "rooks", "times", "more")
    (closed,) = reading.functions(answer, "n")

    def placed(rows: int, columns: int, left: int) -> int:
        if left == 0:
            return 1
        if rows == 0:
            return 0
        here = (columns - left + 1) * placed(rows - 1, columns, left - 1)
        return placed(rows - 1, columns, left) + here

    return all(
        near(closed(Fraction(n)), Fraction(placed(n, times * n + more, rooks)))
        for n in range(3, 10)
    )


FAMILIES = (
    Family(
        name="diophantine",
        subfield="Number Theory",
        answer_type="Numerical",
        wording="How many pairs $(x,y)$ of positive integers satisfy $<a> x+<b> y=<total>$?",
        draw=_draw_diophantine,
        holds=_diophantine_holds,
    ),
    Family(
        name="remainders",
        subfield="Number Theory",
        answer_type="Numerical",
        wording="A positive integer leaves the remainders <remainders> when it is divided by "
        "<moduli>, in this order. Find the smallest such integer.",
        draw=_draw_remainders,
        holds=_remainders_hold,
    ),
    Family(
        name="product-pairs",
        subfield="Number Theory",
        answer_type="Tuple",
        wording="Find all pairs $(x,y)$ of positive integers such that $x y+<p> x+<q> y=<rest>$.",
        draw=_draw_product_pairs,
        holds=_product_pairs_hold,
        several=True,
    ),
    Family(
        name="multiples",
        subfield="Combinatorics",
        answer_type="Numerical",
        wording="How many of the integers from $1$ to $<top>$ are divisible by at least one of "
        "the numbers $<a>$, $<b>$ and $<c>$?",
        draw=_draw_multiples,
        holds=_multiples_hold,
    ),
    Family(
        name="share",
        subfield="Combinatorics",
        answer_type="Numerical",
        wording="An integer is drawn at random from $1$ to $<top>$, each with the same "
        "probability. Find the probability, in percent to one decimal place, that it is divisible "
        "neither by $<a>$ nor by $<b>$.",
        draw=_draw_share,
        holds=_share_holds,
        unit="%",
    ),
    Family(
        name="paths",
        subfield="Combinatorics",
        answer_type="Numerical",
        wording="A path from $(0,0)$ to $(<m>,<n>)$ consists of unit steps to the right and "
        "upwards. How many such paths do not pass through $(<a>,<b>)$?",
        draw=_draw_paths,
        holds=_paths_hold,
    ),
    Family(
        name="rooks",
        subfield="Combinatorics",
        answer_type="Expression",
        wording="Let $n \\geqslant 3$. In how many ways can $<rooks>$ rooks of one colour be "
        "placed on a board with $n$ rows and $<times> n+<more>$ columns so that no two of them "
        "share a row or a column? Answer in terms of $n$.",
        draw=_draw_rooks,
        holds=_rooks_hold,
    ),
)
