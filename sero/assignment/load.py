"""The door where rosters and score tables come in as YAML: every fault at once, with its path."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from pydantic import TypeAdapter, ValidationError

from sero.assignment.checks import roster_faults
from sero.assignment.names import name_fault, same_name
from sero.assignment.options import option_faults, taken_keys
from sero.assignment.refusal import first_faults, refusal, unknown_fields
from sero.assignment.roster import (
    MAX_CRITERIA,
    MAX_SCORE,
    MIN_SCORE,
    Candidate,
    Criterion,
    DebateRole,
    Roster,
)
from sero.assignment.scores import Floats
from sero.errors import CardError, RosterError
from sero.roles.card import MAX_NAME_CHARS
from sero.roles.load import load_yaml
from sero.validation import did_you_mean, faults_of

T = TypeVar("T", DebateRole, Candidate, Criterion)

_ROLE = TypeAdapter(DebateRole)
_CANDIDATE = TypeAdapter(Candidate)
_CRITERION = TypeAdapter(Criterion)
_KEYS = ("roles", "candidates", "evaluators", "task", "comment")
_NO_ROSTER = "roles: missing; a roster has 'roles:' and 'candidates:'"
_NO_CANDIDATES = "candidates: missing; a run's roster has 'candidates:', and 'roles:' if wanted"
MAX_ROWS = 64
"""Most roles, candidates and evaluators, each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RosterFile:
    """A roster, and the task if the file names one."""

    roster: Roster
    task: str | None


def load_roster(path: Path | str) -> RosterFile:
    """Read a roster file; see `roster_from_data`.

    Raises:
        RosterError: the faults of the file, together.
    """
    return roster_from_data(_yaml(path), where=str(path))


def roster_from_data(raw: Any, *, where: str, roles_wanted: bool = True) -> RosterFile:
    """A roster from plain data: `roles`, `candidates`, and optionally `evaluators` and `task`.

    An evaluator is the name of a candidate, or a record like a candidate's; without a list the
    candidates judge. Of each list there are `MAX_ROWS` at most.

    Args:
        raw: the file's content.
        where: the file, for messages.
        roles_wanted: without roles there is nothing to assign; False: they come from elsewhere.

    Raises:
        RosterError: the faults together, the first twenty and a count of the others.
    """
    if not isinstance(raw, Mapping):
        raise RosterError(where, [_NO_ROSTER if roles_wanted else _NO_CANDIDATES])
    faults = unknown_fields(raw, _KEYS)
    task = raw.get("task")
    if task is not None and (not isinstance(task, str) or not task.strip()):
        faults.append(f"task: got {type(task).__name__}; the text of a task is expected")
    roles = _rows(raw, "roles", faults, _role) if roles_wanted or "roles" in raw else ()
    candidates = _rows(raw, "candidates", faults, _candidate)
    evaluators = candidates
    if "evaluators" in raw:
        known = {same_name(candidate.name): candidate for candidate in candidates}
        offered = _names(raw.get("candidates"))

        def evaluator(row: Any, prefix: str) -> tuple[Candidate | None, list[str]]:
            if not isinstance(row, str):
                return _candidate(row, prefix)
            name = same_name(row)
            found = [] if name in offered else [f"{prefix}: {_nobody(row, offered)}"]
            return known.get(name), found

        evaluators = _rows(raw, "evaluators", faults, evaluator)
    if not faults:
        roster = Roster(roles=roles, candidates=candidates, evaluators=evaluators)
        faults += roster_faults(roster, roles_wanted=roles_wanted)
    if faults:
        raise refusal(where, faults)
    return RosterFile(roster=roster, task=task)


def load_candidates(path: Path | str) -> Roster:
    """Read a roster whose roles may come from elsewhere, such as the cards of a pool.

    Raises:
        RosterError: the faults of the file, together.
    """
    return roster_from_data(_yaml(path), where=str(path), roles_wanted=False).roster


def _nobody(name: str, offered: Sequence[str]) -> str:
    name = name[:MAX_NAME_CHARS]
    return f"got '{name}'; no candidate has this name{did_you_mean(name, offered)}"


def _names(rows: Any) -> list[str]:
    """The names that stand in a list of records, sound or not, as names are compared."""
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        return []
    names = (row.get("name") for row in rows if isinstance(row, Mapping))
    return [same_name(name) for name in names if isinstance(name, str) and _can_be_shown(name)]


def _can_be_shown(name: Any) -> bool:
    return isinstance(name, str) and bool(name.strip()) and len(name) <= MAX_NAME_CHARS


def _rows(
    raw: Mapping[Any, Any], key: str, faults: list[str], read: Any, most: int = MAX_ROWS
) -> tuple[Any, ...]:
    rows = raw.get(key)
    if not isinstance(rows, Sequence) or isinstance(rows, str) or not rows:
        faults.append(f"{key}: missing; a list of records is expected")
        return ()
    if len(rows) > most:
        faults.append(f"{key}: {len(rows)} of them; at most {most} are allowed")
    records = []
    for i, row in enumerate(rows[:most]):
        name = row.get("name") if isinstance(row, Mapping) else None
        prefix = f"{key}.{name}" if _can_be_shown(name) else f"{key}[{i}]"
        record, found = read(row, prefix)
        faults += found
        if record is not None:
            records.append(record)
    return tuple(records)


def _role(row: Any, prefix: str) -> tuple[DebateRole | None, list[str]]:
    criteria: tuple[Criterion, ...] = ()
    faults: list[str] = []
    if isinstance(row, Mapping) and "criteria" in row:
        criteria = _rows(row, "criteria", faults, _criterion, MAX_CRITERIA)
        faults = [f"{prefix}.{fault}" for fault in faults]
        row = {key: value for key, value in row.items() if key != "criteria"}
    role, found = _record(_ROLE, DebateRole, row, prefix)
    if role is None or faults or found:
        return None, [*found, *faults]
    return dataclasses.replace(role, criteria=criteria), []


def _criterion(row: Any, prefix: str) -> tuple[Criterion | None, list[str]]:
    return _record(_CRITERION, Criterion, row, prefix)


def _candidate(row: Any, prefix: str) -> tuple[Candidate | None, list[str]]:
    candidate, faults = _record(_CANDIDATE, Candidate, row, prefix)
    if candidate is None:
        return None, faults
    if (reason := name_fault(candidate.name)) is not None:
        faults.append(f"{prefix}.name: {reason}")
    for field, value in (("tools", candidate.tools), ("request", candidate.request)):
        faults += [f"{prefix}.{fault}" for fault in option_faults(field, value)]
    if taken := taken_keys(candidate.request):
        faults.append(f"{prefix}.request: {', '.join(taken)} are set by Sero and cannot be set")
    return (None, faults) if faults else (candidate, [])


def _record(
    adapter: TypeAdapter[T], kind: type[T], row: Any, prefix: str
) -> tuple[T | None, list[str]]:
    if not isinstance(row, Mapping):
        return None, [f"{prefix}: got {type(row).__name__}; a record with a name is expected"]
    fields = [field.name for field in dataclasses.fields(kind)]
    try:
        return adapter.validate_python(dict(row)), []
    except ValidationError as error:
        return None, faults_of(error, {"": fields}, prefix)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreTable:
    """Scores given by hand: names, and S of shape (roles, candidates, evaluators)."""

    roles: tuple[str, ...]
    candidates: tuple[str, ...]
    scores: Floats


def load_scores(path: Path | str, roster: Roster | None = None) -> ScoreTable:
    """A table of scores: `roles`, `candidates` and `scores`, or the rows alone beside a roster.

    A row has one number per candidate, or a list of one number per evaluator; `null` is a score
    that is missing.

    Raises:
        RosterError: the faults of the file, together.
    """
    raw = _yaml(path)
    table = raw if isinstance(raw, Mapping) else {"scores": raw}
    known = ("roles", "candidates", "scores", "comment")
    faults = unknown_fields(table, known)
    names = {}
    for key, given in (
        ("roles", tuple(role.name for role in roster.roles) if roster else None),
        ("candidates", tuple(one.name for one in roster.candidates) if roster else None),
    ):
        own = table.get(key)
        if own is None and given is not None:
            names[key] = given
        elif not isinstance(own, list) or not own or not all(isinstance(n, str) for n in own):
            faults.append(f"{key}: missing; a list of names is expected")
        elif len(set(own)) < len(own):
            faults.append(f"{key}: a name stands there twice")
        elif given is not None and tuple(own) != given:
            faults.append(f"{key}: got {', '.join(own)}; the roster has {', '.join(given)}")
        else:
            names[key] = tuple(own)
    if faults:
        raise refusal(str(path), faults)
    cells, faults = _cells(table.get("scores"), names["roles"], names["candidates"])
    if faults:
        raise refusal(str(path), faults)
    return ScoreTable(roles=names["roles"], candidates=names["candidates"], scores=cells)


def _cells(rows: Any, roles: Sequence[str], candidates: Sequence[str]) -> tuple[Floats, list[str]]:
    if not isinstance(rows, list) or len(rows) != len(roles):
        return np.empty(0), [f"scores: a list of {len(roles)} rows is expected, one per role"]
    faults: list[str] = []
    table: list[list[list[float]]] = []
    for role, row in zip(roles, rows, strict=True):
        if not isinstance(row, list) or len(row) != len(candidates):
            faults.append(f"scores.{role}: {len(candidates)} entries expected, one per candidate")
            continue
        cells = [cell if isinstance(cell, list) else [cell] for cell in row]
        for name, cell in zip(candidates, cells, strict=True):
            wrong = [value for value in cell if not _is_score(value)]
            if wrong or not cell:
                faults.append(
                    f"scores.{role}.{name}: got {wrong or cell}; numbers from {MIN_SCORE} to "
                    f"{MAX_SCORE} are expected, or null"
                )
        table.append([[np.nan if value is None else value for value in cell] for cell in cells])
    depths = {len(cell) for row in table for cell in row}
    if not faults and len(depths) > 1:
        faults.append("scores: every entry needs the same number of evaluators' scores")
    return (np.empty(0), faults) if faults else (np.array(table, dtype=float), [])


def _is_score(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return value is None or (number and MIN_SCORE <= value <= MAX_SCORE)


def _yaml(path: Path | str) -> Any:
    try:
        return load_yaml(path)
    except CardError as error:
        raise RosterError(error.where, first_faults(error.faults)) from None
