"""Expressions as SymPy 1.12's reader builds them, unevaluated where it leaves them so."""

import pytest
import sympy
from sympy import Abs, Add, Derivative, Eq, Function, Integral, Mul, Pow, Symbol, log, oo, sin

from sero.benchmarks.olympiadbench.official_scan import LatexError
from sero.benchmarks.olympiadbench.official_symbols import parse

x, y, e, d, pi = (Symbol(name) for name in ("x", "y", "e", "d", "pi"))


def product(*factors):
    """Nested to the right, unevaluated."""
    if len(factors) == 1:
        return sympy.sympify(factors[0])
    return Mul(factors[0], product(*factors[1:]), evaluate=False)


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("\\pi", pi),  # a name like any other, and so are e and i
        ("1e6", product(1, e, 6)),
        ("-\\infty", -oo),
        ("\\infty_1", oo),
        ("x_{i+1}'", Symbol("x_{i + 1}'")),
        ("\\alpha'", Symbol("alpha")),
        ("n(n-1)", Function("n")(Add(Symbol("n"), -1, evaluate=False))),
        ("\\mathit{ab}", Symbol("ab")),
        ("dx", Symbol("dx")),
        ("2.50", sympy.Float("2.50")),
        ("1,234", sympy.Integer(1234)),
        ("00", sympy.Integer(0)),
        ("007.5", sympy.Float("7.5")),
        ("2 x 3", product(2, 3)),  # between numbers, x is a sign
        ("2 x y", product(2, x, y)),
        ("-2x", -product(2, x)),
        ("x-y", Add(x, Mul(-1, y, evaluate=False), evaluate=False)),
        ("x-2", Add(x, -2, evaluate=False)),
        ("\\frac{1}{x}", Pow(x, -1, evaluate=False)),
        ("\\frac{1.0}{x}", Pow(x, -1, evaluate=False)),
        ("\\frac{x}{2}", product(x, Pow(2, -1, evaluate=False))),
        ("x/2", product(x, Pow(2, -1, evaluate=False))),
        ("2^3", Pow(2, 3, evaluate=False)),
        ("|x|", Abs(x, evaluate=False)),
        ("\\sin^{-1} x", sympy.asin(x)),
        ("\\sin^{-1.0} x", sympy.asin(x)),
        ("\\sin^2 x", Pow(sin(x), 2, evaluate=False)),
        ("\\arcsin x", sympy.asin(x)),
        ("\\arsinh x", sympy.asinh(x)),
        ("\\sec x", sympy.sec(x)),
        ("\\ln x", log(x, sympy.E, evaluate=False)),
        ("\\lg x", log(x, 10, evaluate=False)),
        ("\\log_2 x", log(x, 2, evaluate=False)),
        ("\\exp x", sympy.exp(x)),
        ("\\overline{x}", sympy.conjugate(x)),
        ("\\sqrt[3]{x}", sympy.root(x, 3)),
        ("\\binom{x}{2}", sympy.binomial(x, 2, evaluate=False)),
        ("\\lceil x \\rceil", sympy.ceiling(x)),
        ("\\sum_{x=1}^{3} x", sympy.Sum(x, (x, 1, 3))),
        ("\\prod_{x=1}^{3} x", sympy.Product(x, (x, 1, 3))),
        ("\\lim_{x \\to 0} x", sympy.Limit(x, x, 0, "+-")),
        ("\\int x dx", Integral(x, x)),
        ("\\int_0^1 y", Integral(y, (x, 0, 1))),  # of x when nothing is said
        ("\\int \\frac{dy}{y}", Integral(1 / y, y)),
        ("\\frac{dy}{dx}", Derivative(y, x)),
        ("\\frac{d}{dx} y x", Derivative(product(y, x), x)),
        ("\\frac{d(x^2)}{dx}", Derivative(Pow(x, 2, evaluate=False), x)),
        ("x^2|^{x=2}_{x=1}", Add(4, -1, evaluate=False)),
        ("x|_{3}", x),
        ("x = y", Eq(x, y)),
        ("x = y = x", Eq(Eq(x, y), x)),
        ("1 < 2", sympy.true),
        ("x \\leq y", x <= y),
    ],
)
def test_expressions(text, expression):
    assert parse(text) == expression


def test_a_bra_and_a_ket():
    assert str(parse("\\langle x|y\\rangle")) == "<x|*y"
    assert str(parse("|x\\rangle")) == "|x>"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("x < y < 2", TypeError),
        ("007", LatexError),
        ("0,012", LatexError),
        ("\\frac{d}{dx}", LatexError),
        ("\\frac{d}{dx}^2", LatexError),
        ("\\frac{d}{dx}!", LatexError),
        ("x" * 980, RecursionError),
        ("x" * 982, LatexError),
    ],
)
def test_what_cannot_be_built(text, error):
    with pytest.raises(error):
        parse(text)
