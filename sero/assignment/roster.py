"""Who may be assigned to what: debate roles, candidates, evaluators.

Records only; they are checked by `sero.assignment.load`, where they come from a file.
Source: method.md §5; Zhang et al. (2026), arXiv:2601.17152.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, NamedTuple

from annotated_types import Ge, Le
from pydantic import ConfigDict, Strict, StringConstraints

from sero.backbones.base import Backbone
from sero.roles.card import Name

MAX_TEXT_CHARS = 4000
MAX_CRITERION_CHARS = 400
MIN_CRITERIA, MAX_CRITERIA = 3, 5
MIN_SCORE, MAX_SCORE = 1, 5
"""The scale of every criterion."""

_CLOSED = ConfigDict(extra="forbid", allow_inf_nan=False)

Text = Annotated[
    str, StringConstraints(max_length=MAX_TEXT_CHARS, pattern=r"^[^\x00]*[^\s\x00][^\x00]*$")
]
Prompt = Annotated[str, StringConstraints(max_length=MAX_TEXT_CHARS, pattern=r"^[^\x00]*$")]
ShortText = Annotated[
    str,
    StringConstraints(max_length=MAX_CRITERION_CHARS, pattern=r"^[^\x00]*[^\s\x00][^\x00]*$"),
]


class Seat(NamedTuple):
    """What must be the same for two candidates to share one `Backbone`.

    Attributes:
        backbone: name of a backbone's configuration; None is the run's own.
        options: further fields of every request, as canonical JSON; empty for none.
    """

    backbone: str | None
    options: str = ""

    @property
    def key(self) -> str | None:
        """The name that cards and accounts know it by; None is the run's own backbone.

        The backbone's name, and with options `#` and six hex digits of their hash behind it.
        """
        if not self.options:
            return self.backbone
        digest = hashlib.sha256(self.options.encode()).hexdigest()
        return f"{self.backbone or ''}#{digest[:6]}"


Panel = Mapping[Seat, Backbone]
"""Who answers for each seat. Retries, deadlines and the cache stay in the backbones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One thing that a proposal is scored on, from 1 (very little of it) to 5 (very much)."""

    __pydantic_config__: ClassVar[ConfigDict] = _CLOSED

    name: Name
    description: ShortText
    lower_is_better: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DebateRole:
    """A role of the debate that follows.

    Attributes:
        name: unique among the roles.
        description: a paragraph with the role's responsibilities and what counts as success.
        criteria: given by people; where there are none they are generated from the task.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _CLOSED

    name: Name
    description: Text
    criteria: tuple[Criterion, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Somebody who can play a role or judge proposals: a model with a way of using it.

    Attributes:
        name: unique among candidates and evaluators; accounting uses it, and `assign.by` must be
            able to say it (`sero.assignment.names`).
        backbone: name of a backbone's configuration, None for the run's own.
        prompt: the prompt strategy, the system message of proposals and reviews alike; empty for
            none.
        temperature: of every call it makes, in [0, 1].
        tools: what tools it has, opaque here: kept in records and left to the host.
        request: further fields of every request it sends, such as the declarations of its tools.
            Both are plain JSON of a bounded length (`sero.assignment.options`).
    """

    __pydantic_config__: ClassVar[ConfigDict] = _CLOSED

    name: Name
    backbone: Name | None = None
    prompt: Prompt = ""
    temperature: Annotated[float, Strict(), Ge(0.0), Le(1.0)] = 0.0
    tools: Mapping[str, Any] = field(default_factory=dict, hash=False)
    request: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def seat(self) -> Seat:
        """The backbone that answers for it."""
        if not self.request:
            return Seat(self.backbone)
        options = json.dumps(dict(self.request), sort_keys=True, separators=(",", ":"))
        return Seat(self.backbone, options)


@dataclass(frozen=True, slots=True, kw_only=True)
class Roster:
    """Roles, candidates and evaluators of an assignment.

    An evaluator *is* the candidate of its name; one under another name is an outsider, whatever
    model it runs on.
    """

    roles: tuple[DebateRole, ...]
    candidates: tuple[Candidate, ...]
    evaluators: tuple[Candidate, ...]

    @property
    def own(self) -> tuple[int | None, ...]:
        """For each evaluator the index of the candidate it is, None for an outsider."""
        names = [candidate.name for candidate in self.candidates]
        return tuple(names.index(e.name) if e.name in names else None for e in self.evaluators)

    @property
    def seats(self) -> tuple[Seat, ...]:
        """Every seat somebody sits on, in order of appearance."""
        return tuple(dict.fromkeys(one.seat for one in (*self.candidates, *self.evaluators)))
