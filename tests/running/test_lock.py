"""One process per run directory; the lock dies with its process."""

import os
import subprocess
import sys

import pytest

from sero.errors import RunConflict, StorageError
from sero.running.lock import run_lock

HOLDER = """
import sys, pathlib
from sero.running.lock import run_lock
with run_lock(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock of `tmp_path / "run"` until its stdin closes."""
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "run")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "held\n"
    yield child
    child.kill()
    child.wait()
    child.stdin.close()
    child.stdout.close()


def test_a_second_process_is_told_who_holds_the_run(tmp_path, holder):
    with (
        pytest.raises(RunConflict, match=rf"in use by process {holder.pid}\b"),
        run_lock(tmp_path / "run"),
    ):
        pass


def test_a_process_that_ends_or_is_killed_frees_the_run(tmp_path, holder):
    holder.kill()
    holder.wait()
    assert (tmp_path / "run" / ".pid").read_text() == f"{holder.pid}\n"
    with run_lock(tmp_path / "run"):
        assert (tmp_path / "run" / ".pid").read_text() == f"{os.getpid()}\n"
    assert not (tmp_path / "run" / ".pid").exists()


def test_an_error_inside_frees_the_run(tmp_path):
    with pytest.raises(ZeroDivisionError), run_lock(tmp_path):
        raise ZeroDivisionError
    with run_lock(tmp_path):
        pass


def test_two_runs_do_not_meet(tmp_path):
    with run_lock(tmp_path / "a"), run_lock(tmp_path / "b"):
        pass


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="file"), run_lock(tmp_path / "file" / "run"):
        pass


@pytest.mark.parametrize("content", ["", "not a number", b"\xff"])
def test_a_holder_that_has_not_written_its_id_yet(tmp_path, holder, content):
    raw = content if isinstance(content, bytes) else content.encode()
    (tmp_path / "run" / ".pid").write_bytes(raw)
    with pytest.raises(RunConflict, match="id not known yet"), run_lock(tmp_path / "run"):
        pass
