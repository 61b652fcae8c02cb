import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sero.benchmarks.tablebench.careful_lists import parts, parts_at_and


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Nelt", ["Nelt"]),
        ("Nelt, Ovar", ["Nelt", "Ovar"]),
        ("Nelt,Ovar;Pim", ["Nelt", "Ovar", "Pim"]),
        ("Nelt, Ovar, and Pim", ["Nelt", "Ovar", "Pim"]),
        ("Pim, Nelt and Ovar", ["Pim", "Nelt and Ovar"]),
        ("and Nelt", ["and Nelt"]),
        ("1,062", ["1062"]),
        ("1,062, 7", ["1062", "7"]),
        ("2002,2003", ["2002", "2003"]),
        (" , Nelt,, ", ["Nelt"]),
        (",", []),
        ("", []),
    ],
)
def test_parts(text, expected):
    assert list(parts(text)) == expected


def test_every_comma_may_be_a_separator():
    assert parts("100,200", every_comma=True) == ("100", "200")
    assert parts("100,200") == ("100200",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Nelt and Ovar", ["Nelt", "Ovar"]),
        ("Nelt & Ovar", ["Nelt", "Ovar"]),
        ("Pim, Nelt AND Ovar", ["Pim", "Nelt", "Ovar"]),
        ("Sandor", ["Sandor"]),
    ],
)
def test_parts_at_and(text, expected):
    assert list(parts_at_and(text)) == expected


@settings(deadline=None, max_examples=100)
@given(text=st.text())
def test_no_part_is_empty(text):
    assert all(part == part.strip() and part for part in (*parts(text), *parts_at_and(text)))
