"""Words of an answer for comparison: what tells two answers apart is kept, the rest dropped.

Letter case, quotes, sentence marks and articles do not count, as in the published scorer. Unlike
there, a mark that carries a number's meaning stays: the point of 10.6, the sign of -5, the colon
of 1:45, the hyphen of 11-2, the plus of 700+, of a grade A+ and of C++.
"""

from __future__ import annotations

import re
import unicodedata

from sero.benchmarks.normalise import plain_typography
from sero.benchmarks.tablebench.careful_numbers import ungrouped

_FULL_WIDTH = str.maketrans({code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)})
_LOOSE_SIGN = re.compile(r"(^|[,;:=(\[])[ ]?-[ ](?=[$€£¥₹]?[0-9.])")
_LOOSE_PERCENT = re.compile(r"(?<=[0-9]) %")
_LOOSE_BOUND = re.compile(r"([<>]=?) (?=[0-9])")
_QUANTITY = re.compile(r"(?:[$€£¥₹] ?)?\.?[0-9]")
_CLOCK_ZERO = re.compile(r"(?<![0-9.,:])0(?=[0-9]:[0-9]{2}(?![0-9]))")
_POWER_OF_TEN = re.compile(r"((?:\\times|[x×*·]) ?10)([⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_MARK = re.compile(r"\+\+|[^\w\s]|_")
_SPACED_MARK = re.compile(r" ?([^\w\s]) ?")
_SLASH = re.compile(r"(?<=[0-9])/(?=[0-9])")
_ARTICLES = frozenset({"the", "an", "a"})
_ASCII_SYMBOLS = frozenset("$+<=>^`|~")
_BOUNDS = ("<=", ">=")
_BEFORE_SIGN = frozenset(" (,;:=[$")


def plain(text: str) -> str:
    """Plain typography, composed accents, ASCII digits, powers and signs; blanks squeezed."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", plain_typography(text)).translate(_FULL_WIDTH)
        text = _POWER_OF_TEN.sub(lambda m: f"{m[1]}^{m[2].translate(_SUPERSCRIPTS)}", text)
        text = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)
    return " ".join(text.split())


def words(text: str) -> tuple[str, ...]:
    """The words and numbers of a text, list commas read as blanks.

    Articles go, but not a closing `A` (`Group A`), nor the only word there is.
    """
    folded = _LOOSE_SIGN.sub(r"\1 -", _LOOSE_PERCENT.sub("%", _folded(text)))
    folded = _LOOSE_BOUND.sub(r"\1", folded)
    found = _MARK.sub(_kept_mark, folded).split()
    kept = [
        word
        for i, word in enumerate(found)
        if word not in _ARTICLES or (word == "a" and i == len(found) - 1)
    ]
    return tuple(kept or found)


def tight(text: str) -> str:
    """The text with its marks and without blanks around them: `vice - chair` like `vice-chair`.

    Cells come from tokenised pages, and people close such gaps when they copy a name.
    """
    closed = _SPACED_MARK.sub(r"\1", _SLASH.sub("-", _folded(text)))
    return closed.lstrip("\"'*`").rstrip("\"'.*`") or closed


def _folded(text: str) -> str:
    folded = unicodedata.normalize("NFC", plain(text).casefold())
    # the published prompts misspell one of their own phrases, and so do some who answer them
    folded = folded.replace("negtive", "negative")
    return _CLOCK_ZERO.sub("", ungrouped(folded))


def _kept_mark(match: re.Match[str]) -> str:
    """What stands for one mark: itself where it carries meaning, a blank, or nothing."""
    mark, text, at, end = match[0], match.string, match.start(), match.end()
    before = text[at - 1] if at else " "
    after = text[end] if end < len(text) else " "
    category = unicodedata.category(mark[0])
    kind = category[0]
    if kind not in "PS":
        return mark
    if mark in ",;":
        return " "
    between = before.isdigit() and after.isdigit()
    sign = mark in "-<>" and before in _BEFORE_SIGN and _QUANTITY.match(text, end)
    bound = mark + after in _BOUNDS or before + mark in _BOUNDS
    grade = mark[0] in "+-#" and before.isalnum() and not after.isalnum()
    if sign or bound or grade or between or (mark == "%" and before.isdigit()):
        return "-" if mark == "/" else mark
    if mark == "." and after.isdigit() and not before.isalnum():
        return "0."
    if kind == "S" and mark[0] not in _ASCII_SYMBOLS and category != "Sc":
        return mark
    return ""
