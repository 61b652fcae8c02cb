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
from typer.testing import CliRunner

from sero.cli.app import build_app
from sero.config import composer, parse_config
from sero.config.front import launch

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ("naturalplan", "olympiadbench", "tablebench")
METHODS = (
    *("cot", "sc", "workflow", "static_dag", "static", "random_evolution", "sero"),
    *("gated_random", "credit_heuristic", "gptswarm"),
    *("debate", "mad", "dmad", "meta_debate_mad", "meta_debate_dmad"),
    *("random_mad", "random_dmad"),
)
SEEDS = ("42", "43", "44") if os.environ.get("SERO_WHOLE_TABLE") else ("42",)
"""`SERO_WHOLE_TABLE=1` runs all three of the experiment's, which takes minutes more."""


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


@pytest.fixture
def table(tmp_path):
    """The server, knowing every task, and the command line of the table."""
    server = TableServer()
    with gold_server.serving(server):
        line = words(tmp_path, server.url)
        answers = {}
        with composer(ROOT / "conf", "train") as composing:
            for name in BENCHMARKS:
                composed = composing.compose([*line, f"benchmark={name}"])
                split = parse_config(composed.config, composed.choices).benchmark.build().load()
                for task in (*split.train, *split.heldout):
                    answers[task.prompt] = gold_server.Answers(
                        right=said(name, task), wrong="I cannot say."
                    )
        server.answers = answers
        yield server, line


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
def test_the_whole_table(table, tmp_path):
    """Every method and control on three benchmarks; then nothing is left to do."""
    server, line = table
    line = line if len(SEEDS) == 3 else [*line, f"seed={','.join(SEEDS)}"]
    code, table_of_run = run_in_parallel(line, tmp_path)
    assert code == 0
    found = results(tmp_path)
    assert set(found) == {(m, b, s) for m in METHODS for b in BENCHMARKS for s in SEEDS}
    assert {row["n"] for row in found.values()} == {4}
    assert sum(row["requests"] for row in found.values()) == len(server.bodies)

    asked = len(server.bodies)
    again = line if len(SEEDS) == 3 else [*line, "benchmark=tablebench"]
    code, _ = run_in_parallel(again, tmp_path)
    assert code == 0
    assert len(server.bodies) == asked, "a finished table sends no request"

    shown = CliRunner().invoke(build_app(), ["report", str(tmp_path / "runs")])
    assert shown.exit_code == 0, shown.output
    assert shown.output == table_of_run
    overview = shown.output.split("\n\n")[0].splitlines()
    assert overview[1].split() == ["row", *(f"{b}-generated" for b in BENCHMARKS), "mean"]
    assert {row.split()[0] for row in overview[3 : 3 + len(METHODS)]} == set(METHODS)
    assert "–" not in "".join(overview[3 : 3 + len(METHODS)])


def test_a_job_that_fails_leaves_the_others_and_is_done_alone(table, tmp_path, capfd):
    server, line = table
    server.broken = True
    narrow = ["benchmark=tablebench", "method=cot,sc,workflow,static_dag", "seed=42,43"]
    assert run(line, *narrow) == 75
    found = results(tmp_path)
    assert {method for method, _, _ in found} == {"cot", "workflow", "static_dag"}
    shown = capfd.readouterr().out
    assert "Failed or unfinished runs, in none of the tables: 2" in shown
    assert "interrupted" in shown
    assert "HTTP 500" in shown or "500" in shown

    server.broken = False
    asked = len(server.bodies)
    assert run(line, *narrow) == 0
    assert set(results(tmp_path)) == {
        (m, "tablebench", s) for m in ("cot", "sc", "workflow", "static_dag") for s in ("42", "43")
    }
    again = server.bodies[asked:]
    assert again
    assert {body["temperature"] for body in again} == {0.7}


def test_self_consistency_sends_three_requests_and_a_rerun_none(table, tmp_path):
    server, line = table
    narrow = ["benchmark=tablebench", "method=sc", "seed=42"]
    assert run(line, *narrow) == 0
    assert len(server.bodies) == 3 * 4
    assert len({body["seed"] for body in server.bodies}) == 3 * 4
    assert run(line, *narrow) == 0
    assert len(server.bodies) == 3 * 4


def test_chain_of_thought_is_byte_equal_over_two_runs(table, tmp_path):
    server, line = table
    narrow = ["benchmark=tablebench", "method=cot", "seed=42"]
    assert run(line, *narrow) == 0
    first = [path.read_bytes() for path in sorted(tmp_path.rglob("predictions.jsonl"))]
    asked = len(server.bodies)
    assert run(line, *narrow, f"paths.runs={tmp_path / 'again'}") == 0
    second = [path.read_bytes() for path in sorted(tmp_path.rglob("again/**/predictions.jsonl"))]
    assert first == second
    assert len(server.bodies) == asked == 4
