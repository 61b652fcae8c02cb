"""How a call to a server can fail for good, as the error a user reads: where, what, what to do."""

from __future__ import annotations

from collections.abc import Sequence

from sero.backbones.retrying import Transient
from sero.backbones.server_config import OpenAIServerConfig
from sero.backbones.vllm_config import VLLMServerConfig
from sero.errors import (
    BackboneError,
    DeadlineExceeded,
    MalformedReply,
    RequestRejected,
    ServerUnavailable,
)


def out_of_time(
    cfg: OpenAIServerConfig, url: str, failures: Sequence[Transient]
) -> DeadlineExceeded:
    """The deadline passed, or would pass in the next pause.

    Args:
        cfg: of the server.
        url: where it was asked, without secrets.
        failures: of this call's attempts so far.
    """
    last = f"; the last: {failures[-1].reason}" if failures else ""
    return DeadlineExceeded(
        f"{url} gave no answer within backbone.timeout_s={cfg.timeout_s:g} s "
        f"({len(failures)} failed attempt(s){last}). "
        "Raise the deadline, lower backbone.concurrency, or look at the server's log."
    )


def given_up(cfg: OpenAIServerConfig, url: str, failures: Sequence[Transient]) -> BackboneError:
    """What a call raises when no further attempt is made; arguments as in `out_of_time`."""
    if len(failures) <= cfg.max_retries:
        return out_of_time(cfg, url, failures)
    last = failures[-1]
    tried = f"{len(failures)} attempt(s); the last: {last.reason}"
    if last.malformed:
        return MalformedReply(
            f"{url} gave no chat completion in {tried}. Check that "
            f"backbone.base_url={_base(url)} speaks the chat-completions protocol and look at "
            "the server's log."
        )
    if last.status is None:
        return ServerUnavailable(
            f"{url} cannot be reached in {tried}. {_how_to_start(cfg)} Then run the same command "
            "again."
        )
    return ServerUnavailable(
        f"{url} still failed after {tried}. Look at the server's log; run the same command again "
        "when it has recovered.",
        status=last.status,
    )


def rejected(cfg: OpenAIServerConfig, url: str, status: int, said: str) -> RequestRejected:
    """A status that another attempt would not change.

    Args:
        cfg: of the server.
        url: where it was asked, without secrets.
        status: what it answered.
        said: the gist of its answer, without secrets.
    """
    return RequestRejected(
        f"{url} answered HTTP {status} for model {cfg.model!r}: {said}. "
        f"{_advice(cfg, url, status, said)}",
        status=status,
    )


def _base(url: str) -> str:
    return url.removesuffix("/chat/completions")


def _how_to_start(cfg: OpenAIServerConfig) -> str:
    if cfg.api_key_env is not None:
        return "Check backbone.base_url and the network."
    command = f"vllm serve {cfg.model}"
    if isinstance(cfg, VLLMServerConfig):
        command = f"python scripts/serve_backbone.py backbone={cfg.name}"
    return f"Start it, for example with `{command}`, or set backbone.base_url to where it runs."


def _advice(cfg: OpenAIServerConfig, url: str, status: int, said: str) -> str:
    match status:
        case 401 | 403 if cfg.api_key_env is None:
            return "It wants a key: name its environment variable in backbone.api_key_env."
        case 401 | 403:
            return f"Check the key in the environment variable {cfg.api_key_env}."
        case 404:
            return (
                f"Check backbone.model={cfg.model} and backbone.base_url={_base(url)}; "
                f"{_base(url)}/models lists what the server has."
            )
        case 301 | 302 | 303 | 307 | 308:
            return "It has moved: set backbone.base_url to its new address."
        case 413:
            return _TOO_LONG
        case 400 | 422 if "context" in said.lower():
            return _TOO_LONG
        case _:
            return (
                "The server does not accept this request: compare backbone.extra_body, "
                "chat_template_kwargs, schema_style and send_seed with what it supports."
            )


_TOO_LONG = (
    "The prompt is too long for the server: lower backbone.context_tokens or "
    "backbone.chars_per_token, so that prompts are trimmed to fit."
)
