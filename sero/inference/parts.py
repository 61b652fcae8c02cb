"""What the operator is made of, and the one place where a role speaks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from sero.backbones.base import Backbone, CallContext, OutputSchema, Request
from sero.benchmarks.base import Parsed
from sero.encoders import TextEncoder
from sero.errors import UserError
from sero.inference.layout import Upstream, role_chat
from sero.inference.trace import CallKind, RoleMessage, spoken
from sero.roles.card import RoleCard

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The operator's parts.

    Attributes:
        backbone: the frozen model: the run's own.
        encoder: e(.).
        parse: (prompt, response) to a parsed answer; never sees the gold.
        max_tokens: bound on every role's completion, in tokens.
        backbones: further models by the names that cards know them by.
    """

    backbone: Backbone
    encoder: TextEncoder
    parse: Callable[[str, str], Parsed]
    max_tokens: int
    backbones: Mapping[str, Backbone] = field(default_factory=dict)

    def backbone_of(self, card: RoleCard) -> Backbone:
        """Who answers for a card.

        Raises:
            UserError: the card names a backbone that the run does not have.
        """
        if card.backbone is None:
            return self.backbone
        if card.backbone not in self.backbones:
            raise UserError(no_backbone(f"role '{card.name}'", card.backbone, self.backbones))
        return self.backbones[card.backbone]


def no_backbone(who: str, name: str, known: Iterable[str]) -> str:
    """The message to somebody who named a backbone that the run does not have."""
    there = ", ".join(known) or "none"
    return (
        f"{who} is to speak through backbone '{name}', and the run has no such further backbone "
        f"(there are: {there}). Add it: '+backbones.{name}={{}}' takes conf/backbone/{name}.yaml, "
        f"+backbones.{name}.file=FILE another one, +backbones.{name}.KEY=VALUE sets a value of it"
    )


async def speak(
    card: RoleCard,
    prompt: str,
    upstream: Sequence[Upstream],
    parts: Parts,
    *,
    call: CallContext,
    kind: CallKind,
    round: int = 1,
    own: str | None = None,
    suffix: str = "",
    bare: bool = False,
    sample_index: tuple[str | int, ...] | None = None,
    schema: OutputSchema | None = None,
) -> RoleMessage:
    """One role call: f(π_r, x, messages).

    Args:
        upstream, own, suffix, bare: as `role_chat` takes them.
        sample_index: which sample of the prompt this is; None leaves it to the call.
        schema: what the reply should obey, None for free text.

    Raises:
        BackboneError: the machine failed.
    """
    backbone = parts.backbone_of(card)
    chat = role_chat(
        card,
        prompt,
        upstream,
        own=own,
        suffix=suffix,
        bare=bare,
        max_chars=backbone.max_prompt_chars,
    )
    request = Request(
        messages=chat.messages,
        temperature=card.temperature,
        max_tokens=parts.max_tokens,
        sample_index=(
            call.sample_index(card.temperature) if sample_index is None else sample_index
        ),
        schema=schema,
        role=card.name,
    )
    completion = await backbone.generate(request)
    return spoken(
        card.name,
        kind,
        completion,
        trimmed=chat.trimmed,
        round=round,
        backbone=card.backbone,
    )


async def together(work: Iterable[Awaitable[T]]) -> list[T]:
    """Run awaitables at once; when one fails, stop the others and raise its error."""
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
