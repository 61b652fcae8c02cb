"""Meeting planning items: as many friends as possible in a day, and not all can be met.

The gold is the first of the best orders, in the order in which the friends are listed, found by a
dynamic programme over who is left and where one is. The verifier reads the prompt alone.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_NAMES = (
    "Agnes Bruno Celia Derek Edda Florian Gwen Henrik Iris Joel Katja Leo Marta Ned Orla Piet "
    "Ronja Silas Theo Ursula Viktor Wim"
)
FRIENDS = tuple(_NAMES.split())
PLACES = (
    "Anchor Bridge",
    "Baker Street Corner",
    "Castle Hill",
    "Dove Gardens",
    "East Pier",
    "Fountain Square",
    "Glass House",
    "Harbour Gate",
    "Iron Market",
    "Juniper Park",
    "Kings Wharf",
    "Lantern Alley",
    "Mill Meadow",
    "North Station",
    "Old Observatory",
    "Poplar Row",
    "Queens Theatre",
    "River Terrace",
)
START = 9 * 60
"""When every day starts, in minutes after midnight."""

_SIZES = ((2, 3), (3, 4), (4, 5), (5, 6), (6, 7))
"""Fewest and most friends by difficulty."""

_OPENINGS = (
    "You have one day in a town where {n} of your friends live, and want to meet as many friends "
    "as possible.",
    "A day in town, {n} friends to see: you want to meet as many friends as possible.",
    "{n} friends live in this town, and before you leave tonight you want to meet as many friends "
    "as possible.",
)
_ADVICE = (
    "Not everybody can be met. Weigh several orders against each other before you settle on one."
)

_WAY = re.compile(r"^(.+) to (.+): ([0-9]+)\.$", re.MULTILINE)
_ARRIVAL = re.compile(r"You arrive at (.+?) at ([0-9:]+[AP]M)\.")
_FRIEND = re.compile(
    r"(\w+) will be at ([^.]+?) from ([0-9:]+[AP]M) to ([0-9:]+[AP]M), and meeting \w+ takes a "
    r"minimum of ([0-9]+) minutes\."
)
_TRAVEL = re.compile(r"You travel to (.+) in [0-9]+ minutes and arrive at [0-9:]+[AP]M")
_WAIT = re.compile(r"You wait until ([0-9:]+[AP]M)")
_MEET = re.compile(r"You meet (\w+) for ([0-9]+) minutes from [0-9:]+[AP]M to [0-9:]+[AP]M")


@dataclass(frozen=True, slots=True, kw_only=True)
class Friend:
    """Where and when somebody can be met; times in minutes after midnight."""

    name: str
    place: str
    opens: int
    closes: int
    minutes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """A day that starts at `place` at `time`. `ways` holds the minutes from place to place."""

    place: str
    time: int
    friends: tuple[Friend, ...]
    ways: Mapping[str, Mapping[str, int]]


def meeting_item(rng: random.Random, *, difficulty: int) -> dict[str, Any]:
    """One item in the published schema, without `example_id` and `task`.

    Args:
        difficulty: 1 (two or three friends) to 5 (six or seven).
    """
    n = rng.randint(*_SIZES[difficulty - 1])
    order: tuple[int, ...] = ()
    while not 0 < len(order) < n:
        day = _drawn_day(rng, n)
        order = best_order(day)
    wishes = [
        [f.name, f.place, f"{_clock(f.opens)} to {_clock(f.closes)}", f.minutes]
        for f in day.friends
    ]
    return {
        "num_people": n,
        "constraints": [[day.place, _clock(day.time)], *wishes],
        "dist_matrix": {a: dict(row) for a, row in day.ways.items()},
        "prompt_0shot": _prompt(rng, day),
        "golden_plan": _steps(day, order),
    }


def _drawn_day(rng: random.Random, n: int) -> Day:
    places = rng.sample(PLACES, n + 1)
    spots = [(rng.randint(0, 18), rng.randint(0, 18)) for _ in places]
    ways = {
        a: {
            b: 4 + round(math.dist(spots[i], spots[j])) + rng.randint(0, 3)
            for j, b in enumerate(places)
            if i != j
        }
        for i, a in enumerate(places)
    }
    friends = []
    for name, place in zip(rng.sample(FRIENDS, n), places[1:], strict=True):
        minutes = 15 * rng.randint(1, 8)
        opens = 8 * 60 + 15 * rng.randint(0, 44)
        closes = min(23 * 60, opens + minutes + 15 * rng.randint(0, 12))
        friends.append(Friend(name=name, place=place, opens=opens, closes=closes, minutes=minutes))
    return Day(place=places[0], time=START, friends=tuple(friends), ways=ways)


def best_order(day: Day) -> tuple[int, ...]:
    """The friends of the best day by number: the first order of those that meet the most.

    `latest[left, i]` is the last minute at which one can leave friend i (-1: the start) and
    still meet everybody of the set `left`, given as bits:

        latest[left, i] = max over j in left of min(closes_j, latest[left - j, j]) - minutes_j
                          - way_ij, where that meeting starts within the window of j.
    """
    friends = day.friends
    n = len(friends)
    places = [*(friend.place for friend in friends), day.place]  # index -1 is the start
    latest: dict[tuple[int, int], float] = {(0, i): math.inf for i in range(-1, n)}
    for left in range(1, 1 << n):
        members = [j for j in range(n) if left >> j & 1]
        for i in (-1, *(i for i in range(n) if not left >> i & 1)):
            row = day.ways[places[i]]
            found = -math.inf
            for j in members:
                friend = friends[j]
                begins = min(friend.closes, latest[left & ~(1 << j), j]) - friend.minutes
                if begins >= friend.opens:
                    found = max(found, begins - row[friend.place])
            latest[left, i] = found
    sets = range(1 << n)
    n_met = max(left.bit_count() for left in sets if latest[left, -1] >= day.time)
    order: list[int] = []
    met, place, time = 0, day.place, day.time
    while len(order) < n_met:
        rest = n_met - len(order) - 1
        for j in range(n):
            taken = met | 1 << j
            end = _end(friends[j], time + day.ways[place].get(friends[j].place, 0))
            if met == taken or end > friends[j].closes:
                continue
            if any(s.bit_count() == rest and not s & taken and latest[s, j] >= end for s in sets):
                break
        order.append(j)
        met, place, time = taken, friends[j].place, end
    return tuple(order)


def _end(friend: Friend, arrival: int) -> int:
    return max(arrival, friend.opens) + friend.minutes


def _prompt(rng: random.Random, day: Day) -> str:
    ways = [f"{a} to {b}: {n}." for a, row in day.ways.items() for b, n in row.items()]
    friends = [
        f"{f.name} will be at {f.place} from {_clock(f.opens)} to {_clock(f.closes)}, and meeting "
        f"{f.name} takes a minimum of {f.minutes} minutes."
        for f in day.friends
    ]
    return (
        f"{rng.choice(_OPENINGS).format(n=len(friends))} {_ADVICE}\n\n"
        "Minutes on the way, which depend on the direction:\n" + "\n".join(ways) + "\n\n"
        f"CONSTRAINTS: You arrive at {day.place} at {_clock(day.time)}. {' '.join(friends)}\n\n"
        "The first word of your reply is 'SOLUTION:'."
    )


def _steps(day: Day, order: Sequence[int]) -> list[str]:
    place, time = day.place, day.time
    steps = [f"You start at {place} at {_clock(time)}."]
    for friend in (day.friends[j] for j in order):
        way = day.ways[place][friend.place]
        place, time = friend.place, time + way
        steps.append(f"You travel to {place} in {way} minutes and arrive at {_clock(time)}.")
        if time < friend.opens:
            time = friend.opens
            steps.append(f"You wait until {_clock(time)}.")
        span = f"from {_clock(time)} to {_clock(time + friend.minutes)}"
        steps.append(f"You meet {friend.name} for {friend.minutes} minutes {span}.")
        time += friend.minutes
    return steps


def _clock(minutes: int) -> str:
    hours = minutes // 60
    return f"{(hours - 1) % 12 + 1}:{minutes % 60:02}{'AM' if hours < 12 else 'PM'}"


def verify(item: Mapping[str, Any], response: str) -> bool:
    """Whether a plan in the published form meets as many friends as anyone can.

    The day is run with the minutes of the prompt; the first step that breaks a rule ends it.

    Raises:
        ValueError: the prompt has another form than this module writes.
    """
    day = _read_prompt(item["prompt_0shot"])
    _, _, plan = response.rpartition("SOLUTION:")
    friends = {friend.name: friend for friend in day.friends}
    place, time = day.place, day.time
    n_met = 0
    for step in plan.replace("\n", " ").split("."):
        words = step.strip()
        if travel := _TRAVEL.fullmatch(words):
            way = 0 if travel[1] == place else day.ways[place].get(travel[1])
            if way is None:
                break
            place, time = travel[1], time + way
        elif wait := _WAIT.fullmatch(words):
            if _minutes(wait[1]) <= time:
                break
            time = _minutes(wait[1])
        elif meet := _MEET.fullmatch(words):
            friend = friends.pop(meet[1], None)
            if friend is None or place != friend.place or int(meet[2]) < friend.minutes:
                break
            if not friend.opens <= time <= friend.closes - friend.minutes:
                break
            n_met += 1
            time += friend.minutes
        elif words and not words.startswith("You start"):
            break
    return n_met > 0 and not _can_meet(n_met + 1, day, day.place, day.time, day.friends)


def _can_meet(n: int, day: Day, place: str, time: int, left: Sequence[Friend]) -> bool:
    """Whether some order of the friends left meets `n` of them, tried one by one."""
    if n == 0:
        return True
    if len(left) < n:
        return False
    for friend in left:
        end = max(time + day.ways[place].get(friend.place, 0), friend.opens) + friend.minutes
        rest = [other for other in left if other is not friend]
        if end <= friend.closes and _can_meet(n - 1, day, friend.place, end, rest):
            return True
    return False


def _read_prompt(prompt: str) -> Day:
    start = _ARRIVAL.search(prompt)
    if start is None:
        raise ValueError("the prompt names no start")
    ways: dict[str, dict[str, int]] = {}
    for a, b, n in _WAY.findall(prompt):
        ways.setdefault(a, {})[b] = int(n)
    friends = tuple(
        Friend(name=name, place=place, opens=_minutes(a), closes=_minutes(b), minutes=int(n))
        for name, place, a, b, n in _FRIEND.findall(prompt)
    )
    return Day(place=start[1], time=_minutes(start[2]), friends=friends, ways=ways)


def _minutes(clock: str) -> int:
    hours, minutes = clock[:-2].split(":")
    return int(hours) % 12 * 60 + int(minutes) + (720 if clock.endswith("PM") else 0)
