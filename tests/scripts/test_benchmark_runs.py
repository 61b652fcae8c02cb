"""A short training run on every benchmark's made items, against a server that knows their gold."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gold_server
import pytest
import train
import warm_job
from chat_server import serving

from sero.benchmarks.base import Benchmark, Split, Task
from sero.config import RunConfig

WRONG = "I cannot say."


def naturalplan_gold(task: Task) -> str:
    gold = task.reference["golden_plan"]
    return gold if isinstance(gold, str) else "SOLUTION: " + " ".join(gold)


def olympiad_gold(task: Task) -> str:
    """One box for each part of the gold that stands between dollars."""
    (gold,) = task.reference["final_answer"]
    return f"So the final answer is \\boxed{{{gold.strip('$')}}}"


@dataclass(frozen=True)
class Case:
    """A benchmark, how its gold is said, and the name its figures stand under."""

    gold: Any
    name: str


CASES = {
    "naturalplan": Case(naturalplan_gold, "naturalplan-generated"),
    "olympiadbench": Case(olympiad_gold, "olympiadbench-generated"),
    "tablebench": Case(
        lambda task: f"Final Answer: {task.reference['answer']}", "tablebench-generated"
    ),
    "toy": Case(lambda task: f"Answer: {task.reference['answer']}", "toy"),
}
N_HELDOUT = 9


def overrides(benchmark: str, folder: Path, url: str) -> list[str]:
    return [
        "experiment=single",
        f"benchmark={benchmark}",
        "benchmark.source=generated",
        "benchmark.generated.n=40",
        "benchmark.generated.difficulty=1",
        "benchmark.n_train=5",
        f"benchmark.n_heldout={N_HELDOUT}",
        "encoder=hashing",
        "backbone=openai",
        "backbone.model=gold",
        f"backbone.base_url={url}",
        "logger=none",
        "progress=none",
        "train.main_epochs=1",
        "gate.warmup=strict",
        "retrieval.spec_slots=12",  # an added role speaks, whatever the task says
        "retrieval.family_cover=off",
        f"paths.runs={folder / 'runs'}",
        f"paths.cache={folder / 'cache'}",
        f"paths.data={folder / 'data'}",
    ]


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@dataclass(frozen=True)
class Trained:
    """A finished run, the server it had, and what it was asked to be."""

    name: str
    benchmark: Benchmark
    split: Split
    server: Any
    n_requests: int
    run: Path
    config: RunConfig
    resolved: dict[str, Any]


QUICKEST = "toy"
PARAMS = [
    pytest.param(name, marks=() if name == QUICKEST else pytest.mark.slow) for name in sorted(CASES)
]


@pytest.fixture(scope="module", params=PARAMS)
def trained(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    server = gold_server.GoldServer()
    with serving(server):
        words = overrides(request.param, folder, server.url)
        config, resolved, run = warm_job.configured(*words)
        benchmark = config.benchmark.build()
        split = benchmark.load()
        server.terminal = benchmark.seed_pool().terminal.name
        server.answers = {
            task.prompt: gold_server.Answers(right=CASES[request.param].gold(task), wrong=WRONG)
            for task in (*split.train, *split.heldout)
        }
        assert train.job(config, run, resolved) == 0
        assert run.match(f"runs/single/*/sero/{request.param}/seed_42")
        yield Trained(
            name=request.param,
            benchmark=benchmark,
            split=split,
            server=server,
            n_requests=len(server.bodies),
            run=run,
            config=config,
            resolved=resolved,
        )


def test_the_run_completes_and_commits(trained):
    assert json.loads((trained.run / "status.json").read_text())["state"] == "completed"
    episodes = rows(trained.run / "episodes.jsonl")
    assert len(episodes) == 3 * len(trained.split.train)
    committed = [row for row in episodes if row["committed"]]
    assert committed
    assert any(row["action"] == "add" for row in committed)
    assert (trained.run / "report.html").stat().st_size > 1000


def test_every_heldout_item_is_scored_as_the_server_planned(trained):
    predictions = {row["id"]: row for row in rows(trained.run / "predictions.jsonl")}
    heldout = {task.id: task for task in trained.split.heldout}
    assert predictions.keys() == heldout.keys()
    assert len(heldout) == N_HELDOUT
    for item, row in predictions.items():
        assert row["failure"] is None
        planned = trained.server.planned[heldout[item].prompt, row["response"]]
        assert row["score"] == float(planned), row["reason"]
    result = json.loads((trained.run / "result.json").read_text())
    assert result["benchmark"] == CASES[trained.name].name == trained.benchmark.name
    assert (result["n"], result["failures"], result["simulated"]) == (N_HELDOUT, 0, False)
    assert result["mean_score"] == pytest.approx(
        sum(row["score"] for row in predictions.values()) / N_HELDOUT
    )
    assert result["mean_score"] > 0.5  # a helper was kept and no poison
    assert result["requests"] == trained.n_requests


def test_what_the_server_planned_is_the_verdict_on_every_task(trained):
    """Both answers to every task, whether a rollout met them or not."""
    for task in (*trained.split.train, *trained.split.heldout):
        answers = trained.server.answers[task.prompt]
        for response, value in ((answers.right, 1.0), (answers.wrong, 0.0)):
            score = trained.benchmark.score(trained.benchmark.parse(task.prompt, response), task)
            assert score.value == value, (task.id, response, score.reason)


def test_traces_tell_every_rollout(trained):
    traces = rows(trained.run / "traces.jsonl")
    rollouts = [row for row in traces if "rollout" in row]
    assert {row["item"] for row in rollouts} == {
        task.id for task in (*trained.split.train, *trained.split.heldout)
    }
    terminal = trained.server.terminal
    for row in rollouts:
        assert row["rollout"]["team"][-1] == terminal
        assert any(message["role"] == terminal for message in row["rollout"]["messages"])
        assert row["score"] in (0.0, 1.0)
    sent = [json.dumps(body, sort_keys=True) for body in trained.server.bodies]
    assert len(sent) == len(set(sent))


def test_no_prompt_holds_a_gold_answer_before_a_role_said_it(trained):
    """Drafts are asked with the card and the task alone."""
    for body in trained.server.bodies:
        user = body["messages"][-1]["content"]
        if user in trained.server.answers:
            assert trained.server.answers[user].right not in user


def test_the_same_again_sends_nothing(trained, tmp_path):
    """Neither in the finished run's folder, nor in another one with the same cache."""
    before = {path: path.read_bytes() for path in trained.run.rglob("*") if path.is_file()}
    assert train.job(trained.config, trained.run, trained.resolved) == 0
    assert {path: path.read_bytes() for path in before} == before
    elsewhere = tmp_path / "elsewhere"
    assert train.job(trained.config, elsewhere, trained.resolved) == 0
    assert len(trained.server.bodies) == trained.n_requests
    for name in ("episodes.jsonl", "predictions.jsonl", "pool/final.yaml"):
        assert (elsewhere / name).read_bytes() == (trained.run / name).read_bytes()
