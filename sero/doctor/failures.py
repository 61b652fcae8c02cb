"""A call that failed, as what was found and what mends it."""

from __future__ import annotations

from sero.backbones.server_config import OpenAIServerConfig
from sero.doctor.bounding import one_line
from sero.errors import (
    DeadlineExceeded,
    MalformedReply,
    RequestRejected,
    SeroError,
    ServerUnavailable,
)

LOOK = "look at the server's log and restart it"


def start_command(cfg: OpenAIServerConfig, choice: str, shown: str, *, serves: bool) -> str:
    """How the server of a configuration is started, or what to look at if it is someone else's.

    Args:
        cfg: the configuration.
        choice: the file of `conf/backbone/` it stands in.
        shown: its address without secrets.
        serves: `scripts/serve_backbone.py` can start it.
    """
    if serves:
        return f"python scripts/serve_backbone.py backbone={choice} backbone.base_url={shown}"
    if cfg.api_key_env is not None:
        return "check backbone.base_url and the network"
    return f"vllm serve {cfg.model}, or backbone.base_url=URL of where it runs"


def mend_of(error: SeroError, cfg: OpenAIServerConfig | None) -> str:
    """The command or key that mends a failed call.

    Args:
        error: what the call raised.
        cfg: of the server; None for a backbone that is none.
    """
    match error:
        case DeadlineExceeded():
            return f"{LOOK}; --deadline SECONDS where it is only slow"
        case MalformedReply():
            return (
                "backbone.base_url=URL of a chat-completions server, up to and including /v1; "
                f"else {LOOK}"
            )
        case ServerUnavailable(status=429) if cfg is not None:
            return (
                f"backbone.concurrency={max(1, cfg.concurrency // 4)}, or wait for the limit to end"
            )
        case ServerUnavailable(status=502 | 503 | 504):
            return f"the server behind the proxy is away: {LOOK}"
        case RequestRejected(status=401 | 403) if cfg is not None:
            return key_mend(cfg)
        case RequestRejected(status=404):
            return "backbone.model=NAME of a served model, and backbone.base_url up to /v1"
        case RequestRejected() if _too_long(error):
            return "backbone.context_tokens=N, the server's context, so that prompts are trimmed"
        case RequestRejected():
            return (
                "compare backbone.extra_body, backbone.chat_template_kwargs and backbone.send_seed "
                "with what the server takes"
            )
        case _:
            return LOOK


def key_mend(cfg: OpenAIServerConfig) -> str:
    """How a missing or refused key is mended; the key itself is never read here."""
    if cfg.api_key_env is None:
        return "backbone.api_key_env=NAME of the environment variable that holds the key"
    return f"export {cfg.api_key_env}=... with a key that is valid there"


def said_of(error: SeroError) -> str:
    return one_line(str(error))


def _too_long(error: RequestRejected) -> bool:
    return error.status == 413 or "context" in str(error).lower()
