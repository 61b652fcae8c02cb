"""Terms: what a formula says, as a tree that nothing ever evaluates as code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction


class Unreadable(ValueError):
    """A text that is no formula this package reads; it equals nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A literal. `decimal` says that it was written with a decimal point."""

    value: Fraction
    decimal: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    """A letter with its index, accent and primes: `x`, `alpha`, `v_max`, `vec{v}`."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Apply:
    """An operation or function on terms; constants are applied to nothing."""

    op: str
    args: tuple[Term, ...] = ()


Term = Number | Symbol | Apply

TRIGONOMETRIC = frozenset({"sin", "cos", "tan", "cot", "sec", "csc"})
BINDERS = frozenset({"sum", "prod"})


def integer(value: int) -> Number:
    return Number(value=Fraction(value))


def apply(op: str, *args: Term) -> Apply:
    return Apply(op=op, args=args)


def times(left: Term, right: Term) -> Term:
    """A product; one of products is flat."""
    left, right = no_floor(left), no_floor(right)
    if isinstance(left, Apply) and left.op == "mul":
        return Apply(op="mul", args=(*left.args, right))
    return apply("mul", left, right)


def no_floor(term: Term) -> Term:
    """Square brackets with a factor, an exponent or a function beside them only group."""
    return term.args[0] if isinstance(term, Apply) and term.op == "square" else term


def walk(term: Term) -> Iterator[Term]:
    """Every subterm, the term itself first."""
    waiting = [term]
    while waiting:
        found = waiting.pop()
        yield found
        if isinstance(found, Apply):
            waiting.extend(reversed(found.args))


def free_symbols(term: Term) -> tuple[str, ...]:
    """The names a term depends on, in alphabetical order; bound indices are left out."""
    return tuple(sorted(_free(term, frozenset())))


def _free(term: Term, bound: frozenset[str]) -> set[str]:
    if isinstance(term, Symbol):
        return set() if term.name in bound else {term.name}
    if isinstance(term, Number):
        return set()
    if term.op in BINDERS:
        index, low, high, body = term.args
        assert isinstance(index, Symbol)
        return _free(low, bound) | _free(high, bound) | _free(body, bound | {index.name})
    return {name for arg in term.args for name in _free(arg, bound)}


def has_op(term: Term, op: str) -> bool:
    return any(isinstance(part, Apply) and part.op == op for part in walk(term))


def has_decimal(term: Term) -> bool:
    """Whether a decimal point occurs, so that the term may be a rounded one."""
    return any(isinstance(part, Number) and part.decimal for part in walk(term))


def has_bare_degrees(term: Term) -> bool:
    """Whether a degree sign occurs outside the argument of a trigonometric function."""
    if not isinstance(term, Apply) or term.op in TRIGONOMETRIC:
        return False
    return term.op == "degrees" or any(has_bare_degrees(arg) for arg in term.args)


def substitute(term: Term, names: dict[str, Term]) -> Term:
    """The term with symbols replaced."""
    if isinstance(term, Symbol):
        return names.get(term.name, term)
    if isinstance(term, Apply):
        return Apply(op=term.op, args=tuple(substitute(arg, names) for arg in term.args))
    return term


def divisors(term: Term) -> Iterator[Term]:
    """What a term divides by, products taken apart."""
    for part in walk(term):
        if isinstance(part, Apply) and part.op == "div":
            yield from _factors(part.args[1])
        elif isinstance(part, Apply) and part.op == "pow":
            exponent = part.args[1]
            if (isinstance(exponent, Number) and exponent.value < 0) or has_op(exponent, "neg"):
                yield from _factors(part.args[0])


def _factors(term: Term) -> Iterator[Term]:
    if isinstance(term, Apply) and term.op == "mul":
        for arg in term.args:
            yield from _factors(arg)
    elif isinstance(term, Apply) and term.op == "pow":
        yield from _factors(term.args[0])
    elif not isinstance(term, Number):
        yield term


def is_proper_pair(upper: str, lower: str) -> bool:
    """Whether two digit strings make a fraction below one, as in `1 2/5`."""
    short = upper.isdecimal() and lower.isdecimal() and len(lower) < 10
    return short and 0 < int(upper) < int(lower)


def is_proper(term: Term) -> bool:
    """Whether a term is a fraction of whole numbers below one."""
    if not (isinstance(term, Apply) and term.op == "div"):
        return False
    parts = [part for part in term.args if isinstance(part, Number) and not part.decimal]
    whole = len(parts) == 2 and all(part.value.denominator == 1 for part in parts)
    return whole and 0 < parts[0].value < parts[1].value
