"""A sweep in parallel processes as a user starts it: resumed, stopped, with a job that fails."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import warm_job

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
SMALL = (
    "experiment=simulator_reference",
    "row=gated_random",
    "backbone.editor=benign",
    "benchmark.n_train=4",
    "benchmark.n_heldout=4",
    "train.warmup_epochs=1",
    "train.main_epochs=1",
)
LONG = (*SMALL[:3], "benchmark.n_train=400", "benchmark.n_heldout=4")


def start(*words: str, cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(SCRIPTS / "train.py"), *words, "hydra.launcher.n_jobs=2"],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a process group of its own, as a shell gives it
        env={**os.environ, "PYTHONPATH": str(SCRIPTS.parent)},
    )


def ended(*words: str, cwd: Path) -> tuple[int, str, str]:
    sweep = start(*words, cwd=cwd)
    out, err = sweep.communicate(timeout=240)
    return sweep.returncode, out, err


def states(folder: Path) -> dict[str, str]:
    """Seed to what status.json says."""
    found = folder.glob("runs/simulator_reference/*/gated_random/skillworld/seed_*/status.json")
    return {path.parent.name: json.loads(path.read_text())["state"] for path in found}


@pytest.mark.slow
def test_jobs_run_in_parallel_and_finished_ones_are_left_alone(tmp_path, monkeypatch):
    """Four jobs: two are done, one's directory is not a run's, and one is left to do."""
    monkeypatch.chdir(tmp_path)
    for seed in (1, 2):
        assert warm_job.run(*SMALL, f"seed={seed}") == 0
    runs = sorted(path.parent for path in tmp_path.glob("runs/*/*/*/*/*/result.json"))
    written = [(run / "result.json").stat().st_mtime_ns for run in runs]
    stray = runs[0].with_name("seed_5") / "notes.txt"
    stray.parent.mkdir()
    stray.touch()
    code, out, err = ended(*SMALL, "seed=1,2,4,5", cwd=tmp_path)
    assert code == 2, err
    assert "Traceback" not in err
    assert "SIMULATED" in out
    assert not (tmp_path / "runs" / ".sweeps").exists()
    assert "holds notes.txt but no config.yaml" in err
    assert err.count("finished already") == 2
    assert states(tmp_path) == dict.fromkeys(["seed_1", "seed_2", "seed_4"], "completed")
    assert [(run / "result.json").stat().st_mtime_ns for run in runs] == written


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "whole_group"), [(signal.SIGINT, True), (signal.SIGTERM, False)]
)
def test_a_stop_saves_every_running_job(tmp_path, number, whole_group):
    """Ctrl-C reaches the whole process group, a scheduler's SIGTERM the first process only."""
    sweep = start(*LONG, "seed=1,2,3", cwd=tmp_path)
    try:
        deadline = time.monotonic() + 120
        while len([p for p in tmp_path.rglob("metrics.jsonl") if p.stat().st_size]) < 2:
            assert sweep.poll() is None, sweep.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        at = time.monotonic()
        if whole_group:
            os.killpg(sweep.pid, number)
        else:
            sweep.send_signal(number)
        out, err = sweep.communicate(timeout=60)
    finally:
        sweep.kill()
    assert time.monotonic() - at < 15.0
    assert sweep.returncode == 128 + number, err
    assert "Traceback" not in err
    assert states(tmp_path) == dict.fromkeys(["seed_1", "seed_2"], "interrupted")
    assert out == ""
    assert not (tmp_path / "runs" / ".sweeps").exists()
