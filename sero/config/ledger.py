"""The ledger of a sweep: how its jobs report, and how a stop reaches those in other processes.

Jobs may run in processes of a launcher's own, so each writes to a small file whose path travels in
the environment.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from filelock import FileLock

from sero.errors import BudgetSpent
from sero.storage import JsonLines, read_lines

LEDGER = "SERO_SWEEP"
"""Environment variable: the ledger jobs report to."""

SIGNALS = (signal.SIGINT, signal.SIGTERM)

GRACE_S = 10.0
"""How long running jobs may take to save what they have once a signal came."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """A JSONL file, `<pid of the sweep>-<name>.jsonl`: a line as a job starts, one as it ends."""

    path: Path

    @property
    def owner(self) -> int:
        """Process id of the sweep."""
        return int(self.path.name.partition("-")[0])

    def started(self) -> None:
        """Note that this process has begun a job."""
        self._write({"host": socket.gethostname(), "pid": os.getpid()})

    def ended(self, directory: Path | None, code: int) -> None:
        """Note how this process's job ended."""
        self._write(
            {
                "host": socket.gethostname(),
                "pid": os.getpid(),
                "directory": None if directory is None else str(directory),
                "code": code,
            }
        )

    def admits(self, limit: int | None) -> bool:
        """Count one more run of the sweep, unless `limit` of them have been; one asks at a time."""
        if limit is None:
            return True
        with FileLock(self.path.with_suffix(".lock")):
            if sum("admitted" in row for row in self._rows()) >= limit:
                return False
            self._write({"host": socket.gethostname(), "pid": os.getpid(), "admitted": True})
        return True

    def left(self, directory: Path) -> None:
        """Note that this process's job is left to the next command."""
        self._write(
            {
                "host": socket.gethostname(),
                "pid": os.getpid(),
                "directory": str(directory),
                "code": BudgetSpent.exit_code,
                "left": True,
            }
        )

    def left_over(self) -> list[Path]:
        """Run directories of the jobs that are left to the next command."""
        return [Path(row["directory"]) for row in self._rows() if row.get("left")]

    def close(self) -> None:
        """Remove the ledger's files."""
        self.path.unlink(missing_ok=True)
        self.path.with_suffix(".lock").unlink(missing_ok=True)

    def reports(self) -> list[tuple[Path | None, int]]:
        """Run directory, if it was known, and exit code of every job that has ended."""
        return [
            (None if row["directory"] is None else Path(row["directory"]), row["code"])
            for row in self._rows()
            if "code" in row
        ]

    @property
    def stopped(self) -> bool:
        """A signal has ended a job, or the sweep: nothing more is to be started."""
        return any(code > 128 for _, code in self.reports())

    def running(self) -> set[int]:
        """Other processes of this machine that are in the middle of a job."""
        last = {(row["host"], row["pid"]): "code" in row for row in self._rows()}
        here = socket.gethostname()
        return {
            pid
            for (host, pid), done in last.items()
            if host == here and pid != os.getpid() and not done
        }

    def _rows(self) -> list[dict[str, Any]]:
        return list(read_lines(self.path)) if self.path.exists() else []

    def _write(self, row: dict[str, Any]) -> None:
        lines = JsonLines(self.path)
        lines.append(row)
        lines.sync()
        lines.close()


def settle_in_worker(ledger: Ledger) -> None:
    """Make a child process of the sweep a good neighbour; nothing in the sweep's own process.

    One thread each, since the processes share the cores. The child leaves the terminal's process
    group, so that Ctrl-C reaches it once, through the sweep, and not as a first and second signal.
    """
    if os.getppid() != ledger.owner:
        return
    with contextlib.suppress(OSError):
        os.setpgid(0, 0)
    import torch

    torch.set_num_threads(1)


@contextlib.contextmanager
def stopping_jobs(ledger: Ledger) -> Iterator[None]:
    """Pass SIGINT and SIGTERM on to the jobs that run in other processes, and wait for them.

    The first signal ends the sweep with a KeyboardInterrupt as soon as they have saved, or after
    `GRACE_S`; the second ends it at once. A job in this process has handlers of its own.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # Python takes signals in the main thread only
        return

    def handle(number: int, frame: FrameType | None) -> None:
        if ledger.stopped:
            _signal(ledger.running(), number)
            ledger.close()
            os._exit(128 + number)
        ledger.ended(None, 128 + number)
        _signal(ledger.running(), number)
        deadline = time.monotonic() + GRACE_S
        while ledger.running() and time.monotonic() < deadline:
            time.sleep(0.05)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, handle) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            # None stands for a handler that was not set from Python and cannot be put back.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _signal(pids: set[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
