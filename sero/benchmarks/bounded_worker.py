"""The other side of `bounded`: one process that stays in charge, and one that may die.

The supervisor imports what the tasks need, forks a worker from that state (milliseconds instead of
a second of imports), hands it one task at a time and kills it at the deadline. The worker holds
the limits: memory by RLIMIT_AS, CPU time by a kernel timer whose signal needs no Python to arrive,
so a power tower inside one C call ends on time as well. Both end when the caller's process does.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import pickle
import resource
import signal
import socket
import sys
import time
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import NoReturn

MEMORY_BYTES = 320 << 20
"""What a worker may map beyond what it starts with; two full workers stay under 1 GB."""

TIRED_BYTES = 224 << 20
"""A worker that was ever this large is replaced after its task: caches and heaps never shrink."""

WALL_FACTOR = 1.06
"""Wall deadline over CPU deadline: a machine shared with others costs an answer little time to
think, and the caller waits no more than 5.3 s on 5 s."""

MAX_REPLY_BYTES = 16 << 20
MAX_DIGITS = 1_000_000
STAYS, LEAVES = b"+", b"-"
OUT_OF_MEMORY = "out of memory"
NESTED = "nested too deeply"
_PR_SET_PDEATHSIG = 1
_LOOK_S = 5.0
"""How often an idle supervisor looks for its owner; a stray copy of the socket hides its end."""


def serve(handle: int) -> None:
    """Serve tasks from the connected socket `handle` until it closes.

    A request is two messages: the pickled (modules to import, seconds), then the pickled
    (function, arguments). The reply is one: the pickled (value, failure, timed_out). The first
    message of all is the supervisor's own: it is ready.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    caller = Connection(handle)
    owner = os.getppid()
    imported: set[str] = set()
    worker: _Worker | None = None
    try:
        caller.send_bytes(b"ready")
        while True:
            while not caller.poll(_LOOK_S):
                if os.getppid() != owner:
                    return
            modules, seconds = pickle.loads(caller.recv_bytes())
            task = caller.recv_bytes()
            missing = [module for module in modules if module not in imported]
            if missing:
                imported.update(missing)
                for module in missing:
                    _import(module)
                if worker is not None:  # it was forked without them
                    worker.kill()
                    worker = None
            if worker is None or worker.gone():
                worker = _Worker(caller)
            reply, stays = worker.run(task, seconds, caller)
            if not stays:
                worker.kill()
                worker = None
            caller.send_bytes(reply)
    except (EOFError, OSError):
        return  # the caller is gone
    finally:
        if worker is not None:
            worker.kill()


def _import(module: str) -> None:
    try:
        importlib.import_module(module)
    except ImportError:
        return  # the worker meets the same error and tells it with the task's outcome


def failed(failure: str, *, timed_out: bool = False) -> bytes:
    """A pickled reply without a value."""
    return pickle.dumps((None, failure, timed_out))


def too_late(seconds: float) -> bytes:
    """The pickled reply of a task that reached its deadline."""
    return failed(f"timed out after {seconds:g} s", timed_out=True)


class _Worker:
    """A forked worker as its supervisor sees it."""

    def __init__(self, caller: Connection) -> None:
        ours, theirs = _socket_pair()
        gc.freeze()  # the collector leaves the shared pages alone
        supervisor = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            caller.close()
            ours.close()
            _work(theirs, supervisor)
        theirs.close()
        self.connection = ours
        self.status: int | None = None

    def run(self, task: bytes, seconds: float, caller: Connection) -> tuple[bytes, bool]:
        """The reply to one task, and whether the worker can take another.

        Raises:
            EOFError: the caller went away meanwhile.
        """
        try:
            self.connection.send(seconds)
            self.connection.send_bytes(task)
        except OSError:
            return failed(self.died()), False
        deadline = time.monotonic() + WALL_FACTOR * seconds
        while True:
            left = deadline - time.monotonic()
            ready = wait([self.connection, caller], max(left, 0.0))
            if caller in ready:
                raise EOFError  # it sends nothing before a reply, so this is its end
            if not ready:
                return too_late(seconds), False
            try:
                reply = self.connection.recv_bytes()
            except (EOFError, OSError):
                self.reap(block=True)
                if self.status == -signal.SIGPROF:
                    return too_late(seconds), False
                return failed(self.died()), False
            return reply[1:], reply[:1] == STAYS

    def died(self) -> str:
        self.reap(block=True)
        status = self.status or 0
        if status < 0:
            return f"worker died of {signal.Signals(-status).name}"
        return f"worker died with exit status {status}"

    def gone(self) -> bool:
        self.reap(block=False)
        if self.status is None:
            return False
        self.connection.close()
        return True

    def reap(self, *, block: bool) -> None:
        if self.status is None:
            pid, status = os.waitpid(self.pid, 0 if block else os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)

    def kill(self) -> None:
        """End the worker, whatever it is doing, and wait until it is gone."""
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            self.reap(block=True)
        self.connection.close()


def _socket_pair() -> tuple[Connection, Connection]:
    first, second = socket.socketpair()
    return Connection(first.detach()), Connection(second.detach())


def _work(supervisor: Connection, supervisor_pid: int) -> NoReturn:
    """The worker's life. It never returns into the supervisor's frames."""
    try:
        _confine(supervisor_pid)
        stays = True
        while stays:
            seconds = supervisor.recv()
            task = supervisor.recv_bytes()
            reply, stays = _reply(task, seconds)
            supervisor.send_bytes((STAYS if stays else LEAVES) + reply)
    except (EOFError, OSError):
        os._exit(0)
    except BaseException:  # noqa: BLE001 - the outermost frame of a process: only its status is seen
        os._exit(1)
    os._exit(0)


def _confine(supervisor_pid: int) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != supervisor_pid:
        os._exit(0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    limit = _mapped_bytes() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    sys.set_int_max_str_digits(MAX_DIGITS)


def _mapped_bytes() -> int:
    """What the process maps now; RLIMIT_AS counts libraries and reserved space as well."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    except OSError:
        return 1 << 30  # elsewhere than on Linux
    return int(pages) * resource.getpagesize()


def _largest_bytes() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _reply(task: bytes, seconds: float) -> tuple[bytes, bool]:
    """The pickled reply to a task, and whether the process is fit for another."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        function, arguments = pickle.loads(task)
        reply = pickle.dumps((function(*arguments), "", False))
    except MemoryError:
        return failed(OUT_OF_MEMORY), False
    except RecursionError:
        reply = failed(NESTED)
    except BaseException as error:  # noqa: BLE001 - told to the caller as the task's failure
        reply = failed(f"{type(error).__name__}: {error}"[:200])
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    if len(reply) > MAX_REPLY_BYTES:
        return failed("its result is too large"), False
    return reply, _largest_bytes() < TIRED_BYTES
