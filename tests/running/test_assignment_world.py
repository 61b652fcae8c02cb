"""The assignment world as runs: what they must show, and that their figures are the world's own."""

import os

import numpy as np
import pytest

from sero.assignment.rules import AssignMode
from sero.assignment.world import WorldSpec, assigned, play
from sero.assignment.world_table import world_table
from sero.config import parse_config, resolved_data, run_directory
from sero.errors import UserError
from sero.reporting.results import make_report
from sero.running.job import run_job
from sero.storage import read_json, read_lines

CANDIDATES = ("clerk-1", "clerk-2", "clerk-3", "clerk-4")
N_WORLDS, N_TASKS = (10, 20) if os.environ.get("SERO_FULL_SIZE") else (3, 10)
"""`SERO_FULL_SIZE=1` runs all ten worlds, which takes a minute more."""


@pytest.fixture
def world_run(composing, tmp_path):
    """`world_run("random", 3, ...)`: one run of `experiment=assign/world`; its directory."""

    def run(by, seed, *more):
        places = [f"paths.runs={tmp_path / 'runs'}", f"paths.cache={tmp_path / 'cache'}"]
        composed = composing.compose(
            ["experiment=assign/world", f"assign.by={by}", f"seed={seed}", *places, *more]
        )
        config = parse_config(composed.config, composed.choices)
        directory = run_directory(composed.config, composed.choices, composing)
        resolved = resolved_data(composed.config)
        assert run_job(config, directory, resolved, train=True).exit_code == 0
        return directory

    return run


def score(directory) -> float:
    result = read_json(directory / "result.json")
    assert result["simulated"]
    assert (result["failures"], result["scorer"]) == (0, "success")
    mean: float = result["mean_score"]
    return mean


@pytest.mark.parametrize("mode", [AssignMode.ARGMAX, AssignMode.GREEDY])
def test_a_run_scores_what_the_world_says(world_run, mode):
    few, played = "benchmark.n_heldout=8", play(WorldSpec(key=3), 8)
    dynamic = world_run("meta_debate", 3, few, f"assign.mode={mode}")
    assert score(dynamic) == pytest.approx(played.success(assigned(played, mode)), abs=1e-12)
    # criteria, proposals and reviews of three roles by four candidates, and the three roles
    assert read_json(dynamic / "result.json")["calls"] == 8 * (3 + 12 + 12 + 3)
    lines = list(read_lines(dynamic / "assignments.jsonl"))
    names = [CANDIDATES.index(who) for line in lines for who in line["assignment"].values()]
    assert np.array(names).reshape(8, 3).tolist() == assigned(played, mode).tolist()
    assert all(line["simulated"] for line in lines)
    assert read_json(dynamic / "manifest.json")["simulated"]
    assert "SIMULATED" in (dynamic / "report.html").read_text()


def test_the_comparators_score_what_the_world_says(world_run, no_report):
    few, played = "benchmark.n_heldout=8", play(WorldSpec(key=5), 8)
    alone = world_run("clerk-2", 5, few)
    assert score(alone) == pytest.approx(float(played.uniform[1]), abs=1e-12)
    assert read_json(alone / "result.json")["calls"] == 8 * 3
    oracle = world_run("oracle", 5, few)
    assert score(oracle) == pytest.approx(played.oracle, abs=1e-12)
    assert read_json(oracle / "result.json")["calls"] == 8 * 3
    drawn = world_run("random", 5, few)
    lines = read_lines(drawn / "assignments.jsonl")
    chosen = [[CANDIDATES.index(who) for who in line["assignment"].values()] for line in lines]
    assert score(drawn) == pytest.approx(played.success(np.array(chosen)), abs=1e-12)


def test_reviewers_change_who_is_chosen_and_not_what_anybody_is_worth(world_run, no_report):
    few, noisy = "benchmark.n_heldout=8", WorldSpec(key=3, noise_sd=2.0)
    played = play(noisy, 8)
    assert (played.skill == play(WorldSpec(key=3), 8).skill).all()
    found = world_run("meta_debate", 3, few, "backbone.noise_sd=2.0")
    expected = played.success(assigned(played, AssignMode.ARGMAX))
    assert score(found) == pytest.approx(expected, abs=1e-12)
    assert read_json(found / "result.json")["backbone"] == "assignment-world-noise-2"


def test_a_card_as_it_stands_is_nobodys(world_run, no_report):
    found = world_run("null", 3, "benchmark.n_heldout=2")
    assert score(found) == 0.0
    (reason,) = {line["reason"] for line in read_lines(found / "predictions.jsonl")}
    assert reason == "no entry for column 1, 2, 3"


def test_elsewhere_there_is_no_oracle(world_run):
    with pytest.raises(UserError, match=r"assign\.by: oracle needs to know what every candidate"):
        world_run(
            *("oracle", 1, "benchmark=toy", "backbone=scripted", "benchmark.n_heldout=4"),
            "assign.roster=package:shared/candidates.yaml",
        )


@pytest.mark.slow
def test_what_meta_debate_must_show(world_run, no_report):
    """Above the best uniform by .08, above random by .12 (method.md §8.6).

    Three worlds of 10 tasks; ten of 20 under `SERO_FULL_SIZE=1`. Measured over ten worlds of 40:
    .718 against .580 and .486, the oracle at .727. The constants of the world were fitted to the
    published figures, so what is shown is that the runs keep them: each figure of a run is that of
    the pure world, whose table of ten worlds has a test of its own.
    """
    few = f"benchmark.n_heldout={N_TASKS}"
    runs = {
        by: [world_run(by, seed, few) for seed in range(N_WORLDS)]
        for by in ("meta_debate", "random", *CANDIDATES, "oracle")
    }
    scores = {by: np.array([score(where) for where in found]) for by, found in runs.items()}
    best = np.max([scores[name] for name in CANDIDATES], axis=0)
    dynamic = scores["meta_debate"]
    assert (dynamic - best).mean() >= 0.08
    assert (dynamic - scores["random"]).mean() >= 0.12
    assert (dynamic <= scores["oracle"] + 1e-12).all()

    table = {row.name: row.mean for row in world_table(range(N_WORLDS), N_TASKS)}
    assert dynamic.mean() == pytest.approx(table["argmax"], abs=1e-9)
    assert best.mean() == pytest.approx(table["best uniform"], abs=1e-9)
    assert scores["oracle"].mean() == pytest.approx(table["oracle"], abs=1e-9)
    uniform = np.mean([scores[name] for name in CANDIDATES])
    assert uniform == pytest.approx(table["random, mean uniform"], abs=1e-9)
    # a spread of .23 among the draws, three a task: four standard errors
    error = 0.23 / (3 * N_WORLDS * N_TASKS) ** 0.5
    assert scores["random"].mean() == pytest.approx(table["random, mean uniform"], abs=4 * error)

    (section,) = make_report([where for found in runs.values() for where in found]).sections
    (against,) = [t for t in section.tables if t.title.startswith("Dynamic assignment")]
    to_best, to_random = (row for row in against.rows)
    assert to_best[1].startswith("static_dag · best uniform, in hindsight")
    assert to_best[2:4] == (str(N_WORLDS), f"{(dynamic - best).mean():+.3f}")
    assert float(to_random[3]) == pytest.approx((dynamic - scores["random"]).mean(), abs=0.001)
    assert section.simulated
