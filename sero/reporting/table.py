"""The tables of one block as text cells, whatever format they are shown in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sero.reporting.differences import Difference, compare
from sero.reporting.entries import Spending
from sero.reporting.seeds import Block, SeedRow, group_means, row_estimate
from sero.reporting.statistics import Estimate, deviation, holm
from sero.reporting.text import compact, score, signed

NONE = "–"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Cells as text. The first `words` columns are set left, the others right if `numeric`."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    numeric: bool = True
    words: int = 1


def named(block: Block, what: str) -> str:
    """A table's title; tables travel alone, so each says what is simulated."""
    return f"{what} · SIMULATED" if block.setting.simulated else what


def score_table(
    block: Block,
    estimates: Sequence[Estimate],
    derived: Sequence[tuple[SeedRow, Estimate, str]] = (),
) -> Table:
    """Mean held-out score per row; the notes say which interval it is.

    Args:
        estimates: `row_estimate` of each row of the block, in its order.
        derived: rows made of others, shown below them, each with its estimate and a note that says
            so.
    """
    rows = []
    below = [(row, found) for row, found, _ in derived]
    for row, found in (*zip(block.rows, estimates, strict=True), *below):
        spread = deviation([run.score for run in row.runs])
        items = [str(found.n)] if block.over_items else ends([len(r.scored) for r in row.runs])
        failures = sum(run.failures for run in row.runs)
        rows.append(
            (
                row.label,
                str(len(row.runs)),
                " to ".join(items),
                score(found.mean),
                bounds(found),
                score(spread),
                str(failures),
            )
        )
    if block.over_items:
        how = (
            "95 % CI: all runs have the same held-out items, so scores are averaged over seeds "
            "per item, over the items every row scored, and the items resampled within their "
            "groups (bootstrap); it is conditional on these seeds, whose spread is sd."
        )
    else:
        how = (
            f"95 % CI: Student's t over {block.unit}, for the items differ from one to the next; "
            "one alone has none."
        )
    notes = [
        f"{how} sd: standard deviation of the mean score over {block.unit}. failed: items "
        "without a score, left out of the means."
    ]
    notes += [note for *_, note in derived]
    if block.setting.world:
        notes.append(f"World: {block.setting.world}.")
    return Table(
        title=named(block, "Held-out score"),
        columns=("row", block.unit, "items", "score", "95 % CI", "sd", "failed"),
        rows=tuple(rows),
        notes=tuple(notes),
    )


def group_table(block: Block) -> Table:
    """Mean held-out score of each group; without a row where there is one group only."""
    means = [group_means(row, block) for row in block.rows]
    groups = sorted({group for found in means for group in found})
    rows = tuple(
        (row.label, *(score(found.get(group)) for group in groups))
        for row, found in zip(block.rows, means, strict=True)
    )
    return Table(
        title=named(block, "Held-out score by group"),
        columns=("row", *groups),
        rows=rows if len(groups) > 1 else (),
    )


def differences_to(block: Block, base: SeedRow) -> list[tuple[SeedRow, Difference]]:
    """Every other row of the block minus `base`."""
    # The ceiling is what regret is measured to, no method to be tested.
    return [
        (row, compare(row, base, over_items=block.over_items))
        for row in block.rows
        if row is not base and row is not block.ceiling
    ]


def difference_table(
    block: Block, base: SeedRow, found: Sequence[tuple[SeedRow, Difference]]
) -> Table:
    """Differences to one baseline with intervals, wins, and p corrected over the table."""
    adjusted = holm([difference.p for _, difference in found])
    rows = tuple(
        (
            row.label,
            str(d.runs),
            signed(d.estimate.mean),
            bounds(d.estimate, sign=True),
            f"{d.wins:g}/{d.runs}" if d.runs else NONE,
            _p(d.p),
            _p(corrected),
        )
        for (row, d), corrected in zip(found, adjusted, strict=True)
    )
    interval, test = (
        ("bootstrap over items", "sign-flip test over items")
        if block.over_items
        else (f"Student's t over {block.unit}", "paired t-test")
    )
    tested = sum(difference.p is not None for _, difference in found)
    note = (
        f"Row minus {base.label}, paired on the same {block.unit} and items; 95 % CI: {interval}. "
        f"wins: {block.unit} in which the row is higher, a tie counts ½. p: two-sided {test}; "
        f"Holm: corrected over the {tested} comparison(s) of this table."
    )
    return Table(
        title=named(block, f"Difference to {base.label}"),
        columns=("row", "pairs", "difference", "95 % CI", "wins", "p", "Holm p"),
        rows=rows,
        notes=(note,),
    )


def cost_table(block: Block, estimates: Sequence[Estimate]) -> Table:
    """Score against what it cost. Rows are numbered as the points of the figure are."""
    rows = []
    priced = any(run.usd is not None for row in block.rows for run in row.runs)
    for number, (row, found) in enumerate(zip(block.rows, estimates, strict=True), 1):
        calls = row.mean(lambda run: run.calls)
        rows.append(
            (
                f"{number} {row.label}",
                score(found.mean),
                _count(calls),
                _count(row.mean(lambda run: run.training.calls if run.training else None)),
                _count(row.mean(lambda run: run.evaluation.calls if run.evaluation else None)),
                _count(row.mean(lambda run: run.candidates)),
                compact(round(row.mean(lambda run: run.tokens) or 0)),
                score(_points_per(row, lambda spent: spent.calls)),
                score(_points_per(row, lambda spent: spent.tokens / 1000)),
                *(_dollars(row) if priced else ()),
            )
        )
    note = (
        "Means per run. calls and tokens are logical: what the method asked for, cache hits "
        "included. candidates: edited pools that were run in training. Points: the sum of item "
        "scores, over the calls and over the prompt and completion tokens of the evaluation."
    )
    if priced:
        note += (
            " US$: the price of the tokens, a row's cost whatever ran before it; US$ sent: the "
            "price of what was sent, which is billed."
        )
    return Table(
        title=named(block, "Score against logical calls"),
        columns=(
            "row",
            "score",
            "calls",
            "training",
            "evaluation",
            "candidates",
            "tokens",
            "points per call",
            "points per 1,000 tokens",
            *(("US$", "US$ sent") if priced else ()),
        ),
        rows=tuple(rows),
        notes=(note,),
    )


def pool_table(block: Block) -> Table:
    """What training did to the pools, and in simulation what is true of them.

    Without a row when no run of the block says anything of it.
    """
    simulated, ceiling = block.setting.simulated, block.ceiling
    columns = ["row", "commits", "roles at end"]
    notes = ["Means per run."]
    if simulated:
        columns += ["harmful roles left", "aggregator lost"]
        notes[0] += " Harmful roles: read from the simulated world; a distractor counts as one."
    if ceiling:
        columns += ["regret", "95 % CI"]
        reached = score(row_estimate(ceiling, block).mean)
        notes.append(
            f"Regret: {ceiling.label} ({reached}) minus row, paired on the same {block.unit}."
        )
    rows = []
    for row in block.rows:
        cells = [row.label, _mean(row.mean(lambda run: run.commits))]
        cells.append(_mean(row.mean(lambda run: run.roles)))
        if simulated:
            lost = [run.lost_aggregator for run in row.runs if run.lost_aggregator is not None]
            cells.append(_mean(row.mean(lambda run: run.harmful)))
            cells.append(f"{sum(lost)}/{len(lost)}" if lost else NONE)
        if ceiling:
            regret = compare(ceiling, row, over_items=block.over_items).estimate
            own = row is ceiling
            cells += [NONE, NONE] if own else [signed(regret.mean), bounds(regret, sign=True)]
        rows.append(tuple(cells))
    shown = any(cell not in (NONE, "0/0") for cells in rows for cell in cells[1:])
    return Table(
        title=named(block, "Pools" if not simulated else "Pools and ground truth"),
        columns=tuple(columns),
        rows=tuple(rows) if shown else (),
        notes=tuple(notes),
    )


def _dollars(row: SeedRow) -> tuple[str, str]:
    figures = (row.mean(lambda run: run.usd), row.mean(lambda run: run.usd_sent))
    cells = [NONE if value is None else f"{value:,.4f}" for value in figures]
    return cells[0], cells[1]


def _points_per(row: SeedRow, unit: Callable[[Spending], float]) -> float | None:
    """Sum of item scores over what the evaluations that earned them cost."""
    known = [
        (run.score * len(run.scored), unit(run.evaluation)) for run in row.runs if run.evaluation
    ]
    spent = sum(cost for _, cost in known)
    return sum(points for points, _ in known) / spent if spent else None


def bounds(found: Estimate, *, sign: bool = False) -> str:
    """The ends of an interval; a dash where there is none."""
    if found.low is None or found.high is None:
        return NONE
    write = signed if sign else score
    return f"{write(found.low)} to {write(found.high)}"


def ends(counts: Sequence[int]) -> list[str]:
    """The least and the most of them; one where they are equal."""
    return [str(n) for n in sorted({min(counts), max(counts)})]


def _p(value: float | None) -> str:
    if value is None:
        return NONE
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _count(value: float | None) -> str:
    return NONE if value is None else f"{value:,.0f}"


def _mean(value: float | None) -> str:
    return NONE if value is None else f"{value:.1f}"
