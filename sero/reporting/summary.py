"""The table printed at the end of a run: held-out score with its interval, cost and state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sero.reporting.entries import Prediction
from sero.reporting.records import RunRecord, read_run
from sero.reporting.statistics import Estimate, by_group, paired_difference, score_estimate
from sero.reporting.text import compact, printable, score, signed
from sero.storage import dumps

BASELINE = "static"
"""The method others are compared with when it is among the runs; else the first run given."""

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
        for line in (*_differences(rows), *_notes(rows), *_warnings(rows)):
            console.print(Text(printable(line)), soft_wrap=not console.is_terminal)
    for rows in tables.values():
        for row in rows:
            page = row.run.directory / "report.html"
            where = page if page.is_file() else f"(none yet) sero view {row.run.directory}"
            label = _label(row, rows[0]) if row is not rows[0] else row.run.method
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
    if len(variants) > 1:
        table.add_column("variant", overflow="fold", max_width=22)
    for name in ("seed", "n", "score", "95 % CI", "failed", "calls", "tokens"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("state", no_wrap=True)
    for row in rows:
        cells = [_text(row.run.method, limit=18)]
        if len(variants) > 1:
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
            if row is not base and row.run.method != BASELINE:
                lines.append(_difference(row, base))
    return lines


def _baseline(row: Row, group: Sequence[Row]) -> Row:
    """The static run of the same variant, else of any, else the first run given."""
    static = [other for other in group if other.run.method == BASELINE]
    own = [other for other in static if other.run.variant == row.run.variant]
    return next(iter((*own, *static, *group)))


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


def _notes(rows: Sequence[Row]) -> list[str]:
    """What the runs' backbones want said beside their scores, each once."""
    return [f"Note: {note}" for note in dict.fromkeys(row.run.note for row in rows) if note]


def _label(row: Row, other: Row) -> str:
    """The method, with its variant where the two runs differ in it."""
    same = row.run.variant == other.run.variant
    return row.run.method if same else f"{row.run.method} ({row.run.variant})"


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
    if any(row.failures for row in rows):
        lines.append("Failed items are left out of the means; the same command again retries them.")
    return lines


def _text(text: str, *, limit: int) -> Text:
    return Text(printable(text, limit=limit))
