"""What the default run must show: the evolved pool beats its seed pool in any world."""

import os

import numpy as np
import pytest
from scipy import stats

from sero.config import Composer, parse_config, resolved_data, run_directory
from sero.running.job import run_job
from sero.storage import read_json

SEEDS = range(8) if os.environ.get("SERO_FULL_SIZE") else range(3)


@pytest.mark.slow
def test_the_quickstart_gains_over_the_seed_pool(composing: Composer, no_report, tmp_path):
    """`experiment=quickstart`: mean gain >= .15, lower 95 % bound above 0.

    Three worlds; eight under `SERO_FULL_SIZE=1`.
    """

    def mean_score(method: str, seed: int) -> float:
        places = [f"paths.runs={tmp_path / 'runs'}", f"paths.cache={tmp_path / 'cache'}"]
        words = [f"method={method}", f"seed={seed}", "logger=none", "progress=none", *places]
        composed = composing.compose(["experiment=quickstart", *words])
        config = parse_config(composed.config, composed.choices)
        directory = run_directory(composed.config, composed.choices, composing)
        assert run_job(config, directory, resolved_data(composed.config), train=True).exit_code == 0
        result = read_json(directory / "result.json")
        assert result["simulated"]
        assert result["n"] == 200
        return result["mean_score"]

    gains = np.array([mean_score("sero", seed) - mean_score("static", seed) for seed in SEEDS])
    print(f"gains over the seed pool: {gains.round(3)}")
    half = stats.t.ppf(0.975, len(gains) - 1) * gains.std(ddof=1) / np.sqrt(len(gains))
    assert gains.mean() >= 0.15
    assert gains.mean() - half > 0.0
