"""Whole runs in this process: composed as on a command line, small enough for a second or two."""

import dataclasses
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch

from sero.backbones.base import Completion, Request, request_key
from sero.backbones.scripted import ScriptedBackbone
from sero.config import Component, Composer, RunConfig, composer, parse_config
from sero.config.variant import resolved_data, run_directory
from sero.running.job import JobOutcome, run_job
from sero.running.saved import load_checkpoint
from sero.storage import read_json, read_lines

CONF = Path(__file__).resolve().parents[2] / "conf"

SMALL = (
    "experiment=single",
    "logger=none",
    "progress=none",
    "benchmark.n_train=6",
    "benchmark.n_heldout=6",
    "train.warmup_epochs=1",
    "train.main_epochs=1",
    "train.checkpoint_every=5",
    "credit.loo_every=6",
    "credit.loo_tasks=1",
    "early_stop.enabled=false",
    "evaluate.concurrency=2",
)
"""Twelve episodes and six held-out items."""


@pytest.fixture(scope="module")
def composing() -> Iterator[Composer]:
    with composer(CONF, "train") as made:
        yield made


@dataclass
class Spy:
    """Stands before a backbone: keeps every request, and may do something first.

    Attributes:
        inner: who answers.
        before: called with each request; may raise, as a broken machine does.
        asked: every request so far.
    """

    inner: Any
    before: Callable[[Request], None] = lambda request: None
    asked: list[Request] = field(default_factory=list)

    @property
    def identity(self):
        return self.inner.identity

    @property
    def max_prompt_chars(self):
        return self.inner.max_prompt_chars

    async def generate(self, request: Request) -> Completion:
        self.asked.append(request)
        self.before(request)
        return await self.inner.generate(request)

    async def close(self) -> None:
        await self.inner.close()

    def key(self, request: Request) -> str:
        return request_key(self.identity, request)

    def of_item(self, item: str) -> list[Request]:
        return [request for request in self.asked if item in request.messages[-1].content]


@dataclass
class Bench:
    """Runs below one folder; what a run writes is read back from its files.

    Attributes:
        spy: the backbone of the last job.
        further: its further backbones by name.
        change: what is done to each configuration first.
        words: overrides of every line.
    """

    folder: Path
    composing: Composer
    spy: Spy | None = None
    further: dict[str, Spy] = field(default_factory=dict)
    change: Callable[[RunConfig], RunConfig] = lambda config: config
    words: tuple[str, ...] = ()

    def line(self, *overrides: str) -> list[str]:
        """The overrides of a command line."""
        places = [f"paths.runs={self.folder / 'runs'}", f"paths.cache={self.folder / 'cache'}"]
        return [*SMALL, *places, *self.words, *overrides]

    def job(self, *overrides: str, script: str = "train") -> tuple[RunConfig, Path, dict]:
        """What a script hands to `run_job`: the configuration, the directory, the plain data."""
        # A composer of our own for the other script; both read the same folder.
        maker = self.composing if script == "train" else Composer(script)
        composed = maker.compose(self.line(*overrides))
        config = parse_config(composed.config, composed.choices)
        directory = run_directory(composed.config, composed.choices, maker)
        return config, directory, resolved_data(composed.config)

    def run(
        self,
        *overrides: str,
        script: str = "train",
        before: Callable[[Request], None] = lambda request: None,
    ) -> JobOutcome:
        """One process's work. Errors come through; `before` sees every request that is sent."""
        config, directory, resolved = self.job(*overrides, script=script)
        config = self.change(config)

        def spied(cfg):
            self.spy = Spy(config.backbone.build(), before)
            return self.spy

        def watch(name: str):
            def made(cfg):
                self.further[name] = Spy(config.backbones[name].build(), before)
                return self.further[name]

            return made

        watched = dataclasses.replace(
            config,
            backbone=dataclasses.replace(config.backbone, target=spied),
            backbones={
                name: dataclasses.replace(part, target=watch(name))
                for name, part in config.backbones.items()
            },
        )
        return run_job(watched, directory, resolved, train=script == "train")

    def directory(self, *overrides: str, script: str = "train") -> Path:
        return self.job(*overrides, script=script)[1]


@pytest.fixture
def bench(tmp_path, composing) -> Bench:
    return Bench(tmp_path, composing)


ROSTER = """
candidates:
  - {name: plain}
  - {name: careful, backbone: strong, temperature: 0.2, prompt: You are careful.}
  - {name: quick, prompt: You are quick.}
"""


@pytest.fixture(scope="module")
def debating(composing) -> Callable[[Path], Bench]:
    """A bench of runs whose roles candidates play, answered by scripted debaters."""

    def make(folder: Path, roster: str = ROSTER) -> Bench:
        path = folder / "het.yaml"
        path.write_text(roster)
        words = (
            *("benchmark=toy", "encoder=hashing", "backbone=scripted", "exec.max_tokens=512"),
            *("+backbones.strong.file=scripted", f"assign.roster={path}"),
        )
        return Bench(folder, composing, change=played_by_script, words=words)

    return make


def played_by_script(config: RunConfig) -> RunConfig:
    """Scripted backbones, the further ones too, answer as debaters."""

    def scripted(part: Component, name: str) -> Component:
        if part.choice != "scripted":
            return part
        return dataclasses.replace(
            part, target=lambda section: ScriptedBackbone(debater(name), name=name)
        )

    return dataclasses.replace(
        config,
        backbone=scripted(config.backbone, "mine"),
        backbones={name: scripted(part, name) for name, part in config.backbones.items()},
    )


def debater(name: str) -> Callable[[Request], str]:
    """A model that writes criteria, scores proposals, edits pools and answers.

    Each reply depends on the whole request and nothing else, so equal requests get equal ones.
    """

    def reply(request: Request) -> str:
        chat = [message.content for message in request.messages]
        mark = _mark(name, chat, request.sample_index)
        if chat[-1].startswith("Write the criteria"):
            rows = [{"name": f"Point {n}", "description": f"{mark[n:]}."} for n in range(3)]
            return json.dumps({"criteria": rows})
        if chat[-1].startswith("Evaluate each candidate"):
            return json.dumps(_scores(name, chat[-1]))
        if request.role == "editor":
            return json.dumps(_new_card(mark))
        if "VERDICT" in chat[-1]:
            return ("VERDICT: ok", "VERDICT: revise\nthe sum")[int(mark[0], 16) % 2]
        answer = ("Paris", "4", "positive")[int(mark[1], 16) % 3]
        return f"{name} says {mark[:6]}.\nAnswer: {answer}"

    return reply


def _scores(name: str, prompt: str) -> dict[str, dict[str, int]]:
    """From 1 to 5 by what a proposal says; reviewers differ by a point at most."""
    found = {}
    pattern = r"^=== proposal (\d+) \w+ ===\n(.*?)\n=== end of proposal"
    for number, text in re.findall(pattern, prompt, re.MULTILINE | re.DOTALL):
        seen, bias = int(_mark(text)[:4], 16), int(_mark(name, text)[0], 16) % 2
        found[f"proposal_{number}"] = {f"c{c}": min(5, 1 + seen % 5 + bias) for c in (1, 2, 3)}
    return found


def _new_card(mark: str) -> dict[str, Any]:
    types = ("router", "specialist", "validator")
    return {
        "name": f"role {mark[:8]}",
        "role_type": types[int(mark[:4], 16) % len(types)],
        "capability_family": f"family-{mark[:3]}",
        "communication_protocol": "text",
        "system_prompt": [f"You are {mark[:24]}.", f"Do {mark[24:48]}."],
    }


def _mark(*values: Any) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


@pytest.fixture
def no_report(monkeypatch):
    """Leaves the report out, which takes longer than the small runs themselves."""
    monkeypatch.setattr("sero.running.job.write_page", lambda page: None)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, composing) -> Bench:
    """A whole training run, and an evaluation of the seed pool, in one go each; only read."""
    made = Bench(tmp_path_factory.mktemp("undisturbed"), composing)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sero.running.job.write_page", lambda page: None)
        made.run()  # first, so that its requests are those of a run with an empty cache
        made.run("method=static")
    return made


@pytest.fixture
def rows() -> Callable[[Path], list[dict[str, Any]]]:
    return lambda path: list(read_lines(path))


@pytest.fixture
def status_of() -> Callable[[Path], dict[str, Any]]:
    return lambda directory: read_json(directory / "status.json")


@pytest.fixture
def outcome() -> Callable[[Path], dict[str, str]]:
    """What has to be equal after a resume (product contract): file name to content."""

    def read(directory: Path) -> dict[str, str]:
        names = ["episodes.jsonl", "predictions.jsonl", "metrics.jsonl", "traces.jsonl"]
        names += ["assignments.jsonl"] if (directory / "assignments.jsonl").exists() else []
        pools = sorted(str(p.relative_to(directory)) for p in directory.glob("pool/*.yaml"))
        kept = {name: (directory / name).read_text(encoding="utf-8") for name in [*names, *pools]}
        if (directory / "checkpoint" / "last.pt").exists():
            state = load_checkpoint(directory / "checkpoint" / "last.pt")
            kept["checkpoint"] = repr(_exact([state["progress"], state["controller"]]))
        traces = read_lines(directory / "traces.jsonl")
        kept["traces.jsonl"] = "\n".join(map(_lasting, traces))
        return kept

    return read


def _exact(value: Any) -> Any:
    """Tensors as the hash of their bits."""
    if isinstance(value, torch.Tensor):
        return hashlib.sha256(value.contiguous().numpy().tobytes()).hexdigest()
    if isinstance(value, dict):
        return {key: _exact(item) for key, item in value.items()}
    return [_exact(item) for item in value] if isinstance(value, list | tuple) else value


def _lasting(trace: dict[str, Any]) -> str:
    """A trace without what a resume may change: whether a reply came from the cache."""
    # An editor's call is a trace of its own; a failed item has none.
    said = trace if "messages" in trace else trace["rollout"] or {"messages": []}
    for message in said["messages"]:
        del message["cached"], message["latency_s"], message["retries"]
    return json.dumps(trace)
