"""The assignment world behind the real prompts, so that Meta-Debate and its hosts run on it.

Simulated. The backbone reads what any model would be sent: who it is from the prompt strategy, the
role and the task from the templates, the proposals of a review from between their marks. A
proposal carries an opaque code that only the world can read; whoever wrote it does not show.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import astuple, dataclass
from functools import cache
from typing import Annotated, ClassVar

from annotated_types import Ge, MaxLen, MinLen

from sero.assignment.asking import FILE
from sero.assignment.roster import MAX_SCORE, MIN_SCORE, Panel, Seat
from sero.assignment.schemas import proposal_key
from sero.assignment.world import N_CANDIDATES, AssignmentWorld, Case, WorldSpec
from sero.assignment.world_text import FILE as WORLD
from sero.assignment.world_text import (
    draft_code,
    entry_code,
    read_candidate,
    read_entries,
    read_task,
    world_cards,
    write_entries,
)
from sero.backbones.base import BackboneId, Completion, Request, Usage
from sero.backbones.wire import estimate_tokens
from sero.inference.layout import fill, template
from sero.skillworld.chat import read_role_name
from sero.storage import dumps

_CODE = re.compile(r"\bdraft ([0-9a-f]{12})\b")
_MARK = re.compile(r"carry the mark (\w+);")


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentWorldBackboneConfig:
    """`backbone=assignment_world`.

    Attributes:
        world: the world's key.
        severity_sd: of each reviewer's leaning, in points.
        noise_sd: of a single score, in points.
        self_bonus: points each reviewer adds to its own proposals.
    """

    name: str
    world: int
    severity_sd: Annotated[float, Ge(0)]
    noise_sd: Annotated[float, Ge(0)]
    self_bonus: Annotated[tuple[float, ...], MinLen(N_CANDIDATES), MaxLen(N_CANDIDATES)]

    @property
    def spec(self) -> WorldSpec:
        return WorldSpec(
            key=self.world,
            severity_sd=self.severity_sd,
            noise_sd=self.noise_sd,
            bonus=self.self_bonus,
        )


class AssignmentWorldBackbone:
    """Answers the prompts of Meta-Debate and of a host as a world says.

    Stateless; equal requests get equal answers. A role that is played writes its entry, and passes
    on those it was handed.

    Args:
        world: a configuration, or the world itself.
    """

    Config: ClassVar[type[AssignmentWorldBackboneConfig]] = AssignmentWorldBackboneConfig

    def __init__(self, world: AssignmentWorldBackboneConfig | WorldSpec) -> None:
        spec = world if isinstance(world, WorldSpec) else world.spec
        self._spec = spec
        self._case = cache(AssignmentWorld(spec).case)
        self._roles = {name: i for i, name in enumerate(world_cards().names)}
        # read off the templates, so that a change of their words is a change of data
        self._kinds = {
            name: (_starts(name), _role_between(name)) for name in ("proposal", "review")
        }
        settings = hashlib.sha256(dumps(astuple(spec)).encode()).hexdigest()[:12]
        self._identity = BackboneId(
            model=_model(spec),
            revision=f"world-{spec.key}-v2-{settings}",
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
        system, user = (request.messages[i].content for i in (0, -1))
        if user.startswith(_starts("criteria")):
            return dumps({"criteria": template(WORLD, "criteria")})
        speaker, task = read_candidate(system), read_task(user)
        if speaker is None or task is None:
            return template(WORLD, "lost")
        for name, (start, pattern) in self._kinds.items():
            found = pattern.search(user) if user.startswith(start) else None
            if found and found[1] in self._roles:
                role = self._roles[found[1]]
                if name == "proposal":
                    code = draft_code(self._spec, task, role, speaker)
                    return fill(template(WORLD, "draft"), {"code": code})
                return self._review(user, task, role, speaker)
        played = self._roles.get(read_role_name(system))
        if played is None:
            return template(WORLD, "lost")
        own = {played + 1: entry_code(self._spec, task, played, speaker)}
        return write_entries({**read_entries(user), **own})

    def _review(self, user: str, task: int, role: int, reviewer: int) -> str:
        """The reviewer's scores of the drafts between the marks, by their numbers."""
        case: Case = self._case(task)
        authors = {draft_code(self._spec, task, role, j): j for j in range(N_CANDIDATES)}
        scores = {}
        for number, text in _between_marks(user):
            code = _CODE.search(text)
            if code is None or code[1] not in authors:
                continue
            grades = [int(g) for g in case.grades[role, authors[code[1]], reviewer]]
            grades[-1] = MIN_SCORE + MAX_SCORE - grades[-1]
            scores[proposal_key(number)] = {f"c{c}": g for c, g in enumerate(grades, 1)}
        return dumps(scores)


def world_panel(spec: WorldSpec) -> Panel:
    """One simulated backbone for everybody."""
    return {Seat(None): AssignmentWorldBackbone(spec)}


def _model(spec: WorldSpec) -> str:
    """Names the reviewers where they are not the published ones: tables never mix the two."""
    published = WorldSpec(key=spec.key)
    words = [
        *([f"severity-{spec.severity_sd:g}"] if spec.severity_sd != published.severity_sd else []),
        *([f"noise-{spec.noise_sd:g}"] if spec.noise_sd != published.noise_sd else []),
        *(["bonus", *(f"{b:g}" for b in spec.bonus)] if spec.bonus != published.bonus else []),
    ]
    return "-".join(["assignment-world", *words])


def _starts(name: str) -> str:
    """The words with which a template begins, up to its first field."""
    return template(FILE, name).partition("{")[0]


def _role_between(name: str) -> re.Pattern[str]:
    """Finds the role's name in a filled template."""
    before, _, rest = template(FILE, name).partition("{role}")
    return re.compile(re.escape(before[-40:]) + r"(.+?)" + re.escape(rest.partition("{")[0][:3]))


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
