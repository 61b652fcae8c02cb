"""The published semantics, each rule by an example worked by hand."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sero.benchmarks.naturalplan.trip_official import matches, read_official

PLAN = "Day 1-3: A\nDay 3: from Rome to Riga\nDay 3-4: B\nDay 4: from Riga to Oslo\nDay 4-7: C\n"


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        (PLAN, [("Rome", 3), ("Riga", 2), ("Oslo", 4)]),
        # with the total stated, the range that ends there stops the reading ...
        (
            "European cities for 7 days\n" + PLAN + "Day 9-12: D",
            [("Rome", 3), ("Riga", 2), ("Oslo", 4)],
        ),
        # ... and without it the last range counts: Oslo is 4 to 12
        (PLAN + "Day 9-12: D", [("Rome", 3), ("Riga", 2), ("Oslo", 9)]),
        # the flight of the line that stops the reading is lost
        (
            "European cities for 7 days\nDay 3: from A to B\nDay 4-7: from B to C",
            [("A", 3), ("B", 5)],
        ),
        # a later flight's origin is not read
        ("Day 2: from A to B\nDay 4: from X to C\n1-5", [("A", 2), ("B", 3), ("C", 2)]),
        # one flight a line: the last pair, on the last day named before it
        ("Day 1 Day 2 from A to B from C to D Day 9\n1-5", [("C", 2), ("D", 4)]),
        ("Day 2: from from A to B\n1-5", [("A", 2), ("B", 4)]),
        ("day 2: from A to B\n1-5", []),
        ("Day 2: from New York to B\n1-5", []),
        ("Day 2: from A to B", []),
        ("1-5", []),
        ("1–5\nDay 2: from A to B", []),
        ("", []),
    ],
)
def test_the_published_reading(text, stays):
    assert list(read_official(text)) == stays


def test_a_day_beyond_all_bounds_stops_the_published_code():
    with pytest.raises(ValueError, match="limit"):
        read_official("1-" + "9" * 5000)


def test_cities_behind_the_gold_ones_are_not_noticed():
    gold = (("A", 2), ("B", 3))
    assert matches([*gold, ("C", 9)], gold)
    assert matches(gold, gold)
    assert not matches(gold[:1], gold)
    assert not matches([("A", 2), ("B", 4)], gold)


def naive(text):
    """The same rules by trying every position, which is slow and plain."""
    total = end = None
    flights = []
    for line in text.split("\n"):
        stated = [
            m for i in range(len(line)) if (m := re.match(r"cities for (\d+) days", line[i:]))
        ]
        if stated and "European " + stated[0][0] in line:
            total = int(stated[0][1])
        ranges = [m for i in range(len(line)) if (m := re.match(r"(\d+)-(\d+)", line[i:]))]
        if ranges:
            end = int(ranges[0][2])
            if end == total:
                break
        days = [(i, m) for i in range(len(line)) if (m := re.match(r"Day (\d+)", line[i:]))]
        legs = [
            (i, m) for i in range(len(line)) if (m := re.match(r"from (\w+) to (\w+)", line[i:]))
        ]
        pairs = [(d, leg) for i, d in days for k, leg in legs if i + len(d[0]) <= k]
        if pairs:
            day, leg = pairs[-1]
            day = [d for i, d in days if i + len(d[0]) <= legs[-1][0]][-1]
            flights.append((int(day[1]), leg[1], leg[2]))
    if end is None or not flights:
        return []
    cities = [flights[0][1]] + [flight[2] for flight in flights]
    days = [1] + [flight[0] for flight in flights] + [end]
    return [(city, days[i + 1] - days[i] + 1) for i, city in enumerate(cities)]


TOKENS = ["Day ", "1", "12", "3-4", "-", "from ", " to ", "Rome", "Oslo", "\n", " ", "from", "٣"]
TOKENS += ["European cities for ", "5", " days", "Day 2: from A to B", "x"]


@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from(TOKENS), max_size=40).map("".join))
def test_the_fast_searches_find_what_trying_every_position_finds(text):
    assert list(read_official(text)) == naive(text)
