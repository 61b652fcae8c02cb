"""What training records: every line before the checkpoint that counts it."""

import pytest

from sero.credit import CreditState, PoolState, RoleCredit
from sero.errors import StorageError
from sero.evolution.progress import Progress, progress_to_data
from sero.running.directory import RunDirectory
from sero.running.progress import NoProgress
from sero.running.recording import (
    CHECKPOINT_VERSION,
    RunRecorder,
    drop_pools_after,
    saved_episode,
)
from sero.running.saved import Journals, load_checkpoint, load_pool_state, save_checkpoint
from sero.tracking import JsonlMetrics


class Notes(NoProgress):
    def __init__(self):
        self.infos = []

    def advance(self, info=""):
        self.infos.append(info)


@pytest.fixture
def state(bench) -> PoolState:
    """The seed pool, its first role with credit."""
    pool = bench.job()[0].benchmark.build().seed_pool()
    return PoolState(
        pool, CreditState({pool.names[0]: RoleCredit(ema=0.25, fast=0.5, n_updates=2)})
    )


@pytest.fixture
def recorder(tmp_path):
    journals = Journals.open(tmp_path / "run", None)
    yield RunRecorder(
        directory=RunDirectory(tmp_path / "run"),
        journals=journals,
        metrics=JsonlMetrics(journals.metrics),
        progress=Notes(),
    )
    journals.close()


def record(episode, **more):
    return {
        "episode": episode,
        "phase": "warmup",
        "pool_size": 8,
        "score_before": 1 / 3,
        "action": "add",
        "verdict": "committed",
        **more,
    }


def test_an_episode_is_a_line_its_traces_its_point_and_its_pool(recorder, state, rows):
    run = recorder.directory
    traces = [{"episode": 1, "phase": "pre"}, {"episode": 1, "phase": "post"}]
    recorder.episode(record(1), {"train/reward": 0.5}, traces, state)
    recorder.episode(record(2), {"train/reward": 0.0}, [{"episode": 2}], None)
    recorder.journals.sync()
    assert rows(run.episodes) == [record(1), record(2)]
    assert rows(run.traces) == [*traces, {"episode": 2}]
    assert [row["train/reward"] for row in rows(run.metrics)] == [0.5, 0.0]
    saved = load_pool_state(run.pool_episode(1))
    assert saved.pool == state.pool
    assert all(saved.credit[name] == state.credit[name] for name in state.pool.names)
    assert [path.name for path in (run.path / "pool").iterdir()] == ["episode_0001.yaml"]
    assert recorder.progress.infos[0] == "warmup | pool 8 | task score 0.33 | add committed"
    assert len(recorder.progress.infos) == 2


def test_a_checkpoint_counts_lines_that_are_on_the_disk(recorder, state, monkeypatch):
    run, on_disk = recorder.directory, {}

    def save(path, data):
        on_disk.update({n: (run.path / f"{n}.jsonl").stat().st_size for n in data["lengths"]})
        save_checkpoint(path, data)

    monkeypatch.setattr("sero.running.recording.save_checkpoint", save)
    recorder.episode(record(1), {"train/reward": 0.5}, [{"episode": 1}], None)
    progress = progress_to_data(Progress(state=state, episode=1))
    recorder.checkpoint(progress, {"step": 4})
    # The line after it is not counted.
    recorder.episode(record(2), {"train/reward": 0.5}, [{"episode": 2}], None)
    saved = load_checkpoint(run.checkpoint)
    assert saved["version"] == CHECKPOINT_VERSION
    assert saved["progress"] == progress
    assert saved["controller"] == {"step": 4}
    assert saved["lengths"] == on_disk
    assert set(on_disk) == {"episodes", "traces", "metrics"}
    assert min(on_disk.values()) > 0


@pytest.mark.parametrize(("episode", "told"), [(0, None), (1, 1), (12, 12)])
def test_the_saved_episode_is_the_checkpoints(recorder, state, episode, told):
    assert saved_episode(recorder.directory) is None
    recorder.checkpoint(progress_to_data(Progress(state=state, episode=episode)), {})
    assert saved_episode(recorder.directory) == told


@pytest.mark.parametrize("damage", ["torn", "other", "folder"])
def test_a_damaged_checkpoint_tells_no_episode(tmp_path, damage):
    run = RunDirectory(tmp_path)
    run.checkpoint.parent.mkdir()
    if damage == "folder":
        run.checkpoint.mkdir()
    elif damage == "torn":
        run.checkpoint.write_bytes(b"PK\x03\x04 half")
    else:
        save_checkpoint(run.checkpoint, {"progress": [1, 2]})
    assert saved_episode(run) is None


@pytest.mark.parametrize(
    ("episode", "left"),
    [
        (0, []),
        (5, ["episode_0005.yaml"]),
        (9, ["episode_0005.yaml"]),
        (10, ["episode_0005.yaml", "episode_0010.yaml"]),
        # Numbers beyond four digits are compared as numbers, not as text.
        (9999, ["episode_0005.yaml", "episode_0010.yaml"]),
        (10000, ["episode_0005.yaml", "episode_0010.yaml", "episode_10000.yaml"]),
    ],
)
def test_pools_behind_the_checkpoint_are_removed(tmp_path, episode, left):
    others = ["seed.yaml", "final.yaml", "episode_mine.yaml", "episode_0011.txt"]
    (tmp_path / "pool").mkdir()
    for name in [*others, "episode_0005.yaml", "episode_0010.yaml", "episode_10000.yaml"]:
        (tmp_path / "pool" / name).write_text("roles: []\n")
    drop_pools_after(RunDirectory(tmp_path), episode)
    assert sorted(path.name for path in (tmp_path / "pool").iterdir()) == sorted([*others, *left])


def test_there_may_be_no_pools_at_all(tmp_path):
    drop_pools_after(RunDirectory(tmp_path), 0)
    assert list(tmp_path.iterdir()) == []


def test_a_pool_that_cannot_be_removed_names_its_directory(tmp_path):
    (tmp_path / "pool" / "episode_0002.yaml").mkdir(parents=True)
    with pytest.raises(StorageError, match="pool"):
        drop_pools_after(RunDirectory(tmp_path), 1)
