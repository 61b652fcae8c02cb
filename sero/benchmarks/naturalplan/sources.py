"""NaturalPlan's published files: one JSON object of items per subtask, or lines made from them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sero.benchmarks.files import raise_faults, read_json_object, read_jsonl
from sero.benchmarks.naturalplan.prompts import GROUPS
from sero.errors import DataError

ADVICE = (
    "NaturalPlan's data are trip_planning.json, calendar_scheduling.json and meeting_planning.json "
    "in the folder `data` of google-deepmind/natural-plan (CC BY 4.0). Copy them and give their "
    "folder, or a JSONL file with `example_id` and `task` in a line."
)

Rows = list[tuple[str, Mapping[str, Any]]]
"""Where an item stands, and its fields with `example_id` and `task` beside them."""


def read_source(path: Path) -> Rows:
    """The items of a local copy of the published data, fields unchecked.

    Args:
        path: a folder with the three published files (or holding them in `data`), one such file,
            or a JSONL file.

    Raises:
        DataError: nothing there, or a damaged file, with every fault of it.
    """
    if path.is_dir():
        rows, faults = _folder_rows(path)
    elif not path.exists():
        raise DataError(f"{path}: no such file or folder. {ADVICE}")
    elif path.suffix == ".jsonl":
        lines, faults = read_jsonl(path)
        rows = [(f"line {number}", raw) for number, raw in lines]
    elif path.suffix == ".json":
        rows, faults = _container_rows(path)
    else:
        raise DataError(f"{path}: accepted are a folder, a .json or a .jsonl file. {ADVICE}")
    if not rows and not faults:
        faults.append("no items in it")
    raise_faults(path, faults, ADVICE)
    return rows


def _folder_rows(folder: Path) -> tuple[Rows, list[str]]:
    names = [f"{group}.json" for group in GROUPS]
    inside = folder / "data"
    if not any((folder / name).exists() for name in names) and inside.is_dir():
        folder = inside
    missing = [name for name in names if not (folder / name).exists()]
    if missing:
        raise DataError(f"{folder}: {', '.join(missing)} not in this folder. {ADVICE}")
    rows: Rows = []
    faults: list[str] = []
    for name in names:
        found, wrong = _container_rows(folder / name)
        rows += found
        faults += wrong
    return rows, faults


def _container_rows(path: Path) -> tuple[Rows, list[str]]:
    group = path.stem
    if group not in GROUPS:
        listed = ", ".join(map(repr, GROUPS))
        raise DataError(f"{path}: a file of one subtask is named after it: {listed}")
    found, faults = read_json_object(path)
    faults = [f"{path.name}: {fault}" for fault in faults]
    rows: Rows = []
    for item_id, raw in found.items():
        where = f"{path.name}: {item_id}"
        if isinstance(raw, dict):
            rows.append((where, {**raw, "example_id": item_id, "task": group}))
        else:
            faults.append(f"{where}: got {type(raw).__name__}; an item is an object")
    return rows, faults
