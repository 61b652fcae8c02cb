"""Reading made-up problems and answers to them: plain LaTeX arithmetic to exact numbers.

The verifiers' own reader. It knows the forms that the generator writes and close relatives, and
shares nothing with the scorers, so that each can convict the other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

Number = Fraction | float

MAX_CHARS = 500
_MAX_POWER = 1000
_FILLER = re.compile(r"\\(?:left|right|displaystyle)(?![A-Za-z])|\\[,;: !]|\$|\s+")
_TOKEN = re.compile(r"\d+\.?\d*|\\[A-Za-z]+|[A-Za-z]_(?:\d|\{\d+\})|.")
_NAME = re.compile(r"[\s$]*\\?[A-Za-z]+(?:_\w)?(?:\([a-z]\))?\s*")
_TIMES = ("*", "\\cdot", "\\times")
_ENDS = {"\\infty": math.inf, "+\\infty": math.inf, "-\\infty": -math.inf}
_INTERVAL = re.compile(r"([\[(])([^\[\](),]*),([^\[\](),]*)([\])])")


def value(text: str, letters: Mapping[str, Number] | None = None) -> Number:
    """The value of an arithmetic expression, exact as long as every root in it is.

    Args:
        text: numbers, `\\frac`, `\\sqrt`, powers, the four operations, products by juxtaposition,
            `\\pi`, and letters, also with an index.
        letters: the value of every letter in it.

    Raises:
        ValueError: another form, a letter without a value, or too large a power.
    """
    reader = _Reader(_tokens(text), letters or {})
    found = reader.sum()
    if reader.rest:
        raise ValueError(f"cannot read {text!r} from {reader.rest[-1]!r} on")
    return found


def size(x: Number) -> Number:
    """|x|; the built-in forgets what it was given."""
    return -x if x < 0 else x


def numbers(answer: str) -> list[Number]:
    """Values joined by commas, a name before `=` allowed."""
    return [value(right_side(part)) for part in split(answer)]


def functions(answer: str, letter: str) -> list[Callable[[Number], Number]]:
    """Expressions in one letter joined by commas."""
    sides = [right_side(part) for part in split(answer)]
    return [lambda at, side=side: value(side, {letter: at}) for side in sides]  # type: ignore[misc]


def tuples(answer: str) -> list[tuple[Number, ...]]:
    """Tuples in round brackets joined by commas."""
    found = []
    for part in split(answer):
        if not (part.startswith("(") and part.endswith(")")):
            raise ValueError(f"no tuple: {part!r}")
        found.append(tuple(value(entry) for entry in split(part[1:-1])))
    return found


def difference(equation: str, letters: Mapping[str, Number]) -> Number:
    """Left side minus right side at a point."""
    left, equals, right = equation.partition("=")
    if not equals or "=" in right:
        raise ValueError(f"no equation: {equation!r}")
    return value(left, letters) - value(right, letters)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """An interval; an infinite end is never included."""

    low: Number
    high: Number
    low_in: bool
    high_in: bool

    def __contains__(self, x: Number) -> bool:
        above = x >= self.low if self.low_in else x > self.low
        return above and (x <= self.high if self.high_in else x < self.high)


def pieces(answer: str) -> list[Piece]:
    """A union of intervals.

    Raises:
        ValueError: something else, an end with an infinite value in a square bracket, or an
            interval that is empty or a point.
    """
    found = []
    for part in _plain(answer).split("\\cup"):
        match = _INTERVAL.fullmatch(part.replace(" ", ""))
        if match is None:
            raise ValueError(f"no interval: {part!r}")
        low, high = (_ENDS[end] if end in _ENDS else value(end) for end in match.group(2, 3))
        piece = Piece(low=low, high=high, low_in=match[1] == "[", high_in=match[4] == "]")
        open_ends = (piece.low_in, low), (piece.high_in, high)
        if low >= high or any(closed and math.isinf(end) for closed, end in open_ends):
            raise ValueError(f"no interval: {part!r}")
        found.append(piece)
    return found


def split(text: str) -> list[str]:
    """The parts between commas outside brackets, dollars gone."""
    parts, depth, start = [], 0, 0
    text = _plain(text)
    for i, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()]


def right_side(text: str) -> str:
    """What stands behind a name and `=`, or the whole.

    Raises:
        ValueError: something else than a name in front.
    """
    name, equals, value_text = text.rpartition("=")
    if equals and _NAME.fullmatch(name) is None:
        raise ValueError(f"no name: {name!r}")
    return value_text


def _tokens(text: str) -> list[str]:
    if len(text) > MAX_CHARS:
        raise ValueError(f"an expression of {len(text)} characters; at most {MAX_CHARS}")
    return [token for token in _TOKEN.findall(_plain(text)) if token != " "][::-1]


def _plain(text: str) -> str:
    return _FILLER.sub(" ", text)


class _Reader:
    """Recursive descent over tokens, the next one last."""

    def __init__(self, tokens: list[str], letters: Mapping[str, Number]) -> None:
        self.rest = tokens
        self.letters = letters
        self.depth = 0

    def sum(self) -> Number:
        found = self.product()
        while self._next() in ("+", "-"):
            sign = 1 if self.rest.pop() == "+" else -1
            found += sign * self.product()
        return found

    def product(self) -> Number:
        found = self.signed()
        while (token := self._next()) not in ("", "+", "-", ")", "}", "="):
            if token in ("/", *_TIMES):
                self.rest.pop()
            factor = self.signed() if token in ("/", *_TIMES) else self.power()
            found = _divided(found, factor) if token == "/" else found * factor
        return found

    def signed(self) -> Number:
        sign = 1
        while self._next() in ("+", "-"):
            sign *= 1 if self.rest.pop() == "+" else -1
        return sign * self.power()

    def power(self) -> Number:
        base = self.atom()
        if self._next() != "^":
            return base
        self.rest.pop()
        return _power(base, self.group())

    def group(self) -> Number:
        """An argument: a group in braces, or the next token, of a number its first digit."""
        if self._next() == "{":
            return self._closed("}")
        token = self._next()
        if token[:1].isdigit() and len(token) > 1:
            self.rest[-1:] = [token[1:], token[0]]
        return self.atom()

    def atom(self) -> Number:
        token = self._next()
        if token == "(":
            return self._closed(")")
        if token == "{":
            return self._closed("}")
        if token:
            self.rest.pop()
        if token[:1].isdigit():
            return Fraction(token)
        if token in ("\\frac", "\\dfrac", "\\tfrac"):
            return _divided(self.group(), self.group())
        if token == "\\sqrt":
            return _root(self.group())
        if token == "\\pi":
            return math.pi
        letter = token.replace("{", "").replace("}", "")
        if letter in self.letters:
            return self.letters[letter]
        raise ValueError(f"cannot read {token!r}")

    def _closed(self, end: str) -> Number:
        self.rest.pop()
        self.depth += 1
        if self.depth > 40:
            raise ValueError("too many brackets inside each other")
        found = self.sum()
        self.depth -= 1
        if self._next() != end:
            raise ValueError(f"{end} missing")
        self.rest.pop()
        return found

    def _next(self) -> str:
        return self.rest[-1] if self.rest else ""


def _divided(a: Number, b: Number) -> Number:
    if b == 0:
        raise ValueError("division by zero")
    return a / b


def _root(x: Number) -> Number:
    if x < 0:
        raise ValueError("root of a negative number")
    if isinstance(x, Fraction):
        top, bottom = math.isqrt(x.numerator), math.isqrt(x.denominator)
        if top * top == x.numerator and bottom * bottom == x.denominator:
            return Fraction(top, bottom)
    return math.sqrt(x)


def _power(base: Number, exponent: Number) -> Number:
    if size(exponent) > _MAX_POWER:
        raise ValueError("too large a power")
    if base == 0 and exponent < 0:
        raise ValueError("division by zero")
    if isinstance(exponent, Fraction) and exponent.denominator == 1:
        if isinstance(base, Fraction) and base.numerator.bit_length() > 64:
            raise ValueError("too large a power")
        power: Number = base ** int(exponent)
        return power
    if base < 0:
        raise ValueError("root of a negative number")
    return math.pow(base, exponent)
