"""What a job keeps account of: its manifest, what was really sent, its budget, its tracker."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, cast

from sero.config import RunConfig, comparable
from sero.errors import RunConflict
from sero.inference.trace import Cost
from sero.running.budget import Budget, prices_of
from sero.running.build import Inputs, Workshop
from sero.running.directory import RunDirectory
from sero.running.manifest import RunFacts, build_manifest, ended
from sero.running.result import Usage
from sero.storage import read_json, write_json
from sero.tracking import MetricWriter, NoMetrics, WandbMetrics

NOTE_S = 10.0
"""Seconds between two notes of what was sent; a kill loses the account of those since the last."""


class Books:
    """One process's account of a run, added to those of the processes before it."""

    def __init__(
        self, config: RunConfig, run: RunDirectory, resolved: Mapping[str, Any], inputs: Inputs
    ) -> None:
        self._config = config
        self._run = run
        self._resolved = resolved
        self._inputs = inputs
        self._before = Usage()
        self._started = self._noted = time.monotonic()

    @contextlib.contextmanager
    def manifest(self, shop: Workshop) -> Iterator[None]:
        """Write manifest.json at the start, and its end and usage on every way out."""
        path = self._run.manifest
        previous = read_json(path) if path.exists() else None
        if previous is not None:
            self._before = Usage.from_data(previous["usage"])
        body = build_manifest(
            self._facts(shop),
            comparable(self._resolved),
            now=datetime.now(UTC),
            previous=previous,
        )
        write_json(path, {**body, "usage": self._before.to_data()})
        try:
            yield
        finally:
            body = ended(read_json(path), datetime.now(UTC))
            write_json(path, {**body, "usage": self.usage(shop).to_data()})

    @contextlib.contextmanager
    def tracker(self) -> Iterator[MetricWriter]:
        """W&B if it is configured, finished on every way out."""
        logger, tracker = self._config.logger, cast(MetricWriter, NoMetrics())
        simulated = ("simulated",) if self._inputs.benchmark.simulated else ()
        if logger.kind == "wandb":
            path = self._run.path
            tracker = WandbMetrics(
                path,
                project=logger.project,
                mode=logger.mode,
                name="/".join(path.parts[-5:]),
                entity=logger.entity,
                group=logger.group,
                tags=(*logger.tags, *simulated),
                config=self._resolved,
            )
        ok = False
        try:
            yield tracker
            ok = True
        finally:
            tracker.close(ok)

    def usage(self, shop: Workshop) -> Usage:
        """Requests, retries, hits and time of this process and those before it."""
        every = [backbone.stats for backbone in shop.backbones]
        now = Usage(
            requests=sum(stats.requests for stats in every),
            retries=sum(stats.retries for stats in every),
            cache_hits=sum(stats.hits for stats in every),
            wall_s=time.monotonic() - self._started,
            prompt_tokens=sum(stats.prompt_tokens for stats in every),
            completion_tokens=sum(stats.completion_tokens for stats in every),
            elsewhere={
                name: (one.stats.prompt_tokens, one.stats.completion_tokens)
                for name, one in shop.others.items()
            },
        )
        return self._before + now

    def check_budget(self, shop: Workshop, cost: Cost) -> None:
        """Whether the run's logical cost, time and bill so far leave room for more.

        What was sent so far is written down too, at most every `NOTE_S` seconds, and each time
        under `budget.usd`: a process that is killed has been paid for all the same.

        Raises:
            BudgetSpent: naming every limit that is reached.
        """
        usage = self.usage(shop)
        usd = prices_of(self._config).usd(usage.tokens)
        always = usd is not None and self._config.budget.usd is not None
        if always or time.monotonic() - self._noted >= NOTE_S:
            self._noted = time.monotonic()
            path = self._run.manifest
            write_json(path, {**read_json(path), "usage": usage.to_data()})
        Budget(self._config.budget).check(
            calls=cost.calls,
            tokens=cost.prompt_tokens + cost.completion_tokens,
            hours=usage.wall_s / 3600,
            usd=usd,
        )

    def _facts(self, shop: Workshop) -> RunFacts:
        identity = shop.backbone.identity
        return RunFacts(
            method=self._config.method.choice,
            benchmark=shop.benchmark.name,
            encoder=shop.encoder.name,
            backbone=identity.model,
            backbone_revision=identity.revision or None,
            backbones={
                name: (one.identity.model, one.identity.revision or None)
                for name, one in shop.others.items()
            },
            simulated=shop.simulated,
            server_version=None,
            data_sha256=shop.split.fingerprint,
            data_remarks=shop.split.remarks,
            pool_sha256=self._inputs.pool_sha256,
            scorer=shop.benchmark.scorer,
            seeds={"run": self._config.seed},
            credit=self._inputs.credit,
        )


def refuse_other_inputs(run: RunDirectory, inputs: Inputs) -> None:
    """A run goes on with the data, the pool and the roster it began with, or not at all.

    Raises:
        RunConflict: one of them has changed since.
    """
    if not run.manifest.exists():
        return
    began = read_json(run.manifest)
    changed = [
        name
        for name, old, new in (
            ("the data", began["benchmark"]["data_sha256"], inputs.split.fingerprint),
            (
                "the starting pool" if inputs.roster is None else "the starting pool or the roster",
                began["pool_sha256"],
                inputs.pool_sha256,
            ),
        )
        if old != new
    ]
    if changed:
        raise RunConflict(
            f"{run.path} began with other inputs: {' and '.join(changed)} changed since. "
            "Directories are never overwritten: restore what it began with, or start a new run "
            "with another paths.runs, or move the directory away."
        )
