"""The recorder of a training run: journals, curves, pools and checkpoints in its directory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sero.credit import PoolState
from sero.running.directory import RunDirectory
from sero.running.progress import Progress
from sero.running.saved import Journals, save_checkpoint, save_pool_state
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
        for trace in traces:
            self.journals.traces.append(trace)
        self.journals.episodes.append(record)
        self.metrics.log(metrics, episode=episode)
        if committed is not None:
            save_pool_state(self.directory.pool_episode(episode), committed)
        self.progress.advance(
            f"{record['phase']} | pool {record['pool_size']} | "
            f"score {record['score_before']:.2f} | {record['action']} {record['verdict']}"
        )

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
