"""What `backbone=openai` is configured with, and what can be wrong with it before any call."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt
from yarl import URL

from sero.backbones.base import Request
from sero.backbones.price import PriceConfig
from sero.backbones.strict_schema import strict_text
from sero.backbones.wire import OWN_KEYS
from sero.errors import ConfigError, UserError


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIServerConfig:
    """`backbone=openai` and every server that speaks its protocol.

    Attributes:
        name: of the config file, named in messages.
        base_url: up to and including `/v1`.
        model: as requests name it.
        revision: of the weights, part of every cache key; empty when unknown.
        api_key_env: environment variable that holds the key, or None for a server without one.
        concurrency: calls in flight at once.
        timeout_s: total deadline of a call from the moment it has one of those places; attempts
            and pauses included.
        max_retries: attempts beyond the first.
        backoff_s, backoff_max_s: first and longest pause between attempts.
        send_seed: off where a server cannot bear seeds.
        context_tokens: the model's context, None when prompts need no bound.
        reserve_tokens: part of the context kept for the completion.
        chars_per_token: characters a token of a prompt has on average; low is safe.
        chat_template_kwargs: sent as they stand, e.g. `enable_thinking: false`.
        extra_body: further keys of every request body, e.g. `top_p`.
        schema_style: `strict` for a server that takes no more of JSON Schema than OpenAI's strict
            mode does; `none` for a server without structured output.
        session_header: header that carries the role's name, so that a router keeps a role on one
            replica; None sends none.
        price: of its tokens, for accounts and `budget.usd`.
    """

    name: str
    base_url: str
    model: str
    revision: str
    api_key_env: str | None
    concurrency: Annotated[int, Gt(0)]
    timeout_s: Annotated[float, Gt(0)]
    max_retries: Annotated[int, Ge(0)]
    backoff_s: Annotated[float, Gt(0)]
    backoff_max_s: Annotated[float, Gt(0)]
    send_seed: bool
    context_tokens: Annotated[int, Gt(0)] | None
    reserve_tokens: Annotated[int, Ge(0)]
    chars_per_token: Annotated[float, Gt(0)]
    chat_template_kwargs: Mapping[str, Any]
    extra_body: Mapping[str, Any]
    schema_style: Literal["json_schema", "strict", "none"]
    session_header: str | None
    price: PriceConfig


def check(cfg: OpenAIServerConfig) -> None:
    """Find what types and ranges cannot.

    Raises:
        ConfigError: with every fault.
    """
    faults = []
    try:
        url = URL(cfg.base_url)
    except ValueError:
        url = URL()
    if url.scheme not in ("http", "https") or not url.host:
        faults.append(
            "base_url: not an http or https address; give one such as http://127.0.0.1:8000/v1"
        )
    elif url.user and cfg.api_key_env:
        faults.append("base_url: holds a user name beside api_key_env; keep one of the two")
    if cfg.context_tokens is not None and cfg.context_tokens <= cfg.reserve_tokens:
        faults.append(
            f"context_tokens: got {cfg.context_tokens}, which leaves no room for a prompt beside "
            f"reserve_tokens={cfg.reserve_tokens}"
        )
    taken = sorted(OWN_KEYS & set(cfg.extra_body))
    if taken:
        faults.append(f"extra_body: {', '.join(taken)} are set by Sero and cannot be set here")
    if faults:
        raise ConfigError("backbone", faults)


def chat_url(base_url: str) -> tuple[URL, str]:
    """Where completions are posted, and the same without anything secret, for messages."""
    base = URL(base_url)
    url = (base / "chat" / "completions").with_query(base.query)
    return url, str(url.with_user(None).with_query(None).with_fragment(None))


def template(cfg: OpenAIServerConfig) -> str:
    """Everything of the configuration that can change an answer beside model and revision.

    Address, bounds and patience are left out, and so is `send_seed`: without it an answer is a
    sample all the same.
    """
    parts = {
        "chat_template_kwargs": dict(cfg.chat_template_kwargs),
        "extra_body": dict(cfg.extra_body),
        "schema_style": "" if cfg.schema_style == "json_schema" else cfg.schema_style,
    }
    named = {name: value for name, value in parts.items() if value}
    return json.dumps(named, sort_keys=True, separators=(",", ":"))


def schema_to_send(cfg: OpenAIServerConfig, request: Request) -> str | None:
    """The request's schema as this server wants it, as JSON; None where there is none to send."""
    if request.schema is None or cfg.schema_style == "none":
        return None
    text = request.schema.text
    return strict_text(text) if cfg.schema_style == "strict" else text


def read_key(cfg: OpenAIServerConfig) -> str:
    """The key from its environment variable; empty where none is named.

    Raises:
        UserError: not set, or not fit for a header. The value is never shown.
    """
    if cfg.api_key_env is None:
        return ""
    # keys read from a file end in a newline
    key = os.environ.get(cfg.api_key_env, "").strip()
    if not key:
        raise UserError(
            f"backbone={cfg.name}: the environment variable {cfg.api_key_env} is not set; "
            f"export it, or set backbone.api_key_env=null for a server without keys"
        )
    if not (key.isascii() and key.isprintable()):
        raise UserError(
            f"backbone={cfg.name}: the value of {cfg.api_key_env} holds characters that no "
            "key has; set it again"
        )
    return key
