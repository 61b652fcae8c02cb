"""Where scalar curves go: the table of metric names, and writers to JSON lines and W&B.

The x-axis of every curve is the training episode. A writer only observes: whatever becomes of it,
no result of a run changes.
"""

from __future__ import annotations

import hashlib
import logging
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Protocol

from sero.errors import UserError
from sero.storage import JsonLines
from sero.validation import did_you_mean

log = logging.getLogger(__name__)

METRICS: Mapping[str, str] = MappingProxyType(
    {
        "train/reward": "R of the episode: score after the edit minus score before, in [-1, 1]; "
        "where edges are learnt, the score itself",
        "train/score_before": "s⁻, score of the pre-edit rollout, or of a sampled graph, in [0, 1]",
        "train/score_after": "s⁺, score of the candidate's rollout, where one was run, in [0, 1]",
        "train/gate_delta": "mean score difference the gate decided on, where it was asked",
        "train/committed": "1 if the edit was committed, else 0",
        "train/acceptance": "committed edits per episode so far, in [0, 1]",
        "pool/size": "|P| after the episode, roles",
        "pool/family_share": "largest share of one family among non-protected roles, in [0, 1]",
        "pool/validators": "validators in the pool after the episode, roles",
        "controller/op_entropy": "entropy of the operation head over legal operations, nats",
        "controller/batch_entropy": "mean of that entropy over the batch of a gradient step, nats",
        "controller/loss": "REINFORCE loss of the batch",
        "controller/baseline": "b, the EMA baseline in raw reward units",
        "controller/grad_norm": "gradient norm before clipping",
        "controller/frac_zero_std": "1 for a batch whose rewards are all equal, else 0",
        "controller/reward_mean": "mean reward of the batch",
        "controller/reward_std": "population standard deviation of the batch's rewards",
        "controller/advantage_std": "population standard deviation of the batch's advantages",
        "edges/probability": "mean probability of the edges that are learnt, in [0, 1]",
        "edges/entropy": "mean entropy of their Bernoulli variables, nats",
        "edges/likely": "edges with a probability above the threshold, of all pairs of the pool",
        "edges/drawn": "edges of the sampled graph among the team",
        "edges/loss": "REINFORCE loss of a step on the edges",
        "edges/grad_norm": "norm of that step's gradient",
        "edges/frac_zero_std": "1 for a step whose graphs all scored alike, so that nothing moved",
        "credit/mean": "mean of c over the pool",
        "credit/spread": "population standard deviation of c over the pool",
        "credit/loo_mean": "mean of the most recent φ over the pool, once there is one",
        "credit/ema_loo_rank": "Spearman of c before a refresh with the φ it measured, in [-1, 1]",
        "credit/cape": "share of messages whose loss flips correctness, in [0, 1]",
        "credit/tcte": "mean total causal effect of a team's messages, in [0, 1]",
        "cost/calls": "logical model calls so far in the run",
        "cost/prompt_tokens": "logical prompt tokens so far in the run",
        "cost/completion_tokens": "logical completion tokens so far in the run",
        "eval/score": "mean held-out score, in [0, 1]",
        "eval/failures": "held-out items without a score",
    }
)
"""Every curve a run may write, with its meaning and unit."""

FAMILIES: Mapping[str, str] = MappingProxyType(
    {"eval/score/": "mean held-out score of one group, in [0, 1]"}
)
"""Prefixes whose rest is free, such as a group's name."""

EPISODE = "episode"
"""The x-axis."""

INIT_TIMEOUT_S = 30.0
FINISH_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 6.0


def check_names(names: Mapping[str, Any]) -> None:
    """Refuse a metric that is not in the table, so that a typing slip cannot start a new curve.

    Raises:
        ValueError: an unknown name.
    """
    for name in names:
        family = any(name.startswith(prefix) and name != prefix for prefix in FAMILIES)
        if name not in METRICS and not family:
            raise ValueError(
                f"unknown metric {name!r}{did_you_mean(name, METRICS)}; "
                "names are set in sero.tracking.METRICS"
            )


class MetricWriter(Protocol):
    """Takes scalar curves. Every method may be called from one thread only."""

    def log(self, metrics: Mapping[str, float], *, episode: int) -> None:
        """Add one point per name at x = `episode`.

        Raises:
            ValueError: a name that is not in the table.
        """
        ...

    def summary(self, values: Mapping[str, float]) -> None:
        """Set the final figures of the run, under the names of the table."""
        ...

    def close(self, ok: bool) -> None:
        """End the record; `ok` is False when the run stopped on an error or a signal."""
        ...


class NoMetrics:
    """Checks names and keeps nothing (`logger=none`)."""

    def log(self, metrics: Mapping[str, float], *, episode: int) -> None:
        check_names(metrics)

    def summary(self, values: Mapping[str, float]) -> None:
        check_names(values)

    def close(self, ok: bool) -> None:
        return None


class JsonlMetrics:
    """`metrics.jsonl`: one line `{"episode": k, name: value, ...}` per call of `log`.

    The stream belongs to who opened it: its length is part of a checkpoint, so a resumed run cuts
    the curves back and holds each episode once. A value that is not finite is written as null.
    """

    def __init__(self, lines: JsonLines) -> None:
        self._lines = lines

    def log(self, metrics: Mapping[str, float], *, episode: int) -> None:
        check_names(metrics)
        finite = {k: float(v) if math.isfinite(v) else None for k, v in metrics.items()}
        self._lines.append({EPISODE: episode, **finite})

    def summary(self, values: Mapping[str, float]) -> None:
        # result.json holds a run's final figures; a second copy could only disagree.
        check_names(values)

    def close(self, ok: bool) -> None:
        return None


class Tee:
    """Hands everything to several writers, in order."""

    def __init__(self, writers: Sequence[MetricWriter]) -> None:
        self._writers = tuple(writers)

    def log(self, metrics: Mapping[str, float], *, episode: int) -> None:
        for writer in self._writers:
            writer.log(metrics, episode=episode)

    def summary(self, values: Mapping[str, float]) -> None:
        for writer in self._writers:
            writer.summary(values)

    def close(self, ok: bool) -> None:
        for writer in self._writers:
            writer.close(ok)


def run_id(directory: Path) -> str:
    """The W&B id of a run directory: the same directory is the same W&B run after a resume."""
    return hashlib.sha256(directory.resolve().as_posix().encode()).hexdigest()[:16]


class WandbMetrics:
    """One Weights & Biases run per run directory, offline unless asked otherwise.

    After a resume W&B may see the episodes since the last checkpoint twice; the later point counts.
    If W&B fails during a run, it is left out from there on with one warning.

    Args:
        directory: the run directory; W&B keeps its files in `wandb/` there.
        name: what people read in the run list; the last parts of the path, say.
        config: the resolved configuration, as plain data without secrets.

    Raises:
        UserError: W&B could not be started.
    """

    def __init__(
        self,
        directory: Path,
        *,
        project: str,
        mode: Literal["offline", "online", "disabled"],
        name: str,
        entity: str | None = None,
        group: str | None = None,
        tags: Sequence[str] = (),
        config: Mapping[str, Any] | None = None,
    ) -> None:
        self.id = run_id(directory)
        self._directory = directory
        self._waits = mode == "online"
        try:
            # Loaded here: importing wandb takes half a second and starts threads.
            import wandb
        except ImportError as error:
            raise _not_started(error) from error
        self._error: type[Exception] = wandb.errors.Error
        try:
            directory.mkdir(parents=True, exist_ok=True)
            if mode == "online" and not wandb.api.api_key:
                # Asked here, for on a terminal W&B would wait at a prompt.
                raise wandb.errors.UsageError("no API key is configured")
            self._run: Any = wandb.init(
                project=project,
                entity=entity,
                group=group,
                tags=list(tags),
                name=name,
                id=self.id,
                dir=str(directory),
                config=dict(config or {}),
                mode=mode,
                resume="allow",
                # Several jobs of a sweep may share a process; each has its own run.
                reinit="create_new",
                settings=_quiet(wandb),
            )
            self._run.define_metric(EPISODE)
            self._run.define_metric("*", step_metric=EPISODE)
        except (wandb.errors.Error, ValueError, TypeError, OSError) as error:
            raise _not_started(error) from error

    def log(self, metrics: Mapping[str, float], *, episode: int) -> None:
        check_names(metrics)
        self._safely("log", lambda: self._run.log({EPISODE: episode, **metrics}))

    def summary(self, values: Mapping[str, float]) -> None:
        check_names(values)
        self._safely("summary", lambda: self._run.summary.update(dict(values)))

    def close(self, ok: bool) -> None:
        """Finish the W&B run, as failed unless `ok`; an upload that hangs is not waited for."""

        def finish() -> None:
            self._safely("finish", lambda: self._run.finish(exit_code=0 if ok else 1))

        if not self._waits:
            finish()
        else:
            limit_s = FINISH_TIMEOUT_S if ok else STOP_TIMEOUT_S
            worker = threading.Thread(target=finish, name="wandb-finish", daemon=True)
            worker.start()
            worker.join(limit_s)
            if worker.is_alive():
                log.warning(
                    "W&B did not finish within %.0f s; its data is in %s, `wandb sync` sends it",
                    limit_s,
                    self._directory / "wandb",
                )
        self._run = None

    def _safely(self, what: str, act: Callable[[], object]) -> None:
        if self._run is None:
            return
        try:
            act()
        except (self._error, OSError, ValueError, RuntimeError) as error:
            log.warning(
                "W&B failed at %s and is left out from here on (metrics.jsonl goes on): %s",
                what,
                error,
            )
            self._run = None


def _quiet(wandb: Any) -> Any:
    """Settings under which W&B writes scalars only: no console capture, host facts or code."""
    return wandb.Settings(
        silent=True,
        console="off",
        disable_git=True,
        disable_code=True,
        disable_job_creation=True,
        symlink=False,
        init_timeout=INIT_TIMEOUT_S,
        x_disable_meta=True,
        x_disable_machine_info=True,
        x_disable_stats=True,
        x_save_requirements=False,
    )


def _not_started(error: Exception) -> UserError:
    reason = " ".join(str(error).split()) or type(error).__name__
    return UserError(
        f"Weights & Biases could not be started: {reason}. Choose logger.mode=offline, log in with "
        "`wandb login`, or train without it: logger=none (metrics.jsonl is written either way)."
    )
