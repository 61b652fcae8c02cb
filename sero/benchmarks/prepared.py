"""Prepared data: one JSONL file, and beside it what it was made from and how large it is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sero.errors import DataError
from sero.storage import dumps, write_atomic


def manifest_path(data: Path) -> Path:
    """Where the description of a prepared file stands."""
    return data.with_suffix(".manifest.json")


def write_prepared(
    path: Path, rows: Sequence[Mapping[str, Any]], description: Mapping[str, Any]
) -> dict[str, Any]:
    """Write the items and their description with the file's sha256; returns the description."""
    text = "".join(dumps(dict(row)) + "\n" for row in rows)
    described = {**description, "sha256": hashlib.sha256(text.encode()).hexdigest()}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, text)
    write_atomic(manifest_path(path), json.dumps(described, indent=2) + "\n")
    return described


def check_unchanged(path: Path) -> None:
    """Refuse a prepared file that was changed after it was written; one of the user's own passes.

    Raises:
        DataError: the file's sha256 is not that of its description.
    """
    manifest = manifest_path(path)
    if not manifest.exists():
        return
    try:
        wanted = json.loads(manifest.read_text(encoding="utf-8")).get("sha256")
    except (OSError, ValueError, AttributeError) as error:
        raise DataError(f"{manifest}: not readable: {error}") from None
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != wanted:
        raise DataError(
            f"{path}: changed since it was prepared (sha256 {found[:12]}, written as "
            f"{str(wanted)[:12]}). Prepare it again, or delete {manifest.name} to use it as your "
            "own."
        )
