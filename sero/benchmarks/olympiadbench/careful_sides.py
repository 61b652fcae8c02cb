r"""The sides of an answer such as `f(x) = 2 - x`, `x = 41/12 \approx 3.4`, `42 = x`."""

from __future__ import annotations

import re
from dataclasses import dataclass

import mpmath

from sero.benchmarks.olympiadbench.careful_arithmetic import Undefined, as_mp
from sero.benchmarks.olympiadbench.careful_numbers import Setting, evaluate
from sero.benchmarks.olympiadbench.careful_quantities import is_number
from sero.benchmarks.olympiadbench.careful_reader import read_terms
from sero.benchmarks.olympiadbench.careful_terms import (
    Symbol,
    Term,
    Unreadable,
    free_symbols,
    has_decimal,
)
from sero.benchmarks.olympiadbench.careful_text import EQUALS, INEQUALITIES, split

_INDEX = r"(?: ?_ ?(?:\{[^{}]*\}|\\?\w))?"
_LETTER = r"(?:[A-Za-z]|\\(?!text|frac|sqrt|angle)[A-Za-z]+)"
_NAME = re.compile(rf"(?:\\(?:Delta|delta) ?)?{_LETTER}'*{_INDEX}'*\Z")
_CALL = re.compile(rf"({_LETTER}'*{_INDEX}(?: ?\^ ?\{{?-1\}}?)?) ?\(([^()]*)\)\Z")
_GEOMETRY = re.compile(
    r"(?:\\(?:angle|triangle|overline|text ?\{[^{}]*\})"
    r"|[A-Z]|_(?:\{\d+\}|\d)|\{[A-Z ]*\}|[ |\[\]'])+\Z"
)
_LETTERS = re.compile(r"[A-Za-z](?: ?, ?[A-Za-z])*\Z")
_LABEL_COLON = re.compile(
    r"\A(?:[A-Za-z\\{ ]{3,40}\}?: ?\}?(?=[^:]*\Z)"
    r"|(?:[A-Za-z]|\\[A-Za-z]+)(?: ?_ ?(?:\{[^{}]*\}|\w))? ?: ?"
    r"(?=[^:=]*(?<![A-Za-z])[xy](?![A-Za-z])[^:]*=))"
)
_ROUGHLY = mpmath.mpf("1e-2")
_ROUNDED = mpmath.mpf("2e-3")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sided:
    """An answer taken apart.

    Attributes:
        label: the left side when it only names what is given, or any left side; maybe empty.
        values: the sides that say something, at least one.
        rough: for each of them, that an approximation sign stands before it.
        sides: all of them.
    """

    sides: tuple[str, ...]
    label: str
    values: tuple[str, ...]
    rough: tuple[bool, ...]

    def equation(self) -> tuple[list[Term], list[Term]] | None:
        """Readings of both sides of a plain equation.

        Raises:
            Unreadable: a side is no formula.
        """
        if len(self.sides) != 2 or not all(self.sides):
            return None
        left, right = (read_terms(_uncalled(side)) for side in self.sides)
        return left, right

    def is_remark(self, i: int, gold: str) -> bool:
        """Whether a side that is not the gold only rounds it, or names it by other letters."""
        try:
            ours, theirs = read_terms(gold)[0], read_terms(self.values[i])[0]
        except Unreadable:
            return False
        if set(free_symbols(theirs)) - set(free_symbols(ours)):
            return True
        if free_symbols(ours) or not (self.rough[i] or has_decimal(theirs)):
            return False
        try:
            wanted, given = (as_mp(evaluate(term, Setting())) for term in (ours, theirs))
        except Undefined:
            return False
        return bool(abs(wanted - given) <= abs(wanted) * (_ROUGHLY if self.rough[i] else _ROUNDED))


def _uncalled(side: str) -> str:
    """`y(x)` as `y`."""
    call = _CALL.match(side)
    return call[1] if call and _LETTERS.match(call[2].strip()) else side


def sides_of(text: str) -> Sided | None:
    """An answer taken apart; None for one with inequalities or negations, or with no side."""
    text = _LABEL_COLON.sub("", text).strip()
    sides, relations = split(text, EQUALS | INEQUALITIES)
    if "\\not" in text or any(relation in INEQUALITIES for relation in relations):
        return None
    whole = tuple(sides)
    rough = [False, *(relation == "\\approx" for relation in relations)]
    label = ""
    if len(sides) > 1:
        turned = not is_label(sides[0]) and _NAME.match(sides[-1])
        if turned or not is_number(sides[0]):
            at = -1 if turned else 0
            label = sides.pop(at)
            rough.pop(at)
    if not all(sides):
        return None
    return Sided(sides=whole, label=label, values=tuple(sides), rough=tuple(rough))


def is_label(side: str) -> bool:
    """Whether a left side is a name: a letter, a function of letters, a word, points."""
    if not side:
        return True
    if _NAME.match(side) or (_GEOMETRY.match(side) and re.search("[A-Za-z]", side)):
        return True
    return _CALL.match(side) is not None


def contradict(gold: str, answer: str) -> bool:
    """Whether an answer's left side says something else of what the gold names: `2x`, `f(2x)`."""
    ours, theirs = _CALL.match(gold), _CALL.match(answer)
    if ours and theirs and ours[1] == theirs[1]:
        return bool(_LETTERS.match(ours[2].strip())) and not _LETTERS.match(theirs[2].strip())
    if not gold or is_label(answer):
        return False
    try:
        named, said = (free_symbols(read_terms(_uncalled(side))[0]) for side in (gold, answer))
    except Unreadable:
        return False
    return bool(set(named) & set(said))


def renaming(wanted: Sided, given: Sided) -> dict[str, Term]:
    """The given function's arguments as the gold calls them: `f(t) = t` for `f(x) = x`."""
    ours, theirs = _CALL.match(wanted.label), _CALL.match(given.label)
    if not ours or not theirs:
        return {}
    if not _LETTERS.match(ours[2].strip()) or not _LETTERS.match(theirs[2].strip()):
        return {}
    names, others = (call[2].replace(" ", "").split(",") for call in (ours, theirs))
    if len(names) != len(others) or len(set(others)) != len(others):
        return {}
    # A letter that was free in the answer must not become the argument.
    free: dict[str, Term] = {name: Symbol(name=f"{name} of the answer") for name in names}
    return free | {other: Symbol(name=name) for name, other in zip(names, others, strict=True)}
