"""The backbone protocol: one request in, one completion out.

A request holds everything that can change the answer, so its hash is both the key of the call
cache and the source of the seed that is sent.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol


class Phase(StrEnum):
    """What a call is made for; a name in accounting and in the sample index."""

    PRE = "pre"
    POST = "post"
    GATE = "gate"
    LOO = "loo"
    EDIT = "edit"
    EVAL = "eval"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext:
    """Where in a run a call stands.

    Attributes:
        run_seed: the run's seed.
        phase: what the rollout is for.
        episode: the training episode, None in evaluation.
        item: the task's id.
        repeat: number of the repetition under `gate.repeats`.
    """

    run_seed: int
    phase: Phase
    episode: int | None
    item: str
    repeat: int = 0

    def sample_index(self, temperature: float) -> tuple[str | int, ...]:
        """What tells samples of one prompt apart (method.md §6).

        At temperature 0 only the repeat counts, so equal prompts share one answer across phases,
        methods and seeds; above 0 the run, phase and episode (or item) name the sample, shared by
        a draft and the message of the same request and by base and reduced runs.
        """
        if temperature == 0.0:
            return (self.repeat,)
        where: str | int = self.item if self.episode is None else self.episode
        return (self.run_seed, str(self.phase), where, self.repeat)


@dataclass(frozen=True, slots=True)
class ChatMessage:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class OutputSchema:
    """A JSON Schema an answer should obey; `text` is canonical JSON, so that it hashes."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Everything that can change an answer, and who asks.

    Attributes:
        messages: the chat.
        temperature: 0 is greedy.
        max_tokens: bound on the completion, in tokens.
        sample_index: tells repeated samples of one prompt apart.
        schema: JSON Schema for structured output, or None.
        role: name of the asking role; for accounting and session affinity, not part of the key.
    """

    messages: tuple[ChatMessage, ...]
    temperature: float
    max_tokens: int
    sample_index: tuple[str | int, ...]
    schema: OutputSchema | None = None
    role: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Logical tokens of one call, as the server counted them."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One answer.

    Attributes:
        text: the answer without its think block; empty when the block was never closed.
        finish_reason: `stop`, `length`, ...
        usage: prompt and completion tokens.
        reasoning: the think block or the server's reasoning field, if any.
        cached: served from the call cache or by a request in flight.
        latency_s: seconds from first attempt to answer; 0 for a cache hit.
        retries: attempts beyond the first.
    """

    text: str
    finish_reason: str
    usage: Usage
    reasoning: str = ""
    cached: bool = False
    latency_s: float = 0.0
    retries: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BackboneId:
    """Who answers: part of every cache key, and of the manifest.

    Attributes:
        model: the model's name as requests carry it.
        revision: weights revision, or world version; empty when unknown.
        template: chat-template arguments as canonical JSON.
        simulated: answers come from a simulated world; shown wherever results are.
    """

    model: str
    revision: str
    template: str
    simulated: bool


class Backbone(Protocol):
    """A frozen model. Safe for many concurrent `generate` calls on one event loop."""

    @property
    def identity(self) -> BackboneId: ...

    @property
    def max_prompt_chars(self) -> int | None:
        """Characters a prompt may have so that it fits the context; None when unbounded."""
        ...

    async def generate(self, request: Request) -> Completion:
        """Answer a request.

        Raises:
            BackboneError: the machine failed; never for a bad answer.
        """
        ...

    async def close(self) -> None: ...


def request_key(identity: BackboneId, request: Request) -> str:
    """sha256, in hex, over everything that can change the answer."""
    schema = request.schema
    name = json.dumps(
        [
            identity.model,
            identity.revision,
            identity.template,
            [[m.role, m.content] for m in request.messages],
            request.temperature,
            request.max_tokens,
            [schema.name, schema.text] if schema else None,
            request.sample_index,
        ],
        ensure_ascii=True,
        separators=(",", ":"),
    )
    return hashlib.sha256(name.encode()).hexdigest()


def request_seed(key: str) -> int:
    """The 31-bit seed a request is sent with: the top bits of its key."""
    return int(key[:8], 16) >> 1
