"""Debates as jobs: by name on the command line, twice the same, finished once."""

import dataclasses
import hashlib
import json
from pathlib import Path

import pytest

from sero.backbones.scripted import ScriptedBackbone
from sero.config import composer, parse_config
from sero.config.variant import resolved_data, run_directory
from sero.errors import ConfigError
from sero.running.job import run_job
from sero.storage import read_json, read_lines

CONF = Path(__file__).resolve().parents[2] / "conf"
DEBATES = ("debate", "mad", "dmad")


@pytest.fixture(scope="module")
def composing():
    with composer(CONF, "train") as made:
        yield made


def lively(request):
    """Replies that depend on the whole request, so that another prompt or sample shows."""
    text = json.dumps([[m.content for m in request.messages], request.sample_index])
    draw = int(hashlib.sha256(text.encode()).hexdigest()[:6], 16)
    if "VERDICT" in request.messages[-1].content:
        return ("VERDICT: stop\nAnswer: 12", "VERDICT: continue", "VERDICT: stop", "")[draw % 4]
    return ("Answer: 12", "Answer: 13", "", "It is so.")[draw % 4]


@pytest.fixture
def job(composing, tmp_path, monkeypatch):
    """Run a method on the toy with stores of its own; the directory, and the requests sent."""
    monkeypatch.setattr("sero.running.job.write_page", lambda page: None)

    def run(method, store, *more):
        folder = tmp_path / store
        composed = composing.compose(
            [
                *("experiment=single", "logger=none", "progress=none", f"method={method}"),
                *("benchmark=toy", "encoder=hashing", "backbone=scripted"),
                *("benchmark.n_train=6", "benchmark.n_heldout=9", *more),
                *(f"paths.{name}={folder / name}" for name in ("runs", "cache", "data")),
            ]
        )
        config = parse_config(composed.config, composed.choices)
        backbone = ScriptedBackbone(lively)
        scripted = dataclasses.replace(config.backbone, target=lambda section: backbone)
        config = dataclasses.replace(config, backbone=scripted)
        directory = run_directory(composed.config, composed.choices, composing)
        run_job(config, directory, resolved_data(composed.config), train=True)
        return directory, backbone.requests

    return run


def said(directory):
    """The traces without what a clock or a cache says."""
    text = (directory / "traces.jsonl").read_text()
    rows = [json.loads(line) for line in text.splitlines()]
    for row in rows:
        for message in row["rollout"]["messages"]:
            del message["latency_s"], message["cached"]
    return json.dumps(rows)


@pytest.mark.parametrize("method", DEBATES)
def test_two_runs_are_equal_and_a_third_sends_nothing(job, method):
    first, sent = job(method, "a")
    second, again = job(method, "b")
    predictions = (first / "predictions.jsonl").read_bytes()
    assert predictions == (second / "predictions.jsonl").read_bytes()
    assert said(first) == said(second)
    assert len(sent) == len(again) == read_json(first / "result.json")["requests"] > 9

    warm, none = job(method, "a", "evaluate.concurrency=2", "schema.max_prompt_chars=3999")
    assert (warm != first, none) == (True, [])  # another run that asks the same
    assert (warm / "predictions.jsonl").read_bytes() == predictions
    assert said(warm) == said(first)

    assert job(method, "a") == (first, [])  # a finished one


def test_confidence_is_a_metric_of_every_item_and_of_the_result(job):
    directory, _ = job("dmad", "a")
    shares = [row["metrics"]["confidence"] for row in read_lines(directory / "predictions.jsonl")]
    assert len(shares) == 9
    assert set(shares) <= {0.0, 1 / 3, 2 / 3, 1.0}
    assert len(set(shares)) > 1
    found = read_json(directory / "result.json")["metrics"]["confidence"]
    assert found == {"n": 9, "mean": pytest.approx(sum(shares) / 9)}


def test_a_debate_finds_the_samples_of_self_consistency_in_the_cache(job):
    _, samples = job("sc", "a")
    _, requests = job("debate", "a")
    assert len(samples) == 9 * 3
    assert len(requests) == 9 * 3  # the second round alone
    assert all("### Your previous message" in r.messages[-1].content for r in requests)


@pytest.mark.parametrize("method", DEBATES)
def test_the_simulated_world_has_no_prompt_for_it(composing, method):
    composed = composing.compose([f"method={method}"])
    with pytest.raises(
        ConfigError,
        match=f"method={method} takes prompt from the benchmark, and benchmark=skillworld has no "
        "such values; choose another method, or the benchmark it belongs to",
    ):
        parse_config(composed.config, composed.choices)


@pytest.mark.parametrize(
    ("method", "change", "fault"),
    [
        ("debate", "temperature=0", "method.temperature: got 0"),
        ("debate", "agents=1", "method.agents: got 1"),
        ("mad", "rounds=0", "method.rounds: got 0"),
        ("dmad", "rounds=0", "method.rounds: got 0"),
    ],
)
def test_numbers_out_of_range(composing, method, change, fault):
    words = [f"method={method}", f"method.{change}", "benchmark=toy"]
    composed = composing.compose([*words, "encoder=hashing", "backbone=scripted"])
    with pytest.raises(ConfigError, match=fault):
        parse_config(composed.config, composed.choices)


def test_debates_are_asked_for_by_name_in_the_table(composing):
    for method in DEBATES:
        composed = composing.compose(["experiment=main", f"method={method}", "encoder=hashing"])
        config = parse_config(composed.config, composed.choices)
        assert (config.experiment, config.method.choice) == ("main", method)
