"""Reading benchmark data that people supply: every fault of a file collected, then told at once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sero.errors import DataError

MAX_LISTED = 100


def raise_faults(where: Path | str, faults: Sequence[str], advice: str = "") -> None:
    """Do nothing without faults; else raise one error that lists them.

    Raises:
        DataError: with the first `MAX_LISTED` faults and the number of the rest.
    """
    if not faults:
        return
    lines = [f"{where}: {len(faults)} problem(s) in the data"]
    lines += [f"  {fault}" for fault in faults[:MAX_LISTED]]
    if len(faults) > MAX_LISTED:
        lines.append(f"  ... and {len(faults) - MAX_LISTED} more")
    if advice:
        lines.append(advice)
    raise DataError("\n".join(lines), faults)


def read_text(path: Path) -> str:
    """A data file as text.

    Raises:
        DataError: missing, unreadable, or not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text (byte {error.start})") from None


def read_jsonl(path: Path) -> tuple[list[tuple[int, dict[str, Any]]], list[str]]:
    """The objects of a JSONL file with their line numbers, and a fault per line that is none.

    Blank lines are skipped.
    """
    rows: list[tuple[int, dict[str, Any]]] = []
    faults: list[str] = []
    # Not splitlines(): U+2028 and U+0085 may stand inside a JSON string.
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            rows.append((number, parse_object(line)))
        except DataError as error:
            faults.append(f"line {number}: {error}")
    return rows, faults


def parse_object(line: str) -> dict[str, Any]:
    """The JSON object that is a line of a JSONL file.

    Raises:
        DataError: no JSON, no object, or a key twice.
    """
    try:
        value = json.loads(line, object_pairs_hook=_no_duplicate_keys)
    except (ValueError, RecursionError) as error:
        raise DataError(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise DataError(f"got {type(value).__name__}; one object a line")
    return value


def read_json_object(path: Path) -> tuple[dict[str, Any], list[str]]:
    """The one JSON object a file holds, or an empty one and the fault."""
    try:
        value = json.loads(read_text(path), object_pairs_hook=_no_duplicate_keys)
    except (ValueError, RecursionError) as error:
        return {}, [f"not JSON: {error}"]
    if not isinstance(value, dict):
        return {}, [f"got {type(value).__name__}; the file holds one object"]
    return value, []


def fingerprint(items: Iterable[Any]) -> str:
    """sha256 over canonical items in their given order, independent of the file they came from."""
    digest = hashlib.sha256()
    for item in items:
        line = json.dumps(item, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()


def _no_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} occurs twice in one object")
        found[key] = value
    return found
