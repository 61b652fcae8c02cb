"""Paired differences of two rows over seeds: by seed, and by item within it (method.md §4.9)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sero.reporting.rows import Scored
from sero.reporting.seeds import SeedRow, common, item_means
from sero.reporting.statistics import (
    TINY,
    Estimate,
    by_group,
    estimate,
    sign_flip_test,
    t_interval,
    t_test,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A row minus its baseline on what both have.

    Attributes:
        runs: seeds compared.
        wins: seeds in which the row is higher; a tie counts a half.
        p: two-sided, that there is no difference; None when it cannot be told.
        left_out: (seed, item) pairs only one of the two scored.
        other_data: seeds left out because the two runs have different data.
        unpaired: seeds only one of the two rows has.
    """

    estimate: Estimate
    runs: int
    wins: float
    p: float | None
    left_out: int
    other_data: int
    unpaired: int


def compare(row: SeedRow, base: SeedRow, *, over_items: bool) -> Difference:
    """`row - base`, paired by seed and, within a seed, by item.

    Over runs: the mean difference of each seed's common items, Student's interval and t-test over
    the seeds. Over items: the mean over common seeds of each item's difference, for items both
    rows scored in all of them, a stratified bootstrap and the sign-flip test over the items.
    """
    ours, theirs = row.by_seed, base.by_seed
    seeds = [seed for seed in ours if seed in theirs]
    same, pairs = _same_data(row, base), _pairs(row, base)
    means = [float(np.mean([value for _, value in pair.values()])) for pair in pairs]
    if over_items:
        items = by_group(item_differences(row, base).values())
        found = estimate(items)
        p = sign_flip_test([value for values in items.values() for value in values])
    else:
        found, p = t_interval(means), t_test(means)
    return Difference(
        estimate=found,
        runs=len(means),
        wins=sum(0.5 if abs(mean) < TINY else float(mean > 0) for mean in means),
        p=p,
        left_out=sum(len(ours[s].scored.keys() ^ theirs[s].scored.keys()) for s in same),
        other_data=len(seeds) - len(same),
        unpaired=len(ours.keys() ^ theirs.keys()),
    )


def item_differences(row: SeedRow, base: SeedRow) -> Scored:
    """Each item both rows scored in all their common seeds, with `row - base` over those seeds."""
    pairs = _pairs(row, base)
    return item_means(pairs, common(pairs))


def _same_data(row: SeedRow, base: SeedRow) -> list[str]:
    """Seeds of both rows; the same seed on other data would pair items that only share a name."""
    ours, theirs = row.by_seed, base.by_seed
    return [s for s in ours if s in theirs and ours[s].data == theirs[s].data]


def _pairs(row: SeedRow, base: SeedRow) -> list[Scored]:
    """For each common seed with anything in common, its items with `row - base`."""
    found = []
    for seed in _same_data(row, base):
        ours, theirs = row.by_seed[seed].scored, base.by_seed[seed].scored
        both = sorted(ours.keys() & theirs.keys())
        found.append({i: (ours[i][0], ours[i][1] - theirs[i][1]) for i in both})
    return [pair for pair in found if pair]
