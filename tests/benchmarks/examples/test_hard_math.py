"""Hard maths: every gold is found anew, by computer algebra or by counting."""

from itertools import pairwise, permutations, product
from math import factorial

import pytest
import sympy as sp


def power_sums():
    """e1, e2, e3 from p1, p2, p3, then p4 as the trace of the companion matrix's fourth power."""
    e1, e2 = 3, sp.Rational(3**2 - 5, 2)
    e3 = (sp.Integer(7) - e1 * 5 + e2 * 3) / 3
    companion = sp.Matrix([[0, 0, e3], [1, 0, -e2], [0, 1, e1]])
    assert [(companion**k).trace() for k in (1, 2, 3)] == [3, 5, 7]
    return (companion**4).trace()


def shifted_square():
    x = sp.symbols("x", real=True)
    equation = sp.together(x**2 + x**2 / (x + 1) ** 2 - 3)
    return max(sp.solve(sp.numer(equation), x))


def weighted_sum(n):
    return sum(k**2 * 2**k for k in range(1, n + 1))


def tilings(columns):
    """Covers the first free column each time; counts end when the board is full."""
    if columns <= 0:
        return int(columns == 0)
    # one upright domino; two lying ones; a square
    return tilings(columns - 1) + 2 * tilings(columns - 2)


def coin_runs():
    tosses = ["".join(one) for one in product("HT", repeat=10)]
    return sp.Rational(sum("HH" not in one for one in tosses), len(tosses))


def no_neighbours():
    return sum(all(abs(a - b) != 1 for a, b in pairwise(row)) for row in permutations(range(7)))


def two_centres():
    """Distance of incentre and circumcentre of B(0, 0), C(14, 0), A(5, 12)."""
    corners = [sp.Point(0, 0), sp.Point(14, 0), sp.Point(5, 12)]
    triangle = sp.Triangle(*corners)
    assert sorted(side.length for side in triangle.sides) == [13, 14, 15]
    return triangle.incenter.distance(triangle.circumcenter)


def lens():
    x = sp.symbols("x", real=True)
    half = sp.integrate(sp.sqrt(1 - x**2), (x, sp.Rational(1, 2), 1))
    return 4 * half


def midpoint_circle():
    return sp.Circle(sp.Point(0, 0), sp.Point(0, 1), sp.Point(1, sp.Rational(1, 2))).radius


FOUND = {
    "power-sums": power_sums,
    "shifted-square": shifted_square,
    "last-digits": lambda: sp.Integer(pow(7, 2025, 1000)),
    "quadratic-residues": lambda: sum((n * n + n + 1) % 7 == 0 for n in range(1, 1001)),
    "factorial": lambda: next(n for n in range(1, 99) if factorial(n) % 2025**3 == 0),
    "tilings": lambda: tilings(10),
    "coin-runs": coin_runs,
    "no-neighbours": no_neighbours,
    "two-centres": two_centres,
    "lens": lens,
    "midpoint-circle": midpoint_circle,
}
GOLD = {
    "shifted-square": (1 + sp.sqrt(5)) / 2,
    "coin-runs": sp.Rational(9, 64),
    "two-centres": sp.sqrt(65) / 8,
    "lens": 2 * sp.pi / 3 - sp.sqrt(3) / 2,
    "midpoint-circle": sp.Rational(5, 8),
}
"""The golds that are no plain integers, as formulas."""


@pytest.mark.parametrize("name", FOUND)
def test_the_gold_is_right(example, tasks, name):
    task = tasks("hard_math")[name]
    gold = GOLD.get(name)
    assert (
        sp.simplify(FOUND[name]() - (int(task.reference["answer"]) if gold is None else gold)) == 0
    )
    if gold is not None:
        benchmark = example("hard_math")
        said = f"So the final answer is \\boxed{{{sp.latex(gold)}}}."
        assert benchmark.score(benchmark.parse(task.prompt, said), task).value == 1.0


def test_the_closed_form_is_right(example, tasks):
    n = sp.symbols("n", positive=True)
    gold = 2 ** (n + 1) * (n**2 - 2 * n + 3) - 6
    assert [gold.subs(n, k) for k in range(1, 9)] == [weighted_sum(k) for k in range(1, 9)]
    benchmark, task = example("hard_math"), tasks("hard_math")["weighted-sum"]
    assert set(FOUND) | {task.id} == set(tasks("hard_math"))
    for form, score in (
        (sp.latex(gold), 1.0),
        (r"2^n(2n^2-4n+6)-6", 1.0),
        (r"2^{n+1}(n^2-2n+3)", 0.0),
    ):
        parsed = benchmark.parse(task.prompt, f"So the final answer is $\\boxed{{{form}}}$.")
        assert benchmark.score(parsed, task).value == score, form


@pytest.mark.parametrize(
    ("task", "answer", "score"),
    [
        ("last-digits", "807", 1.0),
        ("last-digits", "7", 0.0),
        ("coin-runs", r"\frac{144}{1024}", 1.0),
        ("coin-runs", "0.140625", 1.0),
        ("midpoint-circle", "5/8", 1.0),
        ("midpoint-circle", "0.6", 0.0),
        ("lens", r"\frac{4\pi-3\sqrt3}{6}", 1.0),
    ],
)
def test_the_careful_judge_decides(example, tasks, task, answer, score):
    benchmark, task = example("hard_math"), tasks("hard_math")[task]
    response = f"So the final answer is \\boxed{{{answer}}}."
    assert benchmark.score(benchmark.parse(task.prompt, response), task).value == score


def test_what_converged_is_told_by_the_canonical_answer(example, tasks):
    benchmark = example("hard_math")
    prompt = tasks("hard_math")["coin-runs"].prompt
    said = [
        benchmark.parse(prompt, f"So the final answer is \\boxed{{{a}}}.").answer
        for a in (r"\frac{9}{64}", "9/64", r"\frac{144}{1024}")
    ]
    assert said[0] == said[1] != said[2]
    assert benchmark.parse(prompt, prompt).answer != said[0]
    assert (benchmark.scorer, benchmark.scores_slowly) == ("careful", True)
