"""A second opinion on generated table items: the gold again, from the text of an item alone.

The arithmetic runs on decimals over the string cells and shares no code with the generator; only
the wordings of questions and sentences are common to both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Context, localcontext
from typing import Any

from sero.benchmarks.generate.table_reader import (
    Sheet,
    Slots,
    read_question,
    read_sheet,
    to_number,
)
from sero.benchmarks.generate.table_verifier_analysis import ANALYSIS_RULES
from sero.benchmarks.generate.table_verifier_numerical import NUMERICAL_RULES

_SENTENCES = ("AnomalyDetection", "CausalAnalysis", "DescriptiveAnalysis")
_DIGITS = 60

RULES: Mapping[str, Callable[[Sheet, Slots], str]] = {**NUMERICAL_RULES, **ANALYSIS_RULES}
"""How each kind of question is answered; names as in the wordings."""


def verify(item: Mapping[str, Any], answer: str) -> bool:
    """Whether an answer is the gold of a generated item.

    Numbers are compared as numbers of two places, names without regard to case, lists in order,
    sentences as they stand. No tolerance: this is about the gold, not about a model's answer.

    Raises:
        ValueError: the item is not a generated one, or its question has no clear answer.
    """
    gold = expected_answer(item)
    if item["qsubtype"] in _SENTENCES:
        return answer.split() == gold.split()
    given, wanted = answer.split(","), gold.split(",")
    return len(given) == len(wanted) and all(map(_same, given, wanted))


def expected_answer(item: Mapping[str, Any]) -> str:
    """The answer to an item's question, worked out from its string cells.

    Raises:
        ValueError: as `verify`.
    """
    kind, slots = read_question(item["qsubtype"], item["question"])
    with localcontext(Context(prec=_DIGITS)):
        return RULES[kind](read_sheet(item["table"]), slots)


def _same(given: str, wanted: str) -> bool:
    a, b = to_number(given), to_number(wanted)
    if a is not None and b is not None:
        return a == b and ("%" in given) == ("%" in wanted)
    return given.strip().casefold() == wanted.strip().casefold()
