"""What proposals are scored on: what makes criteria usable, and how prompts show them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

from sero.assignment.asking import FILE, one_line, unstopped
from sero.assignment.roster import (
    MAX_CRITERIA,
    MAX_CRITERION_CHARS,
    MAX_SCORE,
    MIN_CRITERIA,
    MIN_SCORE,
    Criterion,
)
from sero.roles.card import MAX_NAME_CHARS
from sero.roles.load import load_yaml


def criteria_from_reply(raw: Any) -> tuple[tuple[Criterion, ...], tuple[str, ...]]:
    """The criteria of a reply, and the reasons for which they cannot be used; never raises.

    Args:
        raw: the reply's JSON object, None where it holds none.
    """
    if raw is None:
        return (), ("reply: no JSON object in it",)
    rows = raw.get("criteria")
    if not isinstance(rows, list):
        return (), ("criteria: missing; a list of criteria is wanted",)
    faults = []
    found = []
    for number, row in enumerate(rows[: 2 * MAX_CRITERIA], 1):
        name = plain_text(row, "name", MAX_NAME_CHARS)
        description = plain_text(row, "description", MAX_CRITERION_CHARS)
        lower = row.get("lower_is_better", False) if isinstance(row, dict) else False
        if not name or not description:
            wanted = f"a name (at most {MAX_NAME_CHARS} characters) and a sentence"
            faults.append(f"criteria[{number}]: {wanted} are wanted")
        elif not isinstance(lower, bool):
            faults.append(f"criteria[{number}].lower_is_better: true or false is wanted")
        else:
            found.append(Criterion(name=name, description=description, lower_is_better=lower))
    if len(rows) > 2 * MAX_CRITERIA:  # the rest was not read
        faults.append(_count_fault(len(rows)))
        return tuple(found), tuple(faults)
    return tuple(found), (*faults, *([] if faults else criteria_faults(found)))


def plain_text(row: Any, key: str, limit: int) -> str:
    """A text of a model's record on one line; empty where there is none, or it is too long."""
    value = row.get(key) if isinstance(row, dict) else None
    text = one_line(value[: 4 * limit]) if isinstance(value, str) else ""
    return text if len(text) <= limit else ""


def _count_fault(n: int) -> str:
    return f"criteria: {n} of them; from {MIN_CRITERIA} to {MAX_CRITERIA} are wanted"


_WORD = re.compile(r"[^\W_]+")


def is_vague(name: str) -> bool:
    """Whether a criterion's name says nothing of what to look for ("overall quality").

    The rule: every word of it, those of the list `fillers` aside, is one of the list `vague`, which
    could be said of any proposal for any role.
    """
    words = set(_WORD.findall(name.lower())) - word_list("fillers")
    return words <= word_list("vague")


def criteria_faults(criteria: Sequence[Criterion]) -> list[str]:
    """Why criteria cannot be used: too few or many, vague, or one twice."""
    faults = []
    if not MIN_CRITERIA <= len(criteria) <= MAX_CRITERIA:
        faults.append(_count_fault(len(criteria)))
    faults += [
        f"criteria: '{name}' is vague; name one thing to look for"
        for name in dict.fromkeys(one.name for one in criteria)
        if is_vague(name)
    ]
    for what, keys in (
        ("are called", [_key(one.name) for one in criteria]),
        ("say", [_key(one.description) for one in criteria]),
    ):
        counted = Counter(keys)
        faults += [f"criteria: {n} of them {what} '{key}'" for key, n in counted.items() if n > 1]
    return faults


def _key(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


@cache
def word_list(name: str) -> frozenset[str]:
    """A list of `prompts/shared/assignment_words.yaml`."""
    return frozenset(load_yaml(f"package:shared/{FILE}_words.yaml")[name].split())


@cache
def default_criteria() -> tuple[Criterion, ...]:
    """What a role is judged by when none of the attempts could be used."""
    rows = load_yaml(f"package:shared/{FILE}.yaml")["default_criteria"]
    return tuple(Criterion(**row) for row in rows)


def criteria_lines(criteria: Sequence[Criterion]) -> list[str]:
    """Each criterion as prompts show it: `c1 = Name (what to look for; lower is better)`."""
    return [
        f"c{number} = {one.name} ({unstopped(one.description)}"
        f"{'; lower is better' if one.lower_is_better else ''})"
        for number, one in enumerate(criteria, 1)
    ]


def oriented(value: float, criterion: Criterion) -> float:
    """A score turned so that more is better: 6 - v where lower is better."""
    return MIN_SCORE + MAX_SCORE - value if criterion.lower_is_better else value
