"""A backbone that answers from a script: for tests, dry runs and counterexamples."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from sero.backbones.base import BackboneId, Completion, Request, Usage
from sero.backbones.wire import estimate_tokens
from sero.errors import UserError

Reply = str | Completion
Rules = Sequence[tuple[str | re.Pattern[str], Reply]]
Answering = Callable[[Request], Reply | Awaitable[Reply]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedConfig:
    """`backbone=scripted`.

    Attributes:
        name: the model's name in results and cache keys.
        replies: part of a prompt to the reply; the first that is found wins, in the file's order.
        default: the reply when none is found.
    """

    name: str
    replies: Mapping[str, str]
    default: str


class ScriptedBackbone:
    """Deterministic replies, chosen by what a request says. Keeps every request it was asked.

        backbone = ScriptedBackbone([("capital of France", "Paris"), (re.compile(r"2 \\+ 2"), "4")])
        backbone = ScriptedBackbone(lambda request: request.role)

    Args:
        script: a configuration; or pairs of (text or compiled pattern, reply), the first that
            occurs in the request's text wins; or a function of the request, plain or async, which
            may also raise a `BackboneError` to play a broken machine.
        default: reply when no pair matches; None makes that an error. A configuration brings its
            own.
        name: the model's name; a configuration brings its own.
        max_prompt_chars: what `Backbone.max_prompt_chars` says.

    Attributes:
        requests: every request so far, in order.
    """

    Config: ClassVar[type[ScriptedConfig]] = ScriptedConfig

    def __init__(
        self,
        script: ScriptedConfig | Rules | Answering,
        *,
        default: str | None = None,
        name: str = "scripted",
        max_prompt_chars: int | None = None,
    ) -> None:
        self.requests: list[Request] = []
        self._max_prompt_chars = max_prompt_chars
        self._answering: Answering | None = None
        self._rules: Rules = ()
        self._default = default
        revision = ""
        if isinstance(script, ScriptedConfig):
            name, self._default = script.name, script.default
            self._rules = tuple(script.replies.items())
            # another script is another model: its answers must not come out of a shared cache
            text = json.dumps([list(script.replies.items()), script.default])
            revision = hashlib.sha256(text.encode()).hexdigest()[:16]
        elif callable(script):
            self._answering = script
        else:
            self._rules = tuple(script)
        self._identity = BackboneId(model=name, revision=revision, template="", simulated=False)

    @property
    def identity(self) -> BackboneId:
        return self._identity

    @property
    def max_prompt_chars(self) -> int | None:
        return self._max_prompt_chars

    async def generate(self, request: Request) -> Completion:
        """The scripted reply; tokens are counted as characters / 4.

        Raises:
            UserError: no rule matches and there is no default.
        """
        self.requests.append(request)
        if self._answering is None:
            reply = self._look_up(request)
        else:
            answer = self._answering(request)
            reply = await answer if inspect.isawaitable(answer) else answer
        if isinstance(reply, Completion):
            return reply
        prompt_chars = sum(len(message.content) for message in request.messages)
        return Completion(
            text=reply,
            finish_reason="stop",
            usage=Usage(
                prompt_tokens=estimate_tokens(prompt_chars),
                completion_tokens=estimate_tokens(len(reply)),
            ),
        )

    async def close(self) -> None:
        """Nothing to release."""

    def _look_up(self, request: Request) -> Reply:
        text = "\n".join(message.content for message in request.messages)
        for wanted, reply in self._rules:
            if wanted in text if isinstance(wanted, str) else wanted.search(text):
                return reply
        if self._default is None:
            raise UserError(
                f"the script has no reply for role {request.role!r}, whose prompt ends "
                f"{text[-200:]!r}; add a rule or a default"
            )
        return self._default
