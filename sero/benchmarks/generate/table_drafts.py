"""What every template of a table question needs: drafts, picks of columns and rows, clauses."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sero.benchmarks.generate.table_frames import Column, Frame, Kind, decimal_text
from sero.benchmarks.generate.table_numbers import Unclear

HIGHEST, LOWEST = "highest", "lowest"

Values = Sequence[int] | Sequence[Fraction]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A question on a frame with its gold.

    Attributes:
        totals: the question stays clear when the table ends with a totals row.
        whole: columns that keep all their cells although the question does not name them.
    """

    frame: Frame
    question: str
    answer: str
    totals: bool = True
    whole: tuple[str, ...] = ()


Template = Callable[[random.Random, int], Draft]
"""Draws a draft of one kind at a difficulty from 1 to 5; raises `Unclear` where that fails."""

Templates = Mapping[str, tuple[Template, ...]]
"""Subtype to its templates, which take turns."""


def number(
    rng: random.Random,
    frame: Frame,
    *,
    other_than: Sequence[Column] = (),
    additive: bool = False,
    positive: bool = False,
) -> Column:
    """A column of numbers.

    Raises:
        Unclear: the frame has none of that sort.
    """
    columns = [
        c
        for c in (frame.of(Kind.AMOUNT) if additive else frame.numbers)
        if c not in other_than and not (positive and min(c.units) <= 0)
    ]
    if not columns:
        raise Unclear("no such column")
    return rng.choice(columns)


def group_column(rng: random.Random, frame: Frame) -> Column:
    return rng.choice(frame.of(Kind.GROUP))


def two_rows(rng: random.Random, frame: Frame) -> tuple[int, int]:
    first, second = rng.sample(range(frame.n_rows), 2)
    return first, second


def every_row(frame: Frame) -> tuple[int, ...]:
    return tuple(range(frame.n_rows))


def the_extreme(values: Values, rows: Sequence[int], word: str) -> int:
    """The one row with the highest or lowest value.

    Raises:
        Unclear: several rows share it.
    """
    best = (max if word == HIGHEST else min)(values[i] for i in rows)
    found = [i for i in rows if values[i] == best]
    if len(found) > 1:
        raise Unclear("a tie")
    return found[0]


def extreme(rng: random.Random, values: Values, rows: Sequence[int]) -> tuple[str, int]:
    """`highest` or `lowest`, and the one row that is it.

    Raises:
        Unclear: several rows share it.
    """
    word = rng.choice((HIGHEST, LOWEST))
    return word, the_extreme(values, rows, word)


def ordered(values: Values, rows: Sequence[int], word: str = HIGHEST) -> list[int]:
    """Rows by value, the extreme first.

    Raises:
        Unclear: two rows share a value, so their order is open.
    """
    if len({values[i] for i in rows}) < len(rows):
        raise Unclear("a tie")
    return sorted(rows, key=lambda i: values[i], reverse=word == HIGHEST)


def clause(
    rng: random.Random, level: int, frame: Frame, *, not_on: Sequence[Column] = (), least: int = 2
) -> tuple[str, tuple[int, ...]]:
    """A condition on rows, two of them from difficulty 4 on, and the rows that meet it.

    Args:
        not_on: columns the condition leaves alone.
        least: rows that have to meet it; some row never does.

    Raises:
        Unclear: too few rows meet it, or all do.
    """
    columns = [
        c
        for c in frame.of(Kind.GROUP, Kind.YEAR, Kind.AMOUNT, Kind.GAUGE)
        if c not in not_on and not c.hidden
    ]
    wanted = 2 if level >= 4 and rng.random() < 0.7 else 1
    if len(columns) < wanted:
        raise Unclear("no column for a condition")
    rows = every_row(frame)
    texts = []
    for column in rng.sample(columns, wanted):
        text, holds = _condition(rng, column)
        met = tuple(i for i in rows if i in holds)
        if len(met) == len(rows):
            raise Unclear("a condition that excludes nothing")
        texts.append(text)
        rows = met
    if len(rows) < least:
        raise Unclear("too few rows")
    return " " + " and ".join(texts), rows


def perhaps_clause(
    rng: random.Random, level: int, frame: Frame, *, not_on: Sequence[Column] = (), least: int = 2
) -> tuple[str, tuple[int, ...]]:
    """A clause, or, more often at low difficulty, none and every row."""
    if rng.random() < 0.7 - 0.14 * level:
        return "", every_row(frame)
    return clause(rng, level, frame, not_on=not_on, least=least)


def _condition(rng: random.Random, column: Column) -> tuple[str, tuple[int, ...]]:
    if column.kind is Kind.GROUP:
        value = rng.choice(column.texts)
        rows = tuple(i for i, text in enumerate(column.texts) if text == value)
        return f"whose '{column.header}' is '{value}'", rows
    low, high = _gap(rng, sorted(set(column.units)))
    border = decimal_text(between(low, high), column.places)
    above = rng.random() < 0.5
    if column.kind is Kind.YEAR:
        word = "later than" if above else "earlier than"
    else:
        word = "above" if above else "below"
    rows = tuple(i for i, value in enumerate(column.units) if (value >= high) == above)
    return f"whose '{column.header}' is {word} {border}", rows


def _gap(rng: random.Random, steps: Sequence[int]) -> tuple[int, int]:
    """Two neighbours in an ascending row of values, not at its very ends if it is long enough."""
    if len(steps) < 2:
        raise Unclear("a constant column")
    first, last = (1, len(steps) - 2) if len(steps) > 3 else (0, len(steps) - 1)
    i = rng.randrange(first, last)
    return steps[i], steps[i + 1]


def between(low: int, high: int) -> int:
    """A number of units strictly between two, round where there is room.

    Raises:
        Unclear: there is none.
    """
    for step in (1000, 500, 100, 50, 10, 5, 1):
        multiple = (low // step + 1) * step
        if multiple < high:
            return multiple
    raise Unclear("no value between two neighbours")
