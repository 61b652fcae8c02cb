"""NaturalPlan's items: both file layouts, every schema trap, and the tasks made from them.

Traps of the published files: counts are strings in two subtasks and numbers in the third,
`golden_plan` is a list for meetings only, lists of trips are texts joined by `**`, the first
constraint of a meeting item has another shape than the rest. A stored model output
(`pred_5shot_pro`) and the few-shot prompt never leave this module.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Ge, Gt, MinLen
from pydantic import BeforeValidator, StringConstraints, TypeAdapter, ValidationError

from sero.benchmarks.base import Task
from sero.benchmarks.files import fingerprint, raise_faults, read_json_object, read_jsonl
from sero.benchmarks.naturalplan.meeting import clock, window_of
from sero.benchmarks.naturalplan.prompts import GROUPS, group_of, task_prompt
from sero.errors import DataError
from sero.validation import faults_of

TRIP, CALENDAR, MEETING = "trip_planning", "calendar_scheduling", "meeting_planning"
ADVICE = (
    "NaturalPlan's data are trip_planning.json, calendar_scheduling.json and meeting_planning.json "
    "in the folder `data` of google-deepmind/natural-plan (CC BY 4.0). Copy them, then set "
    "benchmark.source to their folder, or to a JSONL file with `example_id` and `task` in a line."
)

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


def load_items(source: str | None) -> tuple[tuple[Task, ...], str]:
    """Every task of a data source in the order of ids, and the data's fingerprint.

    Args:
        source: a folder with the three published files (or holding them in `data`), one such
            file, or a JSONL file; None is answered with what to do.

    Raises:
        DataError: nothing there, or a damaged file, with every fault of it.
    """
    if source is None:
        raise DataError(f"benchmark.source is not set. {ADVICE}")
    path = Path(source).expanduser()
    if path.is_dir():
        rows, faults = _folder_rows(path)
    elif not path.exists():
        raise DataError(f"{path}: no such file or folder. {ADVICE}")
    elif path.suffix == ".jsonl":
        rows, faults = _jsonl_rows(path)
    elif path.suffix == ".json":
        rows, faults = _container_rows(path)
    else:
        raise DataError(f"{path}: accepted are a folder, a .json or a .jsonl file. {ADVICE}")

    items: dict[str, tuple[str, Item]] = {}
    for where, item_id, group, raw in rows:
        if item_id in items:
            faults.append(f"{where}: a second item with this id")
            continue
        item, found = read_item(raw, group)
        faults += [f"{where}: {fault}" for fault in found]
        if item is not None:
            items[item_id] = (group, item)
    if not rows and not faults:
        faults.append("no items in it")
    raise_faults(path, faults, ADVICE)
    tasks = tuple(make_task(item_id, *items[item_id]) for item_id in sorted(items))
    canonical = ([i, items[i][0], dataclasses.asdict(items[i][1])] for i in sorted(items))
    return tasks, fingerprint(canonical)


def read_item(raw: Mapping[str, Any], group: str) -> tuple[Item | None, list[str]]:
    """Check one item given as plain data: the item, or every fault with its path."""
    fields = {field.name for field in dataclasses.fields(_ITEM_TYPES[group])}
    offered = {key: value for key, value in raw.items() if key in fields}
    try:
        item: Item = _ADAPTERS[group].validate_python(offered)
    except ValidationError as error:
        return None, faults_of(error, {"": fields})
    faults = item.faults()
    if group_of(item.prompt_0shot) != group:
        faults.append(f"prompt_0shot: does not read like a prompt of {group}")
    return (None, faults) if faults else (item, [])


def make_task(item_id: str, group: str, item: Item) -> Task:
    """A task: the published prompt with the answer format, and the gold as plain data."""
    reference = dataclasses.asdict(item)
    prompt = reference.pop("prompt_0shot")
    return Task(id=item_id, group=group, prompt=task_prompt(group, prompt), reference=reference)


def task_from_data(raw: Mapping[str, Any], where: str = "item") -> Task:
    """One task from one published item with `example_id` and `task` beside its fields.

    Raises:
        DataError: with every fault of the item.
    """
    group = raw.get("task")
    if group not in GROUPS:
        raise DataError(f"{where}.task: got {group!r}; accepted are {_listed(GROUPS)}")
    item, faults = read_item(raw, group)
    raise_faults(where, faults)
    assert item is not None
    return make_task(str(raw.get("example_id", where)), group, item)


Row = tuple[str, str, str, Mapping[str, Any]]
"""Where an item stands, its id, its group and its fields."""
Rows = tuple[list[Row], list[str]]
"""Rows that can be told apart, and the faults of those that cannot."""


def _folder_rows(folder: Path) -> Rows:
    names = [f"{group}.json" for group in GROUPS]
    inside = folder / "data"
    if not any((folder / name).exists() for name in names) and inside.is_dir():
        folder = inside
    missing = [name for name in names if not (folder / name).exists()]
    if missing:
        raise DataError(f"{folder}: {', '.join(missing)} not in this folder. {ADVICE}")
    rows: list[Row] = []
    faults: list[str] = []
    for name in names:
        found, wrong = _container_rows(folder / name)
        rows += found
        faults += wrong
    return rows, faults


def _container_rows(path: Path) -> Rows:
    group = path.stem
    if group not in GROUPS:
        raise DataError(f"{path}: a file of one subtask is named after it: {_listed(GROUPS)}")
    found, faults = read_json_object(path)
    faults = [f"{path.name}: {fault}" for fault in faults]
    rows: list[Row] = []
    for item_id, raw in found.items():
        if isinstance(raw, dict):
            rows.append((f"{path.name}: {item_id}", item_id, group, raw))
        else:
            kind = type(raw).__name__
            faults.append(f"{path.name}: {item_id}: got {kind}; an item is an object")
    return rows, faults


def _jsonl_rows(path: Path) -> Rows:
    lines, faults = read_jsonl(path)
    rows: list[Row] = []
    for number, raw in lines:
        item_id, group = raw.get("example_id"), raw.get("task")
        if not isinstance(item_id, str) or not item_id:
            faults.append(f"line {number}.example_id: got {item_id!r}; a text is wanted")
        elif group not in GROUPS:
            faults.append(f"line {number}.task: got {group!r}; accepted are {_listed(GROUPS)}")
        else:
            rows.append((f"line {number}, {item_id}", item_id, group, raw))
    return rows, faults


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)
