"""Which answers belong to which golds, as the published OlympiadBench judge pairs them.

The judge takes the model's answers as its reference: their order decides which tolerance of a list
counts, and a factor of 100 either way is a percentage. Pairing is greedy and never taken back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

SLACK = 1.01
"""A tolerance is stretched by this, against rounding."""

_SHORT_DECIMAL = re.compile(r"[-+]?[0-9]{1,9}(?:\.[0-9]{1,6})?")

Same = Callable[[str, str, float], bool]


class UndecidedError(Exception):
    """Text alone does not settle a pair."""


def paired(
    answers: Sequence[str], golds: Sequence[str], tolerances: Sequence[float], same: Same
) -> bool:
    """Whether every answer finds a gold of its own.

    Args:
        tolerances: one for all, or one for each answer in order.
        same: the test of one pair under a tolerance.

    Raises:
        IndexError: fewer tolerances than answers, on which the published code crashes.
    """
    if len(answers) != len(golds):
        return False
    left, waiting = list(answers), list(golds)
    limits = list(tolerances) * (len(left) if len(tolerances) == 1 else 1)
    at = -1
    while left:
        at = (at + 1) % len(left)
        answer, limit = left[at], limits[at]
        gold = next((gold for gold in waiting if same(answer, gold, limit)), None)
        if gold is None:
            return False
        left.remove(answer)
        waiting.remove(gold)
        limits.remove(limit)
    return True


def same_text(answer: str, gold: str, tolerance: float) -> bool:
    """What text and plain numbers say of a pair.

    Raises:
        UndecidedError: nothing final.
    """
    if answer == gold and answer:
        return True
    if not (is_interval(answer) and is_interval(gold)):
        if same_number(answer, gold, tolerance):
            return True
        if not answer or not gold:
            return False
        if _SHORT_DECIMAL.fullmatch(answer) and _SHORT_DECIMAL.fullmatch(gold):
            return False
    raise UndecidedError


def is_interval(text: str) -> bool:
    return text.startswith(("(", "[")) and text.endswith((")", "]"))


def same_number(answer: str, gold: str, tolerance: float) -> bool:
    """Whether both are numbers to Python's `float`, close as they are or as a percentage."""
    try:
        reference, value = float(answer), float(gold)
    except ValueError:
        return False
    return any(
        abs(candidate - value) <= tolerance * SLACK
        for candidate in (reference / 100, reference, reference * 100)
    )
