from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sero.benchmarks.tablebench.careful_numbers import (
    kinds_of_quantity,
    parse_decimal_comma,
    parse_number,
    rounded,
    same_at_places,
    ungrouped,
    within_tenth,
)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("1062", "1062"),
        ("1,062", "1062"),
        ("1'062", "1062"),
        ("1_062", "1062"),
        ("1 062 500", "1062500"),
        ("12,34,567", "1234567"),
        ("0042", "42"),
        ("10.60", "10.6"),
        ("10.", "10"),
        (".5", "0.5"),
        ("-.5", "-0.5"),
        ("- 16", "-16"),
        ("+ 17", "17"),
        ("-0.0", "0"),
        ("$1,062.50", "1062.5"),
        ("-$5", "-5"),
        ("$-5", "-5"),
        ("5 €", "5"),
        ("12.5%", "12.5%"),
        ("12.50 %", "12.5%"),
        ("1.062e3", "1062"),
        ("1062E-3", "1.062"),
        ("1.062 x 10^3", "1062"),
        ("1.062×10^{-3}", "0.001062"),
        ("2 \\times 10^2", "200"),
        ("2*10**2", "200"),
        ("(3.14)", "3.14"),
        ("'7'", "7"),
        ("**7**", "7"),
        ("$7$", "7"),
        ("~7", "7"),
        ("= 7.", "7"),
        ("#7", "7"),
    ],
)
def test_what_is_a_number(text, canonical):
    number = parse_number(text)
    assert number is not None
    assert number.text == canonical
    assert parse_number(number.text).text == canonical


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "-",
        "%",
        "$",
        "seven",
        "7 films",
        "7km",
        "about 7",
        "≈7",
        ">7",
        "7+",
        "7-8",
        "7/8",
        "7:8",
        "7 or 8",
        "7, 8",
        "1,0,62",
        "1,0622",
        "1.062.000",
        "1..2",
        "--7",
        "7e",
        "7e9999",
        "nan",
        "inf",
        "0x1f",
        "1 2",
        "12 percent",
        "9" * 61,
        "1" + ",000" * 70,
    ],
)
def test_what_is_none(text):
    assert parse_number(text) is None


def test_percent_as_a_word_only_where_it_is_asked_for():
    for text in ("12 percent", "12 per cent", "12percent"):
        assert parse_number(text, percent_word=True).text == "12%"
    assert parse_number("12% percent", percent_word=True) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10,6", "10.6"),
        ("-0,25%", "-0.25%"),
        ("12.345,67", "12345.67"),
        ("-1.234.567,5 %", "-1234567.5%"),
        ("1,062", None),
        ("1,0,6", None),
        ("12.34,5", None),
        ("1234.567,5", None),
        ("12.345,678", None),
    ],
)
def test_a_decimal_comma(text, value):
    number = parse_decimal_comma(text)
    assert (number and number.text) == value


@pytest.mark.parametrize(
    ("text", "kinds"),
    [("5", ""), ("$5", "$"), ("$5$", ""), ("5%", "%"), ("$5\\%$", "%"), ("€5, $6", "€$")],
)
def test_what_a_quantity_counts(text, kinds):
    assert kinds_of_quantity(text) == set(kinds)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("1,062", "1062"),
        ("1,062, 7", "1062, 7"),
        ("Ovar,1,062", "Ovar,1062"),
        ("1, 062", "1, 062"),
        ("12,34", "12,34"),
        ("2002,2003", "2002,2003"),
        ("1,062,7", "1,062,7"),
        ("12.5,100", "12.5,100"),
        ("1,234.5,6", "1234.5,6"),
        ("12,34,567", "1234567"),
    ],
)
def test_only_commas_that_group_thousands_go(text, plain):
    assert ungrouped(text) == plain


@pytest.mark.parametrize(
    ("value", "places", "expected"),
    [("0.5", 0, 1), ("-0.5", 0, -1), ("1.25", 1, "1.3"), ("1.249", 1, "1.2"), ("-1.25", 1, "-1.3")],
)
def test_rounding_is_half_up_and_away_from_zero(value, places, expected):
    assert rounded(Fraction(value), places) == Fraction(expected)


@pytest.mark.parametrize(
    ("gold", "answer", "equal"),
    [
        ("10.6", "10.64", True),
        ("10.6", "10.65", False),
        ("10.60", "10.604", True),
        ("10.60", "10.6", True),
        ("10.60", "10.61", False),
        ("1062", "1062.49", True),
        ("1062", "1062.5", False),
        ("0", "0.4", False),
        ("0", "-0", True),
        ("0.00", "0.004", True),
        ("12.5%", "12.5", True),
        ("12.5%", "0.125", True),
        ("12.5%", "0.125%", False),
        ("12.5%", "1.25", False),
        ("0.85", "85%", True),
        ("0.85", "0.85%", True),
        ("85", "0.85", False),
        ("1", "85%", False),
        ("1", "100%", True),
        ("0", "40%", False),
    ],
)
def test_equal_at_the_decimals_of_the_gold(gold, answer, equal):
    assert same_at_places(parse_number(gold), parse_number(answer)) is equal


@pytest.mark.parametrize(
    ("gold", "answer", "near"),
    [
        ("250", "275", True),
        ("250", "275.0001", False),
        ("250", "225", True),
        ("-250", "-275", True),
        ("-250", "250", False),
        ("0.3", "0.33", True),  # exactly 10 %, which binary fractions would miss
        ("0.3", "0.331", False),
        ("0", "0", True),
        ("0", "0.001", False),
        ("12%", "0.13", True),
        ("0.12", "13%", True),
        ("12%", "13.3%", False),
    ],
)
def test_within_ten_percent(gold, answer, near):
    assert within_tenth(parse_number(gold), parse_number(answer)) is near


decimals = st.decimals(min_value=-(10**9), max_value=10**9, places=6)


@settings(deadline=None, max_examples=150)
@given(value=decimals)
def test_every_decimal_is_read_exactly(value):
    number = parse_number(f"{value:f}")
    assert number is not None
    assert number.value == Fraction(value)
    assert same_at_places(number, number)
    assert within_tenth(number, number)
    assert parse_number(number.text).value == number.value


@settings(deadline=None, max_examples=200)
@given(text=st.text(alphabet="0123456789.,-+eE%$ x^*'_()\\{}", max_size=60))
def test_total_on_number_like_text(text):
    number = parse_number(text)
    if number is not None:
        assert parse_number(number.text).value == number.value
