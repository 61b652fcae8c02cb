"""Prepared data: one JSONL file, and beside it what it was made from and how large it is."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sero.errors import DataError
from sero.storage import dumps, read_json, write_atomic, write_json


def manifest_path(data: Path) -> Path:
    """Where the description of a prepared file stands."""
    return data.with_suffix(".manifest.json")


def write_prepared(
    path: Path,
    rows: Sequence[Mapping[str, Any]],
    description: Mapping[str, Any],
    *,
    overwrite: bool = False,
) -> tuple[dict[str, Any], bool]:
    """Write the items and their description with the file's sha256.

    Returns:
        The description beside the file, and whether the file was written; one of the same content
        is left alone, with its description unless that is missing or of another content.

    Raises:
        DataError: there is a file of other content, and `overwrite` is false.
        StorageError: the disk refused.
    """
    data = "".join(dumps(dict(row)) + "\n" for row in rows).encode()
    described = {**description, "sha256": hashlib.sha256(data).hexdigest()}
    found = _sha256(path) if path.exists() else None
    new = found != described["sha256"]
    if found and new and not overwrite:
        raise DataError(
            f"{path}: there is a file of other content (sha256 {found[:12]}, the new one "
            f"{described['sha256'][:12]}). overwrite=true replaces it, paths.data=DIR writes "
            "elsewhere."
        )
    manifest = manifest_path(path)
    if new:
        write_atomic(path, data)
    else:
        try:
            kept = _description(manifest)
        except DataError:
            kept = {}
        if kept.get("sha256") == found:
            return kept, False
    write_json(manifest, described)
    return described, new


def left_out_before(source: str) -> tuple[str, ...]:
    """Remarks on items that were left out when a file was prepared and are no longer in it."""
    manifest = manifest_path(Path(source).expanduser())
    found = _description(manifest).get("left_out") if manifest.exists() else None
    left_out = found if isinstance(found, dict) else {}
    return tuple(left_out_remark(n, why) for why, n in left_out.items())


def left_out_remark(n: int, why: str) -> str:
    return f"{n} item(s) left out: {why}"


def check_unchanged(path: Path) -> None:
    """Refuse a prepared file that was changed after it was written; one of the user's own passes.

    Raises:
        DataError: the file's sha256 is not that of its description.
    """
    manifest = manifest_path(path)
    if not manifest.exists():
        return
    wanted, found = _description(manifest).get("sha256"), _sha256(path)
    if found != wanted:
        raise DataError(
            f"{path}: changed since it was prepared (sha256 {found[:12]}, written as "
            f"{str(wanted)[:12]}). Prepare it again, or delete {manifest.name} to use it as your "
            "own."
        )


def missing_file(source: str, name: str) -> str:
    """Why there is no file of a benchmark's items at `source`, and what to do; empty if it is."""
    path = Path(source).expanduser()
    command = f"python scripts/prepare_data.py benchmark={name}"
    if path.is_dir():
        return f"{path}: a folder. Prepare its files: {command} source={path}"
    if path.exists():
        return ""
    return (
        f"{path}: no such file. Fetch the data: {command}\n"
        f"From a local copy: {command} source=PATH\n"
        "Without data, on generated items: benchmark.source=generated"
    )


def _description(manifest: Path) -> dict[str, Any]:
    """What a description says.

    Raises:
        DataError: it cannot be read.
    """
    try:
        return dict(read_json(manifest))
    except (OSError, ValueError, TypeError) as error:
        raise DataError(f"{manifest}: not readable: {error}") from None


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
