"""Completions on disk: SQLite in WAL mode, one transaction per rollout, shared by processes."""

from __future__ import annotations

import contextlib
import json
import logging
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from sero.backbones.base import Completion, Usage
from sero.database import open_database
from sero.errors import StorageError

log = logging.getLogger(__name__)

T = TypeVar("T", str, int)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS completions (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    created INTEGER NOT NULL DEFAULT (CAST(strftime('%s', 'now') AS INTEGER))
)
"""


class CompletionStore:
    """Completions by request key. The first one stored under a key is the truth.

    Raises:
        StorageError: the file cannot be opened, read or written; the message names its directory.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        # damaged rows by key, as found; replaced by the next insert of that key
        self._damaged: dict[str, bytes | None] = {}
        with _naming(path):
            self._db = open_database(path, _SCHEMA)

    def get(self, key: str) -> Completion | None:
        """The stored completion, or None; a damaged one is reported and counts as none."""
        with _naming(self.path):
            row = self._db.execute(
                "SELECT CAST(value AS BLOB) FROM completions WHERE key = ?", (key,)
            ).fetchone()
        if row is None:
            return None
        try:
            return decode(row[0])
        except ValueError as error:
            log.warning("%s: the value of %s is damaged (%s); asked anew", self.path, key, error)
            self._damaged[key] = row[0]
            return None

    def insert(self, completions: Mapping[str, Completion]) -> frozenset[str]:
        """Store completions durably, all or none.

        Returns:
            Keys under which another process had stored another value first; that one stands.
        """
        lost = set()
        with _naming(self.path), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            for key in self._damaged.keys() & completions.keys():
                # only the value seen: another process may have mended the row already
                self._db.execute(
                    "DELETE FROM completions WHERE key = ? AND CAST(value AS BLOB) IS ?",
                    (key, self._damaged[key]),
                )
            for key, completion in completions.items():
                value = encode(completion)
                done = self._db.execute(
                    "INSERT OR IGNORE INTO completions (key, value) VALUES (?, ?)", (key, value)
                )
                if done.rowcount == 0 and not self._holds(key, value):
                    lost.add(key)
        for key in completions:
            self._damaged.pop(key, None)
        return frozenset(lost)

    def _holds(self, key: str, value: str) -> bool:
        row = self._db.execute(
            "SELECT 1 FROM completions WHERE key = ? AND value = ?", (key, value)
        ).fetchone()
        return row is not None

    def close(self) -> None:
        with _naming(self.path):
            self._db.close()


def encode(completion: Completion) -> str:
    """A completion as ASCII JSON: whatever characters a text has, it can be stored."""
    return json.dumps(
        {
            "text": completion.text,
            "finish_reason": completion.finish_reason,
            "prompt_tokens": completion.usage.prompt_tokens,
            "completion_tokens": completion.usage.completion_tokens,
            "reasoning": completion.reasoning,
        },
        ensure_ascii=True,
        separators=(",", ":"),
    )


def decode(value: bytes | None) -> Completion:
    """A stored value as the completion of a cache hit: no latency, no retries.

    Raises:
        ValueError: not what `encode` writes.
    """
    if value is None:
        raise ValueError("no value")
    try:
        data = json.loads(value)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if not isinstance(data, dict):
        raise ValueError("not an object")
    return Completion(
        text=_field(data, "text", str),
        finish_reason=_field(data, "finish_reason", str),
        usage=Usage(
            prompt_tokens=_field(data, "prompt_tokens", int),
            completion_tokens=_field(data, "completion_tokens", int),
        ),
        reasoning=_field(data, "reasoning", str),
        cached=True,
    )


def _field(data: dict[str, object], name: str, kind: type[T]) -> T:
    value = data.get(name)
    if not isinstance(value, kind):
        raise ValueError(f"{name} is {value!r:.40}, not {kind.__name__}")
    return value


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Turn a failure of the disk or the database into one that says where and what to do."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise StorageError(_told(path, error)) from error
    except (sqlite3.Error, OSError) as error:
        raise StorageError(
            f"the call cache {path.name} in {path.parent} cannot be used: {error}"
        ) from error


def _told(path: Path, error: sqlite3.DatabaseError) -> str:
    where = f"the call cache {path.name} in {path.parent}"
    match getattr(error, "sqlite_errorcode", None):
        case sqlite3.SQLITE_FULL:
            return f"{where} cannot be written: the disk is full. Make room and run again."
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return f"{where} is damaged ({error}). Move the file away, or set paths.cache."
        case _:
            return f"{where} cannot be used: {error}. Check the directory, or set paths.cache."
