"""Completions on disk: durable, shared by processes, first one stored stands."""

import errno
import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap

import pytest

from sero.backbones.base import Completion, Usage
from sero.backbones.completion_store import CompletionStore, decode, encode
from sero.errors import StorageError


def answer(text="4", **changes):
    values = {
        "text": text,
        "finish_reason": "stop",
        "usage": Usage(prompt_tokens=3, completion_tokens=1),
        "reasoning": "2+2",
        "cached": True,
    }
    return Completion(**(values | changes))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cache" / "calls.sqlite"


@pytest.fixture
def store(path):
    one = CompletionStore(path)
    yield one
    one.close()


@pytest.mark.parametrize(
    "text", ["", "4", "déjà 数 😀", "a\x00b\n\r\u2028", "half \ud83d", "<think>", "x" * 10**6]
)
def test_what_is_stored_comes_back(path, store, text):
    assert store.insert({"k": answer(text, reasoning=text)}) == frozenset()
    other = CompletionStore(path)
    assert other.get("k") == answer(text, reasoning=text)
    assert other.get("other") is None
    other.close()


def test_only_the_answer_is_stored_not_how_long_it_took():
    slow = answer(cached=False, latency_s=3.0, retries=2)
    assert json.loads(encode(slow)) == {
        "text": "4",
        "finish_reason": "stop",
        "prompt_tokens": 3,
        "completion_tokens": 1,
        "reasoning": "2+2",
    }
    assert decode(encode(slow).encode()) == answer()


def test_the_first_stored_stands(path, store):
    other = CompletionStore(path)
    store.insert({"k": answer("first")})
    assert other.insert({"k": answer("second"), "l": answer("new")}) == {"k"}
    assert [one.get("k").text for one in (store, other)] == ["first", "first"]
    assert store.get("l").text == "new"
    other.close()


def test_the_file_is_as_durable_as_asked_for(path, store):
    assert store._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert store._db.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
    assert store._db.execute("PRAGMA busy_timeout").fetchone() == (60_000,)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "{",
        "null",
        "[]",
        '{"text": "4"}',
        encode(answer()).replace('"4"', "4"),
        encode(answer()).replace(":3,", ':"3",'),
        b"\xff\xfe\x00",
        7,
        "[" * 100_000,
    ],
)
def test_a_damaged_value_is_a_miss_and_is_replaced(path, store, caplog, value):
    store.insert({"k": answer()})
    with sqlite3.connect(path) as db:
        db.execute("UPDATE completions SET value = ?", (value,))
    db.close()
    assert store.get("k") is None
    assert f"{path}: the value of k is damaged" in caplog.text
    assert store.insert({"k": answer("anew")}) == frozenset()
    assert store.get("k").text == "anew"


def test_a_value_another_process_mended_is_left_alone(path, store):
    store.insert({"k": answer()})
    with sqlite3.connect(path) as db:
        db.execute("UPDATE completions SET value = 'x'")
        db.commit()
        assert store.get("k") is None
        db.execute("UPDATE completions SET value = ?", (encode(answer("theirs")),))
        db.commit()
    db.close()
    assert store.insert({"k": answer("mine")}) == {"k"}
    assert store.get("k").text == "theirs"


CHILD = """
    import os, signal, sys
    from pathlib import Path
    from sero.backbones.base import Completion, Usage
    from sero.backbones.completion_store import CompletionStore

    def answer(text):
        usage = Usage(prompt_tokens=1, completion_tokens=1)
        return Completion(text=text, finish_reason="stop", usage=usage)

    path, mine = Path(sys.argv[1]), sys.argv[2]
    store = CompletionStore(path)
"""


def child(path, mine, body):
    script = textwrap.dedent(CHILD) + textwrap.dedent(body)
    return subprocess.Popen([sys.executable, "-c", script, str(path), mine])


def test_killed_right_after_a_commit_the_answer_is_there(path):
    process = child(
        path, "a", 'store.insert({"k": answer("kept")}); os.kill(os.getpid(), signal.SIGKILL)'
    )
    assert process.wait(60) == -signal.SIGKILL
    store = CompletionStore(path)
    assert store.get("k").text == "kept"
    store.close()


def test_processes_share_a_file_from_its_first_moment(path):
    body = """
        for number in range(40):
            own, shared = f"{mine}-{number}", f"shared-{number}"
            lost = store.insert({own: answer(mine), shared: answer(mine)})
            assert lost <= {shared}
            assert (store.get(shared).text != mine) is bool(lost)
        store.close()
    """
    processes = [child(path, name, body) for name in "abc"]
    assert [process.wait(120) for process in processes] == [0, 0, 0]
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM completions").fetchone() == (4 * 40,)
    db.close()


def test_all_or_nothing(store):
    store._db.execute(
        "CREATE TRIGGER refuse BEFORE INSERT ON completions WHEN NEW.key = 'bad'"
        " BEGIN SELECT RAISE(ABORT, 'refused'); END"
    )
    with pytest.raises(StorageError, match="refused"):
        store.insert({"good": answer(), "bad": answer()})
    assert store.get("good") is None
    assert store.insert({"good": answer()}) == frozenset()


def test_a_full_disk_names_the_directory(path, store):
    pages = store._db.execute("PRAGMA page_count").fetchone()[0]
    store._db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StorageError, match="the disk is full") as caught:
        store.insert({"k": answer("x" * 10**6)})
    assert str(path.parent) in str(caught.value)
    store._db.execute("PRAGMA max_page_count = 100000")
    store.insert({"k": answer("room again")})
    assert store.get("k").text == "room again"


@pytest.mark.parametrize(
    ("prepare", "said"),
    [
        (lambda path: path.write_bytes(b"not a database" * 100), "is damaged"),
        (lambda path: path.mkdir(), "cannot be used"),
    ],
)
def test_a_file_that_is_none_names_the_directory(path, prepare, said):
    path.parent.mkdir()
    prepare(path)
    with pytest.raises(StorageError, match=said) as caught:
        CompletionStore(path)
    assert str(path.parent) in str(caught.value)


def test_a_directory_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match=os.strerror(errno.ENOTDIR)):
        CompletionStore(tmp_path / "file" / "cache" / "calls.sqlite")
