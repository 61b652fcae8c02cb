"""Data that are not there are told before a job starts, once for each benchmark."""

from pathlib import Path

import pytest

from sero.config.front import launch

CONF = Path(__file__).resolve().parents[2] / "conf"
LINE = ("experiment=main", "encoder=hashing", "backbone=openai", "backbone.model=some-model")


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Launches a script whose jobs all fail the test."""
    monkeypatch.chdir(tmp_path)

    def job(config, directory, resolved):
        pytest.fail("a job was started")

    return lambda *words: launch(CONF, "train", job, ["train.py", *LINE, *words])


def test_a_sweep_is_refused_whole_and_leaves_nothing(start, tmp_path, capsys):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "tablebench.jsonl").write_text("{}\n")
    assert start("benchmark=naturalplan,tablebench,olympiadbench", "method=cot,sc", "seed=1,2") == 2
    said = capsys.readouterr().err
    assert "2 problem(s)" in said
    for name in ("naturalplan", "olympiadbench"):
        assert said.count(f"benchmark.source: data/{name}.jsonl: no such file") == 1
        assert said.count(f"python scripts/prepare_data.py benchmark={name}\n") == 1
    assert "tablebench" not in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data"]


def test_other_faults_are_told_beside_it(start, capsys):
    assert start("benchmark=naturalplan", "method=cot", "gate.tasks=0,1") == 2
    said = capsys.readouterr().err
    assert "gate.tasks" in said
    assert "data/naturalplan.jsonl: no such file" in said


def test_the_configuration_is_shown_without_data(start, capsys):
    assert start("benchmark=naturalplan", "method=cot", "seed=1", "--cfg", "job") == 0
    assert "source: " in capsys.readouterr().out


@pytest.mark.parametrize("name", ["code_review", "architecture", "hard_math", "toy"])
def test_what_brings_its_own_items_needs_no_file(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    started = []

    def job(config, directory, resolved):
        started.append(config.benchmark.choice)
        return 0

    line = ["train.py", "method=cot", *LINE[1:], f"benchmark={name}", "seed=1"]
    assert launch(CONF, "train", job, line) == 0
    assert started == [name]
