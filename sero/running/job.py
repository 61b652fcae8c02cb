"""The life of one run: open its directory, train, evaluate, write the result, leave it whole."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sero.benchmarks import bounded
from sero.config import RunConfig, comparable, describe_changes
from sero.errors import BackboneError, BudgetSpent, SeroError
from sero.evaluation import summarise
from sero.inference.trace import Cost
from sero.methods.base import Fitting
from sero.methods.role_pool import Sero
from sero.reporting.html import write_page
from sero.reporting.page import gather
from sero.reporting.rows import read_row
from sero.reporting.run_warnings import full_from_the_start
from sero.running.books import Books, refuse_other_inputs
from sero.running.budget import prices_of, unpriced
from sero.running.build import Inputs, Workshop, assemble, load_inputs
from sero.running.directory import RunDirectory, RunState, RunStatus, Status
from sero.running.evaluating import evaluate_run, item_lines_length, predicted, retry_failed
from sero.running.lock import run_lock
from sero.running.progress import make_progress
from sero.running.recording import RunRecorder, drop_pools_after, saved_episode
from sero.running.result import result_record
from sero.running.saved import Journals, load_checkpoint, save_pool_state
from sero.running.signals import Stop, stopping
from sero.storage import read_lines, write_json
from sero.tracking import JsonlMetrics, MetricWriter, Tee

log = logging.getLogger(__name__)

RUNNING = Status(state=RunStatus.RUNNING, reason=None, phase=None, episode=None)
"""What status.json holds while the job works."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOutcome:
    """How a job ended.

    Attributes:
        exit_code: 0, or 128 plus the number of the signal that stopped it.
        state: what its directory holds now.
    """

    exit_code: int
    directory: Path
    state: RunStatus


def run_job(
    config: RunConfig, directory: Path, resolved: Mapping[str, Any], *, train: bool
) -> JobOutcome:
    """Run a job to its end, or go on with the one its directory holds.

    Args:
        config: the checked configuration.
        directory: the run directory; locked while the job lives.
        resolved: the whole resolved configuration, as `config.yaml` keeps it.
        train: fit the method before evaluating it.

    Raises:
        SeroError: the job failed; status.json says why and the exception's exit code counts.
    """
    run = RunDirectory(directory)
    with run_lock(directory):
        opened = run.open(dict(resolved), comparable, describe_changes)
        try:
            inputs = load_inputs(config)
        except SeroError as error:
            if opened.state is not RunState.FINISHED:
                run.write_status(RunStatus.FAILED, reason=str(error), episode=saved_episode(run))
            raise
        refuse_other_inputs(run, inputs)
        if opened.state is RunState.FINISHED and not opened.failures:
            log.info("%s: finished already", directory)
            return JobOutcome(exit_code=0, directory=directory, state=RunStatus.COMPLETED)
        return asyncio.run(_Job(config, run, dict(resolved), inputs, train=train).live())


class _Job:
    """One process's work on a run: what it holds open, and where it stands."""

    def __init__(
        self,
        config: RunConfig,
        run: RunDirectory,
        resolved: dict[str, Any],
        inputs: Inputs,
        *,
        train: bool,
    ) -> None:
        self.config = config
        self.run = run
        self.inputs = inputs
        self.train = train
        self.progress = make_progress(config.progress)
        self.phase: str | None = None
        self.books = Books(config, run, resolved, inputs)

    async def live(self) -> JobOutcome:
        """Do the work under the signal handlers; every way out leaves a status and a manifest."""
        self.run.write_status(RunStatus.RUNNING)
        if (warning := unpriced(self.config)) is not None:
            log.warning("%s: %s", self.run.path, warning)
        try:
            # Before the handlers: a signal while models load ends the process as it always would.
            shop = assemble(self.config, self.inputs)
            async with stopping() as stop:
                try:
                    scored = await self._work(shop)
                except asyncio.CancelledError:
                    if not stop.cancelled:
                        raise
                    stop.settle()
                    bounded.close()  # or their threads would hold up the exit
                    return self._interrupted(stop)
        except (BackboneError, BudgetSpent) as error:
            self._leave(RunStatus.INTERRUPTED, str(error))
            raise
        except SeroError as error:
            self._leave(RunStatus.FAILED, str(error))
            raise
        finally:
            if self.run.read_status() == RUNNING:
                self._leave(RunStatus.FAILED, "a fault of the program; its message says more")
        if not scored:
            log.warning(
                "%s: every item failed, so there is no score; predictions.jsonl says why, and the "
                "same command tries them again",
                self.run.path,
            )
        code = 0 if scored else BackboneError.exit_code
        return JobOutcome(exit_code=code, directory=self.run.path, state=RunStatus.COMPLETED)

    async def _work(self, shop: Workshop) -> bool:
        """Train, evaluate, write the result; whether any item has a score."""
        async with contextlib.AsyncExitStack() as stack:
            for backbone in shop.backbones:  # the run's own first: closed last
                stack.push_async_callback(backbone.close)
            stack.enter_context(self.books.manifest(shop))
            resume = load_checkpoint(self.run.checkpoint) if self.run.checkpoint.exists() else None
            journals = self._journals(resume)
            stack.callback(journals.close)
            tracker = stack.enter_context(self.books.tracker())
            stack.callback(self.progress.close)

            trained = await self._fit(shop, journals, tracker, resume)
            await self._evaluate(shop, journals, trained)
            return self._finish(shop, trained, tracker)

    def _journals(self, resume: Mapping[str, Any] | None) -> Journals:
        """The journals, cut back to the checkpoint; behind it, traces of kept predictions stay.

        Saved pools go the same way, so that they never disagree with episodes.jsonl.
        """
        lengths = dict(resume["lengths"]) if resume else {"episodes": 0, "traces": 0, "metrics": 0}
        items = len(predicted(self.run.predictions))
        for name, path in (("traces", self.run.traces), ("assignments", self.run.assignments)):
            lengths[name] = item_lines_length(path, lengths.get(name, 0), items)
        drop_pools_after(self.run, resume["progress"]["episode"] if resume else 0)
        return Journals.open(self.run.path, lengths, assignments=self.inputs.roster is not None)

    async def _fit(
        self,
        shop: Workshop,
        journals: Journals,
        tracker: MetricWriter,
        resume: Mapping[str, Any] | None,
    ) -> Cost:
        """Train the method, from the checkpoint if there is one; returns what it cost so far."""
        save_pool_state(self.run.pool_seed, self.inputs.seed_state)
        episodes = shop.method.planned_episodes(len(shop.split.train)) if self.train else 0
        if not episodes:
            return Cost()
        full = full_from_the_start(len(self.inputs.seed_state.pool), self.config.pool.p_max)
        if full and resume is None and isinstance(shop.method, Sero):
            log.warning("%s: %s", self.run.path, full.line)
        self.phase = "train"
        done = resume["progress"]["episode"] if resume else 0
        if not (resume and resume["progress"]["finished"]):
            self.progress.start(episodes, "train", done=done)
        recorder = RunRecorder(
            directory=self.run,
            journals=journals,
            metrics=Tee([JsonlMetrics(journals.metrics), tracker]),
            progress=self.progress,
        )
        await shop.method.fit(
            shop.split.train,
            Fitting(
                recorder=recorder,
                resume=resume,
                check_budget=partial(self.books.check_budget, shop),
            ),
        )
        self.progress.close()
        return Cost.from_data(load_checkpoint(self.run.checkpoint)["progress"]["cost"])

    async def _evaluate(self, shop: Workshop, journals: Journals, trained: Cost) -> None:
        """The frozen pool on the held-out items that are open.

        Where there is a result the evaluation was over once: what failed then is tried again,
        also when an earlier try was itself interrupted.
        """
        self.phase = "eval"
        save_pool_state(self.run.pool_final, shop.method.state)
        seed, concurrency = self.config.seed, self.config.evaluate.concurrency
        again = self.run.result.exists()
        await evaluate_run(
            shop,
            self.run,
            journals.traces if self.config.evaluate.traces else None,
            journals.assignments,
            self.progress,
            run_seed=seed,
            concurrency=concurrency,
            check_budget=lambda cost: self.books.check_budget(shop, trained + cost),
        )
        if again:
            await retry_failed(shop, self.run, run_seed=seed, concurrency=concurrency)

    def _finish(self, shop: Workshop, trained: Cost, tracker: MetricWriter) -> bool:
        """result.json, the completed status and the report; whether any item has a score."""
        summary = summarise(read_lines(self.run.predictions))
        record = result_record(
            shop,
            summary,
            trained,
            self.books.usage(shop),
            method=self.config.method.choice,
            variant=self.run.path.parents[2].name,
            seed=self.config.seed,
            prices=prices_of(self.config),
        )
        if summary.mean_score is not None:
            by_group = {
                f"eval/score/{group}": row["mean_score"]
                for group, row in summary.groups.items()
                if row["mean_score"] is not None
            }
            tracker.summary({"eval/score": summary.mean_score, **by_group})
        tracker.summary({"eval/failures": float(summary.failures)})
        write_json(self.run.result, record)
        self.run.write_status(RunStatus.COMPLETED)
        page = gather(read_row(self.run.path))
        write_page(page)
        if self.config.progress != "none":
            for warning in page.warnings:
                log.warning("%s: %s", self.run.path, warning.line)
        return summary.n > 0

    def _interrupted(self, stop: Stop) -> JobOutcome:
        assert stop.requested is not None
        self._leave(RunStatus.INTERRUPTED, f"stopped by {stop.requested}")
        log.warning(
            "%s: stopped by %s and saved; the same command goes on from here",
            self.run.path,
            stop.requested,
        )
        return JobOutcome(
            exit_code=128 + signal.Signals[stop.requested].value,
            directory=self.run.path,
            state=RunStatus.INTERRUPTED,
        )

    def _leave(self, state: RunStatus, reason: str) -> None:
        self.run.write_status(
            state, reason=reason, phase=self.phase, episode=saved_episode(self.run)
        )
