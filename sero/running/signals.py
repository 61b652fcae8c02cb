"""A safe stop: the first SIGINT or SIGTERM cancels the run's work once, the second exits at once.

The work sees an ordinary `asyncio.CancelledError` at its next await, rolls back what is half done,
saves, and ends. Handlers run between bytecodes rather than on the loop, so that the second signal
also ends a process whose loop is busy with a long computation.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import threading
from collections.abc import AsyncIterator
from types import FrameType
from typing import Any

log = logging.getLogger(__name__)

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """Whether the run was asked to stop, and by what.

    Attributes:
        requested: name of the first signal, such as `SIGTERM`; None while nobody asked.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any]) -> None:
        self.requested: str | None = None
        self._loop = loop
        self._task = task
        self._watching = True
        self._cancelled = False

    @property
    def cancelled(self) -> bool:
        """The signal has cancelled the task: a `CancelledError` in it is the signal's doing."""
        return self._cancelled

    def settle(self) -> None:
        """Take the cancellation back after its `CancelledError` was caught.

        From then on, timeouts and task groups that the clean-up opens work as in any task.
        """
        if self._cancelled and self._task.cancelling():
            self._task.uncancel()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.requested is not None:
            # Not sys.exit: the first signal's clean-up may be what hangs.
            os._exit(128 + number)
        self.requested = signal.Signals(number).name
        self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        if self._watching:
            self._cancelled = self._task.cancel()


@contextlib.asynccontextmanager
async def stopping() -> AsyncIterator[Stop]:
    """Let SIGINT and SIGTERM stop the current task; the handlers before are put back at the end.

    Python takes signals in the main thread only; in another one `requested` stays None and the
    process's own handlers hold.
    """
    task = asyncio.current_task()
    assert task is not None, "a coroutine always runs in a task"
    stop = Stop(asyncio.get_running_loop(), task)
    if threading.current_thread() is not threading.main_thread():
        log.debug("not in the main thread: signals keep the process's own handlers")
        yield stop
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        signal.signal(number, stop._handle)
    try:
        yield stop
    finally:
        stop._watching = False
        for number, handler in before.items():
            # None stands for a handler that was not set from Python and cannot be put back.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
