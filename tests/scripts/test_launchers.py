"""Three seeds under every launcher: a run directory and a W&B run for each, and one table."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
LINE = (
    "experiment=single",
    "method=static",
    "seed=1,2,3",
    "benchmark.n_train=4",
    "benchmark.n_heldout=4",
)
PLUGINS = {
    "submitit_local": "hydra_plugins.hydra_submitit_launcher",
    "ray": "hydra_plugins.hydra_ray_launcher",  # pip install hydra-ray-launcher
}


@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["basic", "joblib", "submitit_local", "ray"])
def test_three_seeds(tmp_path, launcher):
    if launcher in PLUGINS:
        pytest.importorskip(PLUGINS[launcher], reason=f"no {launcher} launcher installed")
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / "train.py"), *LINE, f"hydra/launcher={launcher}", "-m"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        # an earlier test's W&B leaves the address of its service in the environment
        env={
            **{name: value for name, value in os.environ.items() if name != "WANDB_SERVICE"},
            "PYTHONPATH": str(SCRIPTS.parent),
            "WANDB_MODE": "offline",
        },
        check=False,
    )
    assert done.returncode == 0, done.stderr
    runs = sorted(tmp_path.glob("runs/single/*/static/skillworld/seed_*"))
    assert [run.name for run in runs] == ["seed_1", "seed_2", "seed_3"]
    for run in runs:
        assert (run / "result.json").is_file()
        assert len(list(run.glob("wandb/offline-run-*/run-*.wandb"))) == 1
        assert str(run.relative_to(tmp_path)) in done.stdout
