"""The table of capitals."""

import pytest

from sero.benchmarks.toy.capitals import cities_named, facts, tokens


def test_there_are_enough_facts_and_each_is_recognised():
    assert len(facts()) >= 120
    for country, capital in facts().items():
        assert cities_named(capital) == (capital,), country


def test_no_capital_can_be_read_off_the_question():
    for country, capital in facts().items():
        assert not cities_named(f"What is the capital of {country}?")
        shared = set(tokens(country)) & set(tokens(capital))
        assert shared <= {"san", "salvador", "of"}, country


def test_no_capital_belongs_to_two_countries():
    assert len(set(facts().values())) == len(facts())


@pytest.mark.parametrize(
    ("country", "capital"),
    [
        ("Australia", "Canberra"),
        ("Canada", "Ottawa"),
        ("Turkey", "Ankara"),
        ("Brazil", "Brasília"),
        ("Morocco", "Rabat"),
        ("New Zealand", "Wellington"),
        ("Nigeria", "Abuja"),
        ("Pakistan", "Islamabad"),
        ("Vietnam", "Hanoi"),
        ("the United States", "Washington, D.C."),
    ],
)
def test_well_known_facts(country, capital):
    """Where the capital is not the largest city, so that a slip would be likely."""
    assert facts()[country] == capital


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("NEW DELHI", ("New Delhi",)),
        ("Delhi", ("Delhi",)),
        ("New Delhi and Delhi", ("New Delhi", "Delhi")),
        ("Peking, that is Beijing", ("Beijing",)),
        ("New York City", ("New York City",)),
        ("St. George\u2019s; Saint George's", ("St. George's",)),
        ("romeo oslos", ()),
    ],
)
def test_cities_named(text, named):
    assert cities_named(text) == named
