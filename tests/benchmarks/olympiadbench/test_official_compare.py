"""Verdicts on single pairs. Expected ones are those of the published judge on SymPy 1.12."""

import pytest

from sero.benchmarks.olympiadbench.official_compare import all_paired, same


@pytest.mark.parametrize(
    ("answer", "gold", "verdict"),
    [
        # Expressions.
        ("2(n-1)", "2n-2", True),
        ("2n-1", "2n-2", False),
        ("2m-2", "2n-2", False),
        ("n^2-n", "n(n-1)", False),  # a function n
        ("x(x+1)", "x(x+1)", True),
        ("(x)(x+1)", "x^2+x", True),
        ("(x+1)(x+2)", "(x+2)(x+1)", True),  # no interval after all
        ("x+0.0005", "x", True),  # 1e-3 after simplification
        ("x+0.01", "x", False),
        ("0.333x", "\\frac{x}{3}", False),  # a symbol is left
        ("\\sin^2 x", "1-\\cos^2 x", True),
        ("\\frac{n!}{2!\\cdot (n-2)!}", "\\binom{n}{2}", True),
        ("x", "3", False),
        ("f(n)=n", "n", True),
        ("\\theta", "\\vartheta", False),
        ("2x \\text{ cm}", "2x", False),
        ("2x)", "2x", True),  # what follows is not read
        ("e^{\\ln 2}", "2", False),  # e is a symbol
        # Numbers.
        ("\\frac{84}{2}", "42", True),
        ("0.75\\pi", "\\frac{3\\pi}{4}", True),
        ("6.283185307", "2\\pi", True),
        ("6.28", "2\\pi", False),
        ("\\sqrt{8}", "2\\sqrt{2}", True),
        ("2^{1500}", "4^{750}", False),  # the exponent limit
        ("2^{2000}+1", "4^{1000}+1", True),  # looked at in the top level only
        ("\\cos\\frac{\\pi}{3}", "0.5", True),
        ("1.0\\times 10^{3}", "1000", True),
        ("3.2e-5", "3.2 \\times 10^{-5}", False),
        ("1e999", "1", False),
        ("\\infty", "+\\infty", True),
        ("-\\infty", "\\infty", False),
        ("3:4", "0.75", True),
        ("\\{3\\}", "3", True),
        ("345.", "12", True),  # read as 3 times 4
        # Equations, both sides of both; one side alone is an expression.
        ("x^2=1-y^2", "x^2+y^2=1", True),
        ("2x+2y=2", "x+y=1", True),
        ("x+y=1", "2x+2y=2", True),
        ("3x=3.5", "x=1", False),
        ("x=1", "1=x", True),
        ("x=x", "y=y", False),  # no equation is left of them
        ("y=2=2", "y=2", False),
        ("f(x)=2x", "f(x)=x+x", True),
        ("y=0.5x", "y=\\frac{x}{2}", True),
        ("x=0.5y", "x=\\frac{y}{2}", False),
        ("y=2.0x", "y=2x", False),
        ("E=0.5mv^2", "E=\\frac12 mv^2", False),
        ("E=0.5mv^2+mgh", "E=\\frac12 mv^2+mgh", True),
        ("y=\\frac{0.5gx^2}{v^2}", "y=\\frac{gx^2}{2v^2}", True),
        ("y=\\frac{0.5}{v^2}", "y=\\frac{1}{2v^2}", False),
        # Relations only as they stand.
        ("k \\geq 2", "k \\geqslant 2", True),
        ("k>2", "2<k", False),
        # Intervals and tuples.
        ("[0.5,8]", "[\\frac{1}{2}, 8]", True),
        ("(0.5,8]", "[\\frac{1}{2}, 8]", False),
        ("(-\\infty,2)", "(-\\infty,2.0)", True),
        ("(2,4,0)", "(2,4)", True),  # the rest is not looked at
        ("(1,2)\\cup(3,4)", "(1,2)\\cup(3,4.0)", True),
        ("(1,2)\\cup (3,4)", "(1,2)\\cup(3,4)", False),
        ("(3,4)\\cup(1,2)", "(1,2)\\cup(3,4)", False),
        ("(x)", "(2x-x)", True),
        ("(x,1)", "(x+y,1)", False),
        # Nothing to compare.
        ("", "", False),
        ("\\%", "\\%x", False),
        ("()", "( )", False),
    ],
)
def test_pairs(answer, gold, verdict):
    assert same(answer, gold, 1e-8) is verdict


def test_a_tolerance_is_absolute_and_stretched_by_a_hundredth():
    assert same("\\frac{991}{100}", "9.81", 0.1)
    assert not same("\\frac{9912}{1000}", "9.81", 0.1)


def test_lists():
    assert all_paired(["x", "2-x"], ["f(x)=2-x", "f(x)=x"], [1e-8])
    assert not all_paired(["x", "x"], ["f(x)=2-x", "f(x)=x"], [1e-8])
    with pytest.raises(IndexError):
        all_paired(["x", "y", "z"], ["x", "y", "z"], [1e-8, 1e-8])
