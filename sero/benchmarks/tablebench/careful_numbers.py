"""Numbers as people write them in an answer, and when one stands for another.

Read are decimals, signs, one thousands separator, currency signs, a percent sign and powers of
ten; brackets, quotes and marks around a number are not part of it. A unit word or a hedge makes
a text that is no number: `1062 films`, `about 250`, `>5`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

_CURRENCY = "$¢£¤¥₩₪₫€₭₮₱₴₹₺₽₿"
_EDGES = " \t\"'`*_()[]{}#~=:;,!?|\\@&" + _CURRENCY
_MAX_CHARS = 200
_MAX_DIGITS = 60
_NUMBER = re.compile(
    rf"""
    (?P<sign>[-+]?)\ {{0,2}}[{_CURRENCY}]?\ ?
    (?:
        (?P<whole>
            [0-9]{{1,3}}(?P<by>[,'_\ ])[0-9]{{3}}(?:(?P=by)[0-9]{{3}}){{0,15}}
          | [0-9]{{1,2}}(?:,[0-9]{{2}}){{1,15}},[0-9]{{3}}
          | [0-9]{{1,60}}
        )
        (?:\.(?P<part>[0-9]{{0,60}}))?
      | \.(?P<bare>[0-9]{{1,60}})
    )
    (?:
        e(?P<power>[-+]?[0-9]{{1,3}})
      | \ ?(?:\\times|[x×*·])\ ?10\ ?(?:\^|\*\*)\ ?\{{?\ ?(?P<ten>[-+]?[0-9]{{1,3}})
    )?
    (?P<percent>\ ?%)?(?P<word>\ ?per\ ?cent)?
    """,
    re.VERBOSE,
)
_GROUPED = re.compile(
    r"(?<![0-9.])(?<![0-9],)[0-9]{1,3}"
    r"(?:(?:,[0-9]{3})++|(?:,[0-9]{2}(?=,))++,[0-9]{3})(?![0-9])(?!,[0-9])"
)
_DECIMAL_COMMA = re.compile(r"([-+]?[0-9]{1,60}),([0-9]{1,2})(\ ?%)?")
_DOTTED = re.compile(r"[-+]?[0-9]{1,3}(?:\.[0-9]{3}){1,15}(?=,[0-9]{1,2}(?![0-9]))")
_NOT_DIGIT = re.compile(r"[^0-9]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number as it was written.

    Attributes:
        value: what stands before a percent sign, not divided by 100.
        places: decimals as written, trailing zeros included.
        percent: a percent sign stands behind it.
    """

    value: Fraction
    places: int
    percent: bool

    @property
    def text(self) -> str:
        """Canonical form: no separators, no trailing zeros, no sign on zero."""
        scaled = abs(self.value) * 10**self.places
        digits = str(int(scaled)).rjust(self.places + 1, "0")
        whole, part = digits[: len(digits) - self.places], digits[len(digits) - self.places :]
        part = part.rstrip("0")
        sign = "-" if self.value < 0 else ""
        return sign + whole + ("." + part if part else "") + ("%" if self.percent else "")


def parse_number(text: str, *, percent_word: bool = False) -> Number | None:
    """The number a text is, or None.

    Args:
        text: in plain typography (`careful_text.plain`), letter case folded or not.
        percent_word: read `12 percent` like `12%`; only where a percentage is wanted.
    """
    bare = text.lstrip(_EDGES).rstrip(_EDGES + ".")
    match = _NUMBER.fullmatch(bare.lower()) if len(bare) <= _MAX_CHARS else None
    if match is None or (match["word"] and (match["percent"] or not percent_word)):
        return None
    whole = _NOT_DIGIT.sub("", match["whole"] or "0")
    part = match["part"] or match["bare"] or ""
    power = int(match["power"] or match["ten"] or 0)
    if len(whole) + len(part) + abs(power) > _MAX_DIGITS:
        return None
    value = Fraction(int(whole + part)) * Fraction(10) ** (power - len(part))
    return Number(
        value=-value if match["sign"] == "-" else value,
        places=max(0, len(part) - power),
        percent=bool(match["percent"] or match["word"]),
    )


def kinds_of_quantity(text: str) -> frozenset[str]:
    """The currency signs and the percent sign in a text; paired dollars are maths, no money."""
    found = frozenset(_CURRENCY + "%").intersection(text)
    return found - {"$"} if text.count("$") % 2 == 0 else found


def ungrouped(text: str) -> str:
    """The text with its numbers' thousands commas gone: `1,062` is one number, `1, 062` two.

    Three digits in each group, or two as in `12,34,567`; any other comma ends a number.
    """
    return _GROUPED.sub(lambda match: match[0].replace(",", ""), text)


def parse_decimal_comma(text: str) -> Number | None:
    """`10,6` read as 10.6, or None; at most two digits stand behind such a comma.

    Points may group the thousands before it: `12.345,67` is 12345.67.
    """
    bare = text.strip(_EDGES + ".")
    whole = _DOTTED.match(bare)
    if whole:
        bare = whole[0].replace(".", "") + bare[whole.end() :]
    match = _DECIMAL_COMMA.fullmatch(bare)
    return parse_number(f"{match[1]}.{match[2]}{match[3] or ''}") if match else None


def same_at_places(gold: Number, answer: Number) -> bool:
    """Whether the answer, rounded half up to the gold's decimals, is the gold.

    A gold of integer zero wants zero itself: what rounds to nothing is not nothing.
    """
    wanted = rounded(gold.value, gold.places)
    face, *other = _on_scale_of(gold, answer)
    if not wanted and not gold.places:
        return face == 0
    if rounded(face, gold.places) == wanted:
        return True
    # 85% is 1 when rounded to an integer, which no reader would accept for a gold of 1.
    coarse = not gold.percent and not gold.places
    return any((value if coarse else rounded(value, gold.places)) == wanted for value in other)


def within_tenth(gold: Number, answer: Number) -> bool:
    """Whether the answer is within 10 % of the gold, bounds included; zero wants zero."""
    return any(
        abs(value - gold.value) * 10 <= abs(gold.value) for value in _on_scale_of(gold, answer)
    )


def rounded(value: Fraction, places: int) -> Fraction:
    """Half up, away from zero."""
    scale = 10**places
    units = int(abs(value) * scale + Fraction(1, 2))
    return Fraction(units if value >= 0 else -units, scale)


def _on_scale_of(gold: Number, answer: Number) -> tuple[Fraction, ...]:
    """What an answer may mean beside this gold, its face value first.

    Published golds carry a percent sign or leave it out, so its absence on one side says
    nothing: `12.5` and `0.125` both stand for 12.5%, and `85%` for 0.85.
    """
    if gold.percent == answer.percent:
        return (answer.value,)
    factor = Fraction(100) if gold.percent else Fraction(1, 100)
    return (answer.value, answer.value * factor)
