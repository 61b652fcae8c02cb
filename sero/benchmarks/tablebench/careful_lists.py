"""An answer as the list it is: `A1, A2...`, also with semicolons or a closing `and`."""

from __future__ import annotations

import re

from sero.benchmarks.tablebench.careful_numbers import ungrouped

_SEPARATOR = re.compile(r"[,;]")
_AND = re.compile(r"\s(?:and|&)\s", re.IGNORECASE)
_LEADING_AND = re.compile(r"\A\s*(?:and|&)\s", re.IGNORECASE)


def parts(text: str, *, every_comma: bool = False) -> tuple[str, ...]:
    """The parts of an answer in order, empty ones dropped; `a, b, and c` has three.

    Args:
        text: in plain typography.
        every_comma: read no comma as a thousands separator, `100,200` as two numbers.
    """
    first, *rest = _SEPARATOR.split(text if every_comma else ungrouped(text))
    pieces = [first, *(_LEADING_AND.sub("", piece) for piece in rest)]
    return _filled(pieces)


def parts_at_and(text: str) -> tuple[str, ...]:
    """The parts with every `and` between words read as a separator too."""
    return _filled([piece for part in parts(text) for piece in _AND.split(part)])


def _filled(pieces: list[str]) -> tuple[str, ...]:
    return tuple(piece.strip() for piece in pieces if piece.strip())
