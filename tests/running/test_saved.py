"""Pools, checkpoints and journals come back exactly, or as they were before a kill."""

import signal
import subprocess
import sys
from collections import OrderedDict
from enum import IntEnum

import numpy as np
import pytest
import torch
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from sero.credit import CreditState, PoolState, RoleCredit
from sero.errors import CardError, SeroError, StorageError, UserError
from sero.roles.card import RoleCard, RoleType
from sero.roles.pool import RolePool
from sero.running.saved import (
    Journals,
    dump_yaml,
    load_checkpoint,
    load_pool_state,
    pool_file,
    save_checkpoint,
    save_pool_state,
)


def card(name, role_type=RoleType.SPECIALIST, prompt=("Solve it.",)):
    return RoleCard(
        name=name,
        role_type=role_type,
        capability_family="solving",
        communication_protocol="Answer: <value>",
        system_prompt=prompt,
        temperature=0.1,
    )


SUM = 0.1 + 0.2  # 0.30000000000000004: seventeen digits are needed
STATE = PoolState(
    RolePool((card("solver"), card("scribe", RoleType.AGGREGATOR))),
    CreditState(
        {
            "solver": RoleCredit(ema=SUM, loo=-1 / 3, fast=1e-17, n_updates=3, n_bonus=4),
            "scribe": RoleCredit(),
        }
    ),
)


def test_a_pool_with_credit_comes_back_exactly(tmp_path):
    path = tmp_path / "pool" / "final.yaml"
    save_pool_state(path, STATE)
    assert load_pool_state(path) == STATE
    assert "ema: 0.30000000000000004" in path.read_text()


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_comes_back_exactly(value):
    back = yaml.safe_load(dump_yaml({"v": value}))["v"]
    assert isinstance(back, float)
    assert back.hex() == value.hex()


@settings(max_examples=300)
@given(st.text())
def test_every_text_comes_back_exactly(text):
    assert yaml.safe_load(dump_yaml({"t": [text]})) == {"t": [text]}


@pytest.mark.parametrize(
    "line",
    [
        "a\x85b",
        "a\u2028b \u2029",
        "tab\t and \x1b[2J",
        "\ufeff",
        "# no comment",
        "- no: list",
        "${x}",
        "yes",
        " " * 200,
        "Größe ≤ 3 日本",
        "word " * 60,
    ],
)
def test_what_a_model_may_write_in_a_prompt_comes_back_exactly(tmp_path, line):
    state = PoolState(RolePool((card("solver", prompt=("first", line)),)))
    save_pool_state(tmp_path / "p.yaml", state)
    back = load_pool_state(tmp_path / "p.yaml")
    assert back.pool == state.pool
    assert back.pool.hash == state.pool.hash


def test_yaml_stays_readable():
    shared = ["a"]
    assert dump_yaml({"z": shared, "a": shared, "t": "größer"}) == ("z:\n- a\na:\n- a\nt: größer\n")


def test_a_role_without_a_block_has_no_credit(tmp_path):
    save_pool_state(tmp_path / "p.yaml", STATE)
    data = yaml.safe_load((tmp_path / "p.yaml").read_text())
    del data["roles"][0]["credit"]
    (tmp_path / "p.yaml").write_text(dump_yaml(data))
    assert load_pool_state(tmp_path / "p.yaml").credit.roles == {"scribe": RoleCredit()}


def test_whole_numbers_people_write_become_floats(tmp_path):
    save_pool_state(tmp_path / "p.yaml", STATE)
    data = yaml.safe_load((tmp_path / "p.yaml").read_text())
    data["roles"][0]["credit"] = {"ema": 1, "fast": None, "n_updates": 2}
    (tmp_path / "p.yaml").write_text(dump_yaml(data))
    found = load_pool_state(tmp_path / "p.yaml").credit["solver"]
    assert found == RoleCredit(ema=1.0, n_updates=2)
    assert isinstance(found.ema, float)


def test_every_fault_of_the_credit_blocks_is_reported(tmp_path):
    save_pool_state(tmp_path / "p.yaml", STATE)
    data = yaml.safe_load((tmp_path / "p.yaml").read_text())
    data["roles"][0]["credit"] = {"ema": "high", "emma": 1, "n_updates": 1.5, "loo": float("nan")}
    data["roles"][1]["credit"] = [1]
    (tmp_path / "p.yaml").write_text(dump_yaml(data))
    with pytest.raises(CardError) as caught:
        load_pool_state(tmp_path / "p.yaml")
    assert caught.value.faults == (
        "solver.credit.ema: got 'high'; credit is a finite number",
        "solver.credit.emma: unknown field; did you mean 'ema'?",
        "solver.credit.n_updates: got 1.5; a count is an integer >= 0",
        "solver.credit.loo: got nan; credit is a finite number",
        "scribe.credit: got [1]; a credit block is a mapping",
    )


def test_from_pool_names_a_run_or_a_file(tmp_path):
    run = tmp_path / "run"
    save_pool_state(run / "pool" / "final.yaml", STATE)
    assert pool_file(str(run)) == run / "pool" / "final.yaml"
    assert pool_file(str(run / "pool" / "final.yaml")) == run / "pool" / "final.yaml"


@pytest.mark.parametrize(
    ("name", "message"),
    [("nothing", "no such file or run directory"), ("empty", r"no pool/final\.yaml")],
)
def test_from_pool_that_names_neither_says_so(tmp_path, name, message):
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=message):
        pool_file(str(tmp_path / name))


def test_a_checkpoint_comes_back(tmp_path):
    state = {
        "weights": OrderedDict(w=torch.arange(6.0).reshape(2, 3)),
        "optimiser": {"state": {0: {"step": torch.tensor(3.0)}}, "betas": (0.9, 0.999)},
        "episode": 12,
        "baseline": SUM,
        "recent": [True, None, "x\ud800"],
        "lengths": {"episodes": 2**40},
    }
    save_checkpoint(tmp_path / "checkpoint" / "last.pt", state)
    back = load_checkpoint(tmp_path / "checkpoint" / "last.pt")
    assert torch.equal(back["weights"]["w"], state["weights"]["w"])
    assert torch.equal(back["optimiser"]["state"][0]["step"], torch.tensor(3.0))
    for key in ("episode", "baseline", "recent", "lengths"):
        assert back[key] == state[key]


class Colour(IntEnum):
    RED = 1


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"a": {"b": [1, np.float64(0.5)]}}, r"state\.a\.b\[1\]: got float64"),
        ({"a": Colour.RED}, r"state\.a: got Colour"),
        ({"a": {"x"}}, r"state\.a: got set"),
        ({"a": {(1, 2): 3}}, r"state\.a: got the key \(1, 2\)"),
    ],
)
def test_what_would_not_load_again_is_refused_before_it_is_written(tmp_path, state, message):
    with pytest.raises(TypeError, match=message):
        save_checkpoint(tmp_path / "last.pt", state)
    assert not (tmp_path / "last.pt").exists()


def test_any_damage_is_reported_with_the_file(tmp_path):
    path = tmp_path / "last.pt"
    state = {"w": torch.arange(4.0), "names": ["solver"], "episode": 7}
    save_checkpoint(path, state)
    whole = path.read_bytes()
    damaged = [whole[:size] for size in range(0, len(whole), 37)]
    for place in range(0, len(whole), 3):
        changed = bytearray(whole)
        changed[place] ^= 0xFF
        damaged.append(bytes(changed))
    messages = []
    for content in damaged:
        path.write_bytes(content)
        try:
            back = load_checkpoint(path)
        except SeroError as error:
            messages.append(str(error))
        else:  # padding and time stamps of the archive carry nothing
            assert torch.equal(back.pop("w"), state["w"])
            assert back == {"names": ["solver"], "episode": 7}
    assert len(messages) > len(damaged) / 2
    assert all(message.startswith(f"{path}: not a whole checkpoint") for message in messages)


@pytest.mark.parametrize("content", [b"", b"no checkpoint", b"PK\x05\x06" + b"\0" * 18])
def test_another_file_is_no_checkpoint(tmp_path, content):
    (tmp_path / "last.pt").write_bytes(content)
    with pytest.raises(SeroError, match="not a whole checkpoint"):
        load_checkpoint(tmp_path / "last.pt")


def test_a_checkpoint_of_other_content_is_reported(tmp_path):
    torch.save([1, 2], tmp_path / "last.pt")
    with pytest.raises(SeroError, match="holds list, not a mapping"):
        load_checkpoint(tmp_path / "last.pt")


def test_a_checkpoint_runs_nothing(tmp_path):
    class Evil:
        def __reduce__(self):
            return (open, (str(tmp_path / "owned"), "w"))

    torch.save({"a": Evil()}, tmp_path / "last.pt")
    with pytest.raises(SeroError, match="not a whole checkpoint"):
        load_checkpoint(tmp_path / "last.pt")
    assert not (tmp_path / "owned").exists()


def test_no_checkpoint_is_not_a_damaged_one(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_checkpoint(tmp_path / "last.pt")


# --- a kill inside a write

WRITER = """
import os, pathlib, signal, sys
from sero.running.saved import save_checkpoint

def kill(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)

path, stage = pathlib.Path(sys.argv[1]), sys.argv[2]
save_checkpoint(path, {"episode": 1})
replace = pathlib.Path.replace
if stage == "write":
    os.fsync = kill
elif stage == "rename":
    pathlib.Path.replace = kill
elif stage == "renamed":
    pathlib.Path.replace = lambda self, target: (replace(self, target), kill())
save_checkpoint(path, {"episode": 2})
"""


@pytest.mark.parametrize(("stage", "episode"), [("write", 1), ("rename", 1), ("renamed", 2)])
def test_a_kill_leaves_the_old_or_the_new_checkpoint(tmp_path, stage, episode):
    path = tmp_path / "last.pt"
    done = subprocess.run([sys.executable, "-c", WRITER, str(path), stage], check=False)
    assert done.returncode == -signal.SIGKILL
    assert load_checkpoint(path) == {"episode": episode}


APPENDER = """
import os, pathlib, signal, sys
from sero.running.saved import Journals

journals = Journals.open(pathlib.Path(sys.argv[1]), None)
for episode in range(1, 4):
    journals.episodes.append({"episode": episode})
    journals.traces.append({"episode": episode, "text": "x" * 100})
    journals.metrics.append({"episode": episode, "train/reward": 0.5})
    journals.sync()
    print(journals.lengths(), flush=True)
journals.episodes.append({"episode": 4})
journals.episodes._file.write(b'{"episode": 5, "tor')
journals.episodes._file.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("checkpoint", [1, 2, 3])
def test_journals_are_cut_back_to_the_checkpoint(tmp_path, checkpoint):
    done = subprocess.run(
        [sys.executable, "-c", APPENDER, str(tmp_path)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "episodes.jsonl").read_text().endswith('{"episode":4}\n{"episode": 5, "tor')
    lengths = yaml.safe_load(done.stdout.splitlines()[checkpoint - 1])

    journals = Journals.open(tmp_path, lengths)
    assert journals.lengths() == lengths
    journals.episodes.append({"episode": "next"})
    journals.close()
    expected = [f'{{"episode":{i}}}' for i in range(1, checkpoint + 1)]
    lines = (tmp_path / "episodes.jsonl").read_text().splitlines()
    assert lines == [*expected, '{"episode":"next"}']
    for name in ("traces", "metrics"):
        text = (tmp_path / f"{name}.jsonl").read_text()
        assert len(text) == lengths[name]
        assert len(text.splitlines()) == checkpoint


def test_without_a_checkpoint_journals_start_empty(tmp_path):
    (tmp_path / "episodes.jsonl").write_text('{"episode":1}\n{"epi')
    journals = Journals.open(tmp_path, None)
    assert journals.lengths() == {"episodes": 0, "traces": 0, "metrics": 0}
    journals.close()
    assert (tmp_path / "episodes.jsonl").read_bytes() == b""


# Python closes the refused file with a warning of its own.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_journal_shorter_than_the_checkpoint_is_refused(tmp_path):
    (tmp_path / "traces.jsonl").write_text("{}\n")
    with pytest.raises(StorageError, match="holds 3 bytes, but the checkpoint was written after 9"):
        Journals.open(tmp_path, {"episodes": 0, "traces": 9, "metrics": 0})


def test_lengths_count_bytes_not_characters(tmp_path):
    journals = Journals.open(tmp_path, None)
    journals.episodes.append({"a": "é"})
    journals.sync()
    # {"a":"é"} is 9 characters, é takes two bytes, and the line ends with one more.
    assert journals.lengths()["episodes"] == (tmp_path / "episodes.jsonl").stat().st_size == 11
    journals.close()
