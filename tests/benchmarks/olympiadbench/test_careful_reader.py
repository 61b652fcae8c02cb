r"""Formulas to values, worked by hand; what is refused; boxes and sets."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

from sero.benchmarks.olympiadbench.careful_arithmetic import Undefined, as_mp
from sero.benchmarks.olympiadbench.careful_boxes import find_boxes
from sero.benchmarks.olympiadbench.careful_numbers import Setting, evaluate
from sero.benchmarks.olympiadbench.careful_reader import read_terms
from sero.benchmarks.olympiadbench.careful_set_reader import read_set
from sero.benchmarks.olympiadbench.careful_terms import Unreadable, free_symbols
from sero.benchmarks.olympiadbench.careful_text import plain

AT = {"x": Fraction(3), "n": Fraction(5), "a": Fraction(2), "v_max": Fraction(7), "y'": Fraction(4)}


def value(text: str, reading: int = 0) -> float:
    term = read_terms(plain(text))[reading]
    return float(mpmath.re(as_mp(evaluate(term, Setting(values=AT)))))


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("2+3*4", 14),
        ("-2^2", -4),
        ("(-2)^2", 4),
        ("2^3^2", 512),
        ("2^{-1}", 0.5),
        ("2^-1", 0.5),
        ("2^10", 1024),
        ("6/3/2", 1),
        ("2--3", 5),
        ("3n", 15),
        ("x n a", 30),
        ("xna", 30),
        ("a(n-1)", 8),
        (r"\frac12", 0.5),
        (r"\frac{1}{2}x", 1.5),
        (r"\frac1{10}", 0.1),
        (r"2\frac12", 2.5),
        (r"-2\frac12", -2.5),
        (r"2\frac53", 10 / 3),
        (r"2\cdot\frac12", 1),
        (r"x\frac12", 1.5),
        (r"\sqrt9", 3),
        (r"\sqrt[3]{27}", 3),
        (r"\sqrt{x+1}a", 4),
        (r"\sin 30^\circ", 0.5),
        (r"\sin^2 x + \cos^2 x", 1),
        (r"\cos \pi n", -1),
        (r"\sin^{-1} 1", 1.5707963267948966),
        (r"\log_2 8", 3),
        (r"\log 1000", 3),
        (r"\ln e^2", 2),
        (r"\exp(0)", 1),
        (r"5!", 120),
        (r"3!!", 3),
        (r"n!/4!", 5),
        (r"\binom{5}{2}", 10),
        (r"\lfloor 2.7\rfloor", 2),
        (r"\lceil 2.1\rceil", 3),
        (r"\lfloor \log_2 8\rfloor", 3),
        (r"\left[\frac n2\right]", 2),
        (r"2\left[\frac n2\right]", 5),
        (r"|{-3}|", 3),
        (r"|a-n|+1", 4),
        (r"\sum_{k=1}^{n} k^2", 55),
        (r"\prod_{i=1}^{4} i", 24),
        (r"\max(a, n, 1)", 5),
        (r"\gcd(12, 18)", 6),
        ("50%", 0.5),
        ("100/8%", 0.125),
        ("1e3", 1000),
        ("3.2e-5", 0.000032),
        (r"0.\overline{6}", 2 / 3),
        (r"0.1\overline{6}", 1 / 6),
        (r"v_{\text{max}}+v_{max}", 14),
        ("y'", 4),
        (r"y^{\prime}", 4),
        (r"i^2", -1),
        (r"(-8)^{1/3}", -2),
        (r"{5 \over 2}", 2.5),
        ("sqrt(9) + 2**3", 11),
    ],
)
def test_value(text: str, result: float) -> None:
    try:
        assert value(text) == pytest.approx(result)
    except Undefined:
        term = read_terms(plain(text))[0]
        found = evaluate(term, Setting(values=AT, real=False))
        assert complex(found) == pytest.approx(result)


@pytest.mark.parametrize(
    ("text", "results"),
    [
        ("1/2x", (1 / 6, 1.5)),
        (r"\sin x/3", (0.14112000805986721 / 3, 0.8414709848078965)),
        ("2e-3", (0.002, 2 * 2.718281828459045 - 3)),
    ],
)
def test_two_honest_readings(text: str, results: tuple[float, float]) -> None:
    assert [value(text, i) for i in (0, 1)] == pytest.approx(results)


@pytest.mark.parametrize(
    "text",
    [
        *("", "+", "1+", "(1", "1)", "2 3", "x_", "x^", r"\frac{1}", r"\foo", r"\int x dx", "a=b"),
        *("1,2", "1;2", "@", '"', "101_2", r"\ldots", "1+...+n", r"\begin{cases}1\end{cases}"),
        *("1e999999999", "7" * 3000, "(" * 60 + "1" + ")" * 60, "2!" + "!" * 90, "1/" * 200 + "1"),
        *(r"\sum k", "__import__('os')", r"\text{2 apples}", "~"),
    ],
    ids=lambda text: text[:20],
)
def test_refused(text: str) -> None:
    with pytest.raises(Unreadable):
        read_terms(plain(text))


@pytest.mark.parametrize(
    "text",
    [r"\frac10", "0^0", r"(-3)!", r"9^{9^{9^9}}", r"\infty", r"\log 0", r"\binom{-2}{1}", "q"],
)
def test_undefined(text: str) -> None:
    with pytest.raises(Undefined):
        evaluate(read_terms(plain(text))[0], Setting(values=AT))


def test_symbols() -> None:
    term = read_terms(plain(r"E_{0} e^{-t/\tau} + \sum_{k=1}^n k + \vec{v}"))[0]
    assert free_symbols(term) == ("E_0", "n", "t", "tau", "vec{v}")


def test_boxes() -> None:
    text = r"\boxed{} \boxed{a \{ b} {\boxed{\boxed{c}}} \boxed 5 \boxed{d"
    boxes, spoilt = find_boxes(text)
    assert [box.content for box in boxes] == [r"a \{ b", r"\boxed{c}", "5"]
    assert [text[box.start : box.end] for box in boxes][1] == r"\boxed{\boxed{c}}"
    assert spoilt == [0, text.rindex(r"\boxed")]


@pytest.mark.parametrize(
    ("text", "points", "inside"),
    [
        ("(1,2]", (1, 2), (0, 0, 1, 1, 0)),
        (r"(1,2)\cup[2,3)", (1, 3), (0, 0, 1, 0, 0)),
        (r"(1,2)\cup(2,3)", (1, 2, 3), (0, 0, 1, 0, 1, 0, 0)),
        (r"(1,3)\setminus\{2\}", (1, 2, 3), (0, 0, 1, 0, 1, 0, 0)),
        (r"(0,2)\cap[1,3]", (1, 2), (0, 1, 1, 0, 0)),
        (r"(-\infty,1)", (1,), (1, 0, 0)),
        ("x>1", (1,), (0, 0, 1)),
        (r"2x\le -x+3", (1,), (1, 1, 0)),
        (r"|x-1|\ge 2", (-1, 3), (1, 1, 0, 1, 1)),
        (r"x\ne 0", (0,), (1, 0, 1)),
        (r"\{1,2\}", (1, 2), (0, 1, 0, 1, 0)),
        (r"\{x : 0<x<1\}", (0, 1), (0, 0, 1, 0, 0)),
        (r"\mathbb{R}", (), (1,)),
        (r"\emptyset", (), (0,)),
        (r"x<1 \text{ and } x>2", (), (0,)),
        (r"x<2 \text{ or } x>1", (), (1,)),
    ],
)
def test_sets(text: str, points: tuple[int, ...], inside: tuple[int, ...]) -> None:
    found = read_set(plain(text))
    assert tuple(int(as_mp(end.value)) for end in found.points) == points
    assert tuple(map(int, found.inside)) == inside


@pytest.mark.parametrize(
    "text", ["(2,1)", "(1,1)", "[1,\\infty]", "5", "(1,2,3)", "", r"\mathbb{Z}"]
)
def test_no_sets(text: str) -> None:
    with pytest.raises(Unreadable):
        read_set(plain(text))
