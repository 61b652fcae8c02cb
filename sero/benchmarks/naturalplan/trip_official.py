"""Trip planning as published: what is read, what is ignored, and where parsing stops.

Written with linear searches; the published patterns take minutes on hostile text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sero.benchmarks.naturalplan.trip import Stay

# Each pattern gives the published one's first match: a run of digits either matches where it
# begins or nowhere.
_RANGE = re.compile(r"(?<!\d)\d++-(\d++)")
_TOTAL = re.compile(r"European cities for (\d++) days")
_DAY = re.compile(r"Day (\d++)")
_LEG = re.compile(r"from (?=(\w++) to (\w++))")


def read_official(text: str) -> tuple[Stay, ...]:
    """The stays the published reader takes from a response; none without a range or a flight.

    Per line one range and one flight, cities as single case-sensitive words. After a header
    `European cities for N days` the range that ends on day N stops the reading, before the
    flight of its line.

    Raises:
        ValueError: a day number too long for an int, which stops the published code too.
    """
    end: int | None = None
    total: int | None = None
    flights: list[tuple[int, str, str]] = []
    for line in text.split("\n"):
        if header := _TOTAL.search(line):
            total = int(header[1])
        if stay := _RANGE.search(line):
            end = int(stay[1])
            if end == total:
                break
        if flight := _flight_in(line):
            flights.append(flight)
    if end is None or not flights:
        return ()
    cities = [flights[0][1], *(destination for _, _, destination in flights)]
    bounds = [1, *(day for day, _, _ in flights), end]
    return tuple((city, bounds[i + 1] - bounds[i] + 1) for i, city in enumerate(cities))


def matches(stays: Sequence[Stay], gold: Sequence[Stay]) -> bool:
    """Whether the gold stays are a prefix of the stays read."""
    return tuple(stays[: len(gold)]) == tuple(gold)


def _flight_in(line: str) -> tuple[int, str, str] | None:
    legs = list(_LEG.finditer(line))
    if not legs:
        return None
    leg = legs[-1]
    days = list(_DAY.finditer(line, 0, leg.start()))
    return (int(days[-1][1]), leg[1], leg[2]) if days else None
