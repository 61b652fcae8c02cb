"""One process per run directory.

The operating system drops the lock with the process that holds it, however that ends, so a killed
run never has to be unlocked by hand.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from sero.errors import RunConflict
from sero.storage import naming_the_directory, write_atomic

LOCK_NAME = ".lock"
PID_NAME = ".pid"


@contextlib.contextmanager
def run_lock(directory: Path) -> Iterator[None]:
    """Hold the lock of a run directory, which is made if need be, without waiting for it.

    Raises:
        RunConflict: another process holds it; the message names its process id.
        StorageError: the directory cannot be written.
    """
    lock = FileLock(directory / LOCK_NAME)
    holder = directory / PID_NAME
    with naming_the_directory(directory / LOCK_NAME):
        directory.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise RunConflict(
                f"{directory} is in use by process {_read_pid(holder)}. Wait for it to end or "
                "stop it, then run the same command again; or give this run another seed, "
                "variant or paths.runs."
            ) from None
    try:
        write_atomic(holder, f"{os.getpid()}\n")
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


def _read_pid(holder: Path) -> str:
    """The holder's process id; unknown in the instant before it has written it."""
    try:
        text = holder.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return "(id not known yet)"
    return text if text.isdecimal() else "(id not known yet)"
