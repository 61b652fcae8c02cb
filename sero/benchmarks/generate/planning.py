"""NaturalPlan-like items: trips, calendars and meetings in turn, each with an exact gold."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from sero.benchmarks.generate import calendar, meeting, trip
from sero.seeding import derive_seed

_KINDS: Mapping[str, tuple[Callable[..., dict[str, Any]], Callable[..., bool]]] = {
    "trip_planning": (trip.trip_item, trip.verify),
    "calendar_scheduling": (calendar.calendar_item, calendar.verify),
    "meeting_planning": (meeting.meeting_item, meeting.verify),
}


def generate_naturalplan(n: int, *, seed: int, difficulty: int) -> list[dict[str, Any]]:
    """`n` items in the published schema, with `example_id` and `task`, all prompts different.

    Each item has a stream of its own, so a longer list begins with the shorter one.

    Args:
        difficulty: 1 to 5: 3 to 10 cities; 2 to 7 people on 1 to 5 days; 2 to 7 friends.
    """
    items = []
    seen: set[str] = set()
    for i in range(n):
        task = list(_KINDS)[i % len(_KINDS)]
        for attempt in count():
            made = _item(task, seed, difficulty, i, attempt)
            if made["prompt_0shot"] not in seen:
                break
        seen.add(made["prompt_0shot"])
        items.append({"example_id": f"{task}_generated_{i}", "task": task, **made})
    return items


def verify(item: Mapping[str, Any], response: str) -> bool:
    """Whether a response solves a generated item, judged by its prompt's text alone."""
    _, check = _KINDS[item["task"]]
    return check(item, response)


def _item(task: str, seed: int, difficulty: int, i: int, attempt: int) -> dict[str, Any]:
    make, _ = _KINDS[task]
    name = derive_seed(seed, "generate", task, difficulty, i, attempt)
    return make(random.Random(name), difficulty=difficulty)
