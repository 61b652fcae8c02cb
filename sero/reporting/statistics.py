"""Means with intervals and tests of differences: over the items of runs, and over runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, stdtr, stdtrit

from sero.seeding import rng_for

Floats = NDArray[np.float64]

RESAMPLES = 2000
LEVEL = 0.95
TAILS = (50.0 * (1.0 - LEVEL), 50.0 * (1.0 + LEVEL))
"""Percentiles at the ends of an interval of that level."""

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

    @property
    def negated(self) -> Estimate:
        """Of the values with their signs turned."""
        mean, low, high = (
            None if end is None else 0.0 - end for end in (self.mean, self.high, self.low)
        )
        return Estimate(mean=mean, low=low, high=high, n=self.n)


def score_estimate(strata: Mapping[str, Sequence[float]]) -> Estimate:
    """`estimate` of scores in [0, 1], with a bound where there is no spread to resample.

    Where all n scores are 1 the mean is at least q = .025^(1/n): P(score = 1) below q would show n
    ones in fewer than 2.5 % of samples. All 0 is the mirror image.

    Source: Clopper and Pearson (1934), at the ends.
    """
    return _with_ends(estimate(strata))


def best_score_estimate(strata: Mapping[str, Sequence[Sequence[float]]]) -> Estimate:
    """`best_estimate` of scores in [0, 1], with the bounds of `score_estimate` at the ends."""
    return _with_ends(best_estimate(strata))


def _with_ends(found: Estimate) -> Estimate:
    if found.n and found.mean in (0.0, 1.0):
        q = float(((1.0 - LEVEL) / 2.0) ** (1.0 / found.n))
        low, high = (q, 1.0) if found.mean == 1.0 else (0.0, 1.0 - q)
        return Estimate(mean=found.mean, low=low, high=high, n=found.n)
    return found


def estimate(strata: Mapping[str, Sequence[float]], *, resamples: int = RESAMPLES) -> Estimate:
    """Mean over all items with a percentile bootstrap interval, resampled within each stratum.

    The interval speaks of the items only: it is conditional on the runs they come from. A
    resampled mean of n values varies by (n - 1)/n too little, so each stratum's deviations are
    stretched by √(n / (n - 1)); the bounds stay within the values found. A stratum of a single
    item adds no width. The draws have a fixed seed and the values an order of their own, so equal
    scores give equal intervals in whatever order they come.

    Args:
        strata: scores or score differences per group; groups are taken in order of their names.
        resamples: bootstrap resamples.

    Source: Efron and Tibshirani (1993), ch. 13; the stretching is Rao and Wu's (1988).
    """
    groups = [np.sort(np.asarray(strata[name], dtype=np.float64)) for name in sorted(strata)]
    groups = [values for values in groups if len(values)]
    n = sum(len(values) for values in groups)
    if n == 0:
        return Estimate(mean=None, low=None, high=None, n=0)
    deviations = _resampled([values[:, None] for values in groups], resamples)[:, 0]
    mean = sum(float(values.sum()) for values in groups) / n
    low, high = mean + np.percentile(deviations / n, TAILS)
    least = sum(len(values) * float(values.min()) for values in groups) / n
    most = sum(len(values) * float(values.max()) for values in groups) / n
    return Estimate(mean=mean, low=max(float(low), least), high=min(float(high), most), n=n)


def best_estimate(
    strata: Mapping[str, Sequence[Sequence[float]]], *, resamples: int = RESAMPLES
) -> Estimate:
    """The highest of several means over the same items, the highest chosen anew in each resample.

        M = max_j x̄_j,    interval: M + (percentiles of M* - mean of M*)

    So the interval is of what is shown, the best in hindsight on n items. It lies above the mean of
    the one that is best on other items: the optimism of the choice is in M as in every M*.

    Args:
        strata: per group, a row of values for each item, one for each of those chosen between.
            Shape (items, J), J alike in all groups.
        resamples: bootstrap resamples, stretched as in `estimate`.
    """
    groups = [np.asarray(strata[name], dtype=np.float64) for name in sorted(strata) if strata[name]]
    n = sum(len(values) for values in groups)
    if n == 0:
        return Estimate(mean=None, low=None, high=None, n=0)
    groups = [values[np.lexsort(values.T)] for values in groups]
    means = np.sum([values.sum(axis=0) for values in groups], axis=0) / n
    best = (means + _resampled(groups, resamples) / n).max(axis=1)
    mean = float(means.max())
    low, high = mean + np.percentile(best, TAILS) - best.mean()
    least = min(float(values.min()) for values in groups)
    most = max(float(values.max()) for values in groups)
    return Estimate(mean=mean, low=max(float(low), least), high=min(float(high), most), n=n)


def _resampled(groups: Sequence[Floats], resamples: int) -> Floats:
    """Stretched deviations of the resampled sums from those found. Shape (resamples, J)."""
    rng = rng_for(0, "bootstrap")
    deviations = np.zeros((resamples, groups[0].shape[1]))
    for values in groups:
        rows = max(1, BLOCK // len(values))
        stretch = (len(values) / (len(values) - 1)) ** 0.5 if len(values) > 1 else 0.0
        for start in range(0, resamples, rows):
            stop = min(resamples, start + rows)
            drawn = rng.integers(0, len(values), size=(stop - start, len(values)))
            for j, column in enumerate(np.ascontiguousarray(values.T)):
                sums = column[drawn].sum(axis=1) - column.sum()
                deviations[start:stop, j] += stretch * sums
    return deviations


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


def seed_effect_test(scores: Sequence[Sequence[float]]) -> float | None:
    """p that the seeds differ by no more than their items explain: Cochran's Q.

    Without a seed effect an item's scores could have come from the seeds in any order. Then, with
    T_j the total of seed j over the items, Q = (k-1) Σ_j (T_j - T̄)² / Σ_ij (x_ij - x̄_i)² is
    about χ² with k-1 degrees of freedom, for scores of 0 and 1 and for others. None where there is
    nothing to test: one seed, or no item on which seeds differ.

    Args:
        scores: for each item, its score under each seed. Shape (items, k).

    Source: Cochran, Biometrika 37 (1950).
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] < 2:
        return None
    k = values.shape[1]
    within = float(np.square(values - values.mean(axis=1, keepdims=True)).sum())
    if within < TINY:
        return None
    totals = values.sum(axis=0)
    q = (k - 1) * float(np.square(totals - totals.mean()).sum()) / within
    return float(chdtrc(k - 1, q))


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
