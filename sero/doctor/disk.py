"""The folders a run writes: writable, with room, and good for SQLite's write-ahead log."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from pathlib import Path

from sero.doctor.bounding import in_thread, one_line
from sero.doctor.finding import Finding, fail, ok, warn
from sero.errors import StorageError
from sero.storage import writable

GIB = 2**30
LITTLE = 2 * GIB
"""Below it a long run may fill the disk."""

TOO_LITTLE = GIB // 10


async def check_folder(key: str, path: str, *, database: bool) -> Finding:
    """One of the folders of `paths`.

    Args:
        key: its key, `paths.cache`.
        path: where it is; it need not exist yet, and is not made.
        database: call caches live there, so SQLite must work.
    """
    return await in_thread(lambda: _folder(key, Path(path).expanduser(), database))


def _folder(key: str, path: Path, database: bool) -> Finding:
    stands = _existing(path.absolute())
    mend = f"{key}=DIR on another disk"
    try:
        writable(stands)
        mode = _journal_mode(stands) if database else ""
    except (StorageError, sqlite3.Error, OSError) as error:
        return fail(key, f"{path}: {one_line(str(error))}", mend)
    free = shutil.disk_usage(stands).free
    said = f"{path}: {free / GIB:.1f} GiB free"
    if free < TOO_LITTLE:
        return fail(key, said, f"make room, or {mend}", free_bytes=free)
    if free < LITTLE:
        return warn(key, said, f"make room, or {mend}", free_bytes=free)
    if database and mode != "wal":
        return warn(
            key,
            f"{said}; SQLite has no write-ahead log here ({mode}), so runs that share it wait for "
            "each other",
            f"{key}=DIR on a local disk",
            free_bytes=free,
        )
    return ok(
        key, f"{said}, writable" + (", SQLite in WAL mode" if database else ""), free_bytes=free
    )


def _existing(path: Path) -> Path:
    """The path, or the nearest folder above it that exists."""
    return next(folder for folder in (path, *path.parents) if folder.is_dir())


def _journal_mode(folder: Path) -> str:
    with tempfile.TemporaryDirectory(dir=folder, prefix=".sero-doctor-") as made:
        db = sqlite3.connect(Path(made) / "probe.sqlite", timeout=5.0)
        try:
            (mode,) = db.execute("PRAGMA journal_mode=WAL").fetchone()
            db.execute("CREATE TABLE probe (x)")
            db.commit()
        finally:
            db.close()
    return str(mode)
