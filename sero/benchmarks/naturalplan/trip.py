"""Trip planning: the stays of a proposed itinerary.

The order of cities comes from the flights and the stay lengths from the flight days, with day 1
in front and the end of the last range behind; a stay counts both of its travel days. This is the
careful reader; `trip_official` has the published semantics.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from sero.benchmarks.normalise import name_key, plain_typography, without_emphasis

_TOTAL = re.compile(r"European cities for ([0-9]{1,4}) days")
_SOLUTION = "SOLUTION:"
_DAY = re.compile(r"(?<![^\W_])Days?[ \t]{0,4}([0-9]{1,4})(?![0-9])")
_RANGE = re.compile(
    r"(?<![^\W_])Days?[ \t]{0,4}([0-9]{1,4})[ \t]{0,4}-[ \t]{0,4}([0-9]{1,4})(?![0-9])"
)
_BARE_RANGE = re.compile(r"(?<![0-9])([0-9]{1,4})-([0-9]{1,4})(?![0-9])")
# A lookahead, so that `from from Rome to Oslo` is not lost between overlapping matches.
_LEG = re.compile(r"\bfrom (?=([^\W\d_]\w{0,60}) to ([^\W\d_]\w{0,60}))")
_LEG_TEXT = re.compile(r"\bfrom [^\W\d_]\w{0,60} to [^\W\d_]\w{0,60}")
_VISITED = re.compile(r"\b(?:[Vv]isit(?:ing)?|[Ee]xplor(?:e|ing)) ([^\W\d_]\w{0,60})")
_PLACED = re.compile(r"\b(?:in|at) ([^\W\d_]\w{0,60})")
_WORD = re.compile(r"[^\W\d_]\w{0,60}")

MAX_LINES = 200
"""Flights or stays a plan may have; the check of each stay against each flight is bounded so."""

Stay = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Visit:
    """A day range and the line it stands in; `named` when the word Day introduces it."""

    start: int
    end: int
    named: bool
    line: str


@dataclass(frozen=True, slots=True)
class Flight:
    day: int
    origin: str
    destination: str


@dataclass(slots=True)
class _Draft:
    """One plan of the response while it is read: everything up to a restart."""

    flights: list[Flight] = field(default_factory=list)
    visits: list[Visit] = field(default_factory=list)
    complete: bool = False
    beyond: list[Flight] = field(default_factory=list)


def total_days(prompt: str) -> int | None:
    """The trip length a prompt states first."""
    match = _TOTAL.search(prompt)
    return int(match[1]) if match else None


def answer_text(stays: list[Stay] | tuple[Stay, ...]) -> str:
    """Stays as the canonical answer: `Rome 3, Oslo 2`."""
    return ", ".join(f"{name_key(city)} {days}" for city, days in stays)


def read(text: str, total: int | None) -> tuple[tuple[Stay, ...], str]:
    """The stays of the proposed plan, or none and the reason.

    Of several plans the first that reaches the trip's last day counts, else the last one: an
    alternative behind a whole plan does no harm, and a draft that breaks off is forgotten. A
    plan that contradicts itself (a flight from another city, a range no stay of the flights
    fits, a visit to a city where the flights do not lead) is no answer; a range may leave out
    its travel days, and the day counts in prose are not read.

    Args:
        text: the response without its think block.
        total: the trip length of the prompt, in days.
    """
    plain = without_emphasis(plain_typography(text)).replace("__", "")
    _, marker, tail = plain.rpartition(_SOLUTION)
    plan = tail if marker and _LEG.search(tail) else plain
    drafts = [draft for draft in _drafts(plan.split("\n"), total) if draft.flights]
    if not drafts:
        return (), "no flight line 'Day N: Fly from X to Y' in the response"
    draft = next((draft for draft in drafts if draft.complete), drafts[-1])
    return _stays(draft)


def _drafts(lines: list[str], total: int | None) -> list[_Draft]:
    drafts = [_Draft()]
    for line in lines:
        visit = _visit_in(line)
        restarts = visit is not None and visit.named and visit.start == 1
        if _TOTAL.search(line) or (restarts and (drafts[-1].flights or drafts[-1].visits)):
            drafts.append(_Draft())
        flight = _flight_in(line)
        if flight:
            _add_flight(drafts[-1], flight, total)
        if visit:
            _add_visit(drafts[-1], visit, total)
    return drafts


def _add_flight(draft: _Draft, flight: Flight, total: int | None) -> None:
    if not draft.complete:
        draft.flights.append(flight)
    elif total is not None and flight.day >= total:
        draft.beyond.append(flight)
    elif not draft.beyond and (not draft.flights or flight.day >= draft.flights[-1].day):
        # Some list the stays first and all flights after them.
        draft.flights.append(flight)


def _add_visit(draft: _Draft, visit: Visit, total: int | None) -> None:
    if not draft.complete:
        draft.visits.append(visit)
        draft.complete = visit.end == total
    elif draft.beyond and visit.named and total is not None and visit.start >= total:
        # A flight home on the last day is no city more, but a stay behind it is.
        draft.flights += draft.beyond
        draft.beyond = []
        draft.visits.append(visit)


def _stays(draft: _Draft) -> tuple[tuple[Stay, ...], str]:
    named = [visit for visit in draft.visits if visit.named]
    ranges = named or draft.visits
    if not ranges:
        return (), "no stay 'Day A-B: Visit X' in the response"
    flights = draft.flights
    if len(flights) > MAX_LINES or len(named) > MAX_LINES:
        return (), f"more than {MAX_LINES} flights or stays"
    cities = [name_key(city) for city in (flights[0].origin, *(f.destination for f in flights))]
    bounds = [1, *(flight.day for flight in flights), ranges[-1].end]
    for flight, city in zip(flights, cities, strict=False):
        if name_key(flight.origin) != city:
            return (), f"the flight on day {flight.day} does not leave from {city}"
    for visit in named:
        fault = _contradiction(visit, cities, bounds)
        if fault:
            return (), fault
    return tuple((city, bounds[i + 1] - bounds[i] + 1) for i, city in enumerate(cities)), ""


def _contradiction(visit: Visit, cities: list[str], bounds: list[int]) -> str:
    """Why a range fits no stay of the flights, or nothing."""
    text = _LEG_TEXT.sub("", name_key(visit.line))
    words = set(_WORD.findall(text))
    claimed = {word for word in _PLACED.findall(text) if word[0].isupper()}
    visited = {word for word in _VISITED.findall(text) if word[0].isupper()}
    known = set(cities)
    fits = False
    for i, city in enumerate(cities):
        arrival, departure = bounds[i], bounds[i + 1]
        starts = (1,) if i == 0 else (arrival, arrival + 1)
        ends = (departure,) if i == len(cities) - 1 else (departure - 1, departure)
        if visit.start not in starts or visit.end not in ends:
            continue
        fits = True
        if city in words:
            if not (visited & known) - {city}:
                return ""
        elif not claimed and not visited and not words & known:
            return ""
    if fits:
        return f"days {visit.start}-{visit.end} name another city than the flights lead to"
    return f"days {visit.start}-{visit.end} fit no stay between the flights"


def _visit_in(line: str) -> Visit | None:
    match = _RANGE.search(line)
    named = match is not None
    match = match or _BARE_RANGE.search(line)
    if match is None:
        return None
    return Visit(int(match[1]), int(match[2]), named, line)


def _flight_in(line: str) -> Flight | None:
    """The last `from X to Y` of a line, on the last day named before it."""
    legs = list(_LEG.finditer(line))
    if not legs:
        return None
    leg = legs[-1]
    days = list(_DAY.finditer(line, 0, leg.start()))
    return Flight(int(days[-1][1]), leg[1], leg[2]) if days else None
