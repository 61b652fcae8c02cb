"""The words of the assignment world: its tasks, roles and candidates, and codes only it can read.

A draft or an entry says by an opaque code which candidate wrote it for which role of which task;
two worlds share none.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache

from sero.assignment.load import load_candidates
from sero.assignment.players import with_roles
from sero.assignment.roster import Roster
from sero.assignment.world import WorldSpec
from sero.inference.layout import fill, template
from sero.roles.load import load_yaml, pool_from_data
from sero.roles.pool import RolePool
from sero.storage import dumps

FILE = "assignment_world"
CARDS = "package:assignment_world/static_dag.yaml"
CANDIDATES = "package:assignment_world/candidates.yaml"

_TASK = re.compile(r"\bcase-(\d+)\b")
_SHEET = re.compile(r"\bsheet ([0-9a-f]{12})\b")


@cache
def world_cards() -> RolePool:
    """The roles, in the order of the world's rows."""
    return pool_from_data({"roles": load_yaml(CARDS)["roles"]}, where=CARDS)


@cache
def world_roster() -> Roster:
    """The roles and candidates, who are also the evaluators."""
    return with_roles(load_candidates(CANDIDATES), world_cards().cards)


def world_task(number: int) -> str:
    """The text of a task."""
    return fill(template(FILE, "task"), {"number": str(number)})


def read_task(text: str) -> int | None:
    """The number of the task a text is about."""
    found = _TASK.search(text)
    return None if found is None else int(found[1])


def read_candidate(text: str) -> int | None:
    """The candidate whose sheet a prompt names."""
    found = _SHEET.search(text)
    return _sheets().get(found[1]) if found else None


def draft_code(spec: WorldSpec, task: int, role: int, candidate: int) -> str:
    """What a proposal is known by."""
    return _opaque(spec.key, "draft", task, role, candidate)


def entry_code(spec: WorldSpec, task: int, role: int, candidate: int) -> str:
    """What a played role's work is known by."""
    return _opaque(spec.key, "entry", task, role, candidate)


def write_entries(entries: dict[int, str]) -> str:
    """A line per role in order of their numbers, which begin at 1."""
    line = template(FILE, "entry")
    return "\n".join(
        fill(line, {"column": str(column), "code": entries[column]}) for column in sorted(entries)
    )


def read_entries(text: str) -> dict[int, str]:
    """Role number to code, of every line that is an entry; the last line of a role counts."""
    return {int(column): code for column, code in _entry_line().findall(text)}


@cache
def _sheets() -> dict[str, int]:
    found = {}
    for j, candidate in enumerate(world_roster().candidates):
        sheet = _SHEET.search(candidate.prompt)
        assert sheet is not None, f"{CANDIDATES}: {candidate.name} names no sheet"
        found[sheet[1]] = j
    return found


@cache
def _entry_line() -> re.Pattern[str]:
    """Read off the template, so that a change of its words is a change of data."""
    line = re.escape(template(FILE, "entry"))
    line = line.replace(r"\{column\}", r"(\d+)").replace(r"\{code\}", "([0-9a-f]{12})")
    return re.compile(f"^{line}$", re.MULTILINE)


def _opaque(*parts: str | int) -> str:
    return hashlib.sha256(dumps(list(parts)).encode()).hexdigest()[:12]
