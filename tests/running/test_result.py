"""result.json: its keys, and its figures against a slow recount of the run's other files."""

import json
from collections import Counter

import pytest

from sero.errors import BudgetSpent
from sero.running import books
from sero.running.result import Usage
from sero.running.saved import load_pool_state
from sero.storage import read_json

KEYS = [
    "schema_version",
    "method",
    "variant",
    "benchmark",
    "scorer",
    "backbone",
    "simulated",
    "seed",
    "split",
    "n",
    "mean_score",
    "groups",
    "subgroups",
    "metrics",
    "scorer_timeouts",
    "failures",
    "calls",
    "prompt_tokens",
    "completion_tokens",
    "training_cost",
    "evaluation_cost",
    "requests",
    "retries",
    "cache_hits",
    "pool_hash",
    "wall_s",
]
COSTS = ("calls", "prompt_tokens", "completion_tokens")


def recount(rows):
    """Sums over rows of the three costs, one by one."""
    total = dict.fromkeys(COSTS, 0)
    for row in rows:
        for name in COSTS:
            total[name] += row[name]
    return total


def traced(rows):
    """The same sums over the messages of traces, which hold every call but an editor's."""
    total = dict.fromkeys(COSTS, 0)
    for row in rows:
        for message in row["rollout"]["messages"]:
            if not message["replaced"]:
                total["calls"] += 1
                total["prompt_tokens"] += message["prompt_tokens"]
                total["completion_tokens"] += message["completion_tokens"]
    return total


def test_the_figures_of_a_trained_run(bench, no_report, rows):
    bench.run()
    directory = bench.directory()
    result = read_json(directory / "result.json")
    episodes, predictions = (
        rows(directory / "episodes.jsonl"),
        rows(directory / "predictions.jsonl"),
    )

    assert list(result) == KEYS
    trained, evaluated = recount(episodes), recount(predictions)
    assert trained["calls"] > 0
    assert result["training_cost"] == trained
    assert result["evaluation_cost"] == evaluated
    for name in COSTS:
        assert result[name] == trained[name] + evaluated[name]
    traces = rows(directory / "traces.jsonl")
    assert traced(t for t in traces if t["phase"] == "eval") == evaluated

    scores = [row["score"] for row in predictions]
    assert result["n"] == len(scores) == 6
    assert result["mean_score"] == pytest.approx(sum(scores) / 6, abs=1e-12)
    groups = Counter(row["group"] for row in predictions)
    assert {g: row["n"] for g, row in result["groups"].items()} == dict(groups)
    for group, row in result["groups"].items():
        inside = [p["score"] for p in predictions if p["group"] == group]
        assert row["mean_score"] == pytest.approx(sum(inside) / len(inside), abs=1e-12)

    assert (result["subgroups"], result["scorer_timeouts"]) == ({}, 0)
    exact = [row["metrics"]["exact"] for row in predictions]
    assert result["metrics"] == {"exact": {"n": 6, "mean": pytest.approx(sum(exact) / 6)}}

    # Every logical call was either sent or known; nothing is sent twice.
    sent = [bench.spy.key(request) for request in bench.spy.asked]
    assert len(set(sent)) == len(sent) == result["requests"]
    assert result["cache_hits"] == result["calls"] - len(sent)
    assert result["retries"] == result["failures"] == 0
    assert result["pool_hash"] == load_pool_state(directory / "pool" / "final.yaml").pool.hash
    assert result["pool_hash"] == episodes[-1]["pool_hash"]
    assert (result["method"], result["benchmark"], result["seed"]) == ("sero", "skillworld", 42)
    assert (result["scorer"], result["split"], result["schema_version"]) == (
        "partial",
        "heldout",
        1,
    )
    assert result["variant"] == directory.parents[2].name
    assert result["backbone"] == bench.spy.identity.model
    assert result["simulated"] is True
    assert result["wall_s"] > 0.0


def test_a_run_without_training_costs_its_evaluation(undisturbed, rows):
    directory = undisturbed.directory("method=static")
    result = read_json(directory / "result.json")
    evaluated = recount(rows(directory / "predictions.jsonl"))
    assert result["training_cost"] == dict.fromkeys(COSTS, 0)
    assert {name: result[name] for name in COSTS} == result["evaluation_cost"] == evaluated
    assert result["method"] == "static"


def test_a_second_run_with_the_same_cache_costs_the_same_and_sends_nothing(
    bench, undisturbed, no_report
):
    first = read_json(undisturbed.directory() / "result.json")
    bench.run(f"paths.cache={undisturbed.folder / 'cache'}")
    second = read_json(bench.directory() / "result.json")
    assert bench.spy.asked == []
    assert (second["requests"], second["cache_hits"]) == (0, second["calls"])
    varying = ("requests", "cache_hits", "wall_s")
    assert json.dumps({k: v for k, v in second.items() if k not in varying}) == json.dumps(
        {k: v for k, v in first.items() if k not in varying}
    )


def test_usage_adds_up_field_by_field():
    names = ("requests", "retries", "cache_hits", "prompt_tokens", "completion_tokens")
    a = Usage(**{name: i for i, name in enumerate(names, 1)}, wall_s=0.5)
    b = Usage(**{name: 10 * i for i, name in enumerate(names, 1)}, wall_s=0.25)
    assert a + b == Usage(**{name: 11 * i for i, name in enumerate(names, 1)}, wall_s=0.75)
    assert a + Usage() == a


def test_what_was_sent_is_noted_while_the_run_goes_on(bench, no_report, monkeypatch):
    """A killed process writes no last account; what it noted before is what it is billed for."""
    monkeypatch.setattr(books, "NOTE_S", 0.0)
    noted, manifest = [], bench.directory() / "manifest.json"

    def look(request):
        noted.append(read_json(manifest)["usage"]["requests"])

    bench.run(before=look)
    behind = [asked - known for asked, known in enumerate(noted)]
    assert noted == sorted(noted)
    # never further behind than the calls of one episode and those of the items in flight
    assert max(behind) < len(noted) / 2
    assert noted[-1] > 0


def test_usage_is_the_sum_over_the_processes_of_a_run(bench, undisturbed, no_report, rows):
    trained = read_json(undisturbed.directory() / "result.json")["training_cost"]["calls"]
    asked, hits, walls = 0, [], []
    directory = bench.directory()
    # The limits fall in training, behind it, and behind one item.
    for calls in (30, trained, trained + 1, "null"):
        try:
            bench.run(f"budget.calls={calls}")
        except BudgetSpent:
            assert not (directory / "result.json").exists()
        usage = read_json(directory / "manifest.json")["usage"]
        asked += len(bench.spy.asked)
        assert usage["requests"] == asked
        hits.append(usage["cache_hits"])
        walls.append(usage["wall_s"])
    result = read_json(directory / "result.json")
    assert result["requests"] == asked
    assert result["cache_hits"] == hits[-1]
    assert hits == sorted(hits)
    assert walls == sorted(set(walls))
    assert 0 < hits[0] < hits[-1]
    assert walls[-2] < result["wall_s"] <= walls[-1] + 1e-3
    for cost, name in (("training_cost", "episodes"), ("evaluation_cost", "predictions")):
        assert result[cost] == recount(rows(directory / f"{name}.jsonl"))
