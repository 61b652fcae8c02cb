"""Calendar scheduling items: one slot is free for everybody, or the earliest is asked for.

Diaries are drawn on a half-hour grid. Where no earliest time is asked for, every free slot but the
planted one is filled, so that the gold is the only answer, off the grid as well: a gap exactly as
long as the meeting cannot be entered later. The verifier reads the prompt alone.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_NAMES = (
    "Adele Boris Clara Dario Elena Felix Greta Hugo Ilka Jonas Karin Lukas Mira Nils Olga Pavel "
    "Quirin Rosa Sven Tilda Ulrich Vera Wanda Xaver Yvonne Zeno"
)
PEOPLE = tuple(_NAMES.split())
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
OPENS, CLOSES = 18, 34
"""The working day from 9:00 to 17:00, in half hours after midnight."""

_SIZES = ((2, 3, 1, 1), (2, 4, 1, 2), (3, 5, 2, 3), (4, 6, 3, 4), (5, 7, 4, 5))
"""Fewest and most people, fewest and most days, by difficulty."""

_OPENINGS = (
    "Some diaries have to be brought together, and there is a time that suits all of them.",
    "Find room for one appointment in the diaries below; there is room for it.",
    "People have sent you their diaries and want a time for an appointment. Such a time exists.",
)
_BUSY = ("is busy on", "is taken on", "has appointments on")
_FREE = ("has an empty diary", "has nothing planned", "is free all the time")
_EARLIEST = "If more than one time is possible, the earliest is wanted."

_TASK = re.compile(
    r"You need to schedule a meeting for ([^.]+) for (half an hour|one hour) between the work "
    r"hours of ([0-9:]+) to ([0-9:]+) on ([^.]+)\."
)
_DAY_ENTRY = re.compile(r"(\w+day) during ((?:[0-9:]+ to [0-9:]+(?:, )?)+)")
_SPAN = re.compile(r"([0-9:]+) to ([0-9:]+)")
_AWAY = re.compile(r"\b\w+ cannot make it on (\w+)(?: (before|after) ([0-9:]+))?\.")
_SLOT = re.compile(r"(\w+), ([0-9]+:[0-9]{2}) - ([0-9]+:[0-9]{2})")

_MIDNIGHT = 24 * 60

Cell = tuple[str, int]
"""A day, and a half hour after midnight. A slot is named by its first cell."""
Diaries = dict[str, set[Cell]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """When somebody is away without an entry: a whole day, or its hours before or after a time."""

    person: str
    day: str
    side: str = ""
    hour: int = 0

    def excludes(self, cell: Cell) -> bool:
        if cell[0] != self.day:
            return False
        return not self.side or (cell[1] < self.hour) == (self.side == "before")

    def __str__(self) -> str:
        hours = f" {self.side} {_clock(self.hour)}" if self.side else ""
        return f"{self.person} cannot make it on {self.day}{hours}."


def calendar_item(rng: random.Random, *, difficulty: int) -> dict[str, Any]:
    """One item in the published schema, without `example_id` and `task`.

    Args:
        difficulty: 1 (two or three people, one day) to 5 (up to seven people, five days).
    """
    fewest, most, shortest, longest = _SIZES[difficulty - 1]
    people = rng.sample(PEOPLE, rng.randint(fewest, most))
    days = sorted(rng.sample(WEEKDAYS, rng.randint(shortest, longest)), key=WEEKDAYS.index)
    length = rng.choice((1, 2))
    planted = (rng.choice(days), rng.randint(OPENS, CLOSES - length))
    kept = _cells(planted, length)
    diaries = _drawn_diaries(rng, people, days, kept)
    limits = _drawn_limits(rng, people, days, kept)
    earliest = rng.random() < 0.3
    if earliest:
        day, start = next(
            slot for slot in _slots(days, length) if _free(slot, length, diaries, limits)
        )
    else:
        day, start = planted
        _fill(rng, diaries, limits, planted, _slots(days, length), length)
    return {
        "num_people": str(len(people)),
        "num_days": str(len(days)),
        "duration": "0.5" if length == 1 else "1",
        "prompt_0shot": _prompt(rng, diaries, limits, days, length, earliest),
        "golden_plan": (
            f"Here is the proposed time: {day}, {_clock(start)} - {_clock(start + length)}"
        ),
    }


def _drawn_diaries(
    rng: random.Random, people: Sequence[str], days: Sequence[str], kept: Sequence[Cell]
) -> Diaries:
    """Entries of one to three half hours with gaps between them, none in a kept cell."""
    diaries: Diaries = {}
    for i, person in enumerate(people):
        diaries[person] = set()
        if i and rng.random() < 0.12:
            continue
        for day in days:
            cell = OPENS + rng.randint(0, 4)
            while cell < CLOSES:
                end = min(CLOSES, cell + rng.randint(1, 3))
                diaries[person] |= {(day, c) for c in range(cell, end)} - set(kept)
                cell = end + rng.randint(1, 2 + len(people))
    return diaries


def _drawn_limits(
    rng: random.Random, people: Sequence[str], days: Sequence[str], kept: Sequence[Cell]
) -> list[Limit]:
    """Up to two limits, of different people, that leave the kept cells alone."""
    limits = []
    for person in rng.sample(people, rng.choice((0, 0, 1, 1, 2))):
        day = rng.choice(days)
        side = rng.choice(("", "before", "after"))
        hour = rng.randint(OPENS + 2, CLOSES - 2)
        limit = Limit(person=person, day=day, side=side, hour=hour)
        if not any(limit.excludes(cell) for cell in kept):
            limits.append(limit)
    return limits


def _fill(
    rng: random.Random,
    diaries: Diaries,
    limits: Sequence[Limit],
    planted: Cell,
    slots: Sequence[Cell],
    length: int,
) -> None:
    """Take a half hour of every other free slot, so that the planted one is left alone."""
    kept = _cells(planted, length)
    for slot in slots:
        if slot != planted and _free(slot, length, diaries, limits):
            owner = rng.choice([person for person, diary in diaries.items() if diary])
            outside = [cell for cell in _cells(slot, length) if cell not in kept]
            diaries[owner].add(rng.choice(outside))


def _free(slot: Cell, length: int, diaries: Diaries, limits: Sequence[Limit]) -> bool:
    return not any(
        any(cell in diary for diary in diaries.values()) or any(x.excludes(cell) for x in limits)
        for cell in _cells(slot, length)
    )


def _slots(days: Sequence[str], length: int) -> list[Cell]:
    return [(day, start) for day in days for start in range(OPENS, CLOSES - length + 1)]


def _cells(slot: Cell, length: int) -> list[Cell]:
    return [(slot[0], slot[1] + i) for i in range(length)]


def _prompt(
    rng: random.Random,
    diaries: Diaries,
    limits: Sequence[Limit],
    days: Sequence[str],
    length: int,
    earliest: bool,
) -> str:
    lines = [f"{person} {_entries(rng, diary, days)};" for person, diary in diaries.items()]
    wishes = [*map(str, limits), "Name a time at which everybody can come."]
    return (
        f"{rng.choice(_OPENINGS)}\n\n"
        f"TASK: You need to schedule a meeting for {_listed(list(diaries), 'and')} for "
        f"{'half an hour' if length == 1 else 'one hour'} between the work hours of "
        f"{_clock(OPENS)} to {_clock(CLOSES)} on {'either ' if len(days) > 1 else ''}"
        f"{_listed(days, 'or')}.\n\nTheir diaries:\n"
        + "\n".join(lines)
        + "\n\n"
        + " ".join([*wishes, _EARLIEST] if earliest else wishes)
        + "\nSOLUTION: "
    )


def _entries(rng: random.Random, diary: set[Cell], days: Sequence[str]) -> str:
    parts = []
    for day in days:
        spans: list[list[int]] = []
        for cell in sorted(hour for where, hour in diary if where == day):
            if spans and spans[-1][1] == cell:
                spans[-1][1] = cell + 1
            else:
                spans.append([cell, cell + 1])
        if spans:
            hours = ", ".join(f"{_clock(a)} to {_clock(b)}" for a, b in spans)
            parts.append(f"{day} during {hours}")
    return f"{rng.choice(_BUSY)} {', '.join(parts)}" if parts else rng.choice(_FREE)


def _listed(words: Sequence[str], last: str) -> str:
    return f" {last} ".join([part for part in (", ".join(words[:-1]), words[-1]) if part])


def _clock(half_hours: int) -> str:
    return f"{half_hours // 2}:{half_hours % 2 * 30:02}"


def verify(item: Mapping[str, Any], response: str) -> bool:
    """Whether the first slot of a response keeps every condition that the prompt states.

    Raises:
        ValueError: the prompt has another form than this module writes.
    """
    slot = _SLOT.search(response)
    length, taken = _read_prompt(item["prompt_0shot"])
    if slot is None or slot[1] not in taken:
        return False
    day, start, end = slot[1], _minutes(slot[2]), _minutes(slot[3])

    def free(day: str, start: int) -> bool:
        return all(start + length <= a or b <= start for a, b in taken[day])

    if end - start != length or not free(day, start):
        return False
    if _EARLIEST not in item["prompt_0shot"]:
        return True
    # The earliest free time begins where something else ends.
    ends = [(which, b) for which in taken for b in sorted(b for _, b in taken[which])]
    return next(slot for slot in ends if slot[1] < _MIDNIGHT and free(*slot)) == (day, start)


def _read_prompt(prompt: str) -> tuple[int, dict[str, list[tuple[int, int]]]]:
    """The meeting's length, and for each allowed day when it cannot be, all in minutes."""
    task = _TASK.search(prompt)
    if task is None:
        raise ValueError("the prompt states no meeting")
    taken = {
        day: [(0, _minutes(task[3])), (_minutes(task[4]), _MIDNIGHT)]
        for day in re.findall(r"\w+day", task[5])
    }
    for person in re.findall(r"[A-Z]\w+", task[1]):
        entry = re.search(rf"^{person} .*;$", prompt, re.MULTILINE)
        if entry is None:
            raise ValueError(f"the prompt holds no diary of {person}")
        for day, spans in _DAY_ENTRY.findall(entry[0]):
            taken[day] += [(_minutes(a), _minutes(b)) for a, b in _SPAN.findall(spans)]
    for day, side, hour in _AWAY.findall(prompt):
        since = _minutes(hour) if side == "after" else 0
        until = _minutes(hour) if side == "before" else _MIDNIGHT
        taken[day].append((since, until))
    return 30 if task[2] == "half an hour" else 60, taken


def _minutes(clock: str) -> int:
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)
