"""Whole runs in this process: composed as on a command line, small enough for a second or two."""

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch

from sero.backbones.base import Completion, Request, request_key
from sero.config import Composer, RunConfig, composer, parse_config
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
    """

    folder: Path
    composing: Composer
    spy: Spy | None = None

    def line(self, *overrides: str) -> list[str]:
        """The overrides of a command line."""
        places = [f"paths.runs={self.folder / 'runs'}", f"paths.cache={self.folder / 'cache'}"]
        return [*SMALL, *places, *overrides]

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

        def spied(cfg):
            self.spy = Spy(config.backbone.build(), before)
            return self.spy

        backbone = dataclasses.replace(config.backbone, target=spied)
        watched = dataclasses.replace(config, backbone=backbone)
        return run_job(watched, directory, resolved, train=script == "train")

    def directory(self, *overrides: str, script: str = "train") -> Path:
        return self.job(*overrides, script=script)[1]


@pytest.fixture
def bench(tmp_path, composing) -> Bench:
    return Bench(tmp_path, composing)


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
