"""The life of a run: what it refuses, what it says of itself, and how it goes on."""

import dataclasses
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import types
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sero.credit import PoolState
from sero.errors import (
    BudgetSpent,
    DataError,
    DeadlineExceeded,
    RunConflict,
    ServerUnavailable,
    StorageError,
    UserError,
)
from sero.running import books, job
from sero.running.directory import RunDirectory, RunStatus
from sero.running.recording import saved_episode
from sero.running.saved import load_pool_state, save_pool_state
from sero.skillworld import SkillWorldBenchmark
from sero.storage import read_json, write_json

STATIC = "method=static"
SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def snapshot(directory):
    """Name to (time, content) of every file but the lock's, which is no part of the contract."""
    return {
        str(path.relative_to(directory)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.name != ".lock"
    }


def at_request(number, act):
    """Calls `act` instead of the `number`-th request."""
    seen = 0

    def before(request):
        nonlocal seen
        seen += 1
        if seen == number:
            act()

    return before


def raising(error):
    def act():
        raise error

    return act


# ---- a whole run --------------------------------------------------------------------------------


def test_a_run_leaves_the_files_of_the_contract(bench, rows):
    assert bench.run().exit_code == 0
    directory = bench.directory()
    episodes = rows(directory / "episodes.jsonl")
    committed = [f"pool/episode_{e['episode']:04d}.yaml" for e in episodes if e["committed"]]
    assert committed
    assert set(snapshot(directory)) == {
        "config.yaml",
        "manifest.json",
        "status.json",
        "metrics.jsonl",
        "episodes.jsonl",
        "traces.jsonl",
        "predictions.jsonl",
        "result.json",
        "report.html",
        "checkpoint/last.pt",
        "pool/seed.yaml",
        "pool/final.yaml",
        *committed,
    }
    # the gradient step on the last, incomplete batch has a line of its own
    points = [row["episode"] for row in rows(directory / "metrics.jsonl")]
    assert points == [*range(1, 13), 12]
    final = load_pool_state(directory / "pool" / "final.yaml")
    assert load_pool_state(directory / committed[-1]).pool == final.pool
    assert load_pool_state(directory / "pool" / "seed.yaml").pool.hash != final.pool.hash


def test_a_finished_run_does_nothing(bench, no_report):
    for overrides, script in (((STATIC,), "train"), ((), "evaluate")):
        bench.run(*overrides, script=script)
        directory = bench.directory(*overrides, script=script)
        before, bench.spy = snapshot(directory), None
        again = bench.run(*overrides, "budget.calls=1", script=script)
        assert (again.exit_code, again.state) == (0, RunStatus.COMPLETED)
        assert snapshot(directory) == before
        assert bench.spy is None  # not even a backbone was built


def test_status_is_running_until_the_result_stands(bench, no_report, monkeypatch):
    seen = []
    write = RunDirectory.write_status

    def noted(self, state, **more):
        write(self, state, **more)
        seen.append((state, self.result.exists(), self.manifest.exists()))

    monkeypatch.setattr(RunDirectory, "write_status", noted)
    bench.run(STATIC)
    assert seen == [(RunStatus.RUNNING, False, False), (RunStatus.COMPLETED, True, True)]
    assert read_json(bench.directory(STATIC) / "status.json") == {
        "state": "completed",
        "reason": None,
        "phase": None,
        "episode": None,
    }


# ---- other inputs -------------------------------------------------------------------------------


def stopped(bench, *overrides, finish):
    """A run that is finished, or stopped by its budget in the evaluation."""
    if finish:
        bench.run(*overrides)
    else:
        with pytest.raises(BudgetSpent):
            bench.run(*overrides, "budget.calls=13")
    directory = bench.directory(*overrides)
    return directory, snapshot(directory)


@pytest.mark.parametrize("finish", [True, False])
def test_other_data_is_refused(bench, no_report, monkeypatch, finish):
    directory, before = stopped(bench, STATIC, "budget.tokens=null", finish=finish)
    load = SkillWorldBenchmark.load

    def changed(self):
        return dataclasses.replace(load(self), fingerprint="0" * 64)

    monkeypatch.setattr(SkillWorldBenchmark, "load", changed)
    with pytest.raises(RunConflict, match="the data changed since") as caught:
        bench.run(STATIC, *([] if finish else ["budget.calls=13"]))
    assert caught.value.exit_code == 2
    assert str(directory) in str(caught.value)
    assert snapshot(directory) == before


@pytest.mark.parametrize("finish", [True, False])
def test_another_seed_pool_is_refused(bench, no_report, monkeypatch, finish):
    directory, before = stopped(bench, STATIC, finish=finish)
    seed_pool = SkillWorldBenchmark.seed_pool

    def changed(self):
        pool = seed_pool(self)
        first, *others = pool
        text = (*first.system_prompt, "More.")
        card = dataclasses.replace(first, system_prompt=text)
        return type(pool)((card, *others))

    monkeypatch.setattr(SkillWorldBenchmark, "seed_pool", changed)
    with pytest.raises(RunConflict, match="other inputs: the starting pool changed since"):
        bench.run(STATIC, *([] if finish else ["budget.calls=13"]))
    assert snapshot(directory) == before


@pytest.mark.parametrize("change", ["card", "credit"])
def test_another_pool_in_the_file_of_from_pool_is_refused(
    bench, undisturbed, no_report, tmp_path, change
):
    path = tmp_path / "pool.yaml"
    shutil.copy(undisturbed.directory() / "pool" / "final.yaml", path)
    overrides = [f"from_pool={path}"]
    bench.run(*overrides, script="evaluate")
    directory = bench.directory(*overrides, script="evaluate")
    before = snapshot(directory)
    state = load_pool_state(path)
    if change == "credit":
        name = state.pool.names[1]
        credit = dataclasses.replace(state.credit[name], ema=0.875)
        save_pool_state(path, PoolState(state.pool, state.credit.updated({name: credit})))
    else:
        path.write_text(path.read_text().replace("State no fact yourself.", "State no fact."))
    with pytest.raises(RunConflict, match="the starting pool changed since"):
        bench.run(*overrides, script="evaluate")
    assert snapshot(directory) == before
    # Both names at once, where both have changed.
    manifest = read_json(directory / "manifest.json")
    write_json(
        directory / "manifest.json",
        {**manifest, "benchmark": {**manifest["benchmark"], "data_sha256": "0"}},
    )
    with pytest.raises(RunConflict, match="the data and the starting pool changed since"):
        bench.run(*overrides, script="evaluate")
    save_pool_state(path, state)


def test_an_evaluation_of_a_saved_pool_gives_the_runs_own_figures(
    bench, undisturbed, no_report, rows
):
    """The frozen pool with its credit answers as it did at the end of its run."""
    trained = undisturbed.directory()
    overrides = [f"from_pool={trained}"]
    bench.run(*overrides, script="evaluate")
    directory = bench.directory(*overrides, script="evaluate")
    name = "predictions.jsonl"
    assert (directory / name).read_bytes() == (trained / name).read_bytes()
    manifest = read_json(directory / "manifest.json")
    assert manifest["credit"] == "stored"
    assert manifest["pool_sha256"] != read_json(trained / "manifest.json")["pool_sha256"]


# ---- the manifest -------------------------------------------------------------------------------


def test_a_resume_keeps_the_start(bench, no_report, monkeypatch):
    moment = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)

    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            nonlocal moment
            moment += timedelta(minutes=1)
            return moment

    monkeypatch.setattr(books, "datetime", Clock)
    manifest = bench.directory(STATIC) / "manifest.json"
    with pytest.raises(BudgetSpent):
        bench.run(STATIC, "budget.calls=13")
    first = read_json(manifest)
    with pytest.raises(BudgetSpent):
        bench.run(STATIC, "budget.calls=25")
    bench.run(STATIC)
    last = read_json(manifest)
    # A minute passes from one look at the clock to the next: start and end of three processes.
    assert (first["start"], first["end"]) == ("2026-01-31T12:01:00Z", "2026-01-31T12:02:00Z")
    assert (last["start"], last["end"]) == ("2026-01-31T12:01:00Z", "2026-01-31T12:06:00Z")
    assert last["resumed"] == ["2026-01-31T12:03:00Z", "2026-01-31T12:05:00Z"]
    same = ("config_sha256", "pool_sha256", "benchmark", "seeds", "scorer", "backbone", "simulated")
    assert {key: last[key] for key in same} == {key: first[key] for key in same}
    assert last["seeds"] == {"run": 42}
    assert last["simulated"] is True


# ---- ways a run stops ---------------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["calls", "tokens"])
def test_a_budget_spent_in_training_stops_between_episodes(
    bench, undisturbed, no_report, outcome, status_of, rows, unit
):
    def amount(row):
        tokens = row["prompt_tokens"] + row["completion_tokens"]
        return row["calls"] if unit == "calls" else tokens

    episodes = rows(undisturbed.directory() / "episodes.jsonl")
    # One more than seven episodes cost lets the eighth in, as a whole.
    limit = sum(amount(row) for row in episodes[:7]) + 1
    directory = bench.directory()
    for _ in range(2):  # the second adds nothing
        with pytest.raises(BudgetSpent) as caught:
            bench.run(f"budget.{unit}={limit}")
        assert caught.value.exit_code == 75
        assert rows(directory / "episodes.jsonl") == episodes[:8]
        assert status_of(directory) == {
            "state": "interrupted",
            "reason": str(caught.value),
            "phase": "train",
            "episode": 8,
        }
    assert bench.spy.asked == []
    assert not (directory / "predictions.jsonl").exists()
    bench.run()
    assert outcome(directory) == outcome(undisturbed.directory())


def test_hours_are_those_of_every_process(bench, no_report):
    with pytest.raises(BudgetSpent, match=r"budget.hours: [\d.e-]+ spent of 1e-06"):
        bench.run(STATIC, "budget.hours=0.000001")
    path = bench.directory(STATIC) / "manifest.json"
    manifest = read_json(path)
    write_json(path, {**manifest, "usage": {**manifest["usage"], "wall_s": 7200.0}})
    with pytest.raises(BudgetSpent, match=r"budget.hours: 2 spent of 2"):
        bench.run(STATIC, "budget.hours=2")
    bench.run(STATIC, "budget.hours=3")
    wall_s = read_json(bench.directory(STATIC) / "result.json")["wall_s"]
    assert 7200 < wall_s < 7260


@pytest.mark.parametrize("error", [ServerUnavailable("503", status=503), DeadlineExceeded("slow")])
@pytest.mark.parametrize("behind", [1, 30])
def test_an_outage_that_answers_is_no_failure_of_items(
    bench, undisturbed, no_report, outcome, rows, error, behind
):
    """Nothing answers during the evaluation's last requests, the probe included."""
    whole = undisturbed.directory()
    number = read_json(whole / "result.json")["requests"] - behind + 1
    seen = []

    def before(request):
        seen.append(request)
        if len(seen) >= number:
            raise error

    directory = bench.directory()
    with pytest.raises(type(error)):
        bench.run(before=before)
    assert all(row["failure"] is None for row in rows(directory / "predictions.jsonl"))
    bench.run()
    assert outcome(directory) == outcome(whole)


@pytest.mark.parametrize(
    ("number", "phase"),
    [(1, "train"), (60, "train"), (-1, "eval")],
)
def test_a_server_that_goes_away_interrupts_and_the_run_goes_on(
    bench, undisturbed, no_report, outcome, status_of, rows, number, phase
):
    whole = undisturbed.directory()
    if number < 0:
        number = read_json(whole / "result.json")["requests"]  # the very last one
    directory = bench.directory()
    error = ServerUnavailable("no server at http://127.0.0.1:9; start it with `serve`")
    with pytest.raises(ServerUnavailable) as caught:
        bench.run(before=at_request(number, raising(error)))
    assert caught.value.exit_code == 75
    done = len(rows(directory / "episodes.jsonl"))
    assert status_of(directory) == {
        "state": "interrupted",
        "reason": str(error),
        "phase": phase,
        "episode": done or None,
    }
    assert (done == 12) == (phase == "eval")
    # Only whole episodes, the undisturbed ones.
    ours, theirs = (rows(path / "episodes.jsonl") for path in (directory, whole))
    assert ours == theirs[:done]
    bench.run()
    assert outcome(directory) == outcome(whole)
    assert status_of(directory)["state"] == "completed"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (UserError("encoder.model=x: cannot be loaded"), "encoder.model=x: cannot be loaded"),
        (StorageError("the disk is full"), "the disk is full"),
        (ZeroDivisionError("division by zero"), "a fault of the program; its message says more"),
    ],
)
@pytest.mark.parametrize("where", ["assemble", "evaluate_run", "a request"])
def test_a_failure_is_said_in_the_status(
    bench, undisturbed, no_report, outcome, status_of, monkeypatch, error, reason, where
):
    directory = bench.directory()
    checkpoint = directory / "checkpoint" / "last.pt"

    def before(request):
        if where == "a request" and checkpoint.exists():
            raise error

    with monkeypatch.context() as patch:
        if where != "a request":
            patch.setattr(job, where, lambda *args, **kwargs: raising(error)())
        with pytest.raises(type(error), match=re.escape(str(error))):
            bench.run(before=before)
    status = status_of(directory)
    assert (status["state"], status["reason"]) == ("failed", reason)
    phase = {"assemble": None, "evaluate_run": "eval", "a request": "train"}[where]
    assert status["phase"] == phase
    # The checkpoint is written every fifth episode; a fault of the program writes none.
    assert status["episode"] == {"assemble": None, "evaluate_run": 12, "a request": 5}[where]
    bench.run()
    assert outcome(directory) == outcome(undisturbed.directory())
    assert status_of(directory)["state"] == "completed"


def test_inputs_that_cannot_be_loaded_are_said_in_the_status_too(
    bench, no_report, status_of, monkeypatch
):
    directory = bench.directory(STATIC)

    def missing(self):
        raise DataError("the split is not there")

    with monkeypatch.context() as patch:
        patch.setattr(SkillWorldBenchmark, "load", missing)
        with pytest.raises(DataError):
            bench.run(STATIC)
        assert status_of(directory) == {
            "state": "failed",
            "reason": "the split is not there",
            "phase": None,
            "episode": None,
        }
    bench.run(STATIC)
    # A finished run stays finished, whatever becomes of its data.
    before = snapshot(directory)
    monkeypatch.setattr(SkillWorldBenchmark, "load", missing)
    with pytest.raises(DataError):
        bench.run(STATIC)
    assert snapshot(directory) == before


def test_a_damaged_checkpoint_is_a_failure_that_names_no_episode(bench, no_report, status_of):
    with pytest.raises(BudgetSpent):
        bench.run("budget.calls=30")
    directory = bench.directory()
    (directory / "checkpoint" / "last.pt").write_bytes(b"half")
    with pytest.raises(Exception, match="not a whole checkpoint"):
        bench.run()
    status = status_of(directory)
    assert (status["state"], status["episode"]) == ("failed", None)


# ---- pools behind the checkpoint ----------------------------------------------------------------


def test_pools_of_a_killed_process_behind_the_checkpoint_are_removed(
    bench, undisturbed, no_report, outcome, rows
):
    """Broken off behind a commit that no checkpoint holds: its pool is gone after a resume."""
    directory = bench.directory()
    episodes = rows(undisturbed.directory() / "episodes.jsonl")
    commits = [row["episode"] for row in episodes if row["committed"] and row["episode"] > 5]
    left = directory / "pool" / f"episode_{commits[0]:04d}.yaml"

    def before(request):
        if left.exists():
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        bench.run(before=before)
    assert saved_episode(RunDirectory(directory)) == 5
    assert left.exists()
    (directory / "pool" / "episode_0011.yaml").write_text("roles: []\n")

    with pytest.raises(BudgetSpent):
        bench.run("budget.calls=1")
    now = sorted(path.name for path in (directory / "pool").iterdir())
    committed = [
        f"episode_{row['episode']:04d}.yaml"
        for row in rows(directory / "episodes.jsonl")
        if row["committed"]
    ]
    assert len(rows(directory / "episodes.jsonl")) == 5
    assert now == sorted([*committed, "seed.yaml"])
    bench.run()
    assert outcome(directory) == outcome(undisturbed.directory())


# ---- the tracker --------------------------------------------------------------------------------


@pytest.fixture
def wandb(monkeypatch):
    """A stand-in for the package, offline; its runs keep what they were given."""
    module = types.ModuleType("wandb")
    module.runs = []

    class Run:
        def __init__(self, asked):
            self.asked, self.points, self.summary, self.ends = asked, [], {}, []

        def define_metric(self, name, step_metric=None):
            pass

        def log(self, point):
            self.points.append(point)

        def finish(self, exit_code):
            self.ends.append(exit_code)

    def init(**asked):
        module.runs.append(Run(asked))
        return module.runs[-1]

    module.init = init
    module.Settings = lambda **values: values
    module.errors = types.SimpleNamespace(Error=type("Error", (Exception,), {}))
    monkeypatch.setitem(sys.modules, "wandb", module)
    return module


def test_a_tracker_changes_no_file_of_the_contract(bench, undisturbed, no_report, outcome, wandb):
    bench.run("logger=wandb")
    directory, whole = bench.directory("logger=wandb"), undisturbed.directory()
    assert directory == bench.directory()
    assert set(snapshot(directory)) == set(snapshot(whole))
    assert outcome(directory) == outcome(whole)
    ours, theirs = (read_json(path / "result.json") for path in (directory, whole))
    assert {**ours, "wall_s": 0} == {**theirs, "wall_s": 0}
    (run,) = wandb.runs
    assert [point["episode"] for point in run.points] == [*range(1, 13), 12]
    assert run.summary["eval/score"] == ours["mean_score"]
    assert run.summary["eval/score/g04"] == ours["groups"]["g04"]["mean_score"]
    assert run.ends == [0]
    assert run.asked["mode"] == "offline"
    assert run.asked["name"].endswith("sero/skillworld/seed_42")


def test_the_tracker_may_come_and_go_between_processes(
    bench, undisturbed, no_report, outcome, wandb
):
    with pytest.raises(BudgetSpent):
        bench.run("logger=wandb", "budget.calls=60")
    assert wandb.runs[0].ends == [1]
    bench.run()
    assert len(wandb.runs) == 1
    assert outcome(bench.directory()) == outcome(undisturbed.directory())


# ---- signals ------------------------------------------------------------------------------------

SLOW = """
import asyncio, sys
from sero.skillworld import SkillWorldBackbone

usual, delay = SkillWorldBackbone.generate, float(sys.argv[1])

async def slow(self, request):
    await asyncio.sleep(delay)
    return await usual(self, request)

SkillWorldBackbone.generate = slow
sys.path.insert(0, sys.argv[2])
from train import CONF, job
from sero.config.front import launch

sys.exit(launch(CONF, "train", job, ["train.py", *sys.argv[3:]]))
"""


@pytest.mark.parametrize(
    ("choice", "grown", "phase", "delay"),
    [((), "episodes.jsonl", "train", "0.01"), ((STATIC,), "predictions.jsonl", "eval", "0.15")],
)
def test_sigterm_stops_a_slow_run_which_goes_on_as_if_undisturbed(
    bench, undisturbed, no_report, outcome, status_of, rows, choice, grown, phase, delay
):
    directory, whole = bench.directory(*choice), undisturbed.directory(*choice)
    # Written early: after every episode, and about once a second of evaluation.
    line = bench.line(*choice, "train.checkpoint_every=1", "evaluate.concurrency=1")
    command = [sys.executable, "-c", SLOW, delay, str(SCRIPTS), *line]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) as process:
        try:
            path = directory / grown
            limit = time.monotonic() + 100
            while not (path.exists() and path.stat().st_size) and process.poll() is None:
                assert time.monotonic() < limit, "nothing was written"
                time.sleep(0.02)
            process.send_signal(signal.SIGTERM)
            began = time.monotonic()
            _, said = process.communicate(timeout=30)
            took = time.monotonic() - began
        finally:
            process.kill()
    assert process.returncode == 128 + signal.SIGTERM == 143, said
    assert took < 10
    assert "the same command goes on from here" in said
    status = status_of(directory)
    assert (status["state"], status["phase"]) == ("interrupted", phase)
    assert status["reason"] == "stopped by SIGTERM"
    ours, theirs = rows(directory / grown), rows(whole / grown)
    assert 0 < len(ours) < len(theirs)
    assert ours == theirs[: len(ours)]
    assert status["episode"] == (len(ours) if phase == "train" else None)
    assert read_json(directory / "manifest.json")["end"] is not None

    assert bench.run(*choice).exit_code == 0
    assert outcome(directory) == outcome(whole)
