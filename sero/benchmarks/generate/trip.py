"""Trip planning items: a planted route, made the only one by dated events.

A stay counts both of its travel days, and an event has to lie inside the stay in its city. As long
as another route is left, an event is added that rules it out. The verifier reads the prompt alone.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

_NAMES = (
    "Amsterdam Antwerp Athens Barcelona Basel Bergen Berlin Bologna Bordeaux Bratislava Bruges "
    "Brussels Budapest Cologne Copenhagen Dresden Dublin Edinburgh Florence Geneva Ghent Granada "
    "Graz Hamburg Helsinki Innsbruck Krakow Leipzig Lisbon Ljubljana London Lyon Madrid Malmo "
    "Marseille Milan Munich Nantes Naples Nice Oslo Palermo Paris Porto Prague Riga Rome Rotterdam "
    "Salzburg Seville Sofia Split Stockholm Tallinn Toulouse Trieste Turin Valencia Venice Verona "
    "Vienna Vilnius Warsaw Zagreb Zurich"
)
CITIES = tuple(_NAMES.split())

_SIZES = ((3, 4), (4, 6), (6, 7), (7, 8), (9, 10))
"""Fewest and most cities by difficulty."""

_OPENINGS = (
    "You plan a tour of {n} European cities for {days} days in total.",
    "A journey leads you through {n} European cities for {days} days.",
    "You want to see {n} European cities for {days} days altogether.",
)
_RULES = (
    "You only take direct flights to commute between them, and the day of a flight counts for both "
    "of its cities."
)
_STAYS = (
    "Stay in {city} for {n} days.",
    "Spend {n} days in {city}.",
    "You have {n} days for {city}.",
)
_EVENTS = (
    "A festival in {city} takes place between day {a} and day {b}, and you miss none of it.",
    "You take a course in {city} between day {a} and day {b}.",
    "Old friends expect you in {city} between day {a} and day {b}.",
    "You help at a fair in {city} between day {a} and day {b}.",
)
_FLIGHTS = "Direct flights, in both directions unless one is given:"

_TOTAL = re.compile(r"([0-9]+) European cities for ([0-9]+) days")
_STAY_IN = re.compile(r"[Ss]tay in ([A-Z]\w+) for ([0-9]+) days")
_DAYS_IN = re.compile(r"([0-9]+) days (?:in|for) ([A-Z]\w+)")
_EVENT = re.compile(r"in ([A-Z]\w+)(?: [a-z]+)* between day ([0-9]+) and day ([0-9]+)")
_ONE_WAY = re.compile(r"from (\w+) to (\w+)")
_BOTH_WAYS = re.compile(r"(\w+) and (\w+)")
_PLANNED_FLIGHT = re.compile(r"\*\*Day ([0-9]+):\*\* Fly from (\w+) to (\w+)\.")
_PLANNED_STAY = re.compile(
    r"\*\*Day ([0-9]+)-([0-9]+):\*\* (?:Arriving in (\w+) and v|V)isit (\w+)"
)

Window = tuple[int, int]
"""First and last day of an event."""
Flight = tuple[int, int, bool]
"""Two cities, and whether it goes both ways."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trip:
    """What a route has to keep. Cities are numbers, in the order of the planted route.

    Attributes:
        stays: days in each city.
        onward: for each city the cities that can be flown to.
        events: the event of a city, for those that have one.
    """

    stays: tuple[int, ...]
    onward: tuple[tuple[int, ...], ...]
    events: Mapping[int, Window]


def trip_item(rng: random.Random, *, difficulty: int) -> dict[str, Any]:
    """One item in the published schema, without `example_id` and `task`.

    Args:
        difficulty: 1 (three or four cities) to 5 (nine or ten).
    """
    n = rng.randint(*_SIZES[difficulty - 1])
    cities = rng.sample(CITIES, n)
    flights = _drawn_flights(rng, n)
    ways = {(a, b) for a, b, _ in flights} | {(b, a) for a, b, both in flights if both}
    trip = Trip(
        stays=tuple(rng.randint(2, 5 if n > 5 else 7) for _ in range(n)),
        onward=tuple(tuple(b for b in range(n) if (a, b) in ways) for a in range(n)),
        events={},
    )
    trip = with_one_route(rng, trip)
    return {
        "num_cities": str(n),
        "cities": "**".join(cities),
        "durations": "**".join(map(str, trip.stays)),
        "prompt_0shot": _prompt(rng, cities, flights, trip),
        "golden_plan": _plan(cities, trip.stays),
    }


def _drawn_flights(rng: random.Random, n: int) -> list[Flight]:
    """The flights of the planted route and about half of the others, some of either one-way."""
    flights = []
    for a in range(n):
        for b in range(a + 1, n):
            if b == a + 1 or rng.random() < 0.5:
                both = rng.random() < 0.8
                turned = rng.random() < 0.5 and (both or b > a + 1)
                flights.append((b, a, both) if turned else (a, b, both))
    rng.shuffle(flights)
    return flights


def with_one_route(rng: random.Random, trip: Trip) -> Trip:
    """The trip with events that leave the route 0, 1, 2, ... as its only one.

    One event stands at an end of the trip, up to two more anywhere; the rest is added as needed.
    """
    planned = _days(range(len(trip.stays)), trip.stays)
    events = {
        city: _part(rng, *planned[city])
        for city in rng.sample(range(len(planned)), rng.randint(0, 2))
    }
    fixed = rng.choice((0, len(planned) - 1))
    events[fixed] = planned[fixed]
    trip = replace(trip, events=events)
    while True:
        other = next((r for r in routes(trip) if r != tuple(range(len(r)))), None)
        if other is None:
            return trip
        # Some city is reached on another day, and an event as long as its stay forbids that.
        days = _days(other, trip.stays)
        moved = [city for city, stay in planned.items() if days[city] != stay]
        city = rng.choice(moved)
        trip = replace(trip, events={**trip.events, city: planned[city]})


def routes(trip: Trip) -> Iterator[tuple[int, ...]]:
    """Every order of all cities along flights in which each stay covers its event."""
    n = len(trip.stays)

    def extend(route: tuple[int, ...], day: int) -> Iterator[tuple[int, ...]]:
        """`day` is the one on which the next city is reached."""
        if len(route) == n:
            yield route
            return
        left = [city for city in range(n) if city not in route]
        if any(city in trip.events and trip.events[city][0] < day for city in left):
            return
        for city in trip.onward[route[-1]] if route else left:
            if city in route:
                continue
            end = day + trip.stays[city] - 1
            if city not in trip.events or trip.events[city][1] <= end:
                yield from extend((*route, city), end)

    return extend((), 1)


def _days(route: Sequence[int], stays: Sequence[int]) -> dict[int, Window]:
    """First and last day of each city of a route."""
    days = {}
    day = 1
    for city in route:
        days[city] = (day, day + stays[city] - 1)
        day = days[city][1]
    return days


def _part(rng: random.Random, start: int, end: int) -> Window:
    """Two or more days of a stay."""
    first = rng.randint(start, end - 1)
    return first, rng.randint(first + 1, end)


def _prompt(
    rng: random.Random, cities: Sequence[str], flights: Sequence[Flight], trip: Trip
) -> str:
    total = sum(trip.stays) - len(cities) + 1
    opening = rng.choice(_OPENINGS).format(n=len(cities), days=total)
    wishes = []
    for i in rng.sample(range(len(cities)), len(cities)):
        wishes.append(rng.choice(_STAYS).format(city=cities[i], n=trip.stays[i]))
        if i in trip.events:
            a, b = trip.events[i]
            wishes.append(rng.choice(_EVENTS).format(city=cities[i], a=a, b=b))
    pairs = [
        f"{cities[a]} and {cities[b]}" if both else f"from {cities[a]} to {cities[b]}"
        for a, b, both in flights
    ]
    return (
        f"{opening} {_RULES} {' '.join(wishes)}\n\n{_FLIGHTS}\n{', '.join(pairs)}.\n\n"
        f"Work out the days of the whole trip, from day 1 to day {total}."
    )


def _plan(cities: Sequence[str], stays: Sequence[int]) -> str:
    total = sum(stays) - len(cities) + 1
    lines = [
        f"Here is the trip plan for visiting the {len(cities)} European cities for {total} days:"
    ]
    lines.append("")
    for i, (start, end) in _days(range(len(cities)), stays).items():
        if i:
            lines.append(f"**Day {start}:** Fly from {cities[i - 1]} to {cities[i]}.")
        visit = f"Visit {cities[i]}" if i else f"Arriving in {cities[i]} and visit {cities[i]}"
        lines.append(f"**Day {start}-{end}:** {visit} for {stays[i]} days.")
    return "\n".join(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Conditions:
    """What a prompt asks for."""

    total: int
    stays: Mapping[str, int]
    events: Sequence[tuple[str, int, int]]
    ways: frozenset[tuple[str, str]]


def verify(item: Mapping[str, Any], response: str) -> bool:
    """Whether a plan in the published form keeps every condition that the prompt states.

    The flights say where one is when; a range of days may leave out its days of travel, and the
    lengths in prose are not read.

    Raises:
        ValueError: the prompt has another form than this module writes.
    """
    wanted = _read_prompt(item["prompt_0shot"])
    flights = [(int(day), a, b) for day, a, b in _PLANNED_FLIGHT.findall(response)]
    visits = [(int(a), int(b), x or c, c) for a, b, x, c in _PLANNED_STAY.findall(response)]
    if not flights or not visits:
        return False
    route = [flights[0][1], *(b for _, _, b in flights)]
    bounds = [1, *(day for day, _, _ in flights), visits[-1][1]]
    days = {city: (a, b) for city, (a, b) in zip(route, pairwise(bounds), strict=True)}
    return (
        bounds[-1] == wanted.total
        and sorted(route) == sorted(wanted.stays)
        and all(a == city for (_, a, _), city in zip(flights, route, strict=False))
        and all((a, b) in wanted.ways for _, a, b in flights)
        and all(days[city][1] - days[city][0] + 1 == n for city, n in wanted.stays.items())
        and all(days[c][0] <= a and b <= days[c][1] for c, a, b in wanted.events)
        and all(
            arrival == city and _fits(a, b, days.get(city, (0, 0)), wanted.total)
            for a, b, arrival, city in visits
        )
    )


def _fits(start: int, end: int, stay: Window, total: int) -> bool:
    first, last = stay
    return start in (first, first + (first > 1)) and end in (last, last - (last < total))


def _read_prompt(prompt: str) -> _Conditions:
    total = _TOTAL.search(prompt)
    head, found, tail = prompt.partition(_FLIGHTS)
    if total is None or not found:
        raise ValueError("the prompt states no trip")
    stays = {city: int(n) for city, n in _STAY_IN.findall(head)}
    stays |= {city: int(n) for n, city in _DAYS_IN.findall(head)}
    if len(stays) != int(total[1]):
        raise ValueError(f"the prompt gives the days of {len(stays)} cities, not {total[1]}")
    ways = set()
    for part in tail.strip().partition("\n")[0].rstrip(".").split(", "):
        if one := _ONE_WAY.fullmatch(part):
            ways.add((one[1], one[2]))
        elif both := _BOTH_WAYS.fullmatch(part):
            ways |= {(both[1], both[2]), (both[2], both[1])}
        else:
            raise ValueError(f"the prompt has a flight {part!r}")
    events = [(city, int(a), int(b)) for city, a, b in _EVENT.findall(head)]
    return _Conditions(total=int(total[2]), stays=stays, events=events, ways=frozenset(ways))
