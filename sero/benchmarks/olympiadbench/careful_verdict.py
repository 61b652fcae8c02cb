r"""All golds of an item against all answers of a candidate: the part that runs in a worker."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from sero.benchmarks.olympiadbench.careful_compare import Rule, same
from sero.benchmarks.olympiadbench.careful_domains import names_set, narrows, without_least
from sero.benchmarks.olympiadbench.careful_families import same_families
from sero.benchmarks.olympiadbench.careful_items import (
    answer_lists,
    bare_condition,
    expansions,
    has_inequality,
)
from sero.benchmarks.olympiadbench.careful_matching import matched
from sero.benchmarks.olympiadbench.careful_sides import sides_of
from sero.benchmarks.olympiadbench.careful_text import plain, split, tidy

_INTERVAL = "interval"
_TOLERANCE = re.compile(r"\s*(\d{0,20}(?:\.\d{0,20})?(?:[eE][-+]?\d{1,3})?)\s*\Z")


def right(
    candidate: str,
    gold: str,
    answer_type: str,
    error: str | None,
    unit: str | None,
    is_multiple: bool,
) -> bool:
    """Whether a candidate answers an item; the arguments are those of `careful_score`."""
    kinds = [kind.strip().lower() for kind in (answer_type or "").split(",")]
    gold, candidate = plain(gold), plain(candidate)
    if _INTERVAL not in kinds:
        gold, candidate = without_least(gold, candidate)
    is_set = _INTERVAL in kinds or has_inequality(gold)
    candidate = bare_condition(candidate) if is_set else candidate
    gold_lists = answer_lists(gold, splits_words=not is_set)
    if not is_multiple:
        gold_lists = [found for found in gold_lists if len(found) == 1] or gold_lists
    golds = gold_lists[0] if gold_lists else []
    if (is_set or any(names_set(one) for one in golds)) and narrows(gold, candidate):
        return False
    rules = _rules(len(golds), kinds, error, unit)
    for given in answer_lists(candidate, splits_words=not is_set):
        for wanted in _expanded(golds, rules):
            for answers in expansions(given):
                if len(answers) == len(wanted) and _all_match(wanted, answers):
                    return True
        if same_families(golds, given):
            return True
    return False


def _rules(n: int, kinds: Sequence[str], error: str | None, unit: str | None) -> list[Rule]:
    """The rule of each gold, in the gold's order."""
    errors = [_tolerance(entry) for entry in (error or "").split(",")]
    if len(errors) not in (1, n):
        stated = [value for value in errors if value is not None]
        errors = [min(stated) if stated else None]
    units = [unit]
    if unit and len(split(unit, {","})[0]) == n > 1:
        units = [*split(unit, {","})[0]]
    if len(kinds) not in (1, n):
        kinds = [kinds[0] if len(set(kinds)) == 1 else ""]
    return [
        Rule(
            kind=kinds[i % len(kinds)],
            error=errors[i % len(errors)],
            unit=units[i % len(units)] or None,
        )
        for i in range(n)
    ]


def _tolerance(text: str) -> Fraction | None:
    match = _TOLERANCE.match(text)
    if match is None or not any(c.isdigit() for c in match[1].lower().partition("e")[0]):
        return None
    return Fraction(match[1])


def _expanded(golds: list[str], rules: list[Rule]) -> list[list[tuple[str, Rule]]]:
    """The golds with each `\\pm` written out, each with the rule of the gold it comes from."""
    variants: list[list[tuple[str, Rule]]] = []
    for way in (0, -1):
        variant = [
            (text, rule)
            for gold, rule in zip(golds, rules, strict=True)
            for text in expansions([gold])[way]
        ]
        if variant not in variants:
            variants.append(variant)
    return variants


def _all_match(wanted: list[tuple[str, Rule]], answers: list[str]) -> bool:
    labels = [_label(text) for text, _ in wanted]
    named = [_label(answer) for answer in answers]
    by_name = len(set(labels)) > 1 and all(name and name in labels for name in named)
    answers = _units_shared(answers)

    def fits(i: int, j: int) -> bool:
        if by_name and labels[i] != named[j]:
            return False
        return same(wanted[i][0], answers[j], wanted[i][1])

    return bool(wanted) and matched(len(wanted), fits)


def _label(text: str) -> str:
    sided = sides_of(text)
    return tidy(sided.label) if sided else ""


def _units_shared(answers: list[str]) -> list[str]:
    """A unit in brackets behind the last of several answers belongs to each: `2, 3 (mA)`."""
    match = re.search(r" (\([^()]*\))\Z", answers[-1]) if len(answers) > 1 else None
    if match is None or any(answer.endswith(")") for answer in answers[:-1]):
        return answers
    return [*(f"{answer} {match[1]}" for answer in answers[:-1]), answers[-1]]
