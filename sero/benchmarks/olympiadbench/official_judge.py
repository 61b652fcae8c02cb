"""Verdicts of the published OlympiadBench judge, on any text; where it crashes the score is 0.

It never strips a think block, checks no unit, and looks at the first gold only. Its algebra has no
time limit; here it runs in a worker process, and what is not decided at the deadline scores 0.
"""

from __future__ import annotations

from sero.benchmarks import bounded
from sero.benchmarks.base import TIMED_OUT, Score
from sero.benchmarks.olympiadbench import official_text
from sero.benchmarks.olympiadbench.official_pairs import UndecidedError, paired, same_text

DEFAULT_TOLERANCE = 1e-8
_IMPORTS = ("sero.benchmarks.olympiadbench.official_compare",)
_RIGHT = Score(value=1.0, reason="equal to the gold")
_WRONG = Score(value=0.0, reason="not equal to the gold")


def official_score(response: str, gold: str, answer_type: str, error: str | None) -> Score:
    """The published verdict on a response.

    Args:
        response: the whole reply of the model, think blocks included.
        gold: the item's first final answer, as it is published.
        answer_type: as published; tuples ignore `error`.
        error: the item's absolute tolerance; several, joined by commas, go by answer.
    """
    try:
        tolerances = _tolerances(answer_type, error)
        answer = official_text.compared_text(official_text.marked_answer(response))
        expected = official_text.compared_text(gold)
    except ValueError as fault:
        return _crashed(str(fault))
    if answer == expected:
        return _RIGHT
    answers, golds = official_text.items(answer), official_text.items(expected)
    try:
        right = paired(answers, golds, tolerances, same_text)
    except UndecidedError:
        return _worked_out(answers, golds, tolerances)
    except IndexError:
        return _crashed("fewer tolerances than answers")
    return _RIGHT if right else _WRONG


def _tolerances(answer_type: str, error: str | None) -> list[float]:
    if "Tuple" in answer_type or not error:
        return [DEFAULT_TOLERANCE]
    if "," not in error:
        return [float(error)]
    return [float(part) if part else DEFAULT_TOLERANCE for part in error.split(",")]


def _worked_out(answers: list[str], golds: list[str], tolerances: list[float]) -> Score:
    outcome = bounded.call(all_paired, answers, golds, tolerances, imports=_IMPORTS)
    if outcome.timed_out:
        return Score(value=0.0, reason=outcome.failure, metrics={TIMED_OUT: 1.0})
    if outcome.failure:
        return _crashed(outcome.failure)
    return _RIGHT if outcome.value else _WRONG


def all_paired(answers: list[str], golds: list[str], tolerances: list[float]) -> bool:
    """`official_compare.all_paired`, imported where it runs: the caller stays without SymPy."""
    from sero.benchmarks.olympiadbench import official_compare

    return official_compare.all_paired(answers, golds, tolerances)


def _crashed(why: str) -> Score:
    return Score(value=0.0, reason=f"the published judge stops: {why}")
