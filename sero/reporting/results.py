"""What `sero report` says of a set of runs: tables per block, warnings, the runs left out."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sero.errors import UserError
from sero.reporting.differences import Difference
from sero.reporting.doubts import Doubts
from sero.reporting.figures import RunFigures, Setting, Unusable, read_figures
from sero.reporting.hindsight import comparator_table, hindsights
from sero.reporting.overview import overviews
from sero.reporting.seeds import (
    Block,
    SeedRow,
    find_baselines,
    make_blocks,
    names_of,
    row_estimate,
    seed_effect,
    unscored_items,
)
from sero.reporting.statistics import Estimate
from sero.reporting.table import (
    Table,
    cost_table,
    difference_table,
    differences_to,
    group_table,
    pool_table,
    score_table,
)

ENOUGH_WORLDS = 10
"""Worlds below which a comparison in simulation is warned of: three have misled before."""

SEED_EFFECT = 0.01
"""p of the seed-effect test below which the report warns."""

LISTED = 50
"""Most failed runs listed one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A row in the figure of score against calls."""

    number: int
    calls: float
    score: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """All about one block: what it is, its tables, the points of its figure, its warnings."""

    title: str
    simulated: bool
    tables: tuple[Table, ...]
    points: tuple[Point, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What is shown. `complete` is false if a run had to be left out of the tables."""

    overviews: tuple[Table, ...]
    sections: tuple[Section, ...]
    notes: tuple[str, ...]
    unusable: Table | None

    @property
    def complete(self) -> bool:
        return self.unusable is None


def make_report(directories: Sequence[Path], baselines: Sequence[str] = ()) -> Report:
    """Read run directories and compare their rows.

    Args:
        baselines: names of rows, methods, labels or variants to compare with.

    Raises:
        UserError: no block has a row of a baseline's name, or a path is no run directory.
    """
    read = [read_figures(directory) for directory in dict.fromkeys(directories)]
    blocks = make_blocks(run for run in read if isinstance(run, RunFigures))
    _check_names(blocks, baselines)
    unusable = [run for run in read if isinstance(run, Unusable)]
    return Report(
        overviews=overviews(blocks),
        sections=tuple(_section(block, baselines) for block in blocks),
        notes=_apart([block.setting for block in blocks]),
        unusable=_unusable(unusable) if unusable else None,
    )


def _check_names(blocks: Sequence[Block], names: Sequence[str]) -> None:
    known = sorted(
        {name for block in blocks for row in block.rows for name in names_of(row)} - {""}
    )
    for name in names:
        if blocks and name not in known:
            raise UserError(f"--baseline {name}: no such row; the runs have {', '.join(known)}")


def _section(block: Block, names: Sequence[str]) -> Section:
    estimates = [row_estimate(row, block) for row in block.rows]
    assigned = hindsights(block)
    baselines = find_baselines(block, names)
    differences = [(base, differences_to(block, base)) for base in baselines]
    points = [
        Point(number=number, calls=calls, score=found)
        for number, (row, found) in enumerate(zip(block.rows, estimates, strict=True), 1)
        if (calls := row.mean(lambda run: run.calls)) is not None
    ]
    tables = [
        score_table(block, estimates, [one.shown(block) for one in assigned]),
        comparator_table(block, assigned),
        group_table(block),
        *(difference_table(block, base, found) for base, found in differences),
        cost_table(block, estimates),
        pool_table(block),
    ]
    warnings = _warnings(block)
    for base, found in differences:
        warnings += _pairing_warnings(base, found)
    if names and not baselines and len(block.rows) > 1:
        warnings.append(f"no row here is called {' or '.join(names)}, so nothing is compared")
    return Section(
        title=_title(block),
        simulated=block.setting.simulated,
        tables=tuple(table for table in tables if table.rows),
        points=tuple(points),
        warnings=tuple(dict.fromkeys(warnings)),
    )


def _title(block: Block) -> str:
    setting = block.setting
    experiments = {row.key.experiment for row in block.rows}
    parts = [
        *(experiments if len(experiments) == 1 else ()),
        setting.benchmark,
        f"backbone {setting.backbone}",
        f"scorer {setting.scorer or '?'}",
        *([f"data {setting.data[:8]}"] if setting.data else ()),
        *(["SIMULATED"] if setting.simulated else ()),
    ]
    return " · ".join(part for part in parts if part)


def _warnings(block: Block) -> list[str]:
    lines = []
    counts = {row.label: len(row.runs) for row in block.rows}
    alone = [label for label, n in counts.items() if n == 1]
    if alone:
        lines.append(
            f"one seed only ({_listed(alone)}): how much another seed would change is not known"
        )
    few = [label for label, n in counts.items() if n < ENOUGH_WORLDS]
    if block.setting.simulated and few:
        most = max(counts[label] for label in few)
        which = f"{most} at most" if len(few) == len(counts) else _listed(few)
        lines.append(
            f"fewer than {ENOUGH_WORLDS} {block.unit} ({which}): in simulation three have shown "
            "differences that ten reversed"
        )
    lines += _unequal_seeds(block)
    for row in block.rows:
        doubts = sum((run.doubts for run in row.runs), Doubts())
        lines += [f"{row.label}: {line}" for line in doubts.lines]
        partly = unscored_items(row, block) if block.over_items else 0
        if partly:
            lines.append(
                f"{row.label}: unequal item sets, {partly} item(s) that it did not score in every "
                "seed are left out of every row"
            )
        p = seed_effect(row, block)
        if p is not None and p < SEED_EFFECT:
            lines.append(
                f"{row.label}: its seeds differ by more than their items explain (p {p:.3f}); the "
                "interval over items says nothing of another seed, use more of them"
            )
    if any(run.failures for row in block.rows for run in row.runs):
        lines.append("failed items are left out of the means; the same command again retries them")
    if not block.over_items and any(not run.data for row in block.rows for run in row.runs):
        lines.append("a run has no data fingerprint; whether items are the same is not known")
    if block.equal:
        who = _listed(list(dict.fromkeys(run.row.by for run in block.equal)))
        lines.append(
            f"{len(block.equal)} run(s) by {who} left out: they differ from a run of the same row "
            "and seed only in settings of assign that nobody reads there"
        )
    for run in block.repeated:
        lines.append(f"left out, its row has another run of seed {run.seed}: {run.directory}")
    return lines


def _unequal_seeds(block: Block) -> list[str]:
    sets: dict[tuple[str, ...], list[str]] = {}
    for row in block.rows:
        sets.setdefault(tuple(row.by_seed), []).append(row.label)
    if len(sets) < 2:
        return []
    each = "; ".join(f"{_listed(labels)}: {_listed(seeds)}" for seeds, labels in sets.items())
    return [
        f"rows have unequal {block.unit}; means are over each row's own, differences over those "
        f"both have ({each})"
    ]


def _pairing_warnings(base: SeedRow, found: Sequence[tuple[SeedRow, Difference]]) -> list[str]:
    lines = []
    for row, difference in found:
        against = f"{row.label} against {base.label}"
        if difference.left_out:
            lines.append(
                f"{against}: unequal item sets, {difference.left_out} item(s) only one of the two "
                "scored are left out"
            )
        if difference.other_data:
            lines.append(
                f"{against}: {difference.other_data} seed(s) left out, the two runs have "
                "different data"
            )
        if not difference.runs:
            lines.append(f"{against}: nothing in common to compare")
    return lines


def _apart(settings: Sequence[Setting]) -> tuple[str, ...]:
    """What tells the blocks apart, so that no split goes unnoticed.

    That two benchmarks are two blocks with data of their own needs no word.
    """
    lines = []
    states = {(setting.benchmark, setting.data, setting.world) for setting in settings}
    expected = {"benchmark"}
    if len(states) == len({setting.benchmark for setting in settings}):
        expected |= {"data", "world"}
    for name in (field.name for field in dataclasses.fields(Setting)):
        if name in expected:
            continue
        values = sorted({str(getattr(setting, name)) or "unknown" for setting in settings})
        if len(values) > 1:
            lines.append(
                f"Not one table: the runs differ in {_WORDS.get(name, name)} ({_listed(values)}); "
                "only runs that agree in it are averaged or compared."
            )
    return tuple(lines)


_WORDS = {"data": "data fingerprint", "world": "settings of the world"}


def _unusable(runs: Sequence[Unusable]) -> Table:
    rows = tuple(
        (str(run.directory), run.state, " ".join(run.reason.split())) for run in runs[:LISTED]
    )
    more = (f"{len(runs) - LISTED} more not shown.",) if len(runs) > LISTED else ()
    return Table(
        title=f"Failed or unfinished runs, in none of the tables: {len(runs)}",
        columns=("run", "state", "reason"),
        rows=rows,
        notes=(*more, "The same command that started a run resumes it."),
        numeric=False,
    )


def _listed(names: Sequence[str], limit: int = 24) -> str:
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more
