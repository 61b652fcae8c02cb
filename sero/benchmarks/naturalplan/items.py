"""NaturalPlan's items: every schema trap, and the tasks made from them.

Traps of the published files: counts are strings in two subtasks and numbers in the third,
`golden_plan` is a list for meetings only, lists of trips are texts joined by `**`, the first
constraint of a meeting item has another shape than the rest. A stored model output
(`pred_5shot_pro`) and the few-shot prompt never leave this module.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import Ge, Gt, MinLen
from pydantic import BeforeValidator, StringConstraints, TypeAdapter, ValidationError

from sero.benchmarks.base import Task
from sero.benchmarks.files import raise_faults
from sero.benchmarks.naturalplan.meeting import clock, window_of
from sero.benchmarks.naturalplan.prompts import (
    CALENDAR,
    GROUPS,
    MEETING,
    TRIP,
    group_of,
    task_prompt,
)
from sero.errors import DataError
from sero.validation import faults_of

Text = Annotated[str, StringConstraints(pattern=r"\S")]
Count = Annotated[int, Gt(0)]


def _split_stars(value: Any) -> Any:
    return tuple(part for part in value.split("**") if part) if isinstance(value, str) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class TripItem:
    num_cities: Count
    cities: Annotated[tuple[Text, ...], MinLen(1), BeforeValidator(_split_stars)]
    durations: Annotated[tuple[Count, ...], MinLen(1), BeforeValidator(_split_stars)]
    prompt_0shot: Text
    golden_plan: Text

    def faults(self) -> list[str]:
        lengths = {self.num_cities, len(self.cities), len(self.durations)}
        if len(lengths) == 1:
            return []
        return [
            f"num_cities: got {self.num_cities} with {len(self.cities)} cities and "
            f"{len(self.durations)} durations; the three agree"
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarItem:
    num_people: Count
    num_days: Count
    duration: Annotated[float, Gt(0)]
    prompt_0shot: Text
    golden_plan: Text

    def faults(self) -> list[str]:
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class MeetingItem:
    num_people: Count
    constraints: Annotated[tuple[tuple[Text | int, ...], ...], MinLen(2)]
    dist_matrix: dict[Text, dict[Text, Annotated[int, Ge(0)]]]
    prompt_0shot: Text
    golden_plan: Annotated[tuple[Text, ...], MinLen(1)]

    def faults(self) -> list[str]:
        start, *meetings = self.constraints
        found = []
        places: list[str | int] = []
        if len(start) != 2 or clock(str(start[1])) is None:
            found.append(f"constraints[0]: got {list(start)}; accepted is [place, '9:00AM']")
        else:
            places.append(start[0])
        for i, row in enumerate(meetings, 1):
            if len(row) == 4 and window_of(str(row[2])) and isinstance(row[3], int) and row[3] > 0:
                places.append(row[1])
            else:
                found.append(
                    f"constraints[{i}]: got {list(row)}; "
                    "accepted is [name, place, '2:45PM to 5:30PM', minutes]"
                )
        if len(meetings) != self.num_people:
            found.append(f"num_people: got {self.num_people} with {len(meetings)} constraints")
        found += [
            f"dist_matrix: no row for {place!r}"
            for place in dict.fromkeys(places)
            if place not in self.dist_matrix
        ]
        return found


Item = TripItem | CalendarItem | MeetingItem
_ITEM_TYPES: Mapping[str, type[Item]] = {
    TRIP: TripItem,
    CALENDAR: CalendarItem,
    MEETING: MeetingItem,
}
_ADAPTERS: Mapping[str, TypeAdapter[Any]] = {
    group: TypeAdapter(kind) for group, kind in _ITEM_TYPES.items()
}


def read_item(raw: Mapping[str, Any], where: str) -> tuple[str, Item]:
    """The subtask and the item of one published item's fields, with its `task` beside them.

    Raises:
        DataError: with every fault of the item.
    """
    group = raw.get("task")
    if not isinstance(group, str) or group not in GROUPS:
        fault = f"task: got {group!r}; accepted are {', '.join(map(repr, GROUPS))}"
        raise DataError(f"{where}.{fault}", [fault])
    item, faults = _checked(raw, group)
    item_id = raw.get("example_id", where)
    if not isinstance(item_id, str) or not item_id.strip():
        faults.append(f"example_id: got {item_id!r}; a text is wanted")
    raise_faults(where, faults)
    assert item is not None
    return group, item


def _checked(raw: Mapping[str, Any], group: str) -> tuple[Item | None, list[str]]:
    """The item, None if a field has another type than the schema's, and every fault."""
    fields = {field.name for field in dataclasses.fields(_ITEM_TYPES[group])}
    offered = {key: value for key, value in raw.items() if key in fields}
    try:
        item: Item = _ADAPTERS[group].validate_python(offered)
    except ValidationError as error:
        return None, faults_of(error, {"": fields})
    faults = item.faults()
    if group_of(item.prompt_0shot) != group:
        faults.append(f"prompt_0shot: does not read like a prompt of {group}")
    return item, faults


def make_task(item_id: str, group: str, item: Item, answer_format: str) -> Task:
    """A task: the published prompt with the answer format, and the gold as plain data."""
    reference = dataclasses.asdict(item)
    prompt = task_prompt(reference.pop("prompt_0shot"), answer_format)
    return Task(id=item_id, group=group, prompt=prompt, reference=reference)
