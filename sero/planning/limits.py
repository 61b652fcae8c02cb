"""A plan against the `budget` section: what cannot be done under it, and what may not be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sero.config import RunConfig
from sero.planning.job import JobPlan
from sero.running.budget import unpriced


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """Lines on limits.

    Attributes:
        impossible: the least exceeds a limit.
        doubtful: the most exceeds one, or a limit cannot be kept.
    """

    impossible: tuple[str, ...]
    doubtful: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Amount:
    """What a run takes of a budgeted thing, and its limit."""

    name: str
    low: float
    high: float
    limit: float
    aside: str = ""

    def line(self, which: str, value: float) -> str:
        return f"budget.{self.name}={_shown(self.limit)}: {which} {_shown(value)}{self.aside}"


def check_limits(jobs: Sequence[tuple[str, RunConfig, JobPlan]], open_runs: int) -> Findings:
    """Compare every run with the limits of its budget, and the sweep with `budget.runs`.

    Args:
        jobs: name, configuration and plan of each run.
        open_runs: those that are not finished.
    """
    impossible: dict[str, list[str]] = {}
    doubtful: dict[str, list[str]] = {}
    for label, config, plan in jobs:
        for amount in _amounts(config, plan):
            if amount.low > amount.limit:
                line = amount.line("needs at least", amount.low)
                impossible.setdefault(line, []).append(label)
            elif amount.high > amount.limit:
                doubtful.setdefault(amount.line("may need", amount.high), []).append(label)
        if (why := unpriced(config)) is not None:
            doubtful.setdefault(why, []).append(label)
    limits = [config.budget.runs for _, config, _ in jobs if config.budget.runs is not None]
    if limits and open_runs > min(limits):
        commands = -(-open_runs // min(limits))
        what = (
            f"budget.runs={min(limits)}: {open_runs} runs are to be done, which takes the same "
            f"command {commands} times"
        )
        doubtful[what] = []
    return Findings(
        impossible=tuple(_lines(impossible)),
        doubtful=tuple(_lines(doubtful)),
    )


def _amounts(config: RunConfig, plan: JobPlan) -> Iterator[_Amount]:
    budget = config.budget
    if budget.calls is not None:
        yield _Amount(name="calls", low=plan.total.low, high=plan.total.high, limit=budget.calls)
    if budget.tokens is not None and plan.tokens is not None:
        total = plan.tokens.total
        yield _Amount(name="tokens", low=total.low, high=total.high, limit=budget.tokens)
    if budget.usd is not None and plan.usd is not None and plan.usd_sent_least is not None:
        yield _Amount(
            name="usd",
            low=plan.usd_sent_least,
            high=plan.usd[1],
            limit=budget.usd,
            aside=" where nothing is cached",
        )
    if budget.hours is not None:
        # time is assumed, so it is never a reason to refuse
        yield _Amount(name="hours", low=0.0, high=plan.time_s[1] / 3600, limit=budget.hours)


def _lines(found: dict[str, list[str]]) -> Iterator[str]:
    for line, labels in found.items():
        names = dict.fromkeys(labels)
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield f"{line} ({next(iter(names))}{more})" if names else line


def _shown(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
