"""Rows over seeds, what of them may be compared, and their means with intervals (method.md §4.9).

Two kinds of interval, chosen per block by the fingerprint of the data. Runs on the same held-out
items are averaged per item over the seeds, and the items are resampled within their groups: the
interval is conditional on these seeds. Where every seed has data of its own, as in the simulated
world, the run is the unit, and the interval is Student's over runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sero.assignment.players import ORACLE, RANDOM
from sero.reporting.figures import RowKey, RunFigures, Setting
from sero.reporting.rows import Scored
from sero.reporting.statistics import (
    Estimate,
    by_group,
    score_estimate,
    seed_effect_test,
    t_interval,
)

CEILING = "ceiling"
"""Name of the row regret is measured to; where roles are assigned it is the oracle's."""

LONG = 28
"""Most characters of a row's overrides shown in its label, unless it takes more to be unique."""

DEFAULT_BASELINES = ("reference", "sero", "static")
"""Names looked for, in this order, when no baseline is named and cards stand as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedRow:
    """The runs of one row, one per seed, in order of their seeds."""

    label: str
    key: RowKey
    runs: tuple[RunFigures, ...]

    @property
    def by_seed(self) -> Mapping[str, RunFigures]:
        return {run.seed: run for run in self.runs}

    def mean(self, figure: Callable[[RunFigures], float | None]) -> float | None:
        """Mean of a figure over the runs that have it; None if none has."""
        known = [value for value in map(figure, self.runs) if value is not None]
        return float(np.mean(known)) if known else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Rows that may be compared, the best mean score first.

    Attributes:
        over_items: all runs have the same held-out items, so the intervals are over items.
        items: those that every run of the block scored; rows are averaged over these alone.
        repeated: runs left out because their row has another run of the same seed.
        equal: runs left out likewise, which differ from it in settings that their row never reads.
    """

    setting: Setting
    rows: tuple[SeedRow, ...]
    over_items: bool
    items: tuple[str, ...]
    repeated: tuple[RunFigures, ...]
    equal: tuple[RunFigures, ...] = ()

    @property
    def unit(self) -> str:
        """What the runs of a row are: `worlds` when every seed has one of its own."""
        return "worlds" if self.setting.simulated and not self.over_items else "seeds"

    @property
    def one_host(self) -> bool:
        """All rows are assignments of roles in one host, so that one of them bounds the others."""
        keys = [row.key for row in self.rows]
        return all(key.by for key in keys) and len({key.host for key in keys}) == 1

    @property
    def ceiling(self) -> SeedRow | None:
        """The row named `ceiling` of a simulated block; the oracle's where there is one host."""
        rows = self.rows if self.setting.simulated else ()
        found = [row for row in rows if row.key.name == CEILING]
        if self.one_host:
            found += [row for row in rows if row.key.by == ORACLE]
        return most_runs(found) if found else None


def make_blocks(runs: Iterable[RunFigures]) -> tuple[Block, ...]:
    """Runs grouped into blocks and rows; equal input in any order gives equal blocks.

    Rows whose answers follow from the same settings are one, under the key that comes first.
    """
    found: dict[Setting, dict[RowKey, list[RunFigures]]] = defaultdict(lambda: defaultdict(list))
    for run in sorted(runs, key=_order):
        found[run.setting][run.row].append(run)
    order = sorted(found, key=lambda s: (s.benchmark, s.backbone, s.scorer, s.world, s.data))
    return tuple(_block(setting, _merged(found[setting])) for setting in order)


def row_estimate(row: SeedRow, block: Block) -> Estimate:
    """Mean held-out score of a row; its interval is over the block's items, or over runs."""
    if not block.over_items:
        return t_interval([run.score for run in row.runs])
    return score_estimate(by_group(item_scores(row, block).values()))


def item_scores(row: SeedRow, block: Block) -> Scored:
    """Each of the block's items with its group and the row's mean score over its runs."""
    return item_means([run.scored for run in row.runs], block.items)


def group_means(row: SeedRow, block: Block) -> dict[str, float]:
    """Mean held-out score of each group: of the block's items, or of each run's own."""
    if block.over_items:
        means = by_group(item_scores(row, block).values())
        return {group: float(np.mean(values)) for group, values in means.items()}
    by_run = [by_group(run.scored.values()) for run in row.runs]
    groups = sorted({group for found in by_run for group in found})
    return {g: float(np.mean([np.mean(f[g]) for f in by_run if g in f])) for g in groups}


def seed_effect(row: SeedRow, block: Block) -> float | None:
    """p that the row's seeds differ by no more than their items explain; None if not testable."""
    if not block.over_items:
        return None
    return seed_effect_test([[run.scored[i][1] for run in row.runs] for i in block.items])


def unscored_items(row: SeedRow, block: Block) -> int:
    """Items that a run of the block scored, and some run of this row did not."""
    every = {i for other in block.rows for run in other.runs for i in run.scored}
    return sum(any(i not in run.scored for run in row.runs) for i in every)


def find_baselines(block: Block, names: Sequence[str]) -> tuple[SeedRow, ...]:
    """The rows the others are compared with.

    Args:
        names: rows, methods, labels or variants; the ones this block lacks are passed over. Of
            several rows that fit a name, the one with most runs. Empty takes the random assignment
            where all rows are assignments of one host, else the first of `DEFAULT_BASELINES` there
            is, else the row with most runs.
    """
    if len(block.rows) < 2:
        return ()
    if names:
        named = [row for name in names if (row := _named(block, name)) is not None]
        return tuple({row.label: row for row in named}.values())
    if block.one_host:
        fits = [[row for row in block.rows if row.key.by == RANDOM]]
    else:
        as_they_are = [row for row in block.rows if not row.key.by]
        fits = [_called(as_they_are, name) for name in DEFAULT_BASELINES]
    for found in fits:
        if found:
            return (most_runs(found),)
    return (most_runs([row for row in block.rows if row is not block.ceiling]),)


def names_of(row: SeedRow) -> tuple[str, ...]:
    """What a row may be called on the command line."""
    return (row.label, row.key.name, row.key.method, row.key.by, row.key.variant)


def most_runs(rows: Sequence[SeedRow]) -> SeedRow:
    """The row with most runs; among equals the first in order of experiment and label."""
    return min(rows, key=lambda row: (-len(row.runs), row.key.extra, row.key.experiment, row.label))


def _named(block: Block, name: str) -> SeedRow | None:
    fits = _called(block.rows, name)
    return most_runs(fits) if fits else None


def _called(rows: Sequence[SeedRow], name: str) -> list[SeedRow]:
    """The rows a name fits best; a row's own name goes first, for several rows share a method."""
    for names in zip(*map(names_of, rows), strict=True):
        if name in names:
            return [row for row, other in zip(rows, names, strict=True) if other == name]
    return []


def _merged(rows: Mapping[RowKey, Sequence[RunFigures]]) -> dict[RowKey, list[RunFigures]]:
    """Whole rows of equal answers under the first of their keys, whose own runs come first."""
    first: dict[frozenset[tuple[str, str]], RowKey] = {}
    merged: dict[RowKey, list[RunFigures]] = {}
    for key, runs in rows.items():
        known = all(run.row.answers for run in runs)
        into = first.setdefault(_answers(runs), key) if known else key
        merged.setdefault(into, []).extend(runs)
    return merged


def _answers(runs: Sequence[RunFigures]) -> frozenset[tuple[str, str]]:
    """What a row's answers follow from; seed by seed where not all of its runs agree."""
    by_seed = frozenset((run.seed, run.row.answers) for run in runs)
    found = {answers for _, answers in by_seed}
    return by_seed if len(found) > 1 else frozenset(("", answers) for answers in found)


def _block(setting: Setting, rows: Mapping[RowKey, Sequence[RunFigures]]) -> Block:
    labels = labels_of(list(rows))
    made = []
    repeated: list[RunFigures] = []
    equal: list[RunFigures] = []
    for key, runs in rows.items():
        kept: dict[str, RunFigures] = {}
        for run in runs:
            if run.seed in kept:
                (repeated if run.row == kept[run.seed].row else equal).append(run)
            else:
                kept[run.seed] = run
        in_order = tuple(sorted(kept.values(), key=_order))
        made.append(SeedRow(label=labels[key], key=key, runs=in_order))
    data = {run.data for row in made for run in row.runs}
    # Without a fingerprint nobody knows whether two runs have the same items.
    over_items = len(data) == 1 and "" not in data
    every = [run.scored for row in made for run in row.runs]
    made.sort(key=lambda row: (-(row.mean(lambda run: run.score) or 0.0), row.label))
    return Block(
        setting=setting,
        rows=tuple(made),
        over_items=over_items,
        items=common(every) if over_items else (),
        repeated=tuple(repeated),
        equal=tuple(equal),
    )


def labels_of(keys: Sequence[RowKey]) -> dict[RowKey, str]:
    """Short names that tell the rows of a block apart."""
    several = len({key.experiment for key in keys}) > 1
    short = {}
    # Slugs are cut, and who plays takes a part of them: rows that differ in that alone share one.
    whole = {key: key.extra for key in sorted(keys, key=lambda key: len(key.extra))}
    alike = {(key.name, key.host, key.rules): extra for key, extra in whole.items() if key.by}
    for key in keys:
        extra = key.extra
        if key.by:
            extra = key.without_unread(alike[key.name, key.host, key.rules])
        extra = extra if len(extra) <= LONG else f"{extra[: LONG - 1]}…"
        label = f"{key.title} ({extra})" if extra else key.title
        short[key] = f"{key.experiment}: {label}" if several else label
    taken = list(short.values())
    return {
        key: label if taken.count(label) == 1 else f"{label} [{key.method}, {key.variant}]"
        for key, label in short.items()
    }


def common(runs: Sequence[Scored]) -> tuple[str, ...]:
    """Items that every run has, in order."""
    return tuple(sorted(set(runs[0]).intersection(*runs))) if runs else ()


def item_means(runs: Sequence[Scored], items: Sequence[str]) -> Scored:
    """Each item with its group and its mean over the runs; every run has every item."""
    return {i: (runs[0][i][0], float(np.mean([run[i][1] for run in runs]))) for i in items}


def _order(run: RunFigures) -> tuple[tuple[int, str], str]:
    return (_seed_order(run.seed), str(run.directory))


def _seed_order(seed: str) -> tuple[int, str]:
    number = seed.removeprefix("-")
    whole = number.isascii() and number.isdigit() and len(number) < 20
    return (int(seed) if whole else 2**63, seed)
