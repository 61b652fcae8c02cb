"""SIGKILL anywhere, then the same command: the run equals the undisturbed one, bit for bit."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from sero.config import parse_config
from sero.config.variant import resolved_data, run_directory
from sero.running.job import run_job

OVERRIDES = [
    "experiment=single",
    "seed=3",
    "logger=none",
    "progress=none",
    "paths.runs=runs",
    "paths.cache=cache",
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


@pytest.fixture
def go_on(composing, no_report, monkeypatch) -> Callable[[Path, list[str]], None]:
    """The same command in this process, where strings have other hashes than in the killed one."""

    def run(folder: Path, words: list[str]) -> None:
        monkeypatch.chdir(folder)
        composed = composing.compose(words)
        config = parse_config(composed.config, composed.choices)
        directory = run_directory(composed.config, composed.choices, composing)
        outcome = run_job(config, directory, resolved_data(composed.config), train=True)
        assert outcome.exit_code == 0

    return run


def equal(a, b) -> bool:
    """Equal values and, for tensors, equal bits."""
    if isinstance(a, torch.Tensor):
        return torch.equal(a, b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(equal, a, b))
    return a == b


def only_run(folder: Path) -> Path:
    (found,) = folder.glob("runs/single/*/sero/*/seed_3")
    return found


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, run_apart) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed")
    assert run_apart(folder, "never", 0, OVERRIDES) == 0
    return only_run(folder)


@pytest.mark.parametrize(
    ("point", "number"),
    [("pre", 57), ("post", 12), ("loo", 25), ("gradient", 4), ("eval", 50)],
)
def test_a_killed_run_continues_to_the_same_end(
    tmp_path, undisturbed, run_apart, go_on, point, number
):
    assert run_apart(tmp_path, point, number, OVERRIDES) == -signal.SIGKILL
    killed = only_run(tmp_path)
    assert not (killed / "result.json").exists()

    go_on(tmp_path, OVERRIDES)

    for name in ("episodes.jsonl", "predictions.jsonl", "pool/final.yaml"):
        assert (killed / name).read_bytes() == (undisturbed / name).read_bytes(), name
    ours, theirs = (
        torch.load(path / "checkpoint" / "last.pt", weights_only=True)
        for path in (killed, undisturbed)
    )
    assert equal(ours["controller"], theirs["controller"])
    assert equal(ours["progress"], theirs["progress"])


@pytest.fixture(scope="module")
def assigned(tmp_path_factory, run_apart) -> Path:
    folder = tmp_path_factory.mktemp("assigned")
    assert run_apart(folder, "never", 0, ASSIGNED) == 0
    return only_run(folder)


@pytest.mark.parametrize(("point", "number"), [("pre", 9), ("loo", 2), ("eval", 5)])
def test_so_does_one_whose_roles_candidates_play(
    tmp_path, assigned, run_apart, go_on, point, number
):
    assert run_apart(tmp_path, point, number, ASSIGNED) == -signal.SIGKILL
    killed = only_run(tmp_path)
    assert not (killed / "result.json").exists()

    go_on(tmp_path, ASSIGNED)

    names = ("episodes.jsonl", "predictions.jsonl", "assignments.jsonl", "pool/final.yaml")
    for name in names:
        assert (killed / name).read_bytes() == (assigned / name).read_bytes(), name
