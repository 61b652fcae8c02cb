"""SIGKILL anywhere, then the same command: the run equals the undisturbed one, bit for bit."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

DRIVER = Path(__file__).with_name("killed_run.py")
OVERRIDES = [
    "experiment=single",
    "seed=3",
    "logger=none",
    "progress=none",
    "benchmark.n_heldout=40",
    "train.warmup_epochs=1",
    "train.main_epochs=1",
    "credit.loo_every=20",
    "gate.warmup=strict",
    "early_stop.enabled=false",
]
ASSIGNED = [
    *OVERRIDES,
    "benchmark=toy",
    "encoder=hashing",
    "backbone=scripted",
    "+backbones.strong.file=scripted",
    "+backbones.strong.default='Answer: 4'",
    "assign.by=meta_debate",
    f"assign.roster={Path(__file__).with_name('roster.yaml')}",
    "benchmark.n_train=8",
    "credit.loo_every=5",
    "benchmark.n_heldout=8",
]
RUN = ("single", "*", "sero", "*", "seed_3")


def start(folder: Path, point: str, number: int, words: Sequence[str] = OVERRIDES) -> int:
    command = [sys.executable, str(DRIVER), point, str(number), *words]
    command += [f"paths.runs={folder / 'runs'}", f"paths.cache={folder / 'cache'}"]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=240)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode


def run_directory(folder: Path) -> Path:
    (found,) = (folder / "runs").glob("/".join(RUN))
    return found


def equal(a, b) -> bool:
    """Equal values and, for tensors, equal bits."""
    if isinstance(a, torch.Tensor):
        return torch.equal(a, b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(equal, a, b))
    return a == b


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed")
    assert start(folder, "never", 0) == 0
    return run_directory(folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("point", "number"),
    [("pre", 57), ("post", 12), ("loo", 25), ("gradient", 4), ("eval", 50)],
)
def test_a_killed_run_continues_to_the_same_end(tmp_path, undisturbed, point, number):
    assert start(tmp_path, point, number) == -signal.SIGKILL
    killed = run_directory(tmp_path)
    assert not (killed / "result.json").exists()

    assert start(tmp_path, "never", 0) == 0

    for name in ("episodes.jsonl", "predictions.jsonl", "pool/final.yaml"):
        assert (killed / name).read_bytes() == (undisturbed / name).read_bytes(), name
    ours, theirs = (
        torch.load(path / "checkpoint" / "last.pt", weights_only=True)
        for path in (killed, undisturbed)
    )
    assert equal(ours["controller"], theirs["controller"])
    assert equal(ours["progress"], theirs["progress"])


@pytest.fixture(scope="module")
def assigned(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("assigned")
    assert start(folder, "never", 0, ASSIGNED) == 0
    return run_directory(folder)


@pytest.mark.slow
@pytest.mark.parametrize(("point", "number"), [("pre", 9), ("loo", 2), ("eval", 5)])
def test_so_does_one_whose_roles_candidates_play(tmp_path, assigned, point, number):
    assert start(tmp_path, point, number, ASSIGNED) == -signal.SIGKILL
    killed = run_directory(tmp_path)
    assert not (killed / "result.json").exists()

    assert start(tmp_path, "never", 0, ASSIGNED) == 0

    names = ("episodes.jsonl", "predictions.jsonl", "assignments.jsonl", "pool/final.yaml")
    for name in names:
        assert (killed / name).read_bytes() == (assigned / name).read_bytes(), name
