"""Reading a toy answer without knowing the gold: strict about what it says, not about its dress.

The answer is what stands behind the last `Answer:` that has something behind it, other than the
prompt's own words, else behind the last `answer is`, to the end of that line; the line below counts
when the marker ends its line.
Small models often leave the marker out. Then the whole response is the answer, but only if it
cannot be taken for another one: it names one value and no other, and neither hedges nor negates.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from sero.benchmarks.normalise import plain_typography, without_emphasis
from sero.benchmarks.toy.capitals import cities_named, tokens

POSITIVE, NEGATIVE = "positive", "negative"

_COLON = re.compile(r"\banswer[^\S\n]{0,3}:", re.IGNORECASE)
_IS = re.compile(r"\banswer[^\S\n]{1,3}is\b[^\S\n]{0,3}:?", re.IGNORECASE)
# fmt: off
_HEDGES = frozenset({
    "or", "either", "neither", "nor", "not", "never", "no", "non", "isnt", "wasnt",
    "arent", "dont", "doesnt", "cannot", "cant", "maybe", "perhaps", "unsure",
    "unknown", "unclear", "neutral", "mixed",
})
# fmt: on
_NUMBER = re.compile(
    r"(?<![\w.,])[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w%]|[.,/]\d)", re.ASCII
)
_TIMES = re.compile(r"(?<=\d)[^\S\n]{0,3}\*[^\S\n]{0,3}(?=\d)", re.ASCII)
_OPEN_TERM = re.compile(r"[\d)][^\S\n]{0,3}(?:[-+*/x×÷·]|times|plus|minus)[^\S\n]{0,3}$")
_LONGEST_ANSWER = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """The part of a response that answers; `marked` when the response says that it does."""

    text: str
    marked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A canonical answer, or why there is none."""

    answer: str | None
    reason: str = ""


Reader = Callable[[Phrase], Reading]


def answer_phrase(response: str, form: str) -> Phrase:
    """The answer line of a response, or all of it when there is none.

    Args:
        form: the line of the prompt that asks for the answer; a response that repeats it has not
            answered by that.
    """
    text = without_emphasis(_TIMES.sub(" x ", plain_typography(response)))
    asked = tokens(_COLON.split(form)[-1])
    for marker in (_COLON, _IS):
        end = len(text)
        for found in reversed(list(marker.finditer(text))):
            line = text[found.end() : end].strip().partition("\n")[0].strip()
            end = found.start()
            if line and tokens(line) != asked:
                return Phrase(text=line, marked=True)
    return Phrase(text=text.strip(), marked=False)


def read_capital(phrase: Phrase) -> Reading:
    """The one city that is named; a name no one knows is an answer too, if marked as one."""
    cities = cities_named(phrase.text)
    if len(cities) > 1:
        return Reading(answer=None, reason=f"names {len(cities)} cities: {', '.join(cities[:5])}")
    if _hedges(phrase):
        return Reading(answer=None, reason="says what the answer is not, or leaves it open")
    if cities:
        return Reading(answer=cities[0])
    unknown = " ".join(tokens(phrase.text))[:_LONGEST_ANSWER]
    if phrase.marked and unknown:
        return Reading(answer=unknown)
    return Reading(answer=None, reason="names no city")


def read_sentiment(phrase: Phrase) -> Reading:
    """`positive` or `negative`, whichever alone is said."""
    said = sorted({POSITIVE, NEGATIVE} & set(tokens(phrase.text)))
    if len(said) != 1:
        return Reading(answer=None, reason="says both words" if said else "says neither word")
    if _hedges(phrase):
        return Reading(answer=None, reason="says what the answer is not, or leaves it open")
    return Reading(answer=said[0])


def read_number(phrase: Phrase) -> Reading:
    """The last number of the answer line.

    Without a marker: the only number of a response of one line, or what follows the last `=` of
    the last line.
    """
    text = phrase.text if phrase.marked else _result_line(phrase.text)
    numbers = list(_NUMBER.finditer(text))
    if not numbers:
        return Reading(answer=None, reason="no number that can be the answer")
    if _hedges(phrase):
        return Reading(answer=None, reason="says what the answer is not, or leaves it open")
    last = numbers[-1]
    if _OPEN_TERM.search(text[: last.start()][-16:]):
        return Reading(answer=None, reason="ends in a calculation without its result")
    return Reading(answer=plain_number(last[0]))


def _result_line(text: str) -> str:
    """The part of a response without a marker that is its result; empty if that is not clear."""
    *above, line = text.splitlines() or [""]
    _, equals, result = line.rpartition("=")
    if not equals and (above or len(_NUMBER.findall(line)) != 1):
        return ""
    return result if len(_NUMBER.findall(result)) == 1 else ""


def plain_number(written: str) -> str:
    """One spelling for one number: no sign of plus, no grouping, no idle zeros."""
    sign = "-" if written.startswith("-") else ""
    whole, _, part = written.lstrip("+-").replace(",", "").partition(".")
    part = part.rstrip("0")
    plain = (whole.lstrip("0") or "0") + (f".{part}" if part else "")
    return plain if plain == "0" else sign + plain


def _hedges(phrase: Phrase) -> bool:
    return not _HEDGES.isdisjoint(tokens(phrase.text))
