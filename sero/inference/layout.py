"""How a card, a task and upstream messages become a chat; how a chat that is too long is cut.

The templates are data (`prompts/shared`); golden files pin what they produce. Nothing but the
card, the task and messages enters a prompt: no credit, no pool, no episode.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from sero.backbones.base import ChatMessage
from sero.roles.card import RoleCard
from sero.roles.load import load_yaml

_FIELD = re.compile(r"\{(\w+)\}")
TRIMMED = "[trimmed to fit the context]"


@dataclass(frozen=True, slots=True)
class Upstream:
    """A message that reaches a role: who sent it, and its text."""

    name: str
    family: str
    text: str


@dataclass(frozen=True, slots=True)
class Chat:
    """A prompt, and how many upstream messages were cut to make it fit."""

    messages: tuple[ChatMessage, ...]
    trimmed: int


@cache
def template(file: str, name: str) -> str:
    """One template of `prompts/shared/<file>.yaml`."""
    text: str = load_yaml(f"package:shared/{file}.yaml")[name]
    return text


def fill(text: str, values: Mapping[str, str]) -> str:
    """Fill `{name}` fields once; braces inside the values are left alone."""
    return _FIELD.sub(lambda match: values.get(match[1], match[0]), text)


@cache
def system_message(card: RoleCard) -> ChatMessage:
    """The card's name, its prompt lines and its protocol."""
    values = {
        "name": card.name,
        "system_prompt": card.prompt_text,
        "protocol": card.communication_protocol,
    }
    return ChatMessage("system", fill(template("message_layout", "system"), values))


def role_chat(
    card: RoleCard,
    task: str,
    upstream: Sequence[Upstream],
    *,
    own: str | None = None,
    suffix: str = "",
    bare: bool = False,
    max_chars: int | None,
) -> Chat:
    """The chat of one role call.

    Args:
        card: who speaks.
        task: the task's prompt; never cut.
        upstream: predecessors' messages, in the order they are shown.
        own: the role's message of the round before, if any.
        suffix: what a repair pass or a debate adds behind the messages; never cut.
        bare: the card's prompt verbatim as the system message, without name and protocol.
        max_chars: characters the whole chat may have, None for no bound. The oldest upstream
            message is cut first, then the next: shortened to what still fits, else replaced by
            a note.
    """
    system = ChatMessage("system", card.prompt_text) if bare else system_message(card)
    head = fill(template("message_layout", "user"), {"task": task})
    tail = suffix
    if own is not None:
        tail = fill(template("message_layout", "own_message"), {"text": own}) + suffix
    blocks = [_block(message, message.text) for message in upstream]
    trimmed = 0
    if max_chars is not None:
        excess = len(system.content) + len(head) + sum(map(len, blocks)) + len(tail) - max_chars
        for i, message in enumerate(upstream):
            if excess <= 0:
                break
            keep = max(0, len(message.text) - excess - len(TRIMMED) - 1)
            shorter = f"{message.text[:keep]}\n{TRIMMED}" if keep else TRIMMED
            if len(shorter) >= len(message.text):
                continue
            excess -= len(message.text) - len(shorter)
            blocks[i] = _block(message, shorter)
            trimmed += 1
    return Chat((system, ChatMessage("user", head + "".join(blocks) + tail)), trimmed)


def _block(message: Upstream, text: str) -> str:
    values = {"name": message.name, "family": message.family, "text": text}
    return fill(template("message_layout", "message"), values)
