r"""A value with or without its unit: `9.8`, `9.8 (m/s^2)`, `9.8 \mathrm{~m/s^2}`, `4.2\%`.

An answer may leave the unit out. One that it gives has to be the item's, or convert to it by an
exact factor. Without a unit in the item a unit, or a word for what is counted, is read over.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from sero.benchmarks.olympiadbench.careful_reader import read_terms
from sero.benchmarks.olympiadbench.careful_terms import (
    Apply,
    Number,
    Term,
    Unreadable,
    apply,
    free_symbols,
    integer,
    substitute,
)
from sero.benchmarks.olympiadbench.careful_text import tokens
from sero.benchmarks.olympiadbench.careful_units import factor_between, is_label, read_unit
from sero.benchmarks.olympiadbench.careful_values import agree

_MAX_TAIL = 60
_INVERSES = frozenset({"arcsin", "arccos", "arctan", "arccot"})


def same_quantity(
    gold: str,
    answer: str,
    unit: str | None,
    error: Fraction | None,
    names: dict[str, Term] | None = None,
) -> bool:
    """Whether two plain texts without relations name the same value.

    Args:
        unit: of the item, as published.
        error: absolute tolerance in that unit.
        names: what letters of the answer stand for.
    """
    mark = _mark(unit)
    if mark:
        gold, answer = gold.removesuffix(mark).strip(), answer.removesuffix(mark).strip()
    wanted = _readings(gold)
    given = [substitute(term, names or {}) for term in _readings(answer)]
    if mark == "°":
        full = apply("div", integer(180), apply("pi"))
        given += [apply("mul", term, full) for term in given if _is_angle(term)]
    if _any_agree(wanted, given, error):
        return True
    if unit is None and "°" in gold and _in_plain_radians(answer):
        return False
    if any(_any_agree(wanted, converted, error) for converted in _in_unit(answer, unit)):
        return True
    if unit is None:
        for value, own in with_unit(gold, bare=False):
            if read_unit(own) and any(
                _any_agree(_readings(value), converted, error)
                for converted in (_readings(answer), *_in_unit(answer, own))
            ):
                return True
    return False


def _is_angle(term: Term) -> bool:
    """Whether a term is one inverse trigonometric function, times or over numbers."""
    if not isinstance(term, Apply):
        return False
    if term.op in _INVERSES:
        return True
    if term.op == "div":
        return _is_angle(term.args[0]) and _is_ratio(term.args[1])
    if term.op == "mul":
        angles = [part for part in term.args if not _is_ratio(part)]
        return len(angles) == 1 and _is_angle(angles[0])
    return term.op == "neg" and _is_angle(term.args[0])


def _is_ratio(term: Term) -> bool:
    """Whether a term is a number written with signs and fraction bars only."""
    if isinstance(term, Apply):
        return term.op in ("neg", "div") and all(map(_is_ratio, term.args))
    return isinstance(term, Number)


def _mark(unit: str | None) -> str:
    """The sign that an item's unit is, when it is one that may stick to a number."""
    found = read_unit(unit) if unit else None
    if found is None:
        return ""
    if found == read_unit("%"):
        return "%"
    return "°" if found == read_unit("°") else ""


def _in_plain_radians(answer: str) -> bool:
    """`60 rad`: no 60°. With a pi the value says itself that it is in radians."""
    units = [own for _, own in with_unit(answer, bare=True)]
    return "\\pi" not in answer and any(read_unit(own) == read_unit("rad") for own in units)


def _readings(text: str) -> list[Term]:
    try:
        return read_terms(_without_currency(text))
    except Unreadable:
        return []


def _without_currency(text: str) -> str:
    return text[1:] if text.startswith("$") else text


def _any_agree(gold: list[Term], answer: list[Term], error: Fraction | None) -> bool:
    return any(agree(ours, theirs, error) for ours in gold for theirs in answer)


def _in_unit(answer: str, unit: str | None) -> Iterator[list[Term]]:
    """Readings of the answer's value in the wanted unit, for each way to see a unit in it."""
    for value, given in with_unit(answer, bare=unit is not None):
        if unit is None:
            if is_label(given):
                yield _readings(value)
            if read_unit(given) == read_unit("%"):
                yield [apply("div", term, integer(100)) for term in _readings(value)]
            continue
        factor = factor_between(given, unit)
        if factor is not None:
            yield [_scaled(term, *factor) for term in _readings(value)]


def _scaled(term: Term, factor: Fraction, pi_power: int) -> Term:
    if factor != 1:
        term = apply("mul", Number(value=factor), term)
    if pi_power:
        term = apply("mul", term, apply("pow", apply("pi"), _signed(pi_power)))
    return term


def _signed(value: int) -> Term:
    return integer(value) if value >= 0 else Apply(op="neg", args=(integer(-value),))


def with_unit(text: str, *, bare: bool) -> Iterator[tuple[str, str]]:
    """Each (value, unit) that a text may be: in brackets or a text wrapper behind the value.

    Args:
        bare: a unit may also stand in plain letters; without one in the item, only if they are
            several, behind a blank.
    """
    last = ""
    for token, at, depth in tokens(text):
        if depth == 0 and at and len(text) - at <= _MAX_TAIL and _starts_unit(token, last):
            value, unit = text[:at].rstrip(" *"), text[at:]
            if token in ("(", "[", "\\text"):
                # `n(m)` is a product; `4 (m)` is four metres.
                seen = token == "\\text" or last == " "
                seen = seen and (bare or len(unit) > 3 or is_number(value))
            else:
                words = last == " " and len(unit) > 1 and unit[:2].isalpha() and is_number(value)
                seen = bare or words
            if value and seen:
                yield value, unit
        last = token


def _starts_unit(token: str, last: str) -> bool:
    if token in ("(", "[", "\\text"):
        return True
    named = token.isalpha() or token in ("\\mu", "\\Omega", "\\frac", "°", "%", "{")
    return named and not last.isalpha()


def without_own_unit(text: str, unit: str | None) -> Iterator[str]:
    """What a text is without the item's unit behind it: `[0, 5] (N)`, in any form of answer."""
    for value, given in with_unit(text, bare=unit is not None):
        if unit is None:
            same = is_label(given) and not is_number(value)  # numbers: see `same_quantity`
        else:
            same = factor_between(given, unit) == (Fraction(1), 0)
        if same:
            yield value


def is_number(text: str) -> bool:
    """Whether a text has a reading without symbols."""
    return any(not free_symbols(term) for term in _readings(text))
