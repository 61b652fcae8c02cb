"""The one table over benchmarks: a row for each method, a column for each benchmark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from sero.reporting.figures import RowKey
from sero.reporting.seeds import Block, labels_of, row_estimate
from sero.reporting.statistics import Estimate
from sero.reporting.table import NONE, Table
from sero.reporting.text import score


def overviews(blocks: Sequence[Block]) -> tuple[Table, ...]:
    """A table for every backbone, scorer and kind of world that has more than one column.

    What differs in a backbone or a scorer is another quantity and never shares a table; a
    benchmark with two states of its data has a column for each.
    """
    settings = sorted(blocks, key=lambda b: (_family(b), b.setting.benchmark, b.setting.data))
    families = [list(found) for _, found in groupby(settings, key=_family)]
    return tuple(_overview(family) for family in families if len(family) > 1)


def _family(block: Block) -> tuple[str, str, bool]:
    setting = block.setting
    return (setting.backbone, setting.scorer, setting.simulated)


def _overview(blocks: Sequence[Block]) -> Table:
    columns = _columns(blocks)
    # Rows are one by what they are, not by what they are called: two settings never share a row.
    cells: dict[RowKey, dict[str, Estimate]] = {}
    for name, block in zip(columns, blocks, strict=True):
        for row in block.rows:
            cells.setdefault(row.key, {})[name] = row_estimate(row, block)
    labels = labels_of(list(cells))
    once = len({block.setting.benchmark for block in blocks}) == len(blocks)
    means = {key: _mean(found, columns) if once else None for key, found in cells.items()}
    order = sorted(cells, key=lambda key: (-len(cells[key]), -(means[key] or 0.0), labels[key]))
    backbone, scorer, simulated = _family(blocks[0])
    units = sorted({block.unit for block in blocks})
    return Table(
        title=f"Held-out score on every benchmark · backbone {backbone} · scorer {scorer or '?'}"
        + (" · SIMULATED" if simulated else ""),
        columns=("row", *columns, "mean"),
        rows=tuple(
            (labels[key], *(_cell(cells[key].get(name)) for name in columns), score(means[key]))
            for key in order
        ),
        notes=(
            "Mean and 95 % CI as in the tables below, which say over how many items and "
            f"{' or '.join(units)}. mean: of the benchmarks, where a row has all of them and each "
            f"has one column. {NONE}: no finished run, or no item that every row scored.",
        ),
    )


def _columns(blocks: Sequence[Block]) -> tuple[str, ...]:
    """Names of benchmarks, with what tells two columns of one benchmark apart."""
    counts = Counter(block.setting.benchmark for block in blocks)
    return tuple(
        s.benchmark
        if counts[s.benchmark] == 1
        else f"{s.benchmark} ({s.world or 'data ' + (s.data[:8] or '?')})"
        for s in (block.setting for block in blocks)
    )


def _mean(found: dict[str, Estimate], columns: Sequence[str]) -> float | None:
    values = [found[name].mean for name in columns if name in found]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) == len(columns) else None


def _cell(found: Estimate | None) -> str:
    if found is None or found.mean is None:
        return NONE
    if found.low is None or found.high is None:
        return score(found.mean)
    return f"{score(found.mean)} ({score(found.low)} to {score(found.high)})"
