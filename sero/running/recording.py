"""What training records in a run directory: journals, curves, pools and checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sero.credit import PoolState
from sero.errors import SeroError
from sero.running.directory import RunDirectory
from sero.running.evaluating import parted
from sero.running.progress import Progress
from sero.running.saved import Journals, load_checkpoint, save_checkpoint, save_pool_state
from sero.storage import naming_the_directory
from sero.tracking import MetricWriter

CHECKPOINT_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecorder:
    """Writes what `sero.evolution.records.Recorder` promises.

    A checkpoint holds the lengths of the journals, so that a resumed run cuts them back to it.
    """

    directory: RunDirectory
    journals: Journals
    metrics: MetricWriter
    progress: Progress

    def episode(
        self,
        record: Mapping[str, Any],
        metrics: Mapping[str, float],
        traces: list[dict[str, Any]],
        committed: PoolState | None,
    ) -> None:
        episode = record["episode"]
        for whole in traces:
            trace, assignment = parted(whole)
            self.journals.traces.append(trace)
            if self.journals.assignments is not None and "rollout" in trace:
                self.journals.assignments.append(assignment)
        self.journals.episodes.append(record)
        self.metrics.log(metrics, episode=episode)
        if committed is not None:
            save_pool_state(self.directory.pool_episode(episode), committed)
        self.progress.advance(
            f"{record['phase']} | pool {record['pool_size']} | "
            f"task score {record['score_before']:.2f} | {record['action']} {record['verdict']}"
        )

    def last_update(self, metrics: Mapping[str, float], episode: int) -> None:
        self.metrics.log(metrics, episode=episode)

    def checkpoint(self, progress: Mapping[str, Any], controller: Mapping[str, Any]) -> None:
        self.journals.sync()
        save_checkpoint(
            self.directory.checkpoint,
            {
                "version": CHECKPOINT_VERSION,
                "progress": dict(progress),
                "controller": dict(controller),
                "lengths": self.journals.lengths(),
            },
        )


def saved_episode(directory: RunDirectory) -> int | None:
    """Last whole episode of the checkpoint; None before the first, or without a readable one."""
    try:
        return int(load_checkpoint(directory.checkpoint)["progress"]["episode"]) or None
    except (SeroError, OSError, LookupError, TypeError, ValueError):
        # For a status alone: whatever is wrong with the file is said where it is needed.
        return None


def drop_pools_after(directory: RunDirectory, episode: int) -> None:
    """Remove the pools of episodes behind the checkpoint, which a killed process has left.

    Raises:
        StorageError: the disk refused.
    """
    for path in directory.pool_seed.parent.glob("episode_*.yaml"):
        number = path.stem.removeprefix("episode_")
        if number.isdecimal() and int(number) > episode:
            with naming_the_directory(path):
                path.unlink()
