r"""What inequalities bound: a letter, or a quantity such as the `a + b` of `1 \le a + b \le 3`.

A quantity of several letters, or a call, has no solutions to compare; a letter stands for it, as
long as every condition of the text is about the same one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sero.benchmarks.olympiadbench.careful_reader import read_terms
from sero.benchmarks.olympiadbench.careful_terms import Term, Unreadable, free_symbols
from sero.benchmarks.olympiadbench.careful_text import AND, OR, RELATIONS, enclosed, split
from sero.benchmarks.olympiadbench.careful_values import agree

_JOINS = frozenset({",", "\\cup", OR, "\\cap", AND, "\\setminus"})
_CALL = re.compile(r"([A-Za-z])(?:_\{?\w{1,9}\}?)? ?\(([^()]*)\)\Z")
_MAX_CONDITIONS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """The one open side of each condition; `composed` when it is more than a term in a letter."""

    term: Term
    composed: bool


def quantity(text: str) -> Quantity | None:
    """What the conditions of a plain text bound; None without one, or with ends that have letters.

    Raises:
        Unreadable: a side is no formula, or the conditions are about different quantities.
    """
    found: list[Quantity] = []
    for sides in _conditions(text):
        opened = [one for side in sides if (one := _opened(side)) is not None]
        if len(opened) != 1:
            return None
        found += opened
        if len(found) > _MAX_CONDITIONS:
            raise Unreadable("too many conditions")
    if not found:
        return None
    if not all(_alike(found[0], other) for other in found[1:]):
        raise Unreadable("conditions on different quantities")
    return found[0]


def unlike(gold: Quantity | None, answer: Quantity | None) -> bool:
    """Whether two texts name quantities that differ by more than the name of a letter."""
    if gold is None or answer is None or not (gold.composed or answer.composed):
        return False
    return not _alike(gold, answer)


def lettered(text: str, named: Quantity | None) -> str:
    """The text with a letter in the place of a composed quantity."""
    if named is None or not named.composed:
        return text
    parts, joins = split(text, _JOINS)
    out = [_lettered(parts[0])]
    for join, part in zip(joins, parts[1:], strict=True):
        out += [join, _lettered(part)]
    return " ".join(out)


def _conditions(text: str, layers: int = 6) -> Iterator[list[str]]:
    """The sides of each chain of inequalities; described sets have letters of their own."""
    for part in split(text, _JOINS)[0]:
        brackets = enclosed(part)
        if brackets is not None:
            if layers and (brackets[0], brackets[2]) in (("(", ")"), ("{", "}")):
                yield from _conditions(brackets[1], layers - 1)
            continue
        sides, relations = split(part, RELATIONS)
        if relations:
            yield sides


def _opened(side: str) -> Quantity | None:
    term = read_terms(side)[0]
    names = set(free_symbols(term))
    if not names:
        return None
    call = _CALL.match(side)
    called = call is not None and call[1] not in call[2]
    return Quantity(term=term, composed=called or len(names) > 1)


def _alike(one: Quantity, other: Quantity) -> bool:
    if one.composed or other.composed:
        return one.composed == other.composed and agree(one.term, other.term)
    return free_symbols(one.term) == free_symbols(other.term)


def _lettered(part: str) -> str:
    sides, relations = split(part, RELATIONS)
    if not relations:
        return part
    sides = ["x" if _opened(side) else side for side in sides]
    return " ".join(
        [sides[0], *(f"{r} {side}" for r, side in zip(relations, sides[1:], strict=True))]
    )
