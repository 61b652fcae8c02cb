"""Functions of the standard library stand in for scorers that hang, crash or take all memory."""

import asyncio
import importlib
import json
import operator
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sero.benchmarks import bounded
from sero.benchmarks.bounded_worker import MEMORY_BYTES, TIRED_BYTES
from sero.errors import ScorerLost, SeroError

ROOT = Path(__file__).resolve().parents[2]


def served() -> int:
    """The worker that serves the next call, which has to go well."""
    outcome = bounded.call(os.getpid)
    assert outcome == bounded.Outcome(value=outcome.value)
    return int(outcome.value)


def gone(pid: int, within_s: float = 5.0) -> bool:
    """Whether a process ends in time; a zombie nobody waits for has ended."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return True
        if stat.rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.02)
    return False


def test_a_value_comes_back_from_another_process_that_is_kept():
    assert bounded.call(operator.add, 2, 3) == bounded.Outcome(value=5)
    assert served() == served() != os.getpid()


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (time.sleep, (60,)),  # takes no CPU time: the wall limit
        (pow, (9, 9**9)),  # one C call that heeds no Python signal handler: the CPU limit
    ],
)
def test_a_hang_ends_at_its_deadline_and_the_worker_is_replaced(function, arguments):
    worker = served()
    start = time.monotonic()
    outcome = bounded.call(function, *arguments, seconds=0.3)
    assert outcome == bounded.Outcome(value=None, failure="timed out after 0.3 s", timed_out=True)
    assert time.monotonic() - start < 2
    start = time.monotonic()
    assert served() != worker
    assert time.monotonic() - start < 1  # forked from what is imported already
    assert gone(worker)


@pytest.mark.parametrize(
    ("function", "arguments", "failure"),
    [
        (os._exit, (3,), "worker died with exit status 3"),
        (os.abort, (), "worker died of SIGABRT"),
        (bytearray, (1 << 40,), "out of memory"),
        (operator.mul, ("x", 1 << 30), "out of memory"),
        (operator.mul, ("x", 1 << 25), "its result is too large"),
        (json.loads, ("[" * 100_000,), "nested too deeply"),
        (json.loads, ("[x",), "JSONDecodeError: Expecting value: line 1 column 2 (char 1)"),
        (sys.exit, ("bye",), "SystemExit: bye"),
    ],
)
def test_a_failure_is_told_and_the_next_call_goes_well(function, arguments, failure):
    assert bounded.call(function, *arguments) == bounded.Outcome(value=None, failure=failure)
    served()


def test_a_worker_that_dies_idle_is_replaced_unseen():
    worker = served()
    os.kill(worker, signal.SIGKILL)
    assert gone(worker)
    assert served() != worker


def test_a_worker_lost_from_outside_costs_no_verdict(tmp_path):
    """As the kernel's memory killer would; what a task does to itself is its own outcome."""
    first = served()
    supervisor = int(Path(f"/proc/{first}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(supervisor, signal.SIGKILL)
    assert gone(supervisor)
    assert bounded.call(operator.add, 2, 3).value == 5


def test_a_task_that_is_lost_twice_is_a_broken_machine_and_no_verdict():
    with pytest.raises(ScorerLost, match="killed from outside"):
        bounded.call(signal.raise_signal, signal.SIGKILL)
    assert bounded.call(operator.add, 2, 3).value == 5


def test_a_large_argument_arrives():
    assert bounded.call(len, "x" * 3_000_000).value == 3_000_000


def test_the_whole_stays_under_a_gigabyte():
    base = 2 * (64 << 20)  # a supervisor with its imports, and a worker that shares most of them
    assert bounded.N_WORKERS * (base + MEMORY_BYTES) < 1 << 30
    assert bounded.call(bytearray, MEMORY_BYTES).failure == "out of memory"


def test_a_worker_that_grew_is_replaced():
    worker = served()
    half = TIRED_BYTES // 2
    assert bounded.call(len, bytes(half)).value == half  # the bytes, and as they were sent
    assert served() != worker


def test_calls_of_several_threads_wait_for_a_worker_but_not_at_their_cost():
    """Eight calls of 0.3 s on two workers take 1.2 s; none times out after 0.8 s."""
    with ThreadPoolExecutor(8) as threads:
        outcomes = [threads.submit(bounded.call, time.sleep, 0.3, seconds=0.8) for _ in range(8)]
    assert [outcome.result() for outcome in outcomes] == [bounded.Outcome(value=None)] * 8


async def test_from_an_event_loop():
    calls = [asyncio.to_thread(bounded.call, operator.mul, n, n) for n in range(20)]
    assert [outcome.value for outcome in await asyncio.gather(*calls)] == [n * n for n in range(20)]


def test_closed_workers_are_gone_and_a_later_call_starts_new_ones():
    worker = served()
    with ThreadPoolExecutor(3) as threads:
        busy = [threads.submit(bounded.call, time.sleep, 30, seconds=30) for _ in range(3)]
        time.sleep(0.5)
        start = time.monotonic()
        bounded.close()
        assert all(isinstance(call.exception(), ScorerLost) for call in busy)
    assert time.monotonic() - start < 3
    assert gone(worker)
    assert served() != worker


def test_what_a_function_imports_is_imported_ahead_of_the_deadline(tmp_path, monkeypatch):
    (tmp_path / "slow_to_import.py").write_text("import time\ntime.sleep(0.6)\n")
    monkeypatch.syspath_prepend(tmp_path)
    bounded.close()  # a supervisor has the path of its start
    for _ in range(2):
        outcome = bounded.call(
            importlib.import_module, "slow_to_import", seconds=0.4, imports=["slow_to_import"]
        )
        assert outcome.failure.startswith("TypeError: cannot pickle 'module'")
        assert bounded.call(os._exit, 1).failure  # the replacement has it as well
    bounded.close()


def test_a_module_that_is_missing_is_the_functions_own_problem():
    assert bounded.call(operator.add, 1, 1, imports=["no_such_module"]).value == 2


def test_a_process_that_cannot_start_is_a_broken_machine(monkeypatch):
    bounded.close()
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with pytest.raises(SeroError, match="no process for scoring can be started"):
        bounded.call(os.getpid)
    monkeypatch.undo()
    monkeypatch.setattr(bounded, "_SUPERVISOR", "raise SystemExit(1)")
    with pytest.raises(SeroError, match="it ended while starting"):
        bounded.call(os.getpid)
    monkeypatch.undo()
    served()


FORKED = """
import os
from sero.benchmarks import bounded
worker = bounded.call(os.getpid).value
child = os.fork()
if child == 0:
    assert bounded.call(os.getpid).value != worker
    raise SystemExit
assert os.waitpid(child, 0)[1] == 0
assert bounded.call(os.getpid).value == worker
"""


def test_a_forked_child_has_workers_of_its_own():
    done = subprocess.run(
        [sys.executable, "-Xdev", "-Werror", "-c", FORKED],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


SCRIPT = """
import contextlib, os, sys, threading, time
from sero.benchmarks import bounded
from sero.errors import ScorerLost
if __name__ == "__main__":
    print(bounded.call(os.getpid).value, flush=True)
    hang = (pow, 9, 9 ** 9) if sys.argv[1] == "computing" else (time.sleep, 60)
    def busy():
        with contextlib.suppress(ScorerLost):  # what a call on the way gets when workers close
            bounded.call(*hang, seconds=60)
    if sys.argv[2] == "beside":
        threading.Thread(target=busy, daemon=True).start()
        time.sleep(0.5)
    else:
        busy()
"""


def launch(tmp_path: Path, *arguments: str) -> tuple[subprocess.Popen[str], int]:
    """A process of its own that keeps a worker busy, and that worker."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    process = subprocess.Popen(
        [sys.executable, "-Werror", str(script), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline())


@pytest.mark.parametrize("hang", ["computing", "sleeping"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_worker_outlives_its_caller(tmp_path, hang, number):
    process, worker = launch(tmp_path, hang, "here")
    time.sleep(0.3)
    process.send_signal(number)
    _, errors = process.communicate(timeout=5)
    assert gone(worker)
    assert errors == ""


def test_an_interrupt_of_the_terminal_is_the_callers_alone(tmp_path):
    process, worker = launch(tmp_path, "sleeping", "here")
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=5)
    assert gone(worker)
    assert errors.count("Traceback") == 1
    assert errors.rstrip().endswith("KeyboardInterrupt")


def test_the_interpreter_ends_at_once_while_a_worker_is_busy(tmp_path):
    process, worker = launch(tmp_path, "computing", "beside")
    start = time.monotonic()
    _, errors = process.communicate(timeout=8)
    assert time.monotonic() - start < 4
    assert process.returncode == 0
    assert errors == ""
    assert gone(worker)
