"""Reading a generated table item back from its text alone, for the verifier.

Nothing here knows how a table was drawn: cells are strings, numbers are decimals, and the kind of
a question is found by matching it against the wordings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from string import Formatter
from typing import Any

from sero.benchmarks.generate.table_wordings import QUESTIONS

_NUMBER = re.compile(r"([-\u2212]?) ?([0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?)%?")
_ISO_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_LONG_DATE = re.compile(r"([0-9]{1,2}) ([a-z]{3})[a-z]* ([0-9]{4})", re.IGNORECASE)
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_CONDITION = re.compile(
    r"whose '([^']+)' is (?:'([^']+)'|(above|below|later than|earlier than) (-?[0-9.]+))"
)
_SLOTS = {"where": "(?: whose .+?)?", "scale": "(?:, .+?)?"}

Slots = Mapping[str, str]


def to_number(cell: str | None) -> Decimal | None:
    """The number a cell shows, whatever separators, minus or percent sign it is written with."""
    found = _NUMBER.fullmatch((cell or "").strip())
    if found is None:
        return None
    return Decimal(("-" if found[1] else "") + found[2].replace(",", ""))


def to_date(cell: str | None) -> date | None:
    """The day a cell shows."""
    if found := _ISO_DATE.fullmatch(cell or ""):
        return date(int(found[1]), int(found[2]), int(found[3]))
    if found := _LONG_DATE.fullmatch(cell or ""):
        return date(int(found[3]), _MONTHS.index(found[2].lower()) + 1, int(found[1]))
    return None


def two_places(x: Decimal) -> str:
    """A number as an answer gives it: half up to two places, no trailing zeros."""
    text = format(x.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP), "f")
    return text.rstrip("0").rstrip(".")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A table as text, without its totals row.

    Attributes:
        key: place of the column that names the rows.
    """

    headers: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    key: int

    def texts(self, header: str) -> list[str | None]:
        place = self.headers.index(header)
        return [row[place] for row in self.rows]

    def names(self) -> list[str]:
        return [row[self.key] or "" for row in self.rows]

    def row(self, name: str) -> int:
        return self.names().index(name)

    def every(self) -> list[int]:
        return list(range(len(self.rows)))

    def number(self, header: str, row: int) -> Decimal:
        """One number.

        Raises:
            ValueError: the cell shows none.
        """
        value = to_number(self.texts(header)[row])
        if value is None:
            raise ValueError(f"row {row} shows no {header!r}")
        return value

    def numbers(self, header: str, rows: Sequence[int]) -> list[Decimal]:
        return [self.number(header, row) for row in rows]

    def extreme(self, values: Sequence[Decimal], rows: Sequence[int], word: str) -> int:
        """The one row of some with the highest or lowest of their values.

        Raises:
            ValueError: two rows share it.
        """
        ranked = sorted(zip(values, rows, strict=True))
        if word == "highest":
            ranked.reverse()
        if len(ranked) > 1 and ranked[0][0] == ranked[1][0]:
            raise ValueError("a tie")
        return ranked[0][1]

    def meeting(self, clause: str) -> list[int]:
        """The rows that meet a clause of a question; all for an empty one.

        Raises:
            ValueError: the clause has another form.
        """
        found = list(_CONDITION.finditer(clause))
        if clause != "".join(f"{' and' if i else ''} {m[0]}" for i, m in enumerate(found)):
            raise ValueError(f"no clause: {clause!r}")
        rows = self.every()
        for condition in found:
            rows = [i for i in rows if self._meets(i, condition)]
        return rows

    def _meets(self, row: int, condition: re.Match[str]) -> bool:
        if condition[2] is not None:
            return self.texts(condition[1])[row] == condition[2]
        value, border = self.number(condition[1], row), Decimal(condition[4])
        return value > border if condition[3] in ("above", "later than") else value < border


def read_sheet(table: Mapping[str, Any]) -> Sheet:
    """The table of an item."""
    headers = tuple(table["columns"])
    key = 1 if headers[0].lower() == "entry" else 0
    rows = tuple(tuple(row) for row in table["data"])
    if str(rows[-1][key]).lower() == "total":
        rows = rows[:-1]
    return Sheet(headers=headers, rows=rows, key=key)


def read_question(qsubtype: str, question: str) -> tuple[str, Slots]:
    """The kind of a question, and what fills the slots of its wording.

    Raises:
        ValueError: it is no generated question of this subtype, or of two kinds.
    """
    found = [
        (kind, match.groupdict())
        for kind, wordings in QUESTIONS.get(qsubtype, {}).items()
        for wording in wordings
        if (match := _pattern(wording).fullmatch(question))
    ]
    if len(found) != 1:
        raise ValueError(f"{len(found)} wordings fit the question {question!r}")
    return found[0]


@cache
def _pattern(wording: str) -> re.Pattern[str]:
    parts = []
    seen: list[str] = []
    for text, slot, _, _ in Formatter().parse(wording):
        parts.append(re.escape(text))
        if slot in seen:
            parts.append(f"(?P={slot})")
        elif slot is not None:
            seen.append(slot)
            parts.append(f"(?P<{slot}>{_SLOTS.get(slot, '[^' + chr(39) + ']+?')})")
    return re.compile("".join(parts))
