"""What the operator is made of, and the one place where a role speaks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sero.backbones.base import Backbone, CallContext, Request
from sero.benchmarks.base import Parsed
from sero.encoders import TextEncoder
from sero.inference.layout import Upstream, role_chat
from sero.inference.trace import CallKind, RoleMessage, spoken
from sero.roles.card import RoleCard

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The operator's parts.

    Attributes:
        backbone: the frozen model.
        encoder: e(.).
        parse: (prompt, response) to a parsed answer; never sees the gold.
        max_tokens: bound on every role's completion, in tokens.
    """

    backbone: Backbone
    encoder: TextEncoder
    parse: Callable[[str, str], Parsed]
    max_tokens: int


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
) -> RoleMessage:
    """One role call: f(π_r, x, messages).

    Args:
        upstream, own, suffix, bare: as `role_chat` takes them.
        sample_index: which sample of the prompt this is; None leaves it to the call.

    Raises:
        BackboneError: the machine failed.
    """
    chat = role_chat(
        card,
        prompt,
        upstream,
        own=own,
        suffix=suffix,
        bare=bare,
        max_chars=parts.backbone.max_prompt_chars,
    )
    request = Request(
        messages=chat.messages,
        temperature=card.temperature,
        max_tokens=parts.max_tokens,
        sample_index=(
            call.sample_index(card.temperature) if sample_index is None else sample_index
        ),
        role=card.name,
    )
    completion = await parts.backbone.generate(request)
    return spoken(card.name, kind, completion, trimmed=chat.trimmed, round=round)


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
