"""`experiment=main` against a scripted server: the whole table, a rerun, and a job that fails."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import gold_server
import pytest
import train
import warm_job
from chat_server import serving
from typer.testing import CliRunner

from sero.cli.app import build_app
from sero.config.front import launch

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ("naturalplan", "olympiadbench", "tablebench")
METHODS = (
    *("cot", "sc", "workflow", "static_dag", "static", "random_evolution", "sero"),
    *("gated_random", "credit_heuristic", "gptswarm"),
    *("debate", "mad", "dmad", "meta_debate_mad", "meta_debate_dmad"),
    *("random_mad", "random_dmad"),
)
SEEDS = ("42", "43", "44")
WHOLE = bool(os.environ.get("SERO_FULL_SIZE"))
"""`SERO_FULL_SIZE=1` runs every job of the experiment in parallel, which takes minutes more."""
SHORT = ("cot", "sero", "meta_debate_dmad")
"""Methods that stand for all on two of the benchmarks: one role, a trained pool, a debate."""


class TableServer(gold_server.GoldServer):
    """Whoever is asked answers the task, right for about half of the (role, task) pairs.

    Attributes:
        broken: answers 500 to every sampled request, as only self-consistency sends here.
    """

    broken = False

    def reply(self, body: dict) -> str:
        system, user = body["messages"][0]["content"], body["messages"][-1]["content"]
        if system.startswith(gold_server.EDITOR):
            return super().reply(body)
        if self.broken and body["temperature"] == 0.7:
            raise RuntimeError("out of order")
        if (wanted := body.get("response_format")) is not None:
            schema = wanted["json_schema"]["schema"]
            return json.dumps(filled(schema, f"{system}{user}"))
        # a proposal's prompt ends a sentence of its own behind the task
        prompt = next(one for one in self.answers if one.strip().removesuffix(".") in user)
        mark = hashlib.sha256(f"{system}{prompt}{body['seed']}".encode()).digest()
        return self.answers[prompt].right if mark[0] < 128 else self.answers[prompt].wrong


def filled(schema: dict, mark: str):
    """A value that obeys a schema of Meta-Debate, drawn from the hash of a mark."""
    drawn = hashlib.sha256(mark.encode()).hexdigest()
    match schema["type"]:
        case "object":
            return {key: filled(one, mark + key) for key, one in schema["properties"].items()}
        case "array":
            return [filled(schema["items"], f"{mark}{k}") for k in range(schema["minItems"])]
        case "boolean":
            return False
        case "string":
            return f"Names detail {drawn[:8]} of the task"
    return schema["enum"][int(drawn, 16) % len(schema["enum"])]


def words(folder: Path, url: str) -> list[str]:
    return [
        "experiment=main",
        "benchmark.source=generated",
        "benchmark.generated.n=40",
        "benchmark.generated.difficulty=1",
        "benchmark.n_train=2",
        "benchmark.n_heldout=4",
        "train.warmup_epochs=1",
        "train.main_epochs=1",
        "encoder=hashing",
        "backbone=openai",
        "backbone.model=scripted",
        f"backbone.base_url={url}",
        "backbone.max_retries=0",
        "logger=none",
        "progress=none",
        f"paths.runs={folder / 'runs'}",
        f"paths.cache={folder / 'cache'}",
        f"paths.data={folder / 'data'}",
    ]


def said(benchmark: str, task) -> str:
    gold = task.reference
    match benchmark:
        case "naturalplan":
            plan = gold["golden_plan"]
            return plan if isinstance(plan, str) else "SOLUTION: " + " ".join(plan)
        case "olympiadbench":
            return f"So the final answer is \\boxed{{{gold['final_answer'][0].strip('$')}}}"
        case _:
            return f"Final Answer: {gold['answer']}"


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """What is right and wrong on every task of the table, by its prompt."""
    line = words(tmp_path_factory.mktemp("tasks"), "http://127.0.0.1:1/v1")
    found = {}
    for name in BENCHMARKS:
        config, _, _ = warm_job.configured(*line, f"benchmark={name}")
        split = config.benchmark.build().load()
        for task in (*split.train, *split.heldout):
            found[task.prompt] = gold_server.Answers(right=said(name, task), wrong="I cannot say.")
    return found


@pytest.fixture
def table(answers, tmp_path):
    """The server, knowing every task, and the command line of the table."""
    server = TableServer(answers)
    with serving(server):
        yield server, words(tmp_path, server.url)


def run(line: list[str], *more: str) -> int:
    return launch(ROOT / "conf", "train", train.job, ["train.py", *line, *more])


def run_in_parallel(line: list[str], folder: Path) -> tuple[int, str]:
    """The command as a user gives it, a process per core; its exit code and its table."""
    done = subprocess.run(
        [
            *(sys.executable, str(ROOT / "scripts" / "train.py"), *line),
            *("hydra/launcher=joblib", "hydra.launcher.n_jobs=2"),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout


def results(folder: Path) -> dict[tuple[str, str, str], dict]:
    """(method, benchmark, seed) to result.json."""
    found = {}
    for path in sorted(folder.glob("runs/main/*/*/*/seed_*/result.json")):
        method, benchmark, seed = path.parts[-4:-1]
        found[method, benchmark, seed.removeprefix("seed_")] = json.loads(path.read_text())
    return found


@pytest.mark.slow
@pytest.mark.skipif(not WHOLE, reason="SERO_FULL_SIZE=1 runs the 153 jobs")
def test_the_whole_table(table, tmp_path):
    """Every method and control on three benchmarks, three seeds; then nothing is left to do."""
    server, line = table
    code, table_of_run = run_in_parallel(line, tmp_path)
    assert code == 0
    assert set(results(tmp_path)) == {(m, b, s) for m in METHODS for b in BENCHMARKS for s in SEEDS}
    assert_counted(server, tmp_path)
    asked = len(server.bodies)
    code, _ = run_in_parallel(line, tmp_path)
    assert code == 0
    assert len(server.bodies) == asked, "a finished table sends no request"
    assert report(tmp_path) == table_of_run
    rows = overview_of(tmp_path, BENCHMARKS)
    assert set(rows) == set(METHODS)
    assert not any("–" in row for row in rows.values())


def test_the_experiment_is_the_whole_table():
    with warm_job.composing() as composing:
        composed = composing.compose(["experiment=main"])
    found = {key: set(values.split(",")) for key, values in composed.sweep.items()}
    assert found == {"benchmark": {*BENCHMARKS}, "method": {*METHODS}, "seed": {*SEEDS}}
    assert composed.multirun


@pytest.mark.slow
def test_a_column_of_the_table_and_rows_of_the_others(table, tmp_path):
    """Every method on one benchmark, one of each kind on the others, reported together."""
    server, line = table
    jobs = [
        *((method, "tablebench") for method in METHODS),
        *((method, name) for method in SHORT for name in ("naturalplan", "olympiadbench")),
    ]
    for method, name in jobs:
        assert warm_job.run(*line, f"method={method}", f"benchmark={name}", "seed=42") == 0
    assert set(results(tmp_path)) == {(*job, "42") for job in jobs}
    assert_counted(server, tmp_path)

    rows = overview_of(tmp_path, BENCHMARKS)
    assert {name: row.count("–") for name, row in rows.items()} == {
        method: 0 if method in SHORT else 3 for method in METHODS
    }


def assert_counted(server: TableServer, folder: Path) -> None:
    """Every run has all items, and every request is some run's."""
    found = results(folder)
    assert {row["n"] for row in found.values()} == {4}
    assert sum(row["requests"] for row in found.values()) == len(server.bodies)


def report(folder: Path, *, code: int = 0) -> str:
    """What `sero report` prints before it ends with this code."""
    shown = CliRunner().invoke(build_app(), ["report", str(folder / "runs")])
    assert shown.exit_code == code, shown.output
    return shown.output


def overview_of(folder: Path, benchmarks: tuple[str, ...]) -> dict[str, list[str]]:
    """The words of the report's first table, by method."""
    overview = report(folder).split("\n\n")[0].splitlines()
    assert overview[1].split() == ["row", *(f"{b}-generated" for b in benchmarks), "mean"]
    return {row.split()[0]: row.split()[1:] for row in overview[3 : 3 + len(METHODS)]}


def test_a_job_that_fails_leaves_the_others_and_is_done_alone(table, tmp_path, capfd):
    server, line = table
    server.broken = True
    narrow = ["benchmark=tablebench", "method=sc,cot", "seed=42"]
    assert run(line, *narrow) == 75
    assert set(results(tmp_path)) == {("cot", "tablebench", "42")}
    shown = capfd.readouterr().out
    assert "interrupted" in shown
    reported = report(tmp_path, code=1)
    assert "Failed or unfinished runs, in none of the tables: 1" in reported
    assert "HTTP 500" in reported

    server.broken = False
    asked = len(server.bodies)
    assert run(line, *narrow) == 0
    assert set(results(tmp_path)) == {(m, "tablebench", "42") for m in ("cot", "sc")}
    again = server.bodies[asked:]
    assert again
    assert {body["temperature"] for body in again} == {0.7}


def test_self_consistency_sends_three_requests_and_a_rerun_none(table, tmp_path):
    server, line = table
    narrow = ["benchmark=tablebench", "method=sc", "seed=42"]
    assert warm_job.run(*line, *narrow) == 0
    assert len(server.bodies) == 3 * 4
    assert len({body["seed"] for body in server.bodies}) == 3 * 4
    assert warm_job.run(*line, *narrow) == 0
    assert len(server.bodies) == 3 * 4


def test_chain_of_thought_is_byte_equal_over_two_runs(table, tmp_path):
    server, line = table
    narrow = ["benchmark=tablebench", "method=cot", "seed=42"]
    assert warm_job.run(*line, *narrow) == 0
    first = [path.read_bytes() for path in sorted(tmp_path.rglob("predictions.jsonl"))]
    asked = len(server.bodies)
    assert warm_job.run(*line, *narrow, f"paths.runs={tmp_path / 'again'}") == 0
    second = [path.read_bytes() for path in sorted(tmp_path.rglob("again/**/predictions.jsonl"))]
    assert first == second
    assert len(server.bodies) == asked == 4
