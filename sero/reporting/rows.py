"""One run directory with its scores, as every table reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sero.reporting.entries import Prediction
from sero.reporting.records import RunRecord, read_run
from sero.reporting.statistics import Estimate, by_group, score_estimate
from sero.storage import dumps

Scored = Mapping[str, tuple[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One run and what its predictions say.

    Attributes:
        scored: item id to (group, score), failed items left out.
        failures: held-out items without a score.
    """

    run: RunRecord
    scored: Scored
    failures: int
    interval: Estimate

    @property
    def key(self) -> tuple[str, str, str, bool]:
        """What one table shows together."""
        run = self.run
        return (run.experiment, run.benchmark, run.backbone_setting, run.simulated)

    @property
    def comparable(self) -> str:
        """Equal for runs over the same items: same data, backbone, scorer, seed."""
        run = self.run
        # The fingerprint of the data says it best; without a manifest the settings must do.
        data = run.manifest.get("benchmark") or run.config.get("benchmark")
        scorer = run.result.scorer if run.result else ""
        return dumps([run.benchmark, run.backbone_setting, run.seed, scorer, data])


def read_row(directory: Path) -> Row:
    """A run directory with its scores; a run that has not been evaluated has n = 0.

    Raises:
        UserError: not a run directory, or a damaged file in it.
    """
    run = read_run(directory)
    latest: dict[str, Prediction] = {}
    for prediction in run.predictions():
        # An item that failed may be tried again by a later command; its last line counts.
        latest[prediction.id] = prediction
    scored = {i: (p.group, p.score) for i, p in latest.items() if p.score is not None}
    return Row(
        run=run,
        scored=scored,
        failures=len(latest) - len(scored),
        interval=score_estimate(by_group(scored.values())),
    )
