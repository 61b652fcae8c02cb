"""The plan of one run: what its method will ask for, and what that takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from sero.assignment.world_backbone import AssignmentWorldBackboneConfig
from sero.backbones.base import Backbone, BackboneId, Completion, Phase, Request
from sero.backbones.openai_server import OpenAIServerConfig
from sero.backbones.scripted import ScriptedConfig
from sero.benchmarks.base import Benchmark, Split, Task
from sero.benchmarks.item_benchmark import GENERATED, ItemBenchmark
from sero.config import RunConfig
from sero.encoders import Vector
from sero.errors import DataError
from sero.inference.span import ZERO, Span
from sero.methods.base import Method, PlannedCalls
from sero.planning.assumed import IN_PROCESS_LATENCY_S, SERVER_LATENCY_S, Assumed
from sero.planning.sizes import Tokens, planned_tokens, total_of
from sero.running.budget import Prices, prices_of
from sero.running.build import further_backbones, inputs_of, make_lab
from sero.skillworld.backbone import SkillWorldBackboneConfig

_IN_PROCESS = (ScriptedConfig, SkillWorldBackboneConfig, AssignmentWorldBackboneConfig)
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
    others: dict[str, Backbone] = dict.fromkeys(further_backbones(config, inputs.roster), _Nobody())
    lab = make_lab(config, inputs, _Nobody(), _NoEncoder(), others=others, commit=lambda: 0)
    method: Method = config.method.build(lab=lab, state=inputs.seed_state)
    planned = method.planned_calls(len(split.train), len(split.heldout))

    trained = method.planned_episodes(len(split.train)) > 0
    tasks_sent = {task.prompt or task.id for task in split.heldout}
    training_tasks = len(split.train) if trained else 0
    least_sent = planned.distinct_per_task * (len(tasks_sent) + training_tasks)
    total = sum(planned.by_phase.values(), start=ZERO)
    sent = Span(min(least_sent, total.low), total.high)

    tokens = None
    if not missing:
        tokens = total_of(
            planned_tokens(
                planned,
                config,
                inputs.seed_state.pool,
                split.train,
                split.heldout,
                roster=inputs.roster,
                context_tokens=_longest_context(config),
                assumed=assumed,
            )
        )
    usd = _dollars(prices_of(config), tokens)
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
    if not isinstance(benchmark, ItemBenchmark) or not benchmark.has_published_items:
        return None
    if benchmark.config.source == GENERATED:
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


def _servers(config: RunConfig) -> list[OpenAIServerConfig | None]:
    """The server of every backbone, the run's own first; None for one that is none."""
    sections = [part.config for part in (config.backbone, *config.backbones.values())]
    return [one if isinstance(one, OpenAIServerConfig) else None for one in sections]


def _longest_context(config: RunConfig) -> int | None:
    """The longest prompt that any backbone takes, None without a bound."""
    contexts = [None if server is None else server.context_tokens for server in _servers(config)]
    known = [context for context in contexts if context is not None]
    return max(known) if len(known) == len(contexts) else None


def _dollars(prices: Prices, tokens: Tokens | None) -> Dollars | None:
    """From all tokens at the lowest price of any backbone to all at the highest.

    Who answers what is not known before a run; None while any price is not.
    """
    every = [prices.own, *prices.others.values()]
    known = [price for price in every if price is not None and price.known]
    if tokens is None or len(known) < len(every):
        return None
    prompt, said = tokens.prompt, tokens.completion
    ends = (
        pick(price.usd(p, 0) or 0.0 for price in known)
        + pick(price.usd(0, c) or 0.0 for price in known)
        for pick, p, c in ((min, prompt.low, said.low), (max, prompt.high, said.high))
    )
    low, high = ends
    return low, high


def _time(
    planned: PlannedCalls,
    config: RunConfig,
    sent: Span,
    tokens: Tokens | None,
    assumed: Assumed,
) -> Seconds:
    """Least: as many calls at once as there may be, all in flight all the time. Most: training asks
    one call after the other, an evaluation one for each item in flight."""
    if assumed.tokens_per_second is not None and tokens is not None:
        share = sent.low / max(1, sum(span.low for span in planned.by_phase.values()))
        said = tokens.completion
        return said.low * share / assumed.tokens_per_second, said.high / assumed.tokens_per_second
    parts = (config.backbone, *config.backbones.values())
    in_process = [isinstance(part.config, _IN_PROCESS) for part in parts]
    defaults = [IN_PROCESS_LATENCY_S if inside else SERVER_LATENCY_S for inside in in_process]
    quick, slow = assumed.latency_s or (
        min(least for least, _ in defaults),
        max(most for _, most in defaults),
    )
    places = sum(
        server.concurrency if server else (1 if inside else config.evaluate.concurrency)
        for server, inside in zip(_servers(config), in_process, strict=True)
    )
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
