"""SQLite files that several processes share: WAL mode, durable commits, a patient opening."""

from __future__ import annotations

import logging
import sqlite3
import time
from pathlib import Path

log = logging.getLogger(__name__)

BUSY_S = 60.0
"""How long a statement waits for another process's transaction."""

_WAITING = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def open_database(path: Path, schema: str) -> sqlite3.Connection:
    """Open or make a file in WAL mode with `synchronous=FULL`, and run `schema` on it.

    Transactions are begun by hand. SQLite does not apply its busy timeout while the first
    connections to a new file switch it to WAL, so the wait is here.

    Raises:
        sqlite3.Error, OSError: the file cannot be opened; the caller says what that means.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        mode = _prepared(db, schema)
    except sqlite3.Error:
        db.close()
        raise
    if mode != "wal":
        log.warning("%s: no WAL mode here (%s); writers will wait for readers", path, mode)
    return db


def _prepared(db: sqlite3.Connection, schema: str) -> str:
    deadline = time.monotonic() + BUSY_S
    while True:
        try:
            (mode,) = db.execute("PRAGMA journal_mode=WAL").fetchone()
            db.execute("PRAGMA synchronous=FULL")
            db.execute(schema)
            return str(mode)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in _WAITING or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
