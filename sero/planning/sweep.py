"""The plan of a run or a sweep: every job's, equal ones together, and their sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sero.backbones.base import Phase
from sero.config.train_alone import ComposedJob, composed_jobs
from sero.inference.span import ZERO, Span
from sero.planning.assumed import Assumed
from sero.planning.job import Dollars, Items, JobPlan, Seconds, add_seconds, plan_job, read_items
from sero.planning.limits import Findings, check_limits
from sero.planning.sizes import Tokens
from sero.running.directory import RunDirectory, RunStatus

PHASES = (Phase.PRE, Phase.POST, Phase.GATE, Phase.LOO, Phase.EDIT, Phase.EVAL)
"""Columns of a plan, in the order of an episode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One job and its plan.

    Attributes:
        finished: its directory holds the finished run, so that nothing of it is asked again.
    """

    job: ComposedJob
    plan: JobPlan
    finished: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """What all jobs together take, one after the other, each with an empty call cache.

    Attributes:
        tokens, usd: None where one of the jobs has none.
    """

    calls: dict[Phase, Span]
    sent: Span
    tokens: Tokens | None
    usd: Dollars | None
    time_s: Seconds

    @property
    def all_calls(self) -> Span:
        return sum(self.calls.values(), start=ZERO)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPlan:
    """Every job in the order of the sweep, their sum, and what the budget says to them."""

    jobs: tuple[Planned, ...]
    total: Total
    findings: Findings
    assumed: Assumed


def plan_sweep(
    conf_dir: Path,
    overrides: Sequence[str],
    assumed: Assumed,
    *,
    more_dir: Path | None = None,
) -> SweepPlan:
    """Plan what `scripts/train.py` would do under these overrides.

    Args:
        conf_dir: the folder of the configuration.
        overrides: as on its command line.
        more_dir: a further folder of group files.

    Raises:
        UserError: a fault in the configuration, the data or a pool.
    """
    read: dict[str, Items] = {}
    planned = []
    for job in composed_jobs(conf_dir, overrides, more_dir=more_dir):
        key = repr(job.config.benchmark)
        if key not in read:
            read[key] = read_items(job.config)
        plan = plan_job(job.config, read[key], assumed)
        planned.append(Planned(job=job, plan=plan, finished=_finished(job.directory)))
    return SweepPlan(
        jobs=tuple(planned),
        total=_total([one.plan for one in planned]),
        findings=check_limits(
            [(one.job.label, one.job.config, one.plan) for one in planned],
            open_runs=sum(not one.finished for one in planned),
        ),
        assumed=assumed,
    )


def _finished(directory: Path) -> bool:
    status = RunDirectory(directory).read_status()
    return status is not None and status.state is RunStatus.COMPLETED


def _total(plans: Sequence[JobPlan]) -> Total:
    calls = dict.fromkeys(PHASES, ZERO)
    sent, tokens = ZERO, Tokens()
    for plan in plans:
        sent += plan.sent
        tokens = tokens + (plan.tokens or Tokens())
        for phase, span in plan.calls.items():
            calls[phase] += span
    priced = [plan.usd for plan in plans if plan.usd is not None]
    return Total(
        calls=calls,
        sent=sent,
        tokens=tokens if all(plan.tokens is not None for plan in plans) else None,
        usd=add_seconds(priced) if len(priced) == len(plans) else None,
        time_s=add_seconds([plan.time_s for plan in plans]),
    )
