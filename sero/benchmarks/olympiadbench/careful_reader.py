r"""A reader of formulas: plain text (see `careful_text`) to terms, by recursive descent.

What it cannot read it refuses; it never guesses half a formula. Where notation has two honest
readings, `read_terms` gives both: `1/2n`, `\sin x/2`, `\log 5`, and `2e-3` outside programs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction

from sero.benchmarks.olympiadbench import careful_commands
from sero.benchmarks.olympiadbench.careful_readings import Reading, readings
from sero.benchmarks.olympiadbench.careful_terms import (
    Apply,
    Number,
    Symbol,
    Term,
    Unreadable,
    apply,
    integer,
    is_proper,
    is_proper_pair,
    no_floor,
    times,
)
from sero.benchmarks.olympiadbench.careful_tokens import (
    END,
    Cursor,
    tokenise,
)

MAX_DEPTH = 40
MAX_OPERATIONS = 100
MAX_DIGITS = 2000
MAX_POWER_OF_TEN = 20_000
_BINOMIAL_INDEX = re.compile(r"(?:[2-9]|\d\d+)?[nm](?:[-+]\d+)?\Z|\d\d+\Z|[2-9]\Z")
_SUM = re.compile(r".[-+]")
_MARKS: Mapping[str, Callable[[Term], Term]] = {
    "%": lambda term: apply("div", term, integer(100)),
    "°": lambda term: apply("degrees", term),
}
"""Marks that belong to the whole of `100/3%`."""

_CONSTANTS = {"e": "e", "i": "imaginary", "pi": "pi"}


def read_terms(text: str) -> list[Term]:
    """Every honest reading of a plain text, most usual first, at least one.

    Raises:
        Unreadable: it has none.
    """
    mark = text[-1:]
    if mark in _MARKS and "/" in text and text.count(mark) == 1 and not _SUM.search(text):
        return [_MARKS[mark](term) for term in read_terms(text[:-1])]
    found: list[Term] = []
    failure = Unreadable("nothing there")
    for reading in readings(text):
        try:
            term = Reader(text, reading).whole()
        except Unreadable as error:
            failure = error
            continue
        if term not in found:
            found.append(term)
    if not found:
        raise failure
    return found


class Reader(Cursor):
    """One pass over the tokens of one text."""

    def __init__(self, text: str, reading: Reading) -> None:
        super().__init__(tokenise(text, signed_power_of_ten=reading.signed_power_of_ten))
        self.reading = reading
        self.depth = 0
        self.bars = 0
        self.i_counts = False

    def whole(self) -> Term:
        term = self.stacked()
        if self.peek() != END:
            raise Unreadable(f"cannot read {self.text()!r}")
        return term

    def read(self, text: str) -> Term:
        """Another text, by the same choices."""
        return Reader(text, self.reading).whole()

    def nested(self, read: Callable[[], Term]) -> Term:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unreadable("nested too deeply")
        term = read()
        self.depth -= 1
        return term

    def signed(self, read: Callable[[], Term]) -> Term:
        sign = self.take_sign()
        term = read()
        return apply("neg", term) if sign < 0 else term

    # Sums, products, powers.

    def sum(self) -> Term:
        terms = [_as_floor(self.signed(self.product))]
        while self.text() in ("+", "-"):
            terms.append(_as_floor(self.signed(self.product)))
        return terms[0] if len(terms) == 1 else Apply(op="add", args=tuple(terms))

    def product(self) -> Term:
        term = self.factors()
        for _ in range(MAX_OPERATIONS):
            if self.take_if("*"):
                term = times(term, self.signed(self.factors))
            elif self.take_if("/"):
                read = self.factors if self.reading.tight_product else self.power
                term = apply("div", no_floor(term), no_floor(self.signed(read)))
            elif self.starts_factor():
                term = times(term, self.factors())
            else:
                return term
        raise Unreadable("too many factors")

    def factors(self) -> Term:
        """Factors side by side; a whole number before a proper fraction is a mixed number."""
        term = self.mixed_number() or self.power()
        while self.starts_factor():
            if self.peek()[0] in ("number", "power_of_ten") and isinstance(term, Number):
                raise Unreadable("two numbers side by side")
            term = times(term, self.power())
        return term

    def mixed_number(self) -> Term | None:
        start = self.at
        kind, text = self.take()
        if kind == "number" and text.isdecimal() and self.text() == "\\frac":
            fraction = self.atom()
            if is_proper(fraction) and self.text() not in ("^", "!"):
                term: Term = apply("add", self.number_of(text), fraction)
                while self.text() in _MARKS:
                    term = _MARKS[self.take()[1]](term)
                return term
        if kind == "number" and text.isdecimal() and self.peek()[0] == "number":
            upper, slash, lower = (self.take() for _ in range(3))
            parts = self.tokens[self.at - 3 : self.at]
            if slash[1] == "/" and len(parts) == 3 and is_proper_pair(upper[1], lower[1]):
                whole, part = self.number_of(text), self.number_of(upper[1])
                return apply("add", whole, apply("div", part, self.number_of(lower[1])))
        self.at = start
        return None

    def starts_factor(self) -> bool:
        kind, text = self.peek()
        if kind in ("number", "power_of_ten", "letter", "word", "called"):
            return True
        if kind == "command":
            return text not in ("\\rfloor", "\\rceil", "\\over", "\\choose")
        return text in ("(", "[", "{", "\\{") or (text == "|" and self.bars == 0)

    def power(self) -> Term:
        term = self.atom()
        for _ in range(MAX_DEPTH):
            if self.take_if("^"):
                term = apply("pow", no_floor(term), self.exponent())
            elif self.take_if("!"):
                op = "factorial2" if self.take_if("!") else "factorial"
                term = apply(op, no_floor(term))
            elif self.take_if("%"):
                term = _MARKS["%"](no_floor(term))
            elif self.take_if("°"):
                term = _MARKS["°"](no_floor(term))
            elif isinstance(term, Symbol) and self.take_if("'"):
                term = Symbol(name=term.name + "'")
            else:
                return term
        raise Unreadable("too many powers and marks")

    def exponent(self) -> Term:
        term = self.nested(lambda: self.signed(self.atom))
        if self.take_if("^"):
            term = apply("pow", no_floor(term), self.nested(self.exponent))
        return no_floor(term)

    # Atoms.

    def atom(self) -> Term:
        return self.nested(self._atom)

    def _atom(self) -> Term:
        kind, text = self.take()
        match kind:
            case "number" | "power_of_ten":
                return self.number(text)
            case "letter":
                return self.symbol(text)
            case "word" | "called":
                return careful_commands.function(self, text)
            case "command":
                return careful_commands.command(self, text[1:])
        match text:
            case "(":
                return self.group(")")
            case "{":
                return self.group("}")
            case "[":
                return apply("square", self.group("]"))
            case "\\{":
                return self.group("\\}")
            case "|":
                self.bars += 1
                inside = self.sum()
                self.bars -= 1
                self.expect("|")
                return apply("abs", inside)
        raise Unreadable(f"cannot read {text!r}" if text else "something is missing")

    def group(self, closing: str) -> Term:
        bars, self.bars = self.bars, 0
        term = self.stacked() if closing == "}" else self.sum()
        self.bars = bars
        self.expect(closing)
        return term

    def stacked(self) -> Term:
        r"""A sum, or two of them around `\over` or `\choose`."""
        term = self.sum()
        for word, op in (("\\over", "div"), ("\\choose", "binom")):
            if self.take_if(word):
                return apply(op, term, self.sum())
        return term

    def argument(self) -> Term:
        r"""An argument of `\frac` and its like: a group, or one digit, letter or command."""
        kind, text = self.peek()
        if kind == "number" and len(text) > 1 and "." not in text:
            self.tokens[self.at : self.at + 1] = [(kind, text[0]), (kind, text[1:])]
            self.at += 1
            return integer(int(text[0]))
        return no_floor(self.atom())

    def number_of(self, text: str) -> Number:
        if len(text) > MAX_DIGITS:
            raise Unreadable("too many digits")
        mantissa, _, power = text.lower().partition("e")
        if len(power) > 7 or abs(int(power or 0)) > MAX_POWER_OF_TEN:
            raise Unreadable("a power of ten out of reach")
        decimal = "." in mantissa
        value = Fraction(mantissa.rstrip(".") or 0)
        if power:
            value *= Fraction(10) ** int(power)
        return Number(value=value, decimal=decimal)

    def number(self, text: str) -> Term:
        if self.text() == "_":
            raise Unreadable("a number in another base")
        if "." in text and self.text() in ("\\overline", "\\bar", "\\dot"):
            return self.repeating(text)
        return self.number_of(text)

    def repeating(self, mantissa: str) -> Term:
        r"""`0.1\overline{6}`."""
        self.take()
        digits = self.raw_group()
        if not digits.isdecimal() or len(digits) > 50:
            raise Unreadable("a repeating decimal without digits")
        places = len(mantissa.partition(".")[2])
        tail = Fraction(int(digits), (10 ** len(digits) - 1) * 10**places)
        return Number(value=self.number_of(mantissa).value + tail)

    def symbol(self, name: str) -> Term:
        index = ""
        if self.take_if("_"):
            raw = self.raw_group().replace("\\text", "").replace("\\", "")
            index = re.sub(r"[{}\s]", "", raw)
            if not index:
                raise Unreadable("an empty index")
            if name == "C" and self.text() == "^" and _BINOMIAL_INDEX.match(index):
                self.take()
                return apply("binom", self.read(index), self.exponent())
        if name == "C" and not index and self.text() == "(":
            pair = careful_commands.combination(self)
            if pair is not None:
                return pair
        if not index and name in _CONSTANTS and not (name == "i" and self.i_counts):
            return apply(_CONSTANTS[name])
        return Symbol(name=f"{name}_{index}" if index else name)


def _as_floor(term: Term) -> Term:
    """Square brackets that stand alone in a sum are the old sign of the integer part."""
    if isinstance(term, Apply) and term.op == "square":
        return apply("floor", *term.args)
    if isinstance(term, Apply) and term.op == "neg":
        return apply("neg", _as_floor(term.args[0]))
    return term
