"""The scripts' front end with a job of the test's own; the runs' table is listened to."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sero.config import RunConfig
from sero.config.front import LEDGER, launch, worst
from sero.errors import BudgetSpent, DataError

CONF = Path(__file__).resolve().parents[2] / "conf"
Launch = Callable[..., int]


@pytest.fixture
def jobs() -> list[tuple[Path, RunConfig, dict[str, Any]]]:
    return []


@pytest.fixture
def tables(monkeypatch) -> list[list[Path]]:
    """What every printed table was about."""
    seen: list[list[Path]] = []
    monkeypatch.setattr(
        "sero.reporting.summary.print_summary",
        lambda directories, console: seen.append(directories),
    )
    return seen


@pytest.fixture
def start(jobs, tables, tmp_path, monkeypatch, checked_warm) -> Launch:
    """Launches a script in an empty folder; `gate.tasks` says how a job ends."""
    monkeypatch.chdir(tmp_path)

    def job(config: RunConfig, directory: Path, resolved: dict[str, Any]) -> int:
        jobs.append((directory, config, resolved))
        directory.mkdir(parents=True, exist_ok=True)
        match config.gate.tasks:
            case 2:
                raise DataError("no such split")
            case 3:
                raise BudgetSpent("spent")
            case 4:
                raise ZeroDivisionError("a mistake in the program")
            case 5:
                raise KeyboardInterrupt
            case 6:
                return 143
        return 0

    return lambda *words, script="train": launch(CONF, script, job, ["train.py", *words])


def test_the_quickstart_runs_both_methods_and_prints_one_table(start, jobs, tables):
    assert start() == 0
    base = jobs[0][0].parent.parent.parent
    assert base.parent == Path("runs/quickstart")
    assert [directory for directory, _, _ in jobs] == [
        base / method / "skillworld" / "seed_42" for method in ("static", "sero")
    ]
    assert tables == [[directory for directory, _, _ in jobs]]
    resolved = jobs[1][2]
    assert resolved["method"]["name"] == "sero"
    assert resolved["benchmark"]["world"] == 42


def test_an_override_of_a_swept_key_narrows_the_sweep(start, jobs):
    assert start("method=sero", "seed=1,2") == 0
    assert [(c.method.choice, c.seed) for _, c, _ in jobs] == [("sero", 1), ("sero", 2)]


@pytest.mark.parametrize("words", [("seed=range(1,3)",), ("--multirun", "seed=1,2")])
def test_a_sweep_runs_with_and_without_the_flag(start, jobs, words):
    assert start(*words, "experiment=single") == 0
    assert [c.seed for _, c, _ in jobs] == [1, 2]


def test_nothing_but_run_directories_is_left(start, tmp_path):
    assert start("experiment=single") == 0
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["single"]
    assert LEDGER not in os.environ


def test_evaluate_has_its_own_key_and_directories(start, jobs):
    assert start("from_pool=pool.yaml", script="evaluate") == 0
    directory, config, _ = jobs[0]
    assert (config.from_pool, config.method.choice) == ("pool.yaml", "static")
    assert directory.parts[2].startswith("evaluate+from_pool-pool.yaml-")


def test_faults_stop_everything_before_the_first_job(start, jobs, capsys):
    assert start("gate.taks=8", "policy.hidden=abc", "credit.mu=2", "backbone=qwen3_9b") == 2
    said = capsys.readouterr().err
    assert said.startswith("conf/ and the command line: 4 problem(s) in the configuration\n")
    for key in ("gate.taks", "policy.hidden", "credit.mu", "backbone"):
        assert f"\n  {key}: " in said
    assert jobs == []


@pytest.mark.parametrize(
    ("tasks", "code", "said"),
    [(2, 2, "no such split\n"), (3, 75, "spent\n"), (4, 1, "a mistake in the program")],
)
def test_a_failed_job_leaves_the_others(start, jobs, tables, capsys, caplog, tasks, code, said):
    assert start("experiment=single", f"gate.tasks={tasks},1") == code
    assert [c.gate.tasks for _, c, _ in jobs] == [tasks, 1]
    assert len(tables[0]) == 2
    if code == 1:
        assert said in caplog.text  # with its traceback, since only we can mend it
    else:
        assert capsys.readouterr().err == said


@pytest.mark.parametrize(("tasks", "code"), [(5, 130), (6, 143)])
def test_an_interrupt_ends_the_sweep(start, jobs, tables, tasks, code):
    assert start("experiment=single", f"gate.tasks=1,{tasks},7") == code
    assert [c.gate.tasks for _, c, _ in jobs] == [1, tasks]
    assert tables == []


def test_a_folder_that_cannot_be_written_is_said_before_any_job(start, jobs, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert start("paths.runs=file") == 74
    assert "cannot write" in capsys.readouterr().err
    assert jobs == []


def test_a_damaged_run_does_not_hide_the_exit_code(start, monkeypatch, capsys):
    def damaged(directories, console):
        raise DataError("predictions.jsonl is damaged")

    monkeypatch.setattr("sero.reporting.summary.print_summary", damaged)
    assert start("experiment=single") == 2
    assert capsys.readouterr().err == "predictions.jsonl is damaged\n"


def test_more_runs_than_a_screen_holds_are_summed_up_over_their_seeds(start, monkeypatch, capsys):
    monkeypatch.setattr("sero.config.front.MOST_SINGLE_RUNS", 1)
    monkeypatch.setattr("sero.reporting.results.make_report", len)
    monkeypatch.setattr("sero.reporting.formats.render_report", lambda n, kind: f"{n} runs\n")
    assert start("experiment=single", "seed=range(2)") == 0
    assert capsys.readouterr().out.endswith("2 runs\n")


def test_wrong_keys_are_named_when_the_configuration_is_only_printed(start, capsys):
    assert start("--cfg", "job", "benchmark.n_traning=4") == 2
    assert "did you mean 'benchmark.n_train'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("codes", "code"),
    [
        ((), 0),
        ((0, 75), 75),
        ((75, 2, 0), 2),  # a loop that resumes on 75 must see what it cannot mend
        ((2, 74), 74),
        ((74, 1), 1),
        ((1, 130, 75), 130),
        ((99, 1), 99),
    ],
)
def test_the_worst_exit_code(codes, code):
    assert worst(codes) == code


def test_hydras_own_flags_pass_through(start, jobs, capsys):
    assert start("--cfg", "job", "experiment=single", "seed=7") == 0
    assert "seed: 7" in capsys.readouterr().out
    assert jobs == []
    with pytest.raises(SystemExit) as caught:
        start("--no-such-flag")
    assert caught.value.code == 2


def test_a_folder_of_ones_own_adds_choices(start, jobs, tmp_path):
    (tmp_path / "mine" / "budget").mkdir(parents=True)
    limits = {"calls": 5, "tokens": None, "hours": None, "usd": None, "runs": None}
    (tmp_path / "mine" / "budget" / "small.yaml").write_text(json.dumps(limits))
    assert start("--config-dir", "mine", "experiment=single", "budget=small") == 0
    assert jobs[0][1].budget.calls == 5


def test_no_more_runs_are_started_than_the_budget_has(start, jobs, capsys, tmp_path):
    words = ("experiment=single", "seed=1,2,3", "budget.runs=2")
    assert start(*words) == 75
    assert [config.seed for _, config, _ in jobs] == [1, 2]
    said = capsys.readouterr().out
    assert "1 run(s) not started, budget.runs is used up; the same command goes on:" in said
    assert said.rstrip().endswith("/sero/skillworld/seed_3")
    assert not list((tmp_path / "runs").glob(".sweeps"))


def test_finished_runs_are_not_counted(start, jobs, capsys):
    assert start("experiment=single", "seed=1") == 0
    for directory, _, _ in jobs:
        (directory / "status.json").write_text('{"state": "completed"}')
    jobs.clear()
    assert start("experiment=single", "seed=1,2,3", "budget.runs=1") == 75
    assert [config.seed for _, config, _ in jobs] == [1, 2]
    assert capsys.readouterr().out.rstrip().endswith("seed_3")


def test_an_interrupted_run_counts_as_one_to_start(start, jobs, tmp_path):
    assert start("experiment=single", "seed=1,2", "budget.runs=1", "gate.tasks=3") == 75
    assert [config.seed for _, config, _ in jobs] == [1]
