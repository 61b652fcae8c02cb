"""Meeting planning: read the steps of a plan and run them against the clock.

Travel takes the matrix's minutes and a meeting the required ones, whatever the plan claims; the
first step that breaks a rule ends the day. This is the careful version; `meeting_official` has the
published semantics.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sero.benchmarks.normalise import name_key, plain_typography, without_emphasis

MARKER = "SOLUTION:"
STEP_HEADS = ("You start", "You travel", "You wait", "You meet")
_STEP_HEAD = r"You (?:start|travel|wait|meet)"
_MARKED_PLAN = re.compile(rf"{MARKER}[\s_]*+[\"']?(?={_STEP_HEAD})")
_FENCE = re.compile(r"^[ \t]*+```[A-Za-z]{0,12}[ \t]*+$", re.MULTILINE)
_CLOCK = re.compile(r"(1[0-2]|0?[1-9]):([0-5]?[0-9]) ?([AaPp])[Mm]")
_CLAIMED = re.compile(r"for ([0-9]{1,5}) ?min")
_CLAIMED_HOURS = re.compile(
    r"for ([0-9]{1,3}) ?h(?:(?:ou)?rs?)?\b(?:(?:,? and|,)? ([0-9]{1,3}) ?m|(?!,? and\b|,? [0-9]))"
)


@dataclass(frozen=True, slots=True)
class Travel:
    place: str

    def __str__(self) -> str:
        return f"You travel to {self.place}"


@dataclass(frozen=True, slots=True)
class Wait:
    until: int

    def __str__(self) -> str:
        return f"You wait until {clock_text(self.until)}"


@dataclass(frozen=True, slots=True)
class Meet:
    """A meeting; `minutes` is the length the plan claims, None when it claims none."""

    person: str
    minutes: int | None

    def __str__(self) -> str:
        length = "" if self.minutes is None else f" for {self.minutes} minutes"
        return f"You meet {self.person}{length}"


Step = Travel | Wait | Meet


@dataclass(frozen=True, slots=True)
class Appointment:
    """When and where a person can be met. Times in minutes after midnight."""

    place: str
    opens: int
    closes: int
    minutes: int


@dataclass(frozen=True, slots=True)
class Day:
    """An item as the careful simulation needs it. Names as `name_key` gives them, as in steps."""

    place: str
    time: int
    people: Mapping[str, Appointment]
    minutes: Mapping[str, Mapping[str, int]]


def clock(text: str) -> int | None:
    """`2:45PM` as minutes after midnight; None if it is no 12-hour time."""
    match = _CLOCK.fullmatch(text.strip())
    if match is None:
        return None
    return int(match[1]) % 12 * 60 + int(match[2]) + (720 if match[3] in "Pp" else 0)


def clock_text(minutes: int) -> str:
    hours, rest = divmod(minutes, 60)
    return f"{(hours - 1) % 12 + 1}:{rest:02}{'PM' if hours % 24 >= 12 else 'AM'}"


def read(text: str) -> tuple[tuple[Step, ...] | None, str]:
    """The steps behind the last marker that a plan follows, or None and the reason.

    Without a marker the whole text must be the plan. Reading ends at the first step that does
    not have one of the four forms, as the simulation would.

    Args:
        text: the response without its think block.
    """
    plain = without_emphasis(_FENCE.sub("", plain_typography(text)))
    start = None
    for found in _MARKED_PLAN.finditer(plain):
        start = found.end()
    if start is None and MARKER in plain:
        return None, "no step 'You start ...' behind SOLUTION:"
    steps = read_steps(plain[start or 0 :])
    if steps is None:
        return None, "the response does not start with SOLUTION: and a step"
    return steps, ""


def read_steps(plan: str) -> tuple[Step, ...] | None:
    """The readable steps of a plan in plain typography; None when the first is none."""
    steps: list[Step] = []
    started = False
    for sentence in plan.split("."):
        words = " ".join(sentence.split())
        if words.startswith("You start"):
            started = True
            continue
        step = _step(words)
        if step is None:
            if words:
                break
            continue
        steps.append(step)
    return tuple(steps) if steps or started else None


def answer_text(steps: Sequence[Step]) -> str:
    """Steps as the canonical answer; `read_steps` reads it back to the same steps."""
    return " ".join(f"{step}." for step in steps) or "You start."


def gold_steps(plan: Sequence[str]) -> tuple[Step, ...]:
    """The steps of a gold plan, given as a list of sentences."""
    return read_steps(plain_typography(" ".join(plan))) or ()


def day_of(constraints: Sequence[Any], matrix: Mapping[str, Mapping[str, int]]) -> Day:
    """The item's fields as a `Day`; they have been checked when the item was loaded."""
    place, time = constraints[0]
    people = {}
    for name, where, window, minutes in constraints[1:]:
        opens, closes = window_of(window) or (0, 0)
        people[name_key(name)] = Appointment(name_key(where), opens, closes, minutes)
    return Day(
        place=name_key(place),
        time=clock(time) or 0,
        people=people,
        minutes={
            name_key(a): {name_key(b): minutes for b, minutes in row.items()}
            for a, row in matrix.items()
        },
    )


def window_of(text: str) -> tuple[int, int] | None:
    """`2:45PM to 5:30PM` as two times; None if it is no window."""
    opens, _, closes = text.partition("to")
    ends = clock(opens), clock(closes)
    return (ends[0], ends[1]) if ends[0] is not None and ends[1] is not None else None


def simulate(steps: Sequence[Step], day: Day) -> tuple[int, str]:
    """The number of valid meetings, and what ended the day (empty when the plan ran through).

    Unknown places and people end it, as does a meeting that claims less than the required
    minimum, or a person met twice; what was met before counts.
    """
    place, time = day.place, day.time
    met: set[str] = set()
    for step in steps:
        match step:
            case Travel():
                known = day.minutes.get(place, {}).get(step.place)
                minutes = 0 if step.place == place else known
                if minutes is None:
                    return len(met), f"no way from {place!r} to {step.place!r}"
                place, time = step.place, time + minutes
            case Wait():
                if step.until <= time:
                    return len(met), f"wait until {clock_text(step.until)} goes back in time"
                time = step.until
            case Meet():
                fault = _meeting_fault(step, day, place, time, met)
                if fault:
                    return len(met), fault
                met.add(step.person)
                time += day.people[step.person].minutes
    return len(met), ""


def _meeting_fault(step: Meet, day: Day, place: str, time: int, met: set[str]) -> str:
    name = step.person
    appointment = day.people.get(name)
    if appointment is None:
        return f"nobody is called {name!r}"
    if name in met:
        return f"{name} is met twice"
    if step.minutes is not None and step.minutes < appointment.minutes:
        return f"{name} is met for {step.minutes} of {appointment.minutes} minutes"
    if place != appointment.place:
        return f"{name} is not at {place}"
    if time < appointment.opens or time + appointment.minutes > appointment.closes:
        return f"{name} cannot be met at {clock_text(time)}"
    return ""


def _claimed_minutes(words: str) -> int | None:
    if minutes := _CLAIMED.search(words):
        return int(minutes[1])
    hours = _CLAIMED_HOURS.search(words)
    return int(hours[1]) * 60 + int(hours[2] or 0) if hours else None


def _step(words: str) -> Step | None:
    if words.startswith("You travel to "):
        place = name_key(words.removeprefix("You travel to ").partition(" in ")[0])
        return Travel(place) if place else None
    if words.startswith("You wait until "):
        until = clock(words.removeprefix("You wait until "))
        return None if until is None else Wait(until)
    if words.startswith("You meet "):
        person = name_key(words.removeprefix("You meet ").partition(" for ")[0])
        return Meet(person, _claimed_minutes(words)) if person else None
    return None
