"""From a typed table to string cells, as published tables look.

From difficulty 2 on there are thousands separators, from 3 on a totals row and cells without a
figure, these only in columns that the question does not name.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sero.benchmarks.generate.table_drafts import Draft
from sero.benchmarks.generate.table_frames import Column, Frame, Kind, decimal_text

TOTAL = "total"
MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
BLANKS = (None, "-", "—", "n / a")
"""What stands in a cell without a figure."""
MINUSES = ("-", "- ", "\u2212")


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How the cells of one table are written."""

    grouped: bool
    iso_dates: bool
    capital: bool
    minus: str
    blank: str | None

    def cell(self, column: Column, row: int) -> str | None:
        if row in column.hidden:
            return self.blank
        if column.kind is Kind.DATE:
            return self.date(column.units[row])
        if column.kind in (Kind.AMOUNT, Kind.GAUGE):
            return self.number(column.units[row], column)
        return column.shown(row)

    def number(self, units: int, column: Column) -> str:
        text = decimal_text(abs(units), column.places)
        if self.grouped:
            whole, point, rest = text.partition(".")
            text = f"{int(whole):,}{point}{rest}"
        return (self.minus if units < 0 else "") + text + column.suffix

    def date(self, ordinal: int) -> str:
        day = datetime.date.fromordinal(ordinal)
        if self.iso_dates:
            return f"{day.year}-{day.month:02}-{day.day:02}"
        month = MONTHS[day.month - 1]
        return f"{day.day} {month.capitalize() if self.capital else month} {day.year}"


def rendered(rng: random.Random, level: int, draft: Draft) -> dict[str, Any]:
    """The table of an item. Columns whose header the question quotes keep all their cells."""
    frame = draft.frame
    whole = (
        frame.key.header,
        *draft.whole,
        *(c.header for c in frame.columns if f"'{c.header}'" in draft.question),
    )
    layout = Layout(
        grouped=level >= 2 and rng.random() < 0.5,
        iso_dates=rng.random() < 0.4,
        capital=frame.key.header[0].isupper(),
        minus=rng.choice(MINUSES),
        blank=rng.choice(BLANKS),
    )
    if level >= 3 and rng.random() < 0.6:
        for _ in range(rng.randint(1, level)):
            frame = _with_hole(rng, frame, whole)
    rows = [[layout.cell(c, i) for c in frame.columns] for i in range(frame.n_rows)]
    if draft.totals and level >= 3 and rng.random() < 0.4:
        rows.append([_total_cell(layout, frame, c) for c in frame.columns])
    return {"columns": [c.header for c in frame.columns], "data": rows}


def _with_hole(rng: random.Random, frame: Frame, whole: Sequence[str]) -> Frame:
    others = [c for c in frame.columns if c.header not in whole and c.kind is not Kind.ENTRY]
    if not others:
        return frame
    column = rng.choice(others)
    hidden = tuple(sorted({*column.hidden, rng.randrange(frame.n_rows)}))
    return frame.with_column(replace(column, hidden=hidden))


def _total_cell(layout: Layout, frame: Frame, column: Column) -> str | None:
    if column is frame.key:
        return TOTAL.capitalize() if layout.capital else TOTAL
    if column.kind is Kind.AMOUNT and not column.hidden:
        return layout.number(sum(column.units), column)
    return layout.blank
