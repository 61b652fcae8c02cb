"""Keeps a server's processes from outliving the one that started them.

Run by path, with the standard library alone, so that it starts in milliseconds:

    python -I -S child_guard.py PARENT_PID GRACE_S COMMAND...

The command and whatever it starts run in a process group of their own. The group is ended (SIGTERM,
up to `GRACE_S` seconds, SIGKILL) when standard input closes, which happens by itself when the
parent dies, however it dies; when the parent is no longer the parent (a fork of it may hold the
pipe open); when the command ends; and when the guard is told to end. If the guard is killed by
SIGKILL, Linux kills the command.

It exits with the command's status, 128 + N after signal N, and 127 if the command cannot start.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_LOOK_S = 0.1
"""Between two looks at the command and at the parent; the pipe is noticed at once."""


def _die_with_guard() -> Callable[[], None] | None:
    """What the command's process does before it becomes the command; None where there is no way."""
    if sys.platform != "linux":
        return None
    prctl, guard = ctypes.CDLL(None).prctl, os.getpid()

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != guard:
            os._exit(127)

    return ask


def _watch(command: subprocess.Popen[bytes], parent: int, told: list[int]) -> None:
    """Return when there is a reason to end the group."""
    while command.poll() is None and os.getppid() == parent and not told:
        if select.select([0], [], [], _LOOK_S)[0] and not os.read(0, 1):
            return


def _end(command: subprocess.Popen[bytes], grace_s: float) -> None:
    """End the command's group, what the command left behind included."""
    until = time.monotonic() + grace_s
    with contextlib.suppress(ProcessLookupError):
        os.killpg(command.pid, signal.SIGTERM)
        while time.monotonic() < until:
            command.poll()  # a group lasts as long as its dead are not waited for
            os.killpg(command.pid, 0)
            time.sleep(0.02)
        os.killpg(command.pid, signal.SIGKILL)
    command.wait()


def main(argv: list[str]) -> int:
    """Guard one command; returns the exit status."""
    parent, grace_s, words = int(argv[0]), float(argv[1]), argv[2:]
    told: list[int] = []
    # handlers and not SIG_IGN, which the command would inherit
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda signum, _: told.append(signum))
    try:
        command = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, process_group=0, preexec_fn=_die_with_guard()
        )
    except OSError as error:
        sys.stderr.write(f"{words[0]} cannot be started: {error.strerror}\n")
        return 127
    _watch(command, parent, told)
    _end(command, grace_s)
    status = command.returncode
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
