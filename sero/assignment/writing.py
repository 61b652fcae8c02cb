"""Criteria written from the task, and a role described anew; bounded attempts, never a crash."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

from sero.assignment.asking import Floor, ask, text_of
from sero.assignment.criteria import (
    criteria_from_reply,
    criteria_lines,
    default_criteria,
    plain_text,
)
from sero.assignment.roster import Candidate, Criterion, DebateRole
from sero.assignment.schemas import CRITERIA_SCHEMA, MAX_REVISED_CHARS, REVISION_SCHEMA
from sero.backbones.base import OutputSchema
from sero.inference.trace import CallKind, RoleMessage
from sero.roles.load import first_json_object

T = TypeVar("T")
Read = Callable[[Any], tuple[T, tuple[str, ...]]]
"""A reply's JSON object, or None, to what it says and why that cannot be used."""


class Source(StrEnum):
    """Where a role's criteria are from."""

    GIVEN = "given"
    GENERATED = "generated"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pen:
    """Who writes, and within which bounds.

    Attributes:
        author: the first evaluator.
        attempts: calls per role, at least 1.
        max_tokens: bound on each reply.
    """

    author: Candidate
    floor: Floor
    attempts: int
    max_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Written(Generic[T]):
    """What was written, None where no attempt could be used.

    Attributes:
        refused: per attempt that was refused, the reasons.
        messages: the calls, one per attempt.
    """

    found: T | None
    refused: tuple[tuple[str, ...], ...]
    messages: tuple[RoleMessage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Criteria:
    """The criteria of a role, and how they came about."""

    chosen: tuple[Criterion, ...]
    source: Source
    refused: tuple[tuple[str, ...], ...] = ()
    messages: tuple[RoleMessage, ...] = ()


async def write_criteria(task: str, role: DebateRole, pen: Pen) -> Criteria:
    """The criteria that people gave, else the author's, else the default ones.

    Raises:
        BackboneError: the machine failed.
    """
    if role.criteria:
        return Criteria(chosen=role.criteria, source=Source.GIVEN)
    prompt = text_of("criteria", role=role.name, description=role.description, task=task.strip())
    written = await _write(prompt, CRITERIA_SCHEMA, criteria_from_reply, pen)
    return Criteria(
        chosen=written.found or default_criteria(),
        source=Source.GENERATED if written.found else Source.DEFAULT,
        refused=written.refused,
        messages=written.messages,
    )


async def revise_role(
    task: str, role: DebateRole, criteria: Sequence[Criterion], best: float, pen: Pen
) -> Written[DebateRole]:
    """Description and criteria anew, because the best proposal scored too low.

    Args:
        criteria: what the role was judged by.
        best: max_j M̄_ij, from 1 to 5.

    Raises:
        BackboneError: the machine failed.
    """

    def read(raw: Any) -> tuple[DebateRole, tuple[str, ...]]:
        found, faults = criteria_from_reply(raw)
        description = plain_text(raw, "description", MAX_REVISED_CHARS)
        if raw is not None and not description:
            wanted = f"a paragraph of at most {MAX_REVISED_CHARS} characters is wanted"
            faults = (f"description: {wanted}", *faults)
        return DebateRole(name=role.name, description=description, criteria=found), faults

    prompt = text_of(
        "revision",
        role=role.name,
        description=role.description,
        criteria="\n".join(criteria_lines(criteria)),
        task=task.strip(),
        best=f"{best:.2f}",
    )
    return await _write(prompt, REVISION_SCHEMA, read, pen)


async def _write(prompt: str, schema: OutputSchema, read: Read[T], pen: Pen) -> Written[T]:
    """Ask until a reply can be used, each time with the reasons for which the last one was not."""
    found: T | None = None
    refused: list[tuple[str, ...]] = []
    messages: list[RoleMessage] = []
    while found is None and len(messages) < pen.attempts:
        complaint = ""
        if refused:
            complaint = text_of("retry", reasons="\n".join(f"- {line}" for line in refused[-1]))
        reply = await ask(
            pen.author,
            prompt + complaint,
            pen.floor,
            kind=CallKind.CRITERIA,
            max_tokens=pen.max_tokens,
            schema=schema,
            attempt=len(messages),
        )
        messages.append(reply)
        said, faults = read(first_json_object(reply.text))
        if faults:
            refused.append(faults)
        else:
            found = said
    return Written(found=found, refused=tuple(refused), messages=tuple(messages))
