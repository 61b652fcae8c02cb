"""The typed role card: what one role of the pool is and how it speaks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, ClassVar

from annotated_types import Ge, Le, MaxLen
from pydantic import ConfigDict, StringConstraints

MAX_NAME_CHARS = 64
MAX_LABEL_CHARS = 48
MAX_PROTOCOL_CHARS = 1000
MAX_TAGS = 12

_INK = r"[^\s\x00-\x1f\x7f]"
"""A character that shows: neither a blank nor a control."""

Name = Annotated[
    str,
    StringConstraints(
        min_length=1, max_length=MAX_NAME_CHARS, pattern=rf"^{_INK}(?:[^\x00-\x1f\x7f]*{_INK})?$"
    ),
]
Label = Annotated[
    str,
    StringConstraints(
        min_length=1, max_length=MAX_LABEL_CHARS, pattern=r"^[a-z0-9]+(?:-[a-z0-9]+)*$"
    ),
]
Line = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")]


class RoleType(StrEnum):
    """The stage τ a role works in; the order of members is the order of stages."""

    ROUTER = "router"
    SPECIALIST = "specialist"
    VALIDATOR = "validator"
    AGGREGATOR = "aggregator"

    @property
    def stage(self) -> int:
        """τ: Setup 0, Spec 1, Val 2, Agg 3."""
        return _STAGE[self]


_STAGE = {
    RoleType.ROUTER: 0,
    RoleType.SPECIALIST: 1,
    RoleType.VALIDATOR: 2,
    RoleType.AGGREGATOR: 3,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleCard:
    """One role. Checked by `sero.roles.load` where text comes in, nowhere else.

    Attributes:
        name: unique in its pool.
        role_type: the stage it works in.
        protected: cannot be removed; only people grant it, an editor's output never carries it.
        capability_family: the capability it covers, a short lower-case hyphenated label.
        capability_tags: free labels, used beside the prompt to find near-duplicates.
        communication_protocol: the output format of its messages.
        system_prompt: the lines of its instructions.
        temperature: sampling temperature of its calls, in [0, 1].
        parent, created_at: lineage (anchor's name, episode); diagnostics only.
        backbone: the backbone that speaks for it; None is the run's own.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    name: Name
    role_type: RoleType
    protected: bool = False
    capability_family: Label
    capability_tags: Annotated[tuple[Label, ...], MaxLen(MAX_TAGS)] = ()
    communication_protocol: Annotated[
        str, StringConstraints(max_length=MAX_PROTOCOL_CHARS, pattern=r"\S")
    ]
    system_prompt: tuple[Line, ...]
    temperature: Annotated[float, Ge(0.0), Le(1.0)] = 0.0
    parent: Name | None = None
    created_at: int | None = None
    backbone: Name | None = None

    @property
    def prompt_text(self) -> str:
        """The system prompt as one text: what retrieval and the observation embed."""
        return "\n".join(self.system_prompt)

    @property
    def identity_text(self) -> str:
        """Prompt, family and tags: what the duplicate guard embeds."""
        return "\n".join((*self.system_prompt, self.capability_family, *self.capability_tags))
