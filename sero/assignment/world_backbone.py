"""The assignment world behind the real prompts, so that Meta-Debate runs on it end to end.

Simulated. The backbone reads what any model would be sent: who it is from the prompt strategy, the
role and the task from the templates, the proposals of a review from between their marks. A
proposal carries an opaque code that only the world can read; whoever wrote it does not show.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import astuple
from functools import cache

from sero.assignment.asking import FILE
from sero.assignment.roster import MAX_SCORE, MIN_SCORE, Candidate, DebateRole, Panel, Roster, Seat
from sero.assignment.schemas import proposal_key
from sero.assignment.world import (
    N_CANDIDATES,
    N_ROLES,
    AssignmentWorld,
    Case,
    WorldSpec,
)
from sero.backbones.base import BackboneId, Completion, Request, Usage
from sero.backbones.wire import estimate_tokens
from sero.inference.layout import fill, template
from sero.storage import dumps

_TASK = re.compile(r"\bcase-(\d+)\b")
_SHEET = re.compile(r"\bsheet ([0-9a-f]{12})\b")
_CODE = re.compile(r"\bdraft ([0-9a-f]{12})\b")
_MARK = re.compile(r"carry the mark (\w+);")
_WORLD = "assignment_world"


def _starts(name: str) -> str:
    """The words with which a template begins, up to its first field."""
    return template(FILE, name).partition("{")[0]


def _role_between(name: str) -> re.Pattern[str]:
    """Finds the role's name in a filled template."""
    before, _, rest = template(FILE, name).partition("{role}")
    return re.compile(re.escape(before[-40:]) + r"(.+?)" + re.escape(rest.partition("{")[0][:3]))


class AssignmentWorldBackbone:
    """Answers the prompts of Meta-Debate as a world says. Stateless; equal requests, equal answers.

    Args:
        spec: the world.
    """

    def __init__(self, spec: WorldSpec) -> None:
        self._spec = spec
        self._world = AssignmentWorld(spec)
        self._case = cache(self._world.case)
        roster = world_roster(spec)
        self._roles = {role.name: i for i, role in enumerate(roster.roles)}
        self._sheets = {_sheet(spec, j): j for j in range(N_CANDIDATES)}
        # read off the templates, so that a change of their words is a change of data
        self._kinds = {
            name: (_starts(name), _role_between(name)) for name in ("proposal", "review")
        }
        settings = hashlib.sha256(dumps(astuple(spec)).encode()).hexdigest()[:12]
        self._identity = BackboneId(
            model="assignment-world",
            revision=f"world-{spec.key}-v1-{settings}",
            template="{}",
            simulated=True,
        )

    @property
    def identity(self) -> BackboneId:
        return self._identity

    @property
    def max_prompt_chars(self) -> int | None:
        return None

    async def generate(self, request: Request) -> Completion:
        """Answer a request; never suspends and never fails."""
        text = self._reply(request)
        prompt_chars = sum(len(message.content) for message in request.messages)
        return Completion(
            text=text,
            finish_reason="stop",
            usage=Usage(
                prompt_tokens=estimate_tokens(prompt_chars),
                completion_tokens=estimate_tokens(len(text)),
            ),
        )

    async def close(self) -> None:
        """Nothing to close."""

    def _reply(self, request: Request) -> str:
        user = request.messages[-1].content
        if user.startswith(_starts("criteria")):
            return dumps({"criteria": template(_WORLD, "criteria")})
        sheet = _SHEET.search(request.messages[0].content)
        speaker = self._sheets.get(sheet[1]) if sheet else None
        number = _TASK.search(user)
        if speaker is None or number is None:
            return template(_WORLD, "lost")
        for name, (start, pattern) in self._kinds.items():
            found = pattern.search(user) if user.startswith(start) else None
            if found and found[1] in self._roles:
                role, task = self._roles[found[1]], int(number[1])
                if name == "proposal":
                    code = _code(self._spec, task, role, speaker)
                    return fill(template(_WORLD, "draft"), {"code": code})
                return self._review(user, task, role, speaker)
        return template(_WORLD, "lost")

    def _review(self, user: str, task: int, role: int, reviewer: int) -> str:
        """The reviewer's scores of the drafts between the marks, by their numbers."""
        case: Case = self._case(task)
        authors = {_code(self._spec, task, role, j): j for j in range(N_CANDIDATES)}
        scores = {}
        for number, text in _between_marks(user):
            code = _CODE.search(text)
            if code is None or code[1] not in authors:
                continue
            grades = [int(g) for g in case.grades[role, authors[code[1]], reviewer]]
            grades[-1] = MIN_SCORE + MAX_SCORE - grades[-1]
            scores[proposal_key(number)] = {f"c{c}": g for c, g in enumerate(grades, 1)}
        return dumps(scores)


def _between_marks(user: str) -> list[tuple[int, str]]:
    """Number and text of every proposal of a review."""
    mark = _MARK.search(user)
    if mark is None:
        return []
    block = re.compile(
        rf"^=== proposal (\d+) {mark[1]} ===\n(.*?)\n=== end of proposal \1 {mark[1]} ===$",
        re.MULTILINE | re.DOTALL,
    )
    return [(int(found[1]), found[2]) for found in block.finditer(user)]


def _opaque(spec: WorldSpec, *parts: str | int) -> str:
    return hashlib.sha256(dumps([spec.key, *parts]).encode()).hexdigest()[:12]


def _code(spec: WorldSpec, task: int, role: int, candidate: int) -> str:
    return _opaque(spec, "draft", task, role, candidate)


def _sheet(spec: WorldSpec, candidate: int) -> str:
    return _opaque(spec, "sheet", candidate)


def world_roster(spec: WorldSpec) -> Roster:
    """The world's roles and candidates, who are also the evaluators."""
    roles = tuple(
        DebateRole(name=_text("role", i=i), description=_text("description", i=i))
        for i in range(1, N_ROLES + 1)
    )
    candidates = tuple(
        Candidate(name=_text("candidate", j=j + 1), prompt=_text("prompt", sheet=_sheet(spec, j)))
        for j in range(N_CANDIDATES)
    )
    return Roster(roles=roles, candidates=candidates, evaluators=candidates)


def world_panel(spec: WorldSpec) -> Panel:
    """One simulated backbone for everybody."""
    return {Seat(None): AssignmentWorldBackbone(spec)}


def world_task(number: int) -> str:
    """The text of a task."""
    return _text("task", number=number)


def _text(name: str, **values: str | int) -> str:
    return fill(template(_WORLD, name), {key: str(value) for key, value in values.items()})
