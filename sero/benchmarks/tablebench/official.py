"""The published verdicts, faults included: first marker, all ASCII punctuation deleted, one part.

Points, signs and commas are gone before numbers are compared, so lists are never split, `106` is
right for 10.6 and `10.60` is not. A response without the marker is the empty answer, which
equals a gold of nothing but punctuation and articles.
"""

from __future__ import annotations

import re
import string
from decimal import ROUND_HALF_UP, Context, Decimal, localcontext

from sero.benchmarks.tablebench.rouge import rouge_l
from sero.benchmarks.tablebench.subtypes import Metric

_MARKER = re.compile(r"Final Answer: (.+)")
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_DIGITS = re.compile(r"\d+")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_TOLERANCE = 0.1


def read_official(response: str) -> str:
    """The rest of the line behind the first `Final Answer: ` of the raw response, or nothing."""
    match = _MARKER.search(response)
    return match[1] if match else ""


def normalised(text: str) -> str:
    """Lower case, without ASCII punctuation and articles, blanks squeezed."""
    bare = text.lower().translate(_NO_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def score_official(gold: str, answer: str, metric: Metric) -> float:
    """The published score of one item; ROUGE-L without the bootstrap over the set.

    Args:
        gold: as in the data.
        answer: what `read_official` found.
    """
    wanted, found = normalised(gold), normalised(answer)
    if metric is Metric.ROUGE_L:
        return rouge_l(wanted, found)
    if not _DIGITS.fullmatch(wanted):
        return float(wanted == found)
    with localcontext(Context(prec=28)):
        try:
            equal = _same_integer if metric is Metric.EM else _within_tolerance
            return float(equal(Decimal(wanted), Decimal(found)))
        except ArithmeticError:  # not a number, or too long for 28 digits: no match there
            return 0.0


def _same_integer(wanted: Decimal, found: Decimal) -> bool:
    one = Decimal(1)
    return str(wanted.quantize(one, ROUND_HALF_UP)) == str(found.quantize(one, ROUND_HALF_UP))


def _within_tolerance(wanted: Decimal, found: Decimal) -> bool:
    if not wanted:
        return found == wanted
    return abs(wanted - found) / abs(wanted) <= _TOLERANCE
