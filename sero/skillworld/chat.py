"""Chats read back: what a role or the editor is asked, from the texts the shared templates make.

Headings and field names are read off the templates themselves, so a change of the layout is a
change of data.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import count

from sero.skillworld.text import Message, data, fill, read_answer, read_facts, read_message

_FIELD = re.compile(r"\{(\w+)\}")


def unfill(template: str, text: str) -> dict[str, str]:
    """Read back the fields a template was filled with; fields that cannot be found are left out.

    Each field ends where the template's next literal begins, so a value that holds that literal is
    cut there.
    """
    parts = _FIELD.split(template)
    position = text.find(parts[0])
    if position < 0:
        return {}
    position += len(parts[0])
    values: dict[str, str] = {}
    for name, literal in zip(parts[1::2], parts[2::2], strict=True):
        end = text.find(literal, position) if literal else len(text)
        if end < 0:
            break
        values[name] = text[position:end]
        position = end + len(literal)
    return values


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """The fixed pieces of a role's chat, read off the shared templates."""

    first_line: tuple[str, str]
    block: str
    message: str
    draft: str
    report: str
    check: str


@cache
def _layout() -> _Layout:
    shared = data("shared/message_layout.yaml")
    repair = data("shared/repair.yaml")
    before, _, after = shared["system"].partition("\n")[0].partition("{name}")
    block = "\n\n### "

    def heading(template: str) -> str:
        return template.removeprefix(block).partition("{")[0].rstrip("\n")

    return _Layout(
        first_line=(before, after),
        block=block,
        message=heading(shared["message"]),
        draft=heading(repair["draft"]),
        report=heading(repair["report"]),
        check=repair["check"].removeprefix(block),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleChat:
    """The user part of a role's chat.

    Attributes:
        messages: upstream messages in order; a text that is none of the world's is left out.
        draft: facts of the draft answer, or None.
        report: facts a validator's report would change.
        checking: the role is asked to check the draft.
        rated: facts of the drafts the role is asked to rate, in the order shown; empty where it is
            not asked to.
    """

    messages: tuple[Message, ...]
    draft: Mapping[int, str] | None
    report: Mapping[int, str]
    checking: bool
    rated: tuple[Mapping[int, str], ...]


def read_role_name(system: str) -> str:
    """The name in a system prompt's first line."""
    before, after = _layout().first_line
    return system.partition("\n")[0].removeprefix(before).removesuffix(after)


def read_chat(user: str) -> RoleChat:
    """The blocks behind the task of a role's chat.

    A role's own previous message is passed over: the world gives it no effect.
    """
    layout = _layout()
    messages: list[Message] = []
    draft: Mapping[int, str] | None = None
    report: Mapping[int, str] = {}
    checking = False
    for block in user.split(layout.block)[1:]:
        heading, _, text = block.partition("\n")
        if heading.startswith(layout.message):
            message = read_message(text)
            if message is not None:
                messages.append(message)
        elif heading == layout.draft:
            draft = read_answer(text) or {}
        elif heading.startswith(layout.report):
            report = read_facts(text)
        elif block == layout.check:
            checking = True
    return RoleChat(
        messages=tuple(messages),
        draft=draft,
        report=report,
        checking=checking,
        rated=_read_rated(user),
    )


def _read_rated(user: str) -> tuple[Mapping[int, str], ...]:
    """The facts of each draft of a rating sheet; a draft that is none of the world's has none."""
    shared = data("shared/peer_rating.yaml")
    sheet = unfill(shared["ask"], user)
    if "form" not in sheet:
        return ()
    found: list[Mapping[int, str]] = []
    for number in count(1):
        block = fill(shared["draft_block"], number=number, mark=sheet["mark"])
        shown = unfill(block, "\n" + sheet["drafts"])
        if "text" not in shown:
            break
        message = read_message(shown["text"])
        found.append({} if message is None else message.facts)
    return tuple(found)
