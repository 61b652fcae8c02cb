"""The careful verdicts: exact match, exact match within 10 %, and ROUGE-L, against one gold.

A gold list is matched part by part and in order; a part that is a number is compared as a number,
any other as text. Nothing is half right: a part too many, too few or wrong makes the answer wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from sero.benchmarks.tablebench.careful_lists import parts, parts_at_and
from sero.benchmarks.tablebench.careful_numbers import (
    Number,
    kinds_of_quantity,
    parse_decimal_comma,
    parse_number,
    same_at_places,
    within_tenth,
)
from sero.benchmarks.tablebench.careful_text import plain, tight, words
from sero.benchmarks.tablebench.official import normalised
from sero.benchmarks.tablebench.rouge import rouge_l

Agrees = Callable[[Number, Number], bool]
"""Whether a number of an answer stands for the gold's."""
EXACT: Agrees = same_at_places
WITHIN_TENTH: Agrees = within_tenth

_MEASURE = re.compile(r"(\S{1,60}) ([^\W\d_][^\d]{0,80})")
_PADDED = re.compile(r"[-+]?0[0-9]")
_MOST_PARTS = 200
_LONGEST = 2000
"""Characters that no short answer has; a longer one is not taken apart."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One part of an answer, and what can be read in it."""

    text: str

    @cached_property
    def number(self) -> Number | None:
        return parse_number(self.text)

    @cached_property
    def percentage(self) -> Number | None:
        """The number, `percent` as a word taken for its sign."""
        return parse_number(self.text, percent_word=True)

    @cached_property
    def words(self) -> tuple[str, ...]:
        return words(self.text)

    @cached_property
    def tight(self) -> str:
        return tight(self.text)

    @cached_property
    def measure(self) -> tuple[Number, tuple[str, ...]] | None:
        """Number and unit of `12 km`."""
        match = _MEASURE.fullmatch(self.text)
        number = parse_number(match[1]) if match else None
        return (number, words(match[2])) if match and number else None

    def matched_by(self, found: Part, agrees: Agrees) -> bool:
        """Whether a part of an answer is this part of the gold."""
        if self.number:
            number = found.percentage if self.number.percent else found.number
            return number is not None and agrees(self.number, number)
        if self.measure and found.measure and self.measure[1] == found.measure[1]:
            return agrees(self.measure[0], found.measure[0])
        return bool(self.words and self.words == found.words) or self.tight == found.tight


def matches(gold: str, answer: str, agrees: Agrees) -> bool:
    """Whether an answer line is the gold.

    Args:
        gold: as in the data.
        answer: what `careful_reading.final_answer` found.
        agrees: `EXACT` or `WITHIN_TENTH`.
    """
    wanted_text, found_text = plain(gold), plain(answer)
    if wanted_text == found_text:
        return bool(wanted_text)
    if len(found_text) > len(wanted_text) * 2 + _LONGEST:
        return False
    wanted = _parts(parts(wanted_text) or (wanted_text,))
    if len(wanted) == 1 and _other_quantity(wanted_text, found_text):
        return False
    return (
        any(_all_match(wanted, _parts(found), agrees) for found in _readings(found_text))
        or _same_stream(wanted, words(found_text), agrees)
        or _same_with_decimal_comma(wanted, found_text, agrees)
    )


def list_recall(gold: str, answer: str, agrees: Agrees) -> float | None:
    """Share of the gold's parts that the answer holds, in any order; None for a gold of one."""
    wanted = _parts(parts(plain(gold)))
    if len(wanted) < 2:
        return None
    left = list(_parts(parts(plain(answer)[: len(gold) * 2 + _LONGEST])[:_MOST_PARTS]))
    hits = 0
    for part in wanted:
        hit = next((i for i, found in enumerate(left) if part.matched_by(found, agrees)), None)
        if hit is not None:
            hits += 1
            left.pop(hit)
    return hits / len(wanted)


def sentence_score(gold: str, answer: str) -> float:
    """ROUGE-L of the published normalisation over plain typography; 1 for the gold itself.

    A sentence without a Latin letter or digit has no token, yet is right when it is the same.
    """
    wanted, found = plain(gold), plain(answer)
    if wanted and wanted == found:
        return 1.0
    wanted, found = normalised(wanted), normalised(found)
    return 1.0 if wanted and wanted == found else rouge_l(wanted, found)


def canonical(answer: str) -> str:
    """One text for all answers that a reader takes for the same, whatever the gold."""
    shown = plain(answer)
    if len(shown) > _LONGEST:
        return shown
    pieces = [
        part.percentage.text if part.percentage else " ".join(part.words)
        for part in _parts(parts(shown))
    ]
    return ", ".join(piece for piece in pieces if piece) or shown


def _parts(texts: Sequence[str]) -> tuple[Part, ...]:
    return tuple(Part(text=text) for text in texts)


def _readings(answer: str) -> Iterator[tuple[str, ...]]:
    """The lists an answer may be, the likeliest first."""
    yield parts(answer)
    yield parts_at_and(answer)
    cut = parts(answer, every_comma=True)
    if not any(map(_PADDED.match, cut)):  # `1,062` is never 1 and 62
        yield cut


def _all_match(wanted: Sequence[Part], found: Sequence[Part], agrees: Agrees) -> bool:
    return len(wanted) == len(found) and all(
        part.matched_by(other, agrees) for part, other in zip(wanted, found, strict=True)
    )


def _other_quantity(wanted: str, found: str) -> bool:
    """Whether both name what they count, and name another thing: `$5` for 5% or for €5."""
    kinds, others = kinds_of_quantity(wanted), kinds_of_quantity(found)
    return bool(kinds and others) and not kinds & others


def _same_stream(wanted: Sequence[Part], found: Sequence[str], agrees: Agrees) -> bool:
    """Whether the words and numbers follow each other as in the gold, whatever separates them.

    Numbers that are parts of the gold are compared as numbers, those inside a name literally.
    """
    pattern: list[Number | str] = []
    for part in wanted:
        pattern += [part.number] if part.number else part.words
    if not pattern or len(pattern) != len(found):
        return False
    for item, word in zip(pattern, found, strict=True):
        if isinstance(item, Number):
            number = None if _PADDED.match(word) else parse_number(word)
            if number is None or not agrees(item, number):
                return False
        elif item.rstrip("%") != word.rstrip("%"):
            return False
    return True


def _same_with_decimal_comma(wanted: Sequence[Part], found: str, agrees: Agrees) -> bool:
    """Whether a single number was written with a decimal comma.

    The gold has to have as many decimals: a comma is the benchmark's own list mark, and `2010,20`
    for a gold of 2010 is an answer with a part too many; so is `1.062,0` for 1062.
    """
    gold = wanted[0].number if len(wanted) == 1 else None
    number = parse_decimal_comma(found)
    if not gold or not number:
        return False
    written_alike = 0 < gold.places == number.places
    if written_alike and agrees(gold, number):
        return True
    return "." not in found.rstrip(" .") and gold.value == number.value
