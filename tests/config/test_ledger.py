"""The ledger of a sweep: reports of jobs, and a stop that reaches other processes."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sero.config.ledger import Ledger, settle_in_worker, stopping_jobs
from sero.storage import dumps

# A job of another process: it reports its start, and its end once it was asked to stop.
WORKER = """
import signal, sys, time
from pathlib import Path
from sero.config.ledger import Ledger

ledger = Ledger(Path(sys.argv[1]))

def stop(number, frame):
    if sys.argv[2] == "saves":
        ledger.ended(Path("run"), 128 + number)
    sys.exit(0)

signal.signal(signal.SIGINT, stop)
signal.signal(signal.SIGTERM, stop)
ledger.started()
time.sleep(60)
"""


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    return Ledger(tmp_path / f"{os.getpid()}-ab.jsonl")


def test_reports_and_who_is_running(ledger):
    assert (ledger.reports(), ledger.running(), ledger.stopped) == ([], set(), False)
    ledger.started()
    assert (ledger.reports(), ledger.running()) == ([], set())  # one's own process is not counted
    ledger.ended(Path("a"), 0)
    ledger.ended(None, 75)
    assert ledger.reports() == [(Path("a"), 0), (None, 75)]
    assert not ledger.stopped
    ledger.ended(Path("b"), 130)
    assert ledger.stopped


def test_another_machine_is_out_of_reach(ledger):
    """A launcher of a cluster: a process id means something on its own machine only."""
    here = socket.gethostname()
    rows = [
        {"host": here, "pid": 11},
        {"host": "elsewhere", "pid": 12},
        {"host": here, "pid": 13},
        {"host": here, "pid": 13, "directory": "a", "code": 0},
        {"host": here, "pid": 14, "directory": "b", "code": 0},
        {"host": here, "pid": 14},
    ]
    ledger.path.write_text("".join(dumps(row) + "\n" for row in rows))
    assert ledger.running() == {11, 14}


def test_the_sweeps_own_process_settles_nothing(ledger):
    group = os.getpgid(0)
    settle_in_worker(ledger)
    settle_in_worker(Ledger(ledger.path.with_name("1-x.jsonl")))  # nor a process of no kin
    assert os.getpgid(0) == group


def test_a_child_of_the_sweep_takes_one_thread_and_a_group_of_its_own(ledger):
    code = """
import os, sys, torch
from pathlib import Path
from sero.config.ledger import Ledger, settle_in_worker
settle_in_worker(Ledger(Path(sys.argv[1])))
print(os.getpgid(0) == os.getpid(), torch.get_num_threads())
"""
    told = subprocess.run(
        [sys.executable, "-c", code, str(ledger.path)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "2"},
    )
    assert told.stdout.split() == ["True", "1"]


def started(ledger: Ledger, manner: str) -> subprocess.Popen[bytes]:
    worker = subprocess.Popen([sys.executable, "-c", WORKER, str(ledger.path), manner])
    deadline = time.monotonic() + 60
    while worker.pid not in ledger.running():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return worker


def signalled(ledger: Ledger, number: int) -> None:
    """A sweep that is in the middle of its jobs when a signal comes."""
    with stopping_jobs(ledger):
        os.kill(os.getpid(), number)
        time.sleep(60)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_for_jobs_in_other_processes_and_ends_the_sweep(ledger, number):
    worker = started(ledger, "saves")
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt):
        signalled(ledger, number)
    assert worker.wait(timeout=30) == 0
    assert ledger.reports() == [(None, 128 + number), (Path("run"), 128 + number)]
    assert ledger.running() == set()
    assert signal.getsignal(number) is before


def test_a_job_that_does_not_answer_is_not_waited_for_forever(ledger, monkeypatch):
    monkeypatch.setattr("sero.config.ledger.GRACE_S", 0.2)
    worker = started(ledger, "vanishes")
    with pytest.raises(KeyboardInterrupt):
        signalled(ledger, signal.SIGINT)
    assert worker.wait(timeout=30) == 0
    assert ledger.stopped


def test_as_many_jobs_are_admitted_as_the_limit_says(ledger, tmp_path):
    assert [ledger.admits(2) for _ in range(3)] == [True, True, False]
    assert ledger.admits(None)
    assert Ledger(ledger.path).admits(3)  # another process reads the same file
    ledger.left(Path("runs/a"))
    assert ledger.left_over() == [Path("runs/a")]
    assert ledger.reports() == [(Path("runs/a"), 75)]
    assert not ledger.stopped
    ledger.close()
    assert list(tmp_path.iterdir()) == []
