"""Invented NaturalPlan items in the published layout, and the benchmarks that read them."""

import json
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from sero.benchmarks.base import Task
from sero.benchmarks.item_benchmark import GeneratedConfig
from sero.benchmarks.naturalplan import NaturalPlan, NaturalPlanConfig

CITIES = ("Arden", "Borel", "Corva", "Delve", "Esker", "Fenby", "Galen", "Hythe", "Istra", "Jorvik")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")

Data = dict[str, dict[str, dict[str, object]]]


def trip_item(i: int) -> dict[str, object]:
    """Four cities along their own one-way flights; stays of 2 to 4 days."""
    cities = [CITIES[(i + k) % len(CITIES)] for k in range(4)]
    stays = [2 + (i + k) % 3 for k in range(4)]
    total = sum(stays) - 3
    lines = [f"Here is the trip plan for visiting the 4 European cities for {total} days:", ""]
    day = 1
    for k, (city, stay) in enumerate(zip(cities, stays, strict=True)):
        if k:
            lines.append(f"**Day {day}:** Fly from {cities[k - 1]} to {city}.")
        visit = f"Visit {city}" if k else f"Arriving in {city} and visit {city}"
        lines.append(f"**Day {day}-{day + stay - 1}:** {visit} for {stay} days.")
        day += stay - 1
    wishes = " ".join(
        f"You want to spend {n} days in {c}." for c, n in zip(cities, stays, strict=True)
    )
    flights = ", ".join(f"from {cities[k]} to {cities[k + 1]}" for k in range(3))
    return {
        "num_cities": "4",
        "cities": "**".join(cities),
        "durations": "**".join(map(str, stays)),
        "prompt_0shot": (
            f"You plan to visit 4 European cities for {total} days in total. You only take direct "
            f"flights to commute between cities. {wishes}\n\nHere are the cities that have direct "
            f"flights:\n{flights}.\n\nFind a trip plan of visiting the cities for {total} days by "
            "taking direct flights to commute between them."
        ),
        "prompt_5shot": "examples",
        "golden_plan": "\n".join(lines),
        "pred_5shot_pro": "a stored model output",
    }


def calendar_item(i: int) -> dict[str, object]:
    """One free half hour on one weekday."""
    day = WEEKDAYS[i % 5]
    start = 18 + i % 15
    end = start + 1
    busy = [f"9:00 to {hour(start)}"] * (start > 18) + [f"{hour(end)} to 17:00"] * (end < 34)
    return {
        "num_people": "2",
        "num_days": "1",
        "duration": "0.5",
        "prompt_0shot": (
            "You are an expert at scheduling meetings. Here are a few example tasks and "
            "solutions:\n\nTASK: You need to schedule a meeting for Ann and Bob for half an hour "
            f"between the work hours of 9:00 to 17:00 on {day}. \n\nHere are the existing "
            f"schedules for everyone during the day: \nAnn is busy on {day} during "
            f"{', '.join(busy)}; \nBob is free the entire day.\n\nFind a time that works for "
            "everyone's schedule and constraints. \nSOLUTION: "
        ),
        "prompt_5shot": "examples",
        "golden_plan": f"Here is the proposed time: {day}, {hour(start)} - {hour(end)} ",
        "pred_5shot_pro": "a stored model output",
    }


def hour(half_hours: int) -> str:
    return f"{half_hours // 2}:{'30' if half_hours % 2 else '00'}"


def meeting_item(i: int) -> dict[str, object]:
    """Ann at the Quay from ten, then Bob in Elm's Park; both can be met."""
    out, across = 5 + i, 7 + i
    arrive = 45 + across
    met = arrive + 30
    minutes = {
        "Mill Yard": {"Quay": out, "Elm's Park": out + 9},
        "Quay": {"Mill Yard": out + 2, "Elm's Park": across},
        "Elm's Park": {"Mill Yard": out + 4, "Quay": across + 1},
    }
    ways = "\n".join(f"{a} to {b}: {n}." for a, row in minutes.items() for b, n in row.items())
    return {
        "num_people": 2,
        "constraints": [
            ["Mill Yard", "9:00AM"],
            ["Ann", "Quay", "10:00AM to 11:30AM", 45],
            ["Bob", "Elm's Park", "10:30AM to 1:30PM", 30],
        ],
        "dist_matrix": minutes,
        "prompt_0shot": (
            "You are visiting San Francisco for the day and want to meet as many friends as "
            f"possible.\n\nTravel distances (in minutes):\n{ways}\n\nCONSTRAINTS: You arrive at "
            "Mill Yard at 9:00AM. Ann will be at Quay from 10:00AM to 11:30AM. You'd like to meet "
            "Ann for a minimum of 45 minutes. Bob will be at Elm's Park from 10:30AM to 1:30PM. "
            "You'd like to meet Bob for a minimum of 30 minutes.\n\nYour response should start "
            "with 'SOLUTION:'."
        ),
        "prompt_5shot": "examples",
        "golden_plan": [
            "You start at Mill Yard at 9:00AM.",
            f"You travel to Quay in {out} minutes and arrive at 9:{out:02}AM.",
            "You wait until 10:00AM.",
            "You meet Ann for 45 minutes from 10:00AM to 10:45AM.",
            f"You travel to Elm's Park in {across} minutes and arrive at "
            f"{10 + arrive // 60}:{arrive % 60:02}AM.",
            f"You meet Bob for 30 minutes from {10 + arrive // 60}:{arrive % 60:02}AM to "
            f"{10 + met // 60}:{met % 60:02}AM.",
        ],
        "pred_5shot_pro": "a stored model output",
    }


MAKERS = {
    "trip_planning": trip_item,
    "calendar_scheduling": calendar_item,
    "meeting_planning": meeting_item,
}


@pytest.fixture(scope="session")
def naturalplan_data() -> Data:
    """Twelve items of each subtask as `{group: {example_id: item}}`."""
    return {
        group: {f"{group}_example_{i}": make(i) for i in range(12)}
        for group, make in MAKERS.items()
    }


@pytest.fixture
def naturalplan_folder(tmp_path: Path, naturalplan_data: Data) -> Path:
    """The three files of the published layout."""
    folder = tmp_path / "published"
    folder.mkdir()
    for group, items in naturalplan_data.items():
        (folder / f"{group}.json").write_text(json.dumps(items), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def naturalplan_rows(naturalplan_data: Data) -> list[dict[str, object]]:
    """The same items, each with its `example_id` and `task`."""
    return [
        {**item, "example_id": item_id, "task": group}
        for group, items in naturalplan_data.items()
        for item_id, item in items.items()
    ]


@pytest.fixture
def naturalplan_file(tmp_path: Path, naturalplan_rows: list[dict[str, object]]) -> Path:
    """The items as training reads them."""
    path = tmp_path / "naturalplan.jsonl"
    lines = "".join(json.dumps(row) + "\n" for row in naturalplan_rows)
    path.write_text(lines, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def naturalplan_tasks(
    naturalplan: Callable[..., NaturalPlan], naturalplan_rows: list[dict[str, object]]
) -> dict[str, list[Task]]:
    """The tasks of the invented items by group."""
    tasks = [naturalplan().task_from_data(row) for row in naturalplan_rows]
    return {group: [task for task in tasks if task.group == group] for group in MAKERS}


@pytest.fixture(scope="session")
def naturalplan() -> Callable[..., NaturalPlan]:
    """Build the benchmark: `naturalplan(source=..., scorer="official")`."""

    @cache
    def build(**changes: object) -> NaturalPlan:
        settings: dict[str, object] = {
            "name": "naturalplan",
            "source": "generated",
            "prompts": "package:naturalplan",
            "seed_pool": "package:naturalplan/seed_pool.yaml",
            "scorer": "careful",
            "n_train": 30,
            "n_heldout": None,
            "split_seed": 0,
            "allow_counts": True,
            "strict_add": True,
            "generated": GeneratedConfig(n=60, seed=0, difficulty=2),
        }
        return NaturalPlan(NaturalPlanConfig(**{**settings, **changes}))  # type: ignore[arg-type]

    return build


@pytest.fixture(scope="session")
def shared_naturalplan() -> Path:
    """The folder with real sample items and scorer vectors, which the repository does not hold."""
    default = Path(__file__).resolve().parents[3] / "shared"
    folder = Path(os.environ.get("SERO_SHARED", default)) / "data" / "naturalplan"
    if not folder.is_dir():
        pytest.skip(f"no sample data at {folder}; set SERO_SHARED to the folder that holds data/")
    return folder
