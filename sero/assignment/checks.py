"""What is wrong with a roster, and what is merely odd about it."""

from __future__ import annotations

import re

from sero.assignment.criteria import criteria_faults, word_list
from sero.assignment.names import same_name
from sero.assignment.roster import DebateRole, Roster, Seat


def roster_faults(roster: Roster, *, roles_wanted: bool = True) -> list[str]:
    """What no single record shows: too few, shared names, too few or vague criteria."""
    faults = []
    for what, rows in (
        ("roles", roster.roles),
        ("candidates", roster.candidates),
        ("evaluators", roster.evaluators),
    ):
        names = [same_name(row.name) for row in rows]
        shared = sorted({name for name in names if names.count(name) > 1})
        faults += [f"{what}: {names.count(name)} of them are called '{name}'" for name in shared]
    known = {same_name(candidate.name): candidate for candidate in roster.candidates}
    faults += [
        f"evaluators: '{e.name}' is a candidate's name and says something else; write the name "
        "alone to let the candidate judge, or choose another name"
        for e in roster.evaluators
        if known.get(same_name(e.name), e) != e
    ]
    if roles_wanted and not roster.roles:
        faults.append("roles: none; at least one is needed")
    if not roster.candidates:
        faults.append("candidates: none; at least one is needed")
    elif len(roster.candidates) > 1 and len(roster.evaluators) < 2:
        faults.append(
            f"evaluators: {len(roster.evaluators)}; at least 2 are needed, so that no single "
            "opinion decides"
        )
    for role in roster.roles:
        if role.criteria:
            faults += [f"{role.name}.{fault}" for fault in criteria_faults(role.criteria)]
    return faults


def roster_warnings(roster: Roster) -> tuple[str, ...]:
    """What is allowed and rarely meant: generic roles, candidates that cannot differ."""
    lines = [
        f"role '{role.name}': {reason}"
        for role in roster.roles
        if (reason := generic_reason(role)) is not None
    ]
    seen: dict[tuple[Seat, str, float], str] = {}
    for one in roster.candidates:
        first = seen.setdefault((one.seat, one.prompt, one.temperature), one.name)
        if first != one.name:
            lines.append(
                f"candidates '{first}' and '{one.name}' send the same requests, so their "
                "proposals are equal"
            )
    return tuple(lines)


_WORD = re.compile(r"[^\W\d_]+")
_MIN_SPECIFIC = 8


def generic_reason(role: DebateRole) -> str | None:
    """Why a role's description says too little to tell candidates apart, None if it does not.

    The rule: stop words, words that fit any role ("helpful", "expert", "answer"; the list `stock`)
    and the words of the role's own name are taken away; fewer than eight different ones are left.
    """
    name = {word.lower() for word in _WORD.findall(role.name)}
    words = {word.lower() for word in _WORD.findall(role.description)}
    specific = words - word_list("stock") - name
    if len(specific) >= _MIN_SPECIFIC:
        return None
    return (
        f"the description is generic: {len(specific)} word(s) in it are about this role. Say in a "
        "paragraph what the role is responsible for and what counts as success"
    )
