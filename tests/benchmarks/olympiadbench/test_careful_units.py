"""Units read, compared, converted."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sero.benchmarks.olympiadbench.careful_units import factor_between, is_label, read_unit


@pytest.mark.parametrize(
    ("given", "wanted", "factor"),
    [
        ("km", "km", Fraction(1)),
        (r"\text{ km}", "(km)", Fraction(1)),
        ("m", "km", Fraction(1, 1000)),
        ("km/h", "m/s", Fraction(5, 18)),
        (r"\mathrm{~m} / \mathrm{s}^{2}", "m/s^2", Fraction(1)),
        (r"\mathrm{m\,s^{-2}}", "m/s^2", Fraction(1)),
        ("m s^-2", "m/s²", Fraction(1)),
        ("cm^2", "m^2", Fraction(1, 10_000)),
        ("square centimeters", r"$\mathrm{cm}^{2}$", Fraction(1)),
        ("meters per second", "m/s", Fraction(1)),
        ("J", "N m", Fraction(1)),
        ("N", r"kg \cdot m / s^2", Fraction(1)),
        ("J/(kg K)", "J/kg/K", Fraction(1)),
        ("kJ", "J", Fraction(1000)),
        ("eV", "J", Fraction("1.602176634e-19")),
        ("μm", r"\mu m", Fraction(1)),
        (r"k\Omega", "Ω", Fraction(1000)),
        ("min", "s", Fraction(60)),
        ("percent", "%", Fraction(1)),
        (r"^\circ", "degrees", Fraction(1)),
        ("rad/s", "s^-1", Fraction(1)),
        ("dollars", "dollar", Fraction(1)),
        ("apples", "apple", Fraction(1)),
    ],
)
def test_exact_factor(given: str, wanted: str, factor: Fraction) -> None:
    assert factor_between(given, wanted) == (factor, 0)


def test_degrees_and_radians_differ_by_pi() -> None:
    assert factor_between("rad", "^{\\circ}") == (Fraction(180), -1)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [("m", "s"), ("m/s", "m/s^2"), ("°C", "K"), ("apples", "pears"), ("m", "dollars"), ("", "m")],
)
def test_no_factor(given: str, wanted: str) -> None:
    assert factor_between(given, wanted) is None


@pytest.mark.parametrize("text", ["", "5", "x", "n+1", "5 m", "()", "^2", "m^99", "m" * 90, "a b"])
def test_no_unit(text: str) -> None:
    assert read_unit(text) is None


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("apples", True),
        ("km", True),
        ("red balls", True),
        ("square units", True),
        ("thousand", False),
        ("or 43", False),
        ("at least", False),
        ("half", False),
        ("dozen eggs", False),
        ("x", False),
    ],
)
def test_label(text: str, verdict: bool) -> None:
    assert is_label(rf"\text{{{text}}}") is verdict
