"""Local copies of OlympiadBench: a JSONL file, a JSON array of an evaluation kit, or a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sero.benchmarks.files import raise_faults, read_jsonl, read_text
from sero.errors import DataError

SUBSETS: Mapping[str, str] = {"OE_TO_maths_en_COMP": "Math", "OE_TO_physics_en_COMP": "Physics"}
"""The two published subsets by the beginning of their file's name, and the subject of each."""
_KINDS = (".json", ".jsonl")

Row = tuple[str, Mapping[str, Any]]


def read_rows(path: Path) -> list[Row]:
    """The items of a local copy; a file named after a subset tells the subject of its items.

    Args:
        path: a file of items, one a line or in one JSON array; or a folder that holds the files
            of the published subsets, at any depth.

    Raises:
        DataError: nothing there, a subset twice, or damaged files with every fault.
    """
    if not path.exists():
        raise DataError(f"{path}: no such file or folder")
    rows: list[Row] = []
    faults: list[str] = []
    for file in _subset_files(path) if path.is_dir() else [path]:
        found, wrong = _rows_of(file)
        rows += found
        faults += wrong
    raise_faults(path, faults)
    return rows


def _subset_files(folder: Path) -> list[Path]:
    files = sorted(p for p in folder.rglob("*") if p.suffix in _KINDS and _subset(p))
    subsets = [_subset(file) for file in files]
    if not files:
        raise DataError(
            f"{folder}: no file of a published subset; their names begin with "
            f"{' and '.join(SUBSETS)} and end in {' or '.join(_KINDS)}"
        )
    if len(set(subsets)) < len(subsets):
        raise DataError(
            f"{folder}: a subset stands in more than one file; name a folder with one of each\n  "
            + "\n  ".join(str(file.relative_to(folder)) for file in files)
        )
    return files


def _subset(file: Path) -> str | None:
    return next((name for name in SUBSETS if file.name.startswith(name)), None)


def _rows_of(file: Path) -> tuple[list[Row], list[str]]:
    if read_text(file).lstrip().startswith("["):
        found, faults = _array(file)
    else:
        lines, wrong = read_jsonl(file)
        found = [(f"{file.name}: line {number}", raw) for number, raw in lines]
        faults = [f"{file.name}: {fault}" for fault in wrong]
    subset = _subset(file)
    if subset:
        found = [
            (place, raw if raw.get("subject") else {**raw, "subject": SUBSETS[subset]})
            for place, raw in found
        ]
    return found, faults


def _array(file: Path) -> tuple[list[Row], list[str]]:
    try:
        values = json.loads(read_text(file))
    except (ValueError, RecursionError) as error:
        return [], [f"{file.name}: not JSON: {error}"]
    rows: list[Row] = []
    faults: list[str] = []
    for i, value in enumerate(values, 1):
        if isinstance(value, dict):
            rows.append((f"{file.name}: item {i}", value))
        else:
            kind = type(value).__name__
            faults.append(f"{file.name}: item {i}: got {kind}; an item is an object")
    return rows, faults
