"""The plan of one run: what its method will ask for, and what that takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from sero.backbones.base import BackboneId, Completion, Phase, Request
from sero.backbones.openai_server import OpenAIServerConfig
from sero.backbones.price import PriceConfig
from sero.backbones.scripted import ScriptedConfig
from sero.benchmarks.base import Benchmark, Split, Task
from sero.benchmarks.item_benchmark import GENERATED, ItemBenchmark
from sero.config import RunConfig
from sero.encoders import Vector
from sero.errors import DataError
from sero.inference.counting import ZERO, Span
from sero.methods.base import Method, PlannedCalls
from sero.planning.assumed import IN_PROCESS_LATENCY_S, SERVER_LATENCY_S, Assumed
from sero.planning.sizes import Tokens, planned_tokens, total_of
from sero.running.budget import price_of
from sero.running.build import inputs_of, make_lab
from sero.skillworld.backbone import SkillWorldBackboneConfig

Seconds = tuple[float, float]
Dollars = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPlan:
    """What one run will ask for.

    Attributes:
        calls: logical calls of each phase that can have any.
        sent: requests that reach the backbone where the call cache holds nothing; fewer where it
            does.
        tokens: logical tokens; None where the tasks are not at hand.
        usd: price of the logical tokens; None where the price, or the tokens, are not known.
        usd_sent_least: price of the fewest tokens that `sent` can have, None likewise.
        time_s: seconds, nothing cached.
        note: what the plan had to do without, or an empty string.
    """

    calls: Mapping[Phase, Span]
    sent: Span
    tokens: Tokens | None
    usd: Dollars | None
    usd_sent_least: float | None
    time_s: Seconds
    note: str = ""

    @property
    def total(self) -> Span:
        return sum(self.calls.values(), start=ZERO)


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """A benchmark and its tasks.

    Attributes:
        missing: why they are only counted, with empty prompts; an empty string where they are read.
    """

    benchmark: Benchmark
    split: Split
    missing: str = ""


def plan_job(config: RunConfig, items: Items, assumed: Assumed) -> JobPlan:
    """Plan one run: no model is loaded and nobody is asked.

    Raises:
        UserError: the pool cannot be read.
    """
    benchmark, split, missing = items.benchmark, items.split, items.missing
    inputs = inputs_of(config, benchmark, split)
    lab = make_lab(config, benchmark, _Nobody(), _NoEncoder(), commit=lambda: 0)
    method: Method = config.method.build(lab=lab, state=inputs.seed_state)
    planned = method.planned_calls(len(split.train), len(split.heldout))

    trained = method.planned_episodes(len(split.train)) > 0
    tasks_sent = {task.prompt or task.id for task in split.heldout}
    training_tasks = len(split.train) if trained else 0
    least_sent = planned.distinct_per_task * (len(tasks_sent) + training_tasks)
    total = sum(planned.by_phase.values(), start=ZERO)
    sent = Span(min(least_sent, total.low), total.high)

    server = _server(config)
    tokens = None
    if not missing:
        tokens = total_of(
            planned_tokens(
                planned,
                config,
                inputs.seed_state.pool,
                split.train,
                split.heldout,
                context_tokens=server.context_tokens if server else None,
                assumed=assumed,
            )
        )
    price = price_of(config)
    usd = _dollars(price, tokens)
    share = sent.low / total.low if total.low else 0.0
    return JobPlan(
        calls=planned.by_phase,
        sent=sent,
        tokens=tokens,
        usd=usd,
        usd_sent_least=None if usd is None else usd[0] * share,
        time_s=_time(planned, config, sent, tokens, assumed),
        note=missing,
    )


def read_items(config: RunConfig) -> Items:
    """The tasks; where no data are prepared yet, as many empty ones as there will be.

    Raises:
        DataError: the data are damaged; or missing, and nothing says how many items there are.
    """
    benchmark: Benchmark = config.benchmark.build()
    try:
        return Items(benchmark=benchmark, split=benchmark.load())
    except DataError:
        counts = _announced(benchmark)
        if counts is None:
            raise
    train, heldout = (
        tuple(Task(id=f"{part}-{i}", group="", prompt="", reference={}) for i in range(n))
        for part, n in zip(("train", "heldout"), counts, strict=True)
    )
    command = f"python scripts/prepare_data.py benchmark={config.benchmark.choice}"
    note = (
        f"{config.benchmark.choice}: its data are not prepared ({command}); item counts are the "
        "published ones, and no tokens can be given"
    )
    split = Split(train=train, heldout=heldout, fingerprint="")
    return Items(benchmark=benchmark, split=split, missing=note)


def _announced(benchmark: Benchmark) -> tuple[int, int] | None:
    """Training and held-out items of published data that are missing; None in every other case."""
    if not isinstance(benchmark, ItemBenchmark) or benchmark.config.source == GENERATED:
        return None
    cfg = benchmark.config
    if Path(cfg.source).expanduser().exists():
        return None
    train = sum(cfg.n_train.values()) if isinstance(cfg.n_train, Mapping) else cfg.n_train
    heldout = cfg.n_heldout
    if heldout is None:
        if not benchmark.published:
            return None
        heldout = sum(benchmark.published.values()) - train
    return train, heldout


def _server(config: RunConfig) -> OpenAIServerConfig | None:
    section = config.backbone.config
    return section if isinstance(section, OpenAIServerConfig) else None


def _dollars(price: PriceConfig | None, tokens: Tokens | None) -> Dollars | None:
    if price is None or tokens is None:
        return None
    low = price.usd(tokens.prompt.low, tokens.completion.low)
    high = price.usd(tokens.prompt.high, tokens.completion.high)
    return None if low is None or high is None else (low, high)


def _time(
    planned: PlannedCalls,
    config: RunConfig,
    sent: Span,
    tokens: Tokens | None,
    assumed: Assumed,
) -> Seconds:
    """Least: as many calls at once as there may be, all in flight all the time. Most: training asks
    one call after the other, an evaluation one for each item in flight."""
    section = config.backbone.config
    if assumed.tokens_per_second is not None and tokens is not None:
        share = sent.low / max(1, sum(span.low for span in planned.by_phase.values()))
        said = tokens.completion
        return said.low * share / assumed.tokens_per_second, said.high / assumed.tokens_per_second
    in_process = isinstance(section, ScriptedConfig | SkillWorldBackboneConfig)
    default = IN_PROCESS_LATENCY_S if in_process else SERVER_LATENCY_S
    quick, slow = assumed.latency_s or default
    server = _server(config)
    places = server.concurrency if server else (1 if in_process else config.evaluate.concurrency)
    evaluated = planned.by_phase.get(Phase.EVAL, ZERO)
    trained = sum(span.high for phase, span in planned.by_phase.items() if phase is not Phase.EVAL)
    at_once = min(places, config.evaluate.concurrency)
    return sent.low * quick / places, (trained + evaluated.high / at_once) * slow


class _Nobody:
    """A backbone for a method that is only looked at."""

    identity = BackboneId(model="", revision="", template="", simulated=False)
    max_prompt_chars: int | None = None

    async def generate(self, request: Request) -> Completion:
        raise AssertionError("a plan asks nobody")

    async def close(self) -> None:
        """Nothing is open."""


class _NoEncoder:
    """An encoder for a method that is only looked at."""

    name = ""
    dim = 1

    def encode(self, text: str) -> Vector:
        _refuse()


def _refuse() -> NoReturn:
    raise AssertionError("a plan encodes nothing")


def add_seconds(times: Sequence[Seconds]) -> Seconds:
    """Runs one after the other."""
    return sum(low for low, _ in times), sum(high for _, high in times)
