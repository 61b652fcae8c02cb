"""Real NaturalPlan items through an OpenAI-compatible server, from training to the report."""

import json
import os
from collections import Counter
from pathlib import Path

import planning_server
import pytest
import warm_job
from chat_server import serving

from sero.roles.load import card_to_data, load_pool

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("SERO_SHARED", ROOT.parent / "shared"))
SAMPLE = SHARED / "data" / "naturalplan" / "sample.jsonl"

REACHABLE = {
    "invalid_card",
    "leak",
    "duplicate_name",
    "near_duplicate",
    "family_dominates",
    "validator_generated",
    "terminal_count",
    "no_gain",
    "harmful",
}


def gold_text(item: dict) -> str:
    gold = item["golden_plan"]
    return "SOLUTION: " + " ".join(gold) if isinstance(gold, list) else gold


def train(url: str, folder: Path, seed: int) -> Path:
    overrides = [
        "experiment=single",
        "benchmark=naturalplan",
        "encoder=hashing",
        "backbone=openai",
        "backbone.model=planner",
        f"backbone.base_url={url}",
        f"benchmark.source={SAMPLE}",
        "benchmark.n_heldout=null",
        "benchmark.allow_counts=true",
        "logger=none",
        "progress=plain",
        "pool.p_max=40",
        "guard.max_family_share=0.25",
        "train.main_epochs=3",
        "early_stop.enabled=false",
        f"seed={seed}",
        f"paths.runs={folder / 'runs'}",
        f"paths.cache={folder / 'cache'}",
    ]
    assert warm_job.run(*overrides) == 0
    (directory,) = (folder / "runs" / "single").glob(f"*/sero/naturalplan/seed_{seed}")
    return directory


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two seeds against one server: its memory after each, and the run directories."""
    if not SAMPLE.exists():
        pytest.skip(f"needs the sample items at {SAMPLE}, which are not part of the project")
    items = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    answers = {item["prompt_0shot"].split("\nSOLUTION")[0]: gold_text(item) for item in items}
    pool = load_pool("package:naturalplan/seed_pool.yaml")
    crowded = next(c for c in pool if c.capability_family == "time-windows")
    folder = tmp_path_factory.mktemp("naturalplan")
    server = planning_server.PlanningServer(answers, card_to_data(crowded))
    with serving(server):
        first = train(server.url, folder, 1)
        n_first = len(server.bodies)
        second = train(server.url, folder, 2)
    return server.bodies[:n_first], server.bodies[n_first:], first, second


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_training_evaluation_and_report_complete(runs):
    _, _, first, _ = runs
    result = json.loads((first / "result.json").read_text())
    assert result["n"] == 30
    assert result["failures"] == 0
    assert not result["simulated"]
    assert (first / "report.html").stat().st_size > 1000
    episodes = lines(first / "episodes.jsonl")
    assert len(episodes) == 150
    assert any(row["committed"] for row in episodes)


def test_every_reason_an_add_can_reach_was_met(runs):
    met = Counter(
        code
        for directory in runs[2:]
        for row in lines(directory / "episodes.jsonl")
        if row["action"] == "add"
        for code in row["reasons"]
    )
    assert set(met) == REACHABLE


def test_requests_carry_what_an_answer_depends_on(runs):
    bodies = [*runs[0], *runs[1]]
    for body in bodies:
        assert {"temperature", "max_tokens", "seed", "model", "messages"} <= body.keys()
    cards = [b for b in bodies if b["messages"][0]["content"].startswith("You write role cards")]
    assert cards
    for body in cards:
        assert body["temperature"] == 0.7
        schema = body["response_format"]["json_schema"]["schema"]
        assert "system_prompt" in schema["required"]


def test_nothing_is_sent_twice_and_a_second_seed_reuses_what_is_equal(runs):
    first, second, *_ = runs
    sent = [json.dumps(body, sort_keys=True) for body in (*first, *second)]
    assert len(sent) == len(set(sent))
    result = json.loads((runs[3] / "result.json").read_text())
    assert result["requests"] == len(second)
    assert result["cache_hits"] > result["requests"]
