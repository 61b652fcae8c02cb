"""Calls of the doctor: counted, each under a deadline, none of them through the call cache."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from sero.backbones.base import Backbone, ChatMessage, Completion, OutputSchema, Request
from sero.errors import DeadlineExceeded, MalformedReply, ServerUnavailable

SYSTEM = "You answer briefly."


PAUSE_S = 0.5
"""Before the second attempt of a call that failed."""


@dataclass(slots=True)
class Prober:
    """A backbone that retries nothing by itself, and the calls made so far.

    Attributes:
        deadline_s: of each attempt; the server's own deadline is not longer.
        sent: attempts so far.
        failed: why first attempts failed whose call was then answered.
    """

    backbone: Backbone
    deadline_s: float
    sent: int = 0
    failed: list[str] = field(default_factory=list)

    async def ask(self, request: Request, *, deadline_s: float | None = None) -> Completion:
        """One completion, at the second attempt if need be.

        Raises:
            BackboneError: as `Backbone.generate`, and for no answer within the deadline.
        """
        seconds = self.deadline_s if deadline_s is None else deadline_s
        try:
            return await self._attempt(request, seconds)
        except (ServerUnavailable, MalformedReply) as error:
            first = str(error)
        await asyncio.sleep(PAUSE_S)
        found = await self._attempt(request, seconds)
        self.failed.append(first)
        return found

    async def _attempt(self, request: Request, seconds: float) -> Completion:
        self.sent += 1
        try:
            async with asyncio.timeout(seconds):
                return await self.backbone.generate(request)
        except (TimeoutError, DeadlineExceeded):
            raise DeadlineExceeded(f"no answer within {seconds:g} s") from None


def probe(text: str, max_tokens: int, *, schema: OutputSchema | None = None) -> Request:
    """A request at temperature 0."""
    return Request(
        messages=(ChatMessage("system", SYSTEM), ChatMessage("user", text)),
        temperature=0.0,
        max_tokens=max_tokens,
        sample_index=(0,),
        schema=schema,
        role="doctor",
    )
