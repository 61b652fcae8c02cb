"""Means with intervals and tests of differences: over the items of runs, and over runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from sero.seeding import rng_for

RESAMPLES = 2000
LEVEL = 0.95
BLOCK = 2_000_000
"""Most draws held at once; bounds the memory of large splits."""

MAX_EXACT = 16
"""Most non-zero differences whose 2^n sign patterns are all looked at."""

FLIPS = 20_000
"""Random sign patterns beyond that."""

TINY = 1e-12
"""Differences and standard deviations below it are rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean over n items or runs and its interval; None where n is too small to tell."""

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


def t_interval(values: Sequence[float]) -> Estimate:
    """Mean over independent runs with Student's interval, x̄ ± t(n-1, .975) · s / √n.

    Args:
        values: one score or paired difference per run; one value alone has no interval.
    """
    n = len(values)
    if n == 0:
        return Estimate(mean=None, low=None, high=None, n=0)
    mean, spread = float(np.mean(values)), deviation(values)
    if spread is None:
        return Estimate(mean=mean, low=None, high=None, n=n)
    half = float(stdtrit(n - 1, 0.5 + LEVEL / 2.0)) * spread / n**0.5
    return Estimate(mean=mean, low=mean - half, high=mean + half, n=n)


def deviation(values: Sequence[float]) -> float | None:
    """Standard deviation with n - 1 below the line; None for fewer than two values."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


def t_test(differences: Sequence[float]) -> float | None:
    """Two-sided p of the paired t-test that the mean difference is 0.

    Below .05 just when the interval of `t_interval` leaves 0 out. Without any variation there is
    nothing to test: 1 if all differences are 0, else None; None as well for fewer than two.
    """
    n, spread = len(differences), deviation(differences)
    if spread is None:
        return None
    mean = abs(float(np.mean(differences)))
    if spread < TINY:
        return 1.0 if mean < TINY else None
    return min(1.0, 2.0 * float(stdtr(n - 1, -mean * n**0.5 / spread)))


def sign_flip_test(differences: Sequence[float]) -> float | None:
    """Two-sided p of the paired randomisation test: each difference could have had either sign.

    The share of sign patterns whose sum is at least as far from 0 as the one found; every pattern
    for few differences, else random ones (a fixed stream) with the found one counted in. For
    scores of 0 and 1 this is McNemar's exact test. None without any difference to look at.

    Source: Fisher's randomisation test, 1935.
    """
    if not len(differences):
        return None
    values = np.asarray(differences, dtype=np.float64)
    values = values[np.abs(values) > TINY]
    n = len(values)
    found = abs(float(values.sum())) - TINY
    if n <= MAX_EXACT:
        patterns = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
        return float(np.mean(np.abs((1.0 - 2.0 * patterns) @ values) >= found))
    rng = rng_for(0, "sign flips")
    rows = max(1, BLOCK // n)
    extreme = 0
    for start in range(0, FLIPS, rows):
        drawn = rng.integers(0, 2, size=(min(rows, FLIPS - start), n))
        extreme += int(np.count_nonzero(np.abs((1.0 - 2.0 * drawn) @ values) >= found))
    return (extreme + 1) / (FLIPS + 1)


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Holm's step-down adjustment: the k-th smallest of m becomes max over j ≤ k of (m-j+1)·p_j.

    Holds the chance of any false rejection in the family to the level. None stays None and is not
    counted in m.

    Source: Holm, Scandinavian Journal of Statistics 6 (1979).
    """
    known = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, i) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - rank) * p))
        adjusted[i] = largest
    return tuple(adjusted)
