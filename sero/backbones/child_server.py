"""A server as a child process: it starts with a run, and never outlives it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

import aiohttp

from sero.backbones import child_guard
from sero.errors import ServerNotReady

log = logging.getLogger(__name__)

Doubt = Callable[[aiohttp.ClientSession, float], Awaitable[str]]

TAIL_LINES = 30
_TAIL_BYTES = 16 * 2**10
_POLL_S = 0.2
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class ChildServer:
    """A server's command under a guard (`child_guard`), its output in a file.

    The command runs in a session of its own, out of reach of the terminal's Ctrl-C. It and its
    children end with `stop`, and with this process however that dies, by SIGKILL too. If the guard
    itself is killed by SIGKILL, the command dies with it (on Linux), but what the command started
    may survive.

    Args:
        argv: the command, its program found by PATH.
        health_url: answers 200 when the server is ready.
        env: variables set beside this process's own.
        log: what the command writes goes at the end of this file; its folder is made.
        ready_timeout_s: seconds from `start` to the first healthy answer, at most.
        stop_grace_s: seconds between SIGTERM and SIGKILL, at most.
        doubt: asked once the server is healthy, with a session and a deadline in seconds: why it
            is another server than the command's, empty if it is not.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        health_url: str,
        env: Mapping[str, str] | None = None,
        log: Path,
        ready_timeout_s: float,
        stop_grace_s: float = 5.0,
        doubt: Doubt | None = None,
    ) -> None:
        self.argv = tuple(argv)
        self.health_url = health_url
        self.log = log
        self._env = dict(env or {})
        self._ready_timeout_s = ready_timeout_s
        self._stop_grace_s = stop_grace_s
        self._doubt = doubt
        self._guard: subprocess.Popen[bytes] | None = None
        self._started = 0.0
        self.log_start = 0

    @property
    def alive(self) -> bool:
        """The command has been started and has not ended."""
        return self._guard is not None and self.exit_status is None

    @property
    def exit_status(self) -> int | None:
        """Of the last command that ended, 128 + N after signal N; None before that."""
        if self._guard is None:
            return None
        status = self._guard.poll()
        if status is not None and self._guard.stdin is not None:
            self._guard.stdin.close()
        return status

    def start(self) -> None:
        """Start the command; nothing if it is running. After `stop` it may be started again.

        Raises:
            OSError: the log cannot be written.
        """
        if self.alive:
            return
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as output:
            self.log_start = output.tell()
            self._guard = subprocess.Popen(
                [
                    *(sys.executable, "-I", "-S", child_guard.__file__),
                    *(str(os.getpid()), str(self._stop_grace_s)),
                    *self.argv,
                ],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=os.environ | self._env,
                start_new_session=True,
            )
        self._started = time.monotonic()
        log.debug("started %s, process %d", self.argv[0], self._guard.pid)

    async def wait_ready(self) -> None:
        """Return when the server is healthy, and the command's own.

        Raises:
            ServerNotReady: the command ended, or is not healthy after `ready_timeout_s` and was
                stopped; with the last lines of its log.
        """
        until = self._started + self._ready_timeout_s
        doubt = ""
        async with aiohttp.ClientSession() as session:
            while self.alive:
                left_s = until - time.monotonic()
                if left_s <= 0:
                    self.stop()
                    raise ServerNotReady(
                        f"{self.argv[0]} was not healthy at {self.health_url} within "
                        f"{self._ready_timeout_s:g} s and was stopped.{doubt}{self._last_words()}"
                    )
                # an answer counts only while the command lives: another server may be on the port
                if await _healthy(session, self.health_url, min(left_s, 5.0)) and self.alive:
                    doubt = await self._why_another(session, min(left_s, 5.0))
                    if not doubt and self.alive:
                        return
                await asyncio.sleep(_POLL_S)
        raise ServerNotReady(
            f"{self.argv[0]} {_ending(self.exit_status)} before it was ready."
            f"{doubt}{self._last_words()}"
        )

    def lost(self) -> ServerNotReady:
        """The error to raise when a server that was ready has ended by itself."""
        return ServerNotReady(f"{self.argv[0]} {_ending(self.exit_status)}.{self._last_words()}")

    def stop(self) -> None:
        """End the command and its children; nothing if they have ended. Bounded in time."""
        guard = self._guard
        if guard is None:
            return
        if guard.stdin is not None:
            guard.stdin.close()
        try:
            guard.wait(self._stop_grace_s + 5.0)
        except subprocess.TimeoutExpired:
            guard.kill()  # the command goes with it
            guard.wait()

    def tail(self, lines: int = TAIL_LINES) -> list[str]:
        """The last lines written since `start`, without colours."""
        with contextlib.suppress(OSError), self.log.open("rb") as text:
            end = text.seek(0, os.SEEK_END)
            text.seek(max(self.log_start, end - _TAIL_BYTES))
            shown = _ANSI.sub("", text.read().decode("utf-8", "replace"))
            return shown.splitlines()[-lines:]
        return []

    async def _why_another(self, session: aiohttp.ClientSession, seconds: float) -> str:
        doubt = await self._doubt(session, seconds) if self._doubt else ""
        return f" {doubt}" if doubt else ""

    def _last_words(self) -> str:
        lines = self.tail()
        if not lines:
            return f" It wrote nothing to {self.log}."
        return "\n".join([f" The end of {self.log}:", *(f"  | {line}" for line in lines)])


def free_port(host: str = "127.0.0.1") -> int:
    """A TCP port that nobody listens on at this moment; take it soon."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def port_is_taken(host: str, port: int) -> bool:
    """A server started now on this address would find it in use."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return True
    return False


async def _healthy(session: aiohttp.ClientSession, url: str, seconds: float) -> bool:
    try:
        async with session.get(url, timeout=aiohttp.ClientTimeout(total=seconds)) as answer:
            return answer.status == 200
    except (aiohttp.ClientError, TimeoutError, OSError):
        return False


def _ending(status: int | None) -> str:
    if status is None:
        return "was never started"
    # negative when the guard itself was killed
    number = -status if status < 0 else status - 128
    if number > 0:
        with contextlib.suppress(ValueError):
            return f"was ended by {signal.Signals(number).name}"
    return f"ended with exit status {status}"
