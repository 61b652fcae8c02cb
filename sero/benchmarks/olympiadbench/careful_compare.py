r"""One gold answer against one given answer, by the kind the item announces.

Each comparator fails closed: what it cannot read equals nothing, except a text that says the same
in the same words. A text is in the spelling of `careful_text.plain` throughout.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from sero.benchmarks.olympiadbench.careful_congruences import same_congruence
from sero.benchmarks.olympiadbench.careful_domains import names_set
from sero.benchmarks.olympiadbench.careful_equations import (
    Sides,
    same_equation,
    same_inequalities,
)
from sero.benchmarks.olympiadbench.careful_items import has_inequality
from sero.benchmarks.olympiadbench.careful_matching import matched
from sero.benchmarks.olympiadbench.careful_quantities import (
    is_number,
    same_quantity,
    without_own_unit,
)
from sero.benchmarks.olympiadbench.careful_reader import read_terms
from sero.benchmarks.olympiadbench.careful_set_reader import same_set
from sero.benchmarks.olympiadbench.careful_sides import (
    Sided,
    contradict,
    is_label,
    renaming,
    sides_of,
)
from sero.benchmarks.olympiadbench.careful_terms import Unreadable, free_symbols
from sero.benchmarks.olympiadbench.careful_text import RELATIONS, enclosed, split, tidy

MAX_NESTING = 8
_SAYING = re.compile(
    r"(?:all|any|are|does|do|empty|exists?|false|have|has|impossible|infinite|infinitely|is"
    r"|many|never|no|non|none|not|numbers?|possible|real|roots?|set|solutions?|such|the|there|true"
    r"|undefined|values?|yes)\Z",
    re.IGNORECASE,
)
_WRAPPED = re.compile(r"\\text ?\{([^{}]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How one gold answer is compared.

    Attributes:
        kind: an answer type of the benchmark in lower case; anything else goes by the gold's form.
        unit: the item's unit, as published.
        error: absolute tolerance of numbers.
    """

    kind: str = ""
    unit: str | None = None
    error: Fraction | None = None


def same(gold: str, answer: str, rule: Rule) -> bool:
    """Whether the answer says what the gold says."""
    if _words(gold) and _words(gold) == _words(answer):
        return True
    if _same(gold, answer, rule, MAX_NESTING):
        return True
    return any(_same(gold, bare, rule, MAX_NESTING) for bare in without_own_unit(answer, rule.unit))


def _words(text: str) -> str:
    """The tidy text, its words wrapped or not; of `no solution` and its like in small letters."""
    bare = _WRAPPED.sub(r" \1 ", text)
    words = bare.lower().split()
    if words and all(map(_SAYING.match, words)):
        return " ".join(word.removesuffix("s") for word in words)
    return tidy(bare)


def _same(gold: str, answer: str, rule: Rule, nesting: int) -> bool:
    if not gold or not answer or not nesting:
        return False
    try:
        if rule.kind == "interval":
            return same_set(gold, answer, rule.error)
        if has_inequality(gold):
            return _same_condition(gold, answer, rule)
        if names_set(gold):
            return same_set(gold, answer, rule.error)
    except Unreadable:
        return False
    congruent = same_congruence(gold, answer)
    if congruent is not None:
        return congruent
    wanted, given = sides_of(gold), sides_of(answer)
    if given is None or wanted is None:
        return False
    brackets = enclosed(wanted.values[-1])
    if brackets is not None and split(brackets[1], {",", ";"})[1]:
        return _same_group(wanted, given, rule, nesting)
    if split(wanted.values[-1], {":"})[1] or split(given.values[-1], {":"})[1]:
        return _same_ratio(wanted.values[-1], given.values[-1], rule)
    return _same_sides(wanted, given, rule)


def _same_condition(gold: str, answer: str, rule: Rule) -> bool:
    """A gold such as `k >= 2`: as a chain of inequalities, or as the set it describes."""
    if has_inequality(answer):
        ours, theirs = _chain(gold), _chain(answer)
        if ours and theirs and same_inequalities(ours, theirs):
            return True
        if _letters(ours) != _letters(theirs):
            return False
    return same_set(gold, answer, rule.error)


def _letters(chain: list[Sides]) -> set[str]:
    return {
        name for left, _, right in chain for side in (left, right) for name in free_symbols(side)
    }


def _chain(text: str) -> list[Sides]:
    sides, relations = split(text, RELATIONS)
    try:
        terms = [read_terms(side)[0] for side in sides]
    except Unreadable:
        return []
    return list(zip(terms, relations, terms[1:], strict=False))


def _same_group(wanted: Sided, given: Sided, rule: Rule, nesting: int) -> bool:
    """Tuples and lists in order, sets in any order; the brackets have to be the same."""
    ours, theirs = enclosed(wanted.values[-1]), enclosed(given.values[-1])
    assert ours is not None
    if theirs is None or (ours[0], ours[2]) != (theirs[0], theirs[2]):
        return False
    if enclosed(wanted.label) and enclosed(given.label) and tidy(wanted.label) != tidy(given.label):
        return False
    golds, answers = split(ours[1], {",", ";"})[0], split(theirs[1], {",", ";"})[0]
    if len(golds) != len(answers):
        return False
    inner = Rule(unit=rule.unit, error=rule.error)

    def same_part(i: int, j: int) -> bool:
        return tidy(golds[i]) == tidy(answers[j]) or _same(golds[i], answers[j], inner, nesting - 1)

    if ours[0] == "\\{":
        return matched(len(golds), same_part)
    return all(same_part(i, i) for i in range(len(golds)))


def _same_ratio(gold: str, answer: str, rule: Rule) -> bool:
    """`6:4` is `3:2`; of two parts it is also the fraction."""
    ours, theirs = split(gold, {":"})[0], split(answer, {":"})[0]
    if len(ours) != len(theirs):
        if {len(ours), len(theirs)} != {1, 2}:
            return False
        return same_quantity(_fraction(ours), _fraction(theirs), rule.unit, rule.error)
    if not all(ours) or not all(theirs):
        return False
    return all(
        same_quantity(f"({ours[i]})*({theirs[0]})", f"({theirs[i]})*({ours[0]})", None, None)
        for i in range(1, len(ours))
    )


def _fraction(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({parts[0]})/({parts[1]})"


def _same_sides(wanted: Sided, given: Sided, rule: Rule) -> bool:
    """An equation, a value with a name, or a value."""
    named = is_label(wanted.label)
    if rule.kind == "equation" or not (named or is_number(wanted.values[-1])):
        if _equations(wanted, given):
            return True
        # `y = E` may be answered by E alone, or by a chain of equal forms of it; where the item
        # asks for an expression, so may `v^2 = E`.
        same_name = not given.label or tidy(given.label) == tidy(wanted.label)
        has_value = named or rule.kind != "equation"
        return has_value and same_name and _same_value(wanted, given, rule)
    if contradict(wanted.label, given.label):
        return _equations(wanted, given)
    if _same_value(wanted, given, rule):
        return True
    # `n = N` for `N = n`.
    turned = bool(wanted.label) and tidy(wanted.label) in (tidy(value) for value in given.values)
    return turned and _equations(wanted, given)


def _same_value(wanted: Sided, given: Sided, rule: Rule) -> bool:
    """One of the given sides is the gold, and no other side contradicts it."""
    gold, names = wanted.values[-1], renaming(wanted, given)
    equal = [same_quantity(gold, value, rule.unit, rule.error, names) for value in given.values]
    return any(equal) and all(fits or given.is_remark(i, gold) for i, fits in enumerate(equal))


def _equations(wanted: Sided, given: Sided) -> bool:
    try:
        ours, theirs = wanted.equation(), given.equation()
    except Unreadable:
        return False
    if ours is None or theirs is None:
        return False
    return any(
        same_equation((a, b), (c, d))
        for a in ours[0]
        for b in ours[1]
        for c in theirs[0]
        for d in theirs[1]
    )
