"""The table printed at the end of a run: held-out score with its interval, cost and state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sero.assignment.players import RANDOM
from sero.reporting.doubts import doubts_of
from sero.reporting.figures import RunFigures, read_figures, row_key, with_players
from sero.reporting.hindsight import hindsight_lines
from sero.reporting.hosts import host_of
from sero.reporting.rows import Row, read_row
from sero.reporting.seeds import make_blocks
from sero.reporting.statistics import Estimate, paired_difference
from sero.reporting.text import compact, printable, score, signed

BASELINE = "static"
"""The method others are compared with when it is among the runs, else the random assignment of
roles, else the first run given."""


def print_summary(directories: Sequence[Path], console: Console) -> None:
    """Print one table per experiment, benchmark and backbone, differences, and report paths.

    Raises:
        UserError: a directory that is no run, or a damaged file in one.
    """
    tables: dict[tuple[str, str, str, bool], list[Row]] = defaultdict(list)
    for directory in directories:
        row = read_row(directory)
        tables[row.key].append(row)
    for rows in tables.values():
        console.print(_table(rows))
        lines = (*_differences(rows), *_in_hindsight(rows), *_notes(rows), *_warnings(rows))
        for line in lines:
            console.print(Text(printable(line)), soft_wrap=not console.is_terminal)
    for rows in tables.values():
        for row in rows:
            page = row.run.directory / "report.html"
            where = page if page.is_file() else f"(none yet) sero view {row.run.directory}"
            label = _label(row, rows[0]) if row is not rows[0] else _name(row)
            line = f"report {label} seed {row.run.seed}: {where}"
            # A path is never broken over lines, so that it can be copied.
            console.print(Text(printable(line)), soft_wrap=True)


def _table(rows: Sequence[Row]) -> Table:
    run = rows[0].run
    variants = {row.run.variant for row in rows}
    named = run.variant and len(variants) == 1
    what = f"{run.experiment} · variant {run.variant}" if named else run.experiment
    lines = (what, f"{run.benchmark} · backbone {run.backbone_setting}")
    title = Text("\n").join(_text(line, limit=100) for line in lines)
    if run.simulated:
        title.append(" · SIMULATED", style="bold yellow")
    table = Table(
        title=title,
        box=box.SIMPLE_HEAD,
        title_justify="left",
        pad_edge=False,
        collapse_padding=True,
    )
    table.add_column("method", no_wrap=True, max_width=18)
    played = any(row.run.played_by for row in rows)
    if played:
        table.add_column("played by", no_wrap=True, max_width=18)
    several = len({_beyond_players(row) for row in rows}) > 1
    if several:
        table.add_column("variant", overflow="fold", max_width=22)
    for name in ("seed", "n", "score", "95 % CI", "failed", "calls", "tokens"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("state", no_wrap=True)
    for row in rows:
        cells = [_text(row.run.method, limit=18)]
        if played:
            cells.append(_text(row.run.played_by or "–", limit=18))
        if several:
            cells.append(_text(row.run.variant, limit=66))
        table.add_row(*cells, *_figures(row), _text(row.run.status.state, limit=11))
    return table


def _figures(row: Row) -> list[str | Text]:
    result, interval = row.run.result, row.interval
    calls = f"{result.calls:,}" if result else "–"
    tokens = compact(result.prompt_tokens + result.completion_tokens) if result else "–"
    seed = _text(row.run.seed, limit=8)
    return [
        seed,
        str(interval.n),
        score(interval.mean),
        _bounds(interval),
        str(row.failures),
        calls,
        tokens,
    ]


def _bounds(interval: Estimate) -> str:
    if interval.low is None or interval.high is None:
        return "–"
    return f"{interval.low:.3f} to {interval.high:.3f}"


def _differences(rows: Sequence[Row]) -> list[str]:
    """One line per run against the baseline of its own seed and items."""
    alike: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.interval.n:
            alike[row.comparable].append(row)
    lines = []
    for group in alike.values():
        for row in group:
            base = _baseline(row, group)
            if row is not base and not _is_baseline(row):
                lines.append(_difference(row, base))
    return lines


def _baseline(row: Row, group: Sequence[Row]) -> Row:
    """The static run of the same variant, else of any, else the random assignment, else the first
    run given."""
    static = [other for other in group if _is_baseline(other)]
    own = [other for other in static if other.run.variant == row.run.variant]
    random = [
        other
        for other in group
        if row.run.played_by
        and other.run.played_by == RANDOM
        and host_of(other.run) == host_of(row.run)
    ]
    return next(iter((*own, *static, *random, *group)))


def _is_baseline(row: Row) -> bool:
    return row.run.method == BASELINE and not row.run.played_by


def _difference(row: Row, base: Row) -> str:
    paired = paired_difference(row.scored, base.scored)
    found = paired.estimate
    names = f"{_label(row, base)} minus {_label(base, row)}, seed {row.run.seed}"
    if found.mean is None:
        return f"{names}: no item was scored by both"
    line = (
        f"{names}: {signed(found.mean)}, 95 % CI {signed(found.low)} to {signed(found.high)}, "
        f"n = {found.n} common items"
    )
    if paired.unmatched:
        line += f"; left out because only one of the two scored them: {paired.unmatched}"
    return line


def _in_hindsight(rows: Sequence[Row]) -> list[str]:
    """The best uniform assignment of roles, and Meta-Debate against it."""
    if not any(row.run.played_by for row in rows):
        return []
    read = (read_figures(row.run.directory) for row in rows)
    blocks = make_blocks(run for run in read if isinstance(run, RunFigures))
    return [line for block in blocks for line in hindsight_lines(block)]


def _notes(rows: Sequence[Row]) -> list[str]:
    """What the runs' backbones want said beside their scores, each once."""
    return [f"Note: {note}" for note in dict.fromkeys(row.run.note for row in rows) if note]


def _label(row: Row, other: Row) -> str:
    """The method and who plays its roles, with its variant where the two runs differ in more."""
    same = _beyond_players(row) == _beyond_players(other)
    return _name(row) if same else f"{_name(row)} ({row.run.variant})"


def _name(row: Row) -> str:
    run = row.run
    return with_players(run.method, run.played_by, run.variant)


def _beyond_players(row: Row) -> str:
    """The variant, but for who plays the roles where candidates do."""
    if not row.run.played_by:
        return row.run.variant
    key = row_key(row.run)
    return f"{key.host} {key.rules}"


def _warnings(rows: Sequence[Row]) -> list[str]:
    seeds: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows:
        seeds[row.run.method, row.run.variant].add(row.run.seed)
    lines = []
    if any(len(found) == 1 for found in seeds.values()):
        lines.append(
            "Warning: one seed only. Intervals are over held-out items of that run; "
            "how much another seed would change is not in them."
        )
    lines += [
        f"Warning: {_label(row, rows[0]) if row is not rows[0] else _name(row)}, seed "
        f"{row.run.seed}: {line}."
        for row in rows
        for line in doubts_of(row.run).lines
    ]
    if any(row.failures for row in rows):
        lines.append("Failed items are left out of the means; the same command again retries them.")
    return lines


def _text(text: str, *, limit: int) -> Text:
    return Text(printable(text, limit=limit))
