"""Typed tables: columns of names, groups, years, dates and numbers, drawn for a subject.

A frame holds exact values; `table_layout` turns it into string cells. Only integers and fractions
are drawn, so the same stream gives the same table on every platform.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from fractions import Fraction

from sero.benchmarks.generate.table_subjects import SUBJECTS, YEARLY
from sero.benchmarks.generate.table_words import Rate, Spec, Subject, person

_ROWS = ((5, 6), (7, 9), (10, 12), (13, 15), (16, 20))
"""Fewest and most rows by difficulty."""
_FIRST_DAY, _LAST_DAY = datetime.date(2019, 1, 1), datetime.date(2024, 12, 31)


class Kind(Enum):
    """What a column holds. Only an AMOUNT may be added up over rows."""

    NAME = auto()
    GROUP = auto()
    YEAR = auto()
    DATE = auto()
    ENTRY = auto()
    AMOUNT = auto()
    GAUGE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column.

    Attributes:
        texts: cells of a NAME or GROUP column, else empty.
        units: numbers of any other column, in units of the last place; of a DATE the ordinals.
        places: digits behind the point.
        hidden: rows whose cell the table leaves without a figure.
    """

    header: str
    kind: Kind
    texts: tuple[str, ...] = ()
    units: tuple[int, ...] = ()
    places: int = 0
    suffix: str = ""
    hidden: tuple[int, ...] = ()

    def shown(self, row: int) -> str:
        """The cell as a question quotes it: no thousands separators."""
        if self.texts:
            return self.texts[row]
        return decimal_text(self.units[row], self.places) + self.suffix

    def value(self, row: int) -> Fraction:
        return Fraction(self.units[row], 10**self.places)

    def values(self, rows: Sequence[int]) -> list[Fraction]:
        """The numbers of some rows."""
        return [self.value(i) for i in rows]

    def total(self, rows: Sequence[int]) -> Fraction:
        return Fraction(sum(self.units[i] for i in rows), 10**self.places)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A table before it has cells.

    Attributes:
        columns: the first of kind NAME, or of kind YEAR where the rows are years, is the key.
        rates: those whose two columns the table has.
    """

    noun: str
    nouns: str
    trade: str
    rates: tuple[Rate, ...]
    columns: tuple[Column, ...]

    @property
    def key(self) -> Column:
        return next(c for c in self.columns if c.kind is not Kind.ENTRY)

    @property
    def labels(self) -> tuple[str, ...]:
        """What a question calls the rows."""
        return tuple(self.key.shown(i) for i in range(self.n_rows))

    @property
    def n_rows(self) -> int:
        key = self.key
        return len(key.texts or key.units)

    def of(self, *kinds: Kind) -> list[Column]:
        """The columns of some kinds behind the key, in table order."""
        return [c for c in self.columns if c.kind in kinds and c is not self.key]

    @property
    def numbers(self) -> list[Column]:
        return self.of(Kind.AMOUNT, Kind.GAUGE)

    def __getitem__(self, header: str) -> Column:
        return next(c for c in self.columns if c.header == header)

    def with_column(self, column: Column) -> Frame:
        """The frame with `column` in place of the one of the same header."""
        columns = tuple(column if c.header == column.header else c for c in self.columns)
        return replace(self, columns=columns)


def decimal_text(units: int, places: int) -> str:
    """A number of units of the last place, with that many digits behind the point."""
    sign = "-" if units < 0 else ""
    whole, rest = divmod(abs(units), 10**places)
    return f"{sign}{whole}.{rest:0{places}}" if places else f"{sign}{whole}"


def entity_frame(
    rng: random.Random,
    level: int,
    *,
    numbers: int = 2,
    free: bool = False,
    rated: bool = False,
    dated: bool = False,
) -> Frame:
    """A table with one row for each named thing.

    Args:
        level: difficulty 1 to 5: more rows, and more columns than a question needs.
        numbers: columns of numbers at least.
        free: only columns that no other one bounds, so that values may be replaced.
        rated: with both columns of one of the trade's rates.
        dated: with a column of dates.
    """
    subject = rng.choice(SUBJECTS)
    n = rng.randint(*_ROWS[level - 1])
    assert subject.names is not None
    names: list[str] = []
    while len(names) < n:
        name = subject.names(rng)
        if name not in names:
            names.append(name)
    columns = [*_number_columns(rng, subject, n, max(numbers, 1 + level), free=free, rated=rated)]
    for header, values in rng.sample(subject.categories, 1 if level < 3 else 2):
        groups = rng.sample(values, rng.randint(2, min(4, len(values))))
        texts = tuple(rng.choice(groups) for _ in range(n))
        columns.append(Column(header=header, kind=Kind.GROUP, texts=texts))
    years = tuple(rng.randint(1890, 2015) for _ in range(n))
    columns.append(Column(header=subject.since, kind=Kind.YEAR, units=years))
    if dated or level >= 4:
        span = (_FIRST_DAY.toordinal(), _LAST_DAY.toordinal())
        days = tuple(rng.randint(*span) for _ in range(n))
        columns.append(Column(header=subject.held, kind=Kind.DATE, units=days))
    key = Column(header=subject.noun, kind=Kind.NAME, texts=tuple(names))
    return _frame(rng, level, subject, key, columns)


def yearly_frame(rng: random.Random, level: int, *, numbers: int = 2, rated: bool = False) -> Frame:
    """A table with one row for each year, up or down; the arguments are those of `entity_frame`."""
    subject = rng.choice(YEARLY)
    n = rng.randint(*_ROWS[level - 1])
    step = rng.choice((2, 5)) if level >= 4 and rng.random() < 0.4 else 1
    last = rng.randint(2008, 2024)
    years = [last - step * i for i in range(n)]
    if level < 2 or rng.random() < 0.7:
        years.reverse()
    columns = [*_number_columns(rng, subject, n, max(numbers, 1 + level), rated=rated, walk=True)]
    header, _ = subject.categories[0]
    people = [person(rng) for _ in range(rng.randint(2, 4))]
    texts = tuple(rng.choice(people) for _ in range(n))
    columns.append(Column(header=header, kind=Kind.GROUP, texts=texts))
    key = Column(header=subject.noun, kind=Kind.YEAR, units=tuple(years))
    return _frame(rng, level, subject, key, columns)


def any_frame(rng: random.Random, level: int, *, numbers: int = 2) -> Frame:
    """A table of either sort."""
    make = entity_frame if rng.random() < 0.75 else yearly_frame
    return make(rng, level, numbers=numbers)


def _number_columns(
    rng: random.Random,
    subject: Subject,
    n: int,
    wanted: int,
    *,
    free: bool = False,
    rated: bool = False,
    walk: bool = False,
) -> list[Column]:
    by_header = {spec.header: spec for spec in subject.specs}
    bounds = [spec.within for spec in subject.specs]
    specs = [s for s in subject.specs if not free or not (s.within or s.header in bounds)]
    chosen = [spec.header for spec in rng.sample(specs, min(len(specs), wanted))]
    if rated:
        rate = rng.choice(subject.rates)
        chosen += [rate.top, rate.bottom]
    chosen += [by_header[header].within for header in chosen]
    made: dict[str, Column] = {}
    for spec in subject.specs:
        if spec.header in chosen:
            within = made[spec.within].units if spec.within else ()
            units = _walk(rng, spec, n) if walk else _spread(rng, spec, n, within)
            made[spec.header] = Column(
                header=spec.header,
                kind=Kind.AMOUNT if spec.additive else Kind.GAUGE,
                units=units,
                places=spec.places,
                suffix=spec.suffix,
            )
    return list(made.values())


def _spread(rng: random.Random, spec: Spec, n: int, within: Sequence[int]) -> tuple[int, ...]:
    highs = [min(spec.high, bound) for bound in within] or [spec.high] * n
    return tuple(rng.randint(spec.low, high) for high in highs)


def _walk(rng: random.Random, spec: Spec, n: int) -> tuple[int, ...]:
    """Values that move by up to a ninth from row to row."""
    units = rng.randint(spec.low + (spec.high - spec.low) // 4, spec.high)
    drawn = []
    for _ in range(n):
        drawn.append(units)
        step = abs(units) // 9 + 1
        units = max(spec.low, units + rng.randint(-step, step))
    return tuple(drawn)


def _frame(
    rng: random.Random, level: int, subject: Subject, key: Column, columns: list[Column]
) -> Frame:
    """Order the columns, perhaps with a running number in front, in capitals or without."""
    rng.shuffle(columns)
    ordered = [key, *columns]
    if level >= 2 and rng.random() < 0.3:
        numbers = tuple(i + 1 for i in range(len(key.texts or key.units)))
        ordered.insert(0, Column(header="entry", kind=Kind.ENTRY, units=numbers))
    capital = rng.random() < 0.4
    headers = {c.header for c in ordered}
    rates = tuple(
        replace(rate, top=_cased(rate.top, capital), bottom=_cased(rate.bottom, capital))
        for rate in subject.rates
        if rate.top in headers and rate.bottom in headers
    )
    return Frame(
        noun=subject.noun,
        nouns=subject.nouns,
        trade=subject.trade,
        rates=rates,
        columns=tuple(
            replace(
                c,
                header=_cased(c.header, capital),
                texts=tuple(text.title() if capital else text for text in c.texts),
            )
            for c in ordered
        ),
    )


def _cased(header: str, capital: bool) -> str:
    return header[0].upper() + header[1:] if capital else header
