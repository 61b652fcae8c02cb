"""How far a run is, for the person watching: a bar on a terminal, plain lines elsewhere.

No result depends on it, and a stream that breaks ends the lines, never the run.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import IO, Literal, Protocol

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichBar
from rich.table import Column

Kind = Literal["auto", "bar", "plain", "none"]
LINES_PER_PHASE = 20


class Progress(Protocol):
    """Phases of a run, one after the other, each of a number of steps."""

    def start(self, total: int, label: str, *, done: int = 0) -> None:
        """Begin a phase of `total` steps, `done` of them by an earlier process."""
        ...

    def advance(self, info: str = "") -> None:
        """One more step is done; `info` is a short note beside it."""
        ...

    def close(self) -> None:
        """End the phase, complete or not. Harmless when there is none."""
        ...


def make_progress(kind: Kind, stream: IO[str] | None = None) -> Progress:
    """The reporter of `progress=`; `auto` is a bar on a terminal and plain lines elsewhere.

    Args:
        kind: auto, bar, plain or none.
        stream: where it goes; standard error when None, so that output can be piped.
    """
    target = sys.stderr if stream is None else stream
    match kind:
        case "none":
            return NoProgress()
        case "bar":
            return BarProgress(target)
        case "plain":
            return PlainProgress(target)
        case "auto":
            return BarProgress(target) if target.isatty() else PlainProgress(target)


class NoProgress:
    """Says nothing."""

    def start(self, total: int, label: str, *, done: int = 0) -> None:
        pass

    def advance(self, info: str = "") -> None:
        pass

    def close(self) -> None:
        pass


class PlainProgress:
    """About twenty lines a phase, between one at its start and one at its end."""

    def __init__(self, stream: IO[str], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream: IO[str] | None = stream
        self._clock = clock
        self._label: str | None = None
        self._total = self._done = self._step = 0
        self._began = 0.0

    def start(self, total: int, label: str, *, done: int = 0) -> None:
        self.close()
        self._label, self._total, self._done = _one_line(label), total, done
        self._step = max(1, -(-total // LINES_PER_PHASE))
        self._began = self._clock()
        self._write(f"{self._label}: {done}/{total} start")

    def advance(self, info: str = "") -> None:
        self._done += 1
        if self._done % self._step == 0 and self._done < self._total:
            self._write(f"{self._where()} {_one_line(info)}".rstrip())

    def close(self) -> None:
        if self._label is not None:
            self._write(f"{self._where()} {'done' if self._done >= self._total else 'stopped'}")
        self._label = None

    def _where(self) -> str:
        elapsed = self._clock() - self._began
        return f"{self._label}: {self._done}/{self._total} {elapsed:.1f} s"

    def _write(self, line: str) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(line + "\n")
            self._stream.flush()
        except (OSError, ValueError):
            # The reader went away, or the stream is closed.
            self._stream = None


class BarProgress:
    """A bar that redraws itself, and stays with its last state when the phase ends."""

    def __init__(self, stream: IO[str]) -> None:
        self._console = Console(file=stream)
        self._bar: RichBar | None = None
        self._task = TaskID(0)

    def start(self, total: int, label: str, *, done: int = 0) -> None:
        self.close()
        self._bar = RichBar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            # The note takes the width that is left, so that it never pushes the rest away.
            TextColumn(
                "{task.fields[info]}",
                markup=False,
                table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis"),
            ),
            console=self._console,
            expand=True,
        )
        self._task = self._bar.add_task(
            escape(_one_line(label)), total=total, completed=done, info=""
        )
        self._bar.start()

    def advance(self, info: str = "") -> None:
        if self._bar is not None:
            self._bar.update(self._task, advance=1, info=_one_line(info))

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
        self._bar = None


def _one_line(text: str) -> str:
    """Names of roles come from a model: no control characters reach the terminal."""
    return "".join(c if c.isprintable() else " " for c in text)[:80]
