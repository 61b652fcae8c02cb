"""No check hangs and none ends the others: deadlines, and threads that nobody waits for."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable
from typing import TypeVar

from sero.doctor.finding import Finding, fail
from sero.errors import SeroError

T = TypeVar("T")


async def bounded(name: str, seconds: float, check: Awaitable[Finding], *, mend: str) -> Finding:
    """A check's finding; or that it failed, or gave none in time.

    Args:
        name: of the check, should it fail as a whole.
        seconds: its deadline.
        check: the check.
        mend: what to do when there is nothing but a deadline or an error of the system.
    """
    try:
        async with asyncio.timeout(seconds):
            return await check
    except TimeoutError:
        return fail(name, f"no result within {seconds:g} s", mend)
    except SeroError as error:
        return fail(name, one_line(str(error)), mend)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return fail(name, f"{where}{error.strerror or error}", mend)


async def in_thread(work: Callable[[], T]) -> T:
    """Run blocking work beside the loop; past a deadline the thread is left to itself.

    `asyncio.to_thread` would hold up the end of the program until the work is done.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(value: T | None, error: Exception | None) -> None:
        if done.cancelled():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(value)  # type: ignore[arg-type]

    def run() -> None:
        value, raised = None, None
        try:
            value = work()
        except Exception as error:  # noqa: BLE001 - raised again where the work is awaited
            raised = error
        with contextlib.suppress(RuntimeError):  # the loop may have ended meanwhile
            loop.call_soon_threadsafe(settle, value, raised)

    threading.Thread(target=run, name="sero-doctor", daemon=True).start()
    return await done


def one_line(text: str) -> str:
    """A message of several lines as one."""
    return " ".join(text.split())
