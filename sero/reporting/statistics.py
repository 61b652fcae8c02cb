"""Means over items with bootstrap intervals, and paired differences between two runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sero.seeding import rng_for

RESAMPLES = 2000
LEVEL = 0.95
BLOCK = 2_000_000
"""Most draws held at once; bounds the memory of large splits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean over n items and its interval; all None when n = 0."""

    mean: float | None
    low: float | None
    high: float | None
    n: int


def estimate(strata: Mapping[str, Sequence[float]], *, resamples: int = RESAMPLES) -> Estimate:
    """Mean over all items with a percentile bootstrap interval, resampled within each stratum.

    The interval speaks of the items only: it is conditional on the one run they come from. A
    stratum of a single item adds no width. The draws have a fixed seed, so equal scores give
    equal intervals.

    Args:
        strata: scores or score differences per group; groups are taken in order of their names.
        resamples: bootstrap resamples.
    """
    groups = [np.asarray(strata[name], dtype=np.float64) for name in sorted(strata)]
    groups = [values for values in groups if len(values)]
    n = sum(len(values) for values in groups)
    if n == 0:
        return Estimate(mean=None, low=None, high=None, n=0)
    rng = rng_for(0, "bootstrap")
    totals = np.zeros(resamples)
    for values in groups:
        rows = max(1, BLOCK // len(values))
        for start in range(0, resamples, rows):
            stop = min(resamples, start + rows)
            drawn = rng.integers(0, len(values), size=(stop - start, len(values)))
            totals[start:stop] += values[drawn].sum(axis=1)
    tail = 100.0 * (1.0 - LEVEL) / 2.0
    low, high = np.percentile(totals / n, [tail, 100.0 - tail])
    mean = sum(float(values.sum()) for values in groups) / n
    return Estimate(mean=mean, low=float(low), high=float(high), n=n)


def by_group(scores: Iterable[tuple[str, float]]) -> dict[str, list[float]]:
    """`(group, score)` pairs collected per group."""
    found: dict[str, list[float]] = {}
    for group, value in scores:
        found.setdefault(group, []).append(value)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """Score differences on the items both runs scored, and how many only one of them scored."""

    estimate: Estimate
    unmatched: int


def paired_difference(
    scores: Mapping[str, tuple[str, float]], baseline: Mapping[str, tuple[str, float]]
) -> Paired:
    """Mean of `scores - baseline` over common items, stratified by group.

    Args:
        scores: item id to (group, score).
        baseline: the same of the run compared with.
    """
    common = sorted(scores.keys() & baseline.keys())
    differences = by_group((scores[i][0], scores[i][1] - baseline[i][1]) for i in common)
    return Paired(estimate=estimate(differences), unmatched=len(scores.keys() ^ baseline.keys()))
