"""Meeting planning as published: sentences run against the clock until the first violation."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from sero.benchmarks.naturalplan.meeting import MARKER


def read_official(text: str) -> list[str]:
    """The sentences the published reader takes from a response."""
    at = text.find(MARKER)
    plan = text[at + len(MARKER) :] if at >= 0 else text
    return [step for step in map(str.strip, plan.split(".")) if step]


def simulate_official(
    steps: Sequence[str], constraints: Sequence[Any], matrix: Mapping[str, Mapping[str, int]]
) -> int:
    """Valid meetings as the published code counts them.

    A sentence's form is told by its first two words; the clock is read strictly as `9:30AM`; a
    violation ends the day with the count so far.

    Raises:
        KeyError: an unknown place or person, a way to the place itself; the published code
            stops there.
        IndexError: a travel, wait or meet step without its object; likewise.
    """
    place, start = constraints[0]
    time = _official_time(start)
    people = {name: rest for name, *rest in constraints[1:]}
    met: set[str] = set()
    n_valid = 0
    for step in steps:
        if step.startswith("You start"):
            continue
        if step.startswith("You travel"):
            target = step.split("travel to ")[1].split(" in")[0].strip()
            time += datetime.timedelta(minutes=matrix[place][target])
            place = target
        elif step.startswith("You wait"):
            try:
                until = _official_time(step.split("wait until ")[1].split(".")[0].strip())
            except ValueError:
                break
            if until <= time:
                break
            time = until
        elif step.startswith("You meet"):
            name = step.split("meet ")[1].split(" for")[0].strip()
            if name in met:
                break
            met.add(name)
            where, window, minutes = people[name]
            opens, closes = (_official_time(end.strip()) for end in window.split("to")[:2])
            end = time + datetime.timedelta(minutes=minutes)
            if place != where or time < opens or end > closes:
                break
            n_valid += 1
            time = end
        else:
            break
    return n_valid


def _official_time(text: str) -> datetime.datetime:
    return datetime.datetime.strptime(text, "%I:%M%p")
