"""Whether the context that prompts are trimmed to is the one the server gives."""

from __future__ import annotations

from sero.backbones.base import Request
from sero.backbones.server_config import OpenAIServerConfig
from sero.doctor.failures import mend_of, said_of
from sero.doctor.finding import Finding, fail, ok, skipped, warn
from sero.doctor.probing import SYSTEM, Prober, probe
from sero.errors import DeadlineExceeded, RequestRejected, SeroError

CHEAP_CHARS = 12_000
"""Longest probe that is sent unasked, about 3,000 tokens."""

PARTS = 8
KEPT = 0.8
"""Share of the expected tokens from which a prompt is taken to be whole."""

_WORDS = "river stone cloud green apple seven paper light ocean table music forest "


def check_stated(cfg: OpenAIServerConfig, served: int | None) -> Finding:
    """`backbone.context_tokens` against what the server says of itself.

    Args:
        cfg: the configuration.
        served: the server's context in tokens; None when it does not tell.
    """
    own = cfg.context_tokens
    if served is None:
        return ok("context", f"the server does not tell; backbone.context_tokens={_shown(own)}")
    if own is None:
        return warn(
            "context",
            f"the server gives {served} tokens and prompts are not trimmed to fit",
            f"backbone.context_tokens={served}",
            served=served,
        )
    if own > served:
        return fail(
            "context",
            f"backbone.context_tokens={own}, and the server gives {served}: longer prompts fail",
            f"backbone.context_tokens={served}, or serve with --max-model-len {own}",
            served=served,
        )
    return ok("context", f"{own} of the server's {served} tokens are used", served=served)


async def check_long_prompt(
    prober: Prober, cfg: OpenAIServerConfig, served: int | None, *, deep: bool, counted: bool
) -> Finding:
    """Whether a long prompt arrives whole: its tokens against those of an eighth and a quarter.

    A server that cuts prompts in silence counts fewer of them than the text has.

    Args:
        prober: makes three calls.
        cfg: the configuration, with the bound on prompts in it.
        served: the server's context in tokens; None when it does not tell.
        deep: as long as a run would send it; else 12,000 characters at most.
        counted: the server counts tokens.
    """
    if not counted:
        return skipped("long prompt", "the server sends no token counts")
    limit = _prompt_chars(cfg, served)
    most = CHEAP_CHARS if limit is None else limit
    chars = most if deep else min(most, CHEAP_CHARS)
    try:
        eighth, quarter, whole = [
            (await prober.ask(_prompt(size))).usage.prompt_tokens
            for size in (chars // PARTS, chars * 2 // PARTS, chars)
        ]
    except RequestRejected as refused:
        mend = "backbone.context_tokens=N, the server's context, or a lower chars_per_token"
        return fail("long prompt", f"{chars} characters are refused: {said_of(refused)}", mend)
    except DeadlineExceeded as slow:
        said = f"{said_of(slow)} to a prompt of up to {chars} characters"
        return warn("long prompt", said, "--deadline SECONDS where the server is only slow")
    except SeroError as error:
        return fail("long prompt", said_of(error), mend_of(error, cfg))
    # Differences, because template and system prompt stand around every one.
    if whole - eighth < KEPT * (PARTS - 1) * (quarter - eighth):
        return fail(
            "long prompt",
            f"{chars} characters count as {whole} tokens, a quarter of them as {quarter}: the "
            "server cuts prompts in silence",
            f"backbone.context_tokens={max(1, whole)}, or a larger context on the server",
        )
    more = "" if deep or chars == most else f"; --deep sends {most}"
    return ok("long prompt", f"{chars} characters arrive whole, as {whole} tokens{more}")


def _prompt(chars: int) -> Request:
    text = _WORDS * (chars // len(_WORDS) + 1)
    return probe(text[:chars], max_tokens=1)


def _prompt_chars(cfg: OpenAIServerConfig, served: int | None) -> int | None:
    """Characters a prompt may have beside the system prompt; None when nobody says."""
    own = cfg.context_tokens
    if own is None and served is None:
        return None
    tokens = own if served is None else served if own is None else min(own, served)
    assert tokens is not None
    return max(PARTS, int((tokens - cfg.reserve_tokens) * cfg.chars_per_token) - len(SYSTEM))


def _shown(tokens: int | None) -> str:
    return "null" if tokens is None else str(tokens)
