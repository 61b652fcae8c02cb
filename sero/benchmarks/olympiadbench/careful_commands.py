r"""LaTeX commands and functions inside a formula: roots, fractions, series, `\log_2`, accents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sero.benchmarks.olympiadbench.careful_terms import (
    Apply,
    Symbol,
    Term,
    Unreadable,
    apply,
    integer,
    no_floor,
    times,
)
from sero.benchmarks.olympiadbench.careful_tokens import ACCENTS, ALIASES, FUNCTIONS, GREEK

if TYPE_CHECKING:
    from sero.benchmarks.olympiadbench.careful_reader import Reader

_SEVERAL = frozenset({"gcd", "lcm", "max", "min", "binom", "comb"})
_INVERTIBLE = frozenset({"sin", "cos", "tan", "cot", "sinh", "cosh", "tanh"})
_MINUS_ONE = apply("neg", integer(1))


def command(reader: Reader, name: str) -> Term:
    """What a command says, with its arguments."""
    if name in GREEK or name == "pi":
        return reader.symbol(name)
    if name in FUNCTIONS or name in ALIASES:
        return function(reader, name)
    if name in ACCENTS:
        content = reader.raw_group()
        if not content:
            raise Unreadable("an accent on nothing")
        return reader.symbol(f"{name}{{{content}}}")
    match name:
        case "infty":
            return apply("infinity")
        case "hbar":  # h / (2 pi), so that either may stand in an answer
            return apply("div", Symbol(name="h"), apply("mul", integer(2), apply("pi")))
        case "sqrt":
            return _root(reader)
        case "frac":
            return apply("div", reader.argument(), reader.argument())
        case "binom":
            return apply("binom", reader.argument(), reader.argument())
        case "lfloor" | "lceil":
            inside = reader.sum()
            reader.expect("\\r" + name[1:])
            return apply(name[1:], inside)
        case "sum" | "prod":
            return _series(reader, name)
        case "text":
            return _wrapped(reader, reader.raw_group().strip())
    raise Unreadable(f"cannot read \\{name}")


def function(reader: Reader, name: str) -> Term:
    """A function with its index, its exponent and its argument."""
    name = ALIASES.get(name, name)
    base: Term | None = None
    power: Term | None = None
    while reader.text() in ("_", "^"):
        if reader.take()[1] == "_":
            base = reader.argument()
        else:
            power = reader.exponent()
    if name in ("sqrt", "cbrt"):
        term = apply("root", reader.atom(), integer(2 if name == "sqrt" else 3))
    elif name in _SEVERAL:
        term = Apply(op="binom" if name == "comb" else name, args=_several(reader))
    else:
        natural = name == "ln" or (name == "log" and reader.reading.natural_log)
        term = _call(name, _argument(reader), base, natural)
    if power is None:
        return term
    if power == _MINUS_ONE and name in _INVERTIBLE:
        return Apply(op="arc" + name, args=term.args)
    return apply("pow", term, power)


def _call(name: str, argument: Term, base: Term | None, natural: bool) -> Apply:
    if name in ("log", "lg", "lb", "ln"):
        if base is None:
            base = apply("e") if natural else integer(2 if name == "lb" else 10)
        return apply("log", argument, base)
    if base is not None:
        raise Unreadable(f"an index at {name}")
    if name == "exp":
        return apply("pow", apply("e"), argument)
    return apply(name, argument)


def _argument(reader: Reader) -> Term:
    """A group, or the factors up to the next function, bracket, sum or slash."""
    if reader.text() in ("(", "[", "{", "|", "\\{"):
        return no_floor(reader.atom())
    term = reader.signed(reader.power)
    while True:
        kind, text = reader.peek()
        names_function = kind == "word" or (kind == "command" and text[1:] in FUNCTIONS)
        if reader.reading.slash_in_argument and reader.take_if("/"):
            term = apply("div", term, reader.power())
        elif reader.starts_factor() and not names_function and text not in ("(", "[", "\\{"):
            term = times(term, reader.power())
        else:
            return term


def combination(reader: Reader) -> Term | None:
    """`C(n, k)`; None where `C` is a letter before a bracket."""
    start, depth = reader.at, reader.depth
    try:
        args = _several(reader)
    except Unreadable:
        args = ()
    if len(args) == 2:
        return Apply(op="binom", args=args)
    reader.at, reader.depth = start, depth
    return None


def _several(reader: Reader) -> tuple[Term, ...]:
    closing = {"(": ")", "{": "}"}.get(reader.take()[1])
    if closing is None:
        raise Unreadable("( is missing")
    braces = reader.take_if("\\{")
    args = [reader.sum()]
    while reader.take_if(","):
        args.append(reader.sum())
    if braces:
        reader.expect("\\}")
    reader.expect(closing)
    return tuple(args)


def _root(reader: Reader) -> Term:
    degree: Term = integer(2)
    if reader.take_if("["):
        degree = reader.sum()
        reader.expect("]")
    return apply("root", reader.atom(), degree)


def _series(reader: Reader, name: str) -> Term:
    reader.expect("_")
    index, equals, low = reader.raw_group().partition("=")
    reader.expect("^")
    high = reader.exponent()
    if not equals or not index.isalpha() or len(index) > 1:
        raise Unreadable(f"\\{name} without bounds")
    outer, reader.i_counts = reader.i_counts, reader.i_counts or index == "i"
    body = reader.product()
    reader.i_counts = outer
    return apply(name, Symbol(name=index), reader.read(low), high, body)


def _wrapped(reader: Reader, content: str) -> Term:
    if content in FUNCTIONS or content in ALIASES:
        return function(reader, content)
    if not content or not content[0].isalpha():
        raise Unreadable("a text that is no name")
    return reader.symbol(content)
