"""A plan as a table for people, and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sero.backbones.base import Phase
from sero.inference.span import ZERO, Span
from sero.planning.assumed import (
    CHARS_PER_TOKEN,
    IN_PROCESS_LATENCY_S,
    SERVER_LATENCY_S,
    Assumed,
)
from sero.planning.job import JobPlan, Seconds
from sero.planning.sizes import Tokens
from sero.planning.sweep import PHASES, Planned, SweepPlan, Total
from sero.reporting.table import Table
from sero.reporting.text import compact

NONE = "–"


def plan_tables(plan: SweepPlan) -> tuple[Table, Table]:
    """Calls by phase, and what they take; a row for every set of equal jobs, and their sum."""
    phases = [phase for phase in PHASES if plan.total.calls[phase].high]
    rows = [(label, str(len(jobs)), jobs[0].plan) for label, jobs in _alike(plan.jobs).items()]
    whole: list[tuple[str, str, JobPlan | Total]] = [*rows]
    if len(plan.jobs) > 1:
        whole.append(("all runs", str(len(plan.jobs)), plan.total))
    calls = Table(
        title="Logical calls of one run, by phase: one number is exact, two are least and most",
        columns=("run", "runs", *map(str, phases), "all"),
        rows=tuple((label, runs, *_calls(one.calls, phases)) for label, runs, one in whole),
        notes=(),
    )
    priced = any(one.plan.usd is not None for one in plan.jobs)
    takes = Table(
        title="What one run takes, as ranges under the assumptions below",
        columns=("run", "runs", "tokens", "requests", "time", *(["US$"] if priced else [])),
        rows=tuple((label, runs, *_takes(one, priced=priced)) for label, runs, one in whole),
        notes=tuple(_notes(plan)),
    )
    return calls, takes


def _alike(jobs: Sequence[Planned]) -> dict[str, list[Planned]]:
    """Jobs with equal plans under one name: the method and benchmark, and what else tells them
    apart."""
    groups: dict[tuple[str, str], list[Planned]] = {}
    for one in jobs:
        groups.setdefault((_name(one, jobs), repr(one.plan)), []).append(one)
    names: dict[str, list[Planned]] = {}
    for (name, _), alike in groups.items():
        unequal = sum(other == name for other, _ in groups) > 1
        seeds = ",".join(str(one.job.seed) for one in alike)
        names[f"{name}/seed_{seeds}" if unequal else name] = alike
    return names


def _name(one: Planned, jobs: Sequence[Planned]) -> str:
    job = one.job
    name = f"{job.method}/{job.benchmark}"
    variants = {
        other.job.variant
        for other in jobs
        if (other.job.method, other.job.benchmark) == (job.method, job.benchmark)
    }
    return f"{name}/{job.variant}" if len(variants) > 1 else name


def _calls(calls: Mapping[Phase, Span], phases: Sequence[Phase]) -> list[str]:
    spans = [calls.get(phase, ZERO) for phase in phases]
    return [_span(span) for span in (*spans, sum(calls.values(), start=ZERO))]


def _takes(one: JobPlan | Total, *, priced: bool) -> list[str]:
    total = one.tokens.total if one.tokens else None
    cells = [
        NONE if total is None else f"{compact(total.low)} to {compact(total.high)}",
        _span(one.sent),
        f"{duration(one.time_s[0])} to {duration(one.time_s[1])}",
    ]
    if priced:
        cells.append(NONE if one.usd is None else f"{_money(one.usd[0])} to {_money(one.usd[1])}")
    return cells


def _notes(plan: SweepPlan) -> Iterator[str]:
    """What the figures mean, and what was assumed."""
    yield (
        "Calls and tokens are logical, the method's cost, and US$ is their price. requests: what "
        "is sent where the call cache holds nothing; it holds more with every run. An item that "
        "the machine fails to answer makes no call."
    )
    yield f"Assumed: {'; '.join(_assumptions(plan.assumed))}."
    yield from dict.fromkeys(one.plan.note for one in plan.jobs if one.plan.note)
    done = sum(one.finished for one in plan.jobs)
    if done:
        yield f"{done} of the {len(plan.jobs)} runs are finished and will not be run again."


def _assumptions(assumed: Assumed) -> Iterator[str]:
    dense, loose = CHARS_PER_TOKEN
    yield f"{dense:g} to {loose:g} characters of a prompt per token"
    if assumed.completion_tokens is None:
        yield "completions from 1 token to the limit of the call (--completion-tokens N narrows it)"
    else:
        yield f"completions of {assumed.completion_tokens} tokens"
    if assumed.tokens_per_second is not None:
        yield f"{assumed.tokens_per_second:g} completion tokens per second over all calls"
    elif assumed.latency_s is not None:
        yield "{:g} to {:g} s per call".format(*assumed.latency_s)
    else:
        yield (
            "{:g} to {:g} s per call to a server, {:g} to {:g} s to a simulation "
            "(--latency, --tokens-per-second)".format(*SERVER_LATENCY_S, *IN_PROCESS_LATENCY_S)
        )
    yield "runs one after the other"


def plan_data(plan: SweepPlan) -> dict[str, Any]:
    """The plan for `--json`: spans as `[least, most]`, null where something is not known."""
    total = plan.total
    return {
        "jobs": [
            {
                "label": one.job.label,
                "method": one.job.method,
                "benchmark": one.job.benchmark,
                "variant": one.job.variant,
                "seed": one.job.seed,
                "directory": str(one.job.directory),
                "finished": one.finished,
                **_data(
                    one.plan.calls, one.plan.sent, one.plan.tokens, one.plan.time_s, one.plan.usd
                ),
                "usd_sent_least": one.plan.usd_sent_least,
                "note": one.plan.note or None,
            }
            for one in plan.jobs
        ],
        "total": _data(total.calls, total.sent, total.tokens, total.time_s, total.usd),
        "assumed": list(_assumptions(plan.assumed)),
        "over_budget": list(plan.findings.impossible),
        "warnings": list(plan.findings.doubtful),
    }


def _data(
    calls: Mapping[Phase, Span],
    sent: Span,
    tokens: Tokens | None,
    time_s: Seconds,
    usd: tuple[float, float] | None,
) -> dict[str, Any]:
    total = sum(calls.values(), start=ZERO)
    return {
        "calls": {str(phase): _pair(calls.get(phase, ZERO)) for phase in PHASES},
        "total_calls": _pair(total),
        "exact": total.exact,
        "requests": _pair(sent),
        "prompt_tokens": None if tokens is None else _pair(tokens.prompt),
        "completion_tokens": None if tokens is None else _pair(tokens.completion),
        "time_s": list(time_s),
        "usd": None if usd is None else list(usd),
    }


def _pair(span: Span) -> list[int]:
    return [span.low, span.high]


def _span(span: Span) -> str:
    return f"{span.low:,}" if span.exact else f"{span.low:,}–{span.high:,}"


def _money(usd: float) -> str:
    return f"{usd:,.2f}" if usd >= 0.1 else f"{usd:.4f}"


def duration(seconds: float) -> str:
    """`0.4 s`, `12 s`, `3.5 min`, `2.1 h`, `4.0 d`."""
    for size, unit in ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
