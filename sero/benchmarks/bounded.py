"""Pure functions run to a deadline: in processes of their own, killed and replaced when they hang.

Scorers hand text that nobody has checked to computer algebra. No thread can be stopped inside it,
so it runs in kept worker processes, two by default, each behind a supervisor (`bounded_worker`)
that is started when first needed, once per process.

Pebble's `ProcessPool` was tried and left: each of its workers runs the caller's main script again
(with torch that is seconds a replacement, and more mapped memory than a limit may allow), an idle
worker's death breaks the pool for good, and all workers share two locks that a worker killed by
the kernel can take with it. Here a worker shares nothing with another.

The deadline is CPU time, with a wall limit 6 % above it; both count from when a task starts to run.
What a task does to itself (a deadline, its memory limit, a crash) is its outcome. A process that is
lost from outside, to the kernel's memory killer say, is a broken machine: the task is tried once
more, and then there is an error and no outcome.
"""

from __future__ import annotations

import atexit
import json
import os
import pickle
import queue
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from sero.errors import ScorerLost, SeroError

SECONDS = 5.0
KILLED = "worker died of SIGKILL"
N_WORKERS = 2
_PATIENCE_S = 60.0
"""How much later than its deadline a reply may come: a first task waits for imports."""

_SUPERVISOR = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]); "
    "from sero.benchmarks.bounded_worker import serve; serve(int(sys.argv[1]))"
)
# Verdicts must depend neither on the hash seed (SymPy iterates sets) nor on which integer library
# happens to be installed; one thread is all a task needs.
_ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "SYMPY_GROUND_TYPES": "python",
    "MPMATH_NOGMPY": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a call.

    Attributes:
        value: what the function returned; None on a failure.
        failure: empty, or why there is no value: `timed out after 5 s`, `out of memory`,
            `nested too deeply`, `worker died of SIGSEGV`, or the exception it raised.
        timed_out: the function was stopped at its deadline.
    """

    value: Any
    failure: str = ""
    timed_out: bool = False


def call(
    function: Callable[..., Any],
    *arguments: Any,
    seconds: float = SECONDS,
    imports: Sequence[str] = (),
) -> Outcome:
    """Run `function(*arguments)` in a worker process, at most `seconds` of CPU time.

    Safe from several threads at once; more calls than workers queue, and queueing costs no
    deadline. The function must be importable and pure, the arguments and the value plain data.

    Args:
        imports: modules that the function imports when it runs. A supervisor imports them once,
            outside the deadline, and every worker that replaces another starts with them.

    Raises:
        SeroError: no worker can be started at all.
        ScorerLost: its process was lost from outside, twice, or the workers were closed.
    """
    task = pickle.dumps((function, arguments))
    return _WORKERS.pool.call((str(function.__module__), *imports), task, seconds)


def close() -> None:
    """End the workers, busy or not: calls on the way fail at once. A later call starts new ones."""
    _WORKERS.close()


class _Supervisor:
    """One supervisor process and the socket to it, started by the first task."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.connection: Connection | None = None

    def run(self, modules: tuple[str, ...], task: bytes, seconds: float) -> Outcome:
        """The outcome of a task.

        Raises:
            ScorerLost: the supervisor or its worker was lost from outside.
        """
        done = False
        try:
            connection = self.connection or self.start()
            connection.send_bytes(pickle.dumps((modules, seconds)))
            connection.send_bytes(task)
            if not connection.poll(seconds + _PATIENCE_S):
                raise ScorerLost(f"no word of a scorer for {seconds + _PATIENCE_S:g} s")
            value, failure, timed_out = pickle.loads(connection.recv_bytes())
            done = True
        except (EOFError, OSError):
            raise ScorerLost("a scorer's supervising process died") from None
        finally:
            if not done:  # an interrupt of the caller too: the next task finds a clean process
                self.stop()
        if failure == KILLED:  # nothing a task does raises this signal; its limits raise others
            raise ScorerLost("a scorer's process was killed from outside")
        return Outcome(value=value, failure=failure, timed_out=timed_out)

    def start(self) -> Connection:
        ours, theirs = socket.socketpair()
        self.connection = connection = Connection(ours.detach())
        with theirs:
            arguments = str(theirs.fileno()), json.dumps(sys.path)
            try:
                self.process = subprocess.Popen(
                    [sys.executable, "-Wignore", "-c", _SUPERVISOR, *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env=os.environ | _ENVIRONMENT,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,  # out of reach of the terminal's Ctrl-C
                )
            except OSError as error:
                raise SeroError(f"no process for scoring can be started: {error}") from error
        try:
            if connection.poll(_PATIENCE_S) and connection.recv_bytes():
                return connection
            why = f"it was not ready after {_PATIENCE_S:g} s"
        except (EOFError, OSError):
            why = "it ended while starting"
        raise SeroError(f"no process for scoring can be started: {why}")

    def stop(self) -> None:
        """End the process; its worker goes with it."""
        process, self.process = self.process, None
        connection, self.connection = self.connection, None
        if process is not None:
            _end(process)
        if connection is not None:
            connection.close()

    def abandon(self) -> None:
        """Forget a process that belongs to the parent of this one."""
        if self.process is not None:
            self.process.returncode = 0  # not ours to wait for, and no warning about it


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(1.0)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class _Pool:
    """Supervisors that are handed out to one call at a time."""

    def __init__(self) -> None:
        self.supervisors = [_Supervisor() for _ in range(N_WORKERS)]
        self.closed = False
        # Last in, first out: one caller at a time keeps using one warm worker.
        self.free: queue.LifoQueue[_Supervisor] = queue.LifoQueue()
        for supervisor in self.supervisors:
            self.free.put(supervisor)

    def call(self, modules: tuple[str, ...], task: bytes, seconds: float) -> Outcome:
        supervisor = self.free.get()
        try:
            if self.closed:
                raise ScorerLost("the scorers were closed")
            try:
                return supervisor.run(modules, task, seconds)
            except ScorerLost:
                if self.closed:
                    raise
                return supervisor.run(modules, task, seconds)
        finally:
            if self.closed:
                supervisor.stop()
            self.free.put(supervisor)

    def close(self) -> None:
        """End every supervisor. One that is in use is tidied away by the thread that uses it."""
        self.closed = True
        for supervisor in self.supervisors:
            process = supervisor.process
            if process is not None:
                _end(process)
        for _ in self.supervisors:
            try:
                supervisor = self.free.get_nowait()
            except queue.Empty:
                return
            supervisor.stop()
            self.free.put(supervisor)


class _Workers:
    """The pool of this process, replaced when it is closed and after a fork."""

    def __init__(self) -> None:
        self.pool = _Pool()

    def close(self) -> None:
        closed, self.pool = self.pool, _Pool()
        closed.close()

    def abandon(self) -> None:
        abandoned, self.pool = self.pool, _Pool()
        for supervisor in abandoned.supervisors:
            supervisor.abandon()


_WORKERS = _Workers()
atexit.register(_WORKERS.close)
os.register_at_fork(after_in_child=_WORKERS.abandon)
