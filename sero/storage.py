"""Files that survive a kill at any instant: atomic replacement, and JSON lines that may be torn.

Every write error becomes a `StorageError` that names the directory; nothing else in Sero opens
a file of a run for writing.
"""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from sero.errors import StorageError

log = logging.getLogger(__name__)


@contextlib.contextmanager
def naming_the_directory(path: Path) -> Iterator[None]:
    """Turn an `OSError` of a write into a `StorageError` that says where and why."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        reason = "the disk is full" if full else (error.strerror or str(error))
        raise StorageError(
            f"cannot write {path.name} in {path.parent}: {reason}; the last checkpoint there is "
            "valid. Make room and run the same command again."
        ) from error


def write_atomic(path: Path, data: bytes | str) -> None:
    """Replace `path` by `data`: after a crash it holds the old or the new content, whole.

    Raises:
        StorageError: the disk refused.
    """
    raw = data.encode("utf-8", errors="replace") if isinstance(data, str) else data
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with naming_the_directory(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("wb") as file:
                file.write(raw)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        sync_directory(path.parent)


def writable(folder: Path) -> None:
    """Make a folder if need be and write a byte into it.

    Raises:
        StorageError: it cannot be made or written; found before any work is done.
    """
    probe = folder / f".{os.getpid()}.probe"
    with naming_the_directory(probe):
        folder.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"0")
        probe.unlink()


def sync_directory(path: Path) -> None:
    """Make a rename inside `path` durable."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def dumps(record: Any) -> str:
    """One JSON document on one line; keys keep their order, text stays readable."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def write_json(path: Path, record: Any) -> None:
    """Write one indented JSON document atomically."""
    write_atomic(path, json.dumps(record, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


class JsonLines:
    """An append-only JSONL file whose length is part of a checkpoint.

    Lines are buffered until `sync`, which makes them durable. `length` counts bytes written so
    far; opening with `keep` cuts the file back to that many bytes, which drops whatever a killed
    process wrote after its last checkpoint.
    """

    def __init__(self, path: Path, *, keep: int | None = None) -> None:
        self.path = path
        with naming_the_directory(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] = path.open("ab")
            size = path.stat().st_size
            if keep is not None and size != keep:
                if size < keep:
                    self._file.close()
                    raise StorageError(
                        f"{path} holds {size} bytes, but the checkpoint was written after {keep}; "
                        "the file was cut by something else. Restore it or start a new run."
                    )
                log.info("%s: %d bytes after the checkpoint dropped", path, size - keep)
                self._file.truncate(keep)
        self.length = keep if keep is not None else size

    def append(self, record: Any) -> None:
        line = dumps(record).encode("utf-8", errors="replace") + b"\n"
        with naming_the_directory(self.path):
            self._file.write(line)
        self.length += len(line)

    def sync(self) -> None:
        """Flush and fsync: what was appended survives a power loss."""
        with naming_the_directory(self.path):
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        with naming_the_directory(self.path):
            self._file.close()


def read_lines(path: Path) -> Iterator[Any]:
    """The records of a JSONL file, one at a time; a torn last line is dropped with a note.

    Raises:
        ValueError: a line other than the last is not JSON.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                log.warning("%s: torn last line (%d) dropped", path, number)
                return
            try:
                yield json.loads(line)
            except ValueError as error:
                raise ValueError(f"{path}:{number}: not a JSON record: {error}") from error


def whole_length(path: Path) -> int:
    """Bytes up to the end of the last whole line of a JSONL file; 0 if there is no file."""
    if not path.exists():
        return 0
    with path.open("rb") as file:
        total = 0
        for line in file:
            if line.endswith(b"\n"):
                total += len(line)
    return total
