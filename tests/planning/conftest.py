"""Runs that are planned, and then really done, each with an empty call cache of its own."""

import dataclasses
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import warm_job

from sero.backbones.base import Request
from sero.backbones.scripted import ScriptedBackbone
from sero.config import Component, Composer, RunConfig, parse_config
from sero.config.variant import resolved_data
from sero.planning.assumed import Assumed
from sero.planning.job import JobPlan, plan_job, read_items
from sero.running.job import run_job
from sero.storage import read_json, read_lines

CONF = Path(__file__).resolve().parents[2] / "conf"
COSTS = ("calls", "prompt_tokens", "completion_tokens", "requests")


@pytest.fixture(scope="session")
def conf() -> Path:
    return CONF


@pytest.fixture(scope="module")
def composing() -> Iterator[Composer]:
    """A composer; what plans a command line meanwhile reads its files once."""
    with warm_job.composing() as made:
        yield made


def lively(request: Request) -> str:
    """Replies that depend on the whole request: every kind of card, verdict and answer occurs."""
    text = json.dumps([[m.content for m in request.messages], request.sample_index])
    mark = hashlib.sha256(text.encode()).hexdigest()
    draw = int(mark[:6], 16)
    if request.role == "editor":
        if draw % 5 == 0:
            return "I would rather not."
        types = ("router", "specialist", "specialist", "validator", "aggregator")
        return json.dumps(
            {
                "name": f"role {mark[:8]}",
                "role_type": types[draw % len(types)],
                "capability_family": f"family-{mark[:3]}",
                "communication_protocol": "text",
                "system_prompt": [f"You are {mark[:24]}.", f"Do {mark[24:48]}."],
            }
        )
    prompt = request.messages[-1].content
    if prompt.startswith(("Write the criteria", "Rewrite the description")):
        rows = [{"name": f"Point {n}", "description": f"{mark[n:]}."} for n in range(3)]
        told = {"criteria": rows, "description": f"Do {mark}."}
        return "none" if draw % 4 == 0 else json.dumps(told)
    if prompt.startswith("Evaluate each candidate"):
        said = re.findall(r"^=== (proposal) (\d+) ", prompt, re.MULTILINE)
        marks = {f"{word}_{n}": draw // int(n) % 5 + 1 for word, n in said}
        scores = {key: {f"c{c}": value for c in (1, 2, 3)} for key, value in marks.items()}
        return "none" if draw % 7 == 0 else json.dumps(scores)
    if "VERDICT: stop" in request.messages[-1].content:
        return ("VERDICT: stop\nAnswer: 12", "VERDICT: continue", "no verdict")[draw % 3]
    if "VERDICT" in request.messages[-1].content:
        return ("VERDICT: ok", "VERDICT: revise\nthe sum", "no verdict")[draw % 3]
    return ("Answer: 12", "", "Final Answer: Paris", "It is so.")[draw % 4]


@dataclass(frozen=True)
class Done:
    """A run's plan, its logical calls by phase as the traces have them, and its result."""

    plan: JobPlan
    calls: Counter[str]
    result: dict[str, Any]

    def outside(self) -> list[str]:
        """What lies outside the plan; nothing, if the plan is right."""
        spans = {str(phase): span for phase, span in self.plan.calls.items()}
        found = {name: self.calls[name] for name in {*spans, *self.calls}}
        tokens = self.plan.tokens
        assert tokens is not None
        spans |= {
            "all calls": self.plan.total,
            "prompt tokens": tokens.prompt,
            "completion tokens": tokens.completion,
            "requests": self.plan.sent,
        }
        names = ("all calls", "prompt tokens", "completion tokens", "requests")
        found |= {name: self.result[key] for name, key in zip(names, COSTS, strict=True)}
        return [
            f"{name}: {n}, planned {spans.get(name)}"
            for name, n in found.items()
            if name not in spans or not spans[name].low <= n <= spans[name].high
        ]


@pytest.fixture
def plan_of(composing, tmp_path) -> Callable[..., JobPlan]:
    """The plan of one job under overrides; `assumed` as `sero plan` takes it."""

    def make(*overrides: str, assumed: Assumed | None = None) -> JobPlan:
        config, _ = compose(composing, tmp_path, overrides)
        return plan_job(config, read_items(config), assumed or Assumed())

    return make


def compose(
    composing: Composer, folder: Path, overrides: tuple[str, ...]
) -> tuple[RunConfig, dict[str, Any]]:
    words = [
        *("experiment=single", "logger=none", "progress=none"),
        *(f"paths.runs={folder}/runs", f"paths.cache={folder}/cache", f"paths.data={folder}/data"),
        *overrides,
    ]
    composed = composing.compose(words)
    config = parse_config(composed.config, composed.choices)
    return config, resolved_data(composed.config)


@pytest.fixture
def carried_out(composing, tmp_path, monkeypatch) -> Callable[..., Done]:
    """Plan a job, then do it; a scripted backbone answers by `lively`."""
    monkeypatch.setattr("sero.running.job.write_page", lambda page: None)

    def make(*overrides: str) -> Done:
        config, resolved = compose(composing, tmp_path, overrides)
        directory = tmp_path / "runs" / "planned"
        plan = plan_job(config, read_items(config), Assumed())
        config = dataclasses.replace(
            config,
            backbone=_lively(config.backbone, "scripted"),
            backbones={name: _lively(part, name) for name, part in config.backbones.items()},
        )
        run_job(config, directory, resolved, train=True)
        calls = Counter()
        for trace in read_lines(directory / "traces.jsonl"):
            said = trace["rollout"]["messages"] if "rollout" in trace else trace["messages"]
            calls[trace["phase"]] += sum(not message.get("replaced") for message in said)
        return Done(plan=plan, calls=calls, result=read_json(directory / "result.json"))

    return make


def _lively(part: Component, name: str) -> Component:
    if part.choice != "scripted":
        return part
    return dataclasses.replace(part, target=lambda section: ScriptedBackbone(lively, name=name))
