"""Exact arithmetic of golds, and how the verifier reads cells."""

from datetime import date
from decimal import Decimal
from fractions import Fraction

import pytest

from sero.benchmarks.generate.table_numbers import (
    Unclear,
    figure,
    median,
    root_figure,
    root_places,
    squared_correlation,
    variance,
)
from sero.benchmarks.generate.table_reader import to_date, to_number, two_places


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (Fraction(48), "48"),
        (Fraction(-5), "-5"),
        (Fraction(0), "0"),
        (Fraction(4683, 10), "468.3"),
        (Fraction(463, 9), "51.44"),  # 51.444...
        (Fraction(2, 3), "0.67"),
        (Fraction(-2, 3), "-0.67"),
        (Fraction(2999, 1000), "3"),  # 2.999
        (Fraction(1, 20), "0.05"),  # exact, however small
    ],
)
def test_figures_have_two_places_at_most(x: Fraction, text: str) -> None:
    assert figure(x) == text


@pytest.mark.parametrize(
    "x",
    [
        Fraction(2345, 1000),  # half way between 2.34 and 2.35
        Fraction(-2345, 1000),
        Fraction(2345001, 10**6),
        Fraction(1, 300),  # would be shown as 0
        Fraction(1, 30),  # 0.03 is a third off
    ],
)
def test_no_figure_hangs_on_a_rounding_rule(x: Fraction) -> None:
    with pytest.raises(Unclear):
        figure(x)


def test_roots() -> None:
    assert root_figure(Fraction(9, 4)) == "1.5"
    assert root_figure(Fraction(2)) == "1.41"
    assert root_figure(Fraction(10**12)) == "1000000"
    assert root_places(Fraction(16, 100), negative=True) == "-0.40"
    assert root_places(Fraction(1), negative=False) == "1.00"


def test_statistics_of_small_columns() -> None:
    values = [Fraction(v) for v in (2, 4, 4, 4, 5, 5, 7, 9)]  # mean 5, squares sum to 32
    assert variance(values, sample=False) == 4
    assert variance(values, sample=True) == Fraction(32, 7)
    assert median(values) == Fraction(9, 2)
    assert median(values[:3]) == 4
    # deviations -1 0 1 and -2 1 1: r = 3 / sqrt(2 * 6), r² = 9/12
    assert squared_correlation([1, 2, 3], [0, 3, 3]) == (Fraction(3, 4), False)
    assert squared_correlation([3, 2, 1], [0, 3, 3]) == (Fraction(3, 4), True)
    with pytest.raises(Unclear):
        squared_correlation([1, 1, 1], [1, 2, 3])


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("12", "12"),
        ("12,957,621", "12957621"),
        ("- 16", "-16"),
        ("-16", "-16"),
        ("\u22121,250", "-1250"),
        ("45.6%", "45.6"),
        ("4.50", "4.50"),
    ],
)
def test_cells_are_read_as_numbers(cell: str, value: str) -> None:
    assert to_number(cell) == Decimal(value)


@pytest.mark.parametrize("cell", [None, "", "-", "—", "n / a", "12 march 2020", "north", "1,23"])
def test_other_cells_are_no_numbers(cell: str | None) -> None:
    assert to_number(cell) is None


@pytest.mark.parametrize("cell", ["2020-03-05", "5 march 2020", "5 March 2020"])
def test_cells_are_read_as_dates(cell: str) -> None:
    assert to_date(cell) == date(2020, 3, 5)


def test_decimals_are_rounded_half_up() -> None:
    assert two_places(Decimal("2.345")) == "2.35"
    assert two_places(Decimal("-2.345")) == "-2.35"
    assert two_places(Decimal("100")) == "100"
    assert two_places(Decimal("48.50")) == "48.5"
