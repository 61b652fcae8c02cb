"""Before a completion: the address, the key, the model, its revision and the server's version."""

from __future__ import annotations

from sero.backbones.server_config import OpenAIServerConfig
from sero.backbones.wire import one_line
from sero.doctor.failures import key_mend
from sero.doctor.finding import Finding, fail, ok, warn
from sero.doctor.server_facts import ServerFacts
from sero.validation import did_you_mean

SHOWN_MODELS = 8
SHOWN_CHARS = 80
"""Of a model's name; longer ones are the server's mistake."""
MODEL_MEND = "backbone.model=NAME of one of them"
UNNAMED = ("", "unknown", "main", "master", "latest", "stable")
"""Revisions under which a server's weights may change without anybody's notice."""


def check_reachable(facts: ServerFacts, start: str) -> Finding:
    """Whether anything answers at the address.

    Args:
        facts: of the server.
        start: the command that starts it.
    """
    status = facts.models.status
    if status is None:
        return fail("reachable", f"{facts.shown} does not answer: {facts.models.said}", start)
    if status >= 500:
        return fail("reachable", f"{facts.shown} answers HTTP {status}: {facts.models.said}", start)
    return ok("reachable", f"{facts.shown} answers")


def check_key(facts: ServerFacts, cfg: OpenAIServerConfig) -> Finding:
    """Whether the server takes the key, or asks for none."""
    status = facts.models.status
    if status in (401, 403):
        return fail(
            "key", f"{facts.shown} answers HTTP {status}: {facts.models.said}", key_mend(cfg)
        )
    if cfg.api_key_env is None:
        return ok("key", "none is sent, and none asked for")
    return ok("key", f"the one in {cfg.api_key_env} is not refused")


def check_model(facts: ServerFacts, cfg: OpenAIServerConfig) -> Finding:
    """Whether the model is among those that the server lists."""
    names = sorted(facts.listed)
    if not names:
        return warn(
            "model",
            f"{facts.shown}/models lists none (HTTP {facts.models.status}), so {cfg.model!r} is "
            "unchecked",
            "backbone.base_url=URL up to and including /v1, if this server has a list",
        )
    if cfg.model in facts.listed:
        return ok("model", f"{cfg.model} is served")
    more = f" and {len(names) - SHOWN_MODELS} more" if len(names) > SHOWN_MODELS else ""
    shown = ", ".join(one_line(name, SHOWN_CHARS) for name in names[:SHOWN_MODELS])
    short = [name for name in names if one_line(name, SHOWN_CHARS) == name]
    # Not a failure by itself: some servers answer under any name, and the completion will tell.
    return warn(
        "model",
        f"{cfg.model!r} is not listed; there are {shown}{more}{did_you_mean(cfg.model, short)}",
        f"backbone.model={names[0]}" if short == names[:1] == names else MODEL_MEND,
    )


def check_revision(cfg: OpenAIServerConfig) -> Finding:
    """Whether the weights have a name that lasts; it is part of every key of the call cache."""
    if cfg.revision.lower() in UNNAMED:
        return warn(
            "revision",
            f"{cfg.revision or 'none'!r} names no fixed weights: stored answers would be taken for "
            "those of other weights",
            "backbone.revision=COMMIT of the weights"
            if cfg.api_key_env is None
            else "backbone.revision=DATE, another one whenever the provider changes the model",
        )
    return ok("revision", cfg.revision)


def check_version(facts: ServerFacts, cfg: OpenAIServerConfig) -> Finding:
    """What the server is; a build of vLLM for CPUs dies of seeds in chunked prompts."""
    if cfg.send_seed and facts.version.startswith("vLLM") and "cpu" in facts.version:
        return warn(
            "version",
            f"{facts.version}: a seed with temperature > 0 ends this engine when it computes a "
            "long prompt in chunks",
            "backbone.send_seed=false, or serve with --no-enable-chunked-prefill",
        )
    return ok("version", facts.version or "the server does not tell")
