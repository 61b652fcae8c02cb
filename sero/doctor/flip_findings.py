"""What the measured flips, failures and speed of a crowd say."""

from __future__ import annotations

from sero.backbones.server_config import OpenAIServerConfig
from sero.backbones.vllm_config import VLLMServerConfig
from sero.doctor.bounding import one_line
from sero.doctor.finding import Finding, fail, ok, warn
from sero.doctor.flips import Flips


def flip_findings(flips: Flips, cfg: OpenAIServerConfig | None, max_tokens: int) -> list[Finding]:
    """One finding each on flips, the crowd and the speed.

    Args:
        flips: as measured.
        cfg: of the server; None for a backbone that is none.
        max_tokens: what the answers were bounded by.
    """
    crowd = flips.crowd if cfg is None else min(flips.crowd, cfg.concurrency)
    figures = {
        "texts": {"k": flips.texts.k, "n": flips.texts.n, "interval": flips.texts.interval},
        "scores": None
        if flips.scores is None
        else {"k": flips.scores.k, "n": flips.scores.n, "interval": flips.scores.interval},
        "again_alone": flips.again,
        "crowd": crowd,
        "max_tokens": max_tokens,
    }
    said = (
        f"{flips.texts.of('texts')} differ at temperature 0 between alone and in a crowd of "
        f"{crowd}, at {max_tokens} tokens at most"
    )
    if flips.scores is not None and flips.scores.n:
        said += f"; {flips.scores.of('scores')} do"
    if flips.texts.k == 0:
        flip = ok("flips", said, **figures)
    else:
        alone = f"; {flips.again} of them differ alone too" if flips.again else ""
        flip = warn("flips", said + alone, flip_mend(flips, cfg), **figures)
    return [flip, *_crowd(flips, crowd, cfg), _speed(flips, crowd)]


def flip_mend(flips: Flips, cfg: OpenAIServerConfig | None) -> str:
    """What makes answers the same again, as far as the probes can tell."""
    if flips.again:
        return "the server differs from itself even alone; the gate's table says what that means"
    if isinstance(cfg, VLLMServerConfig) and not cfg.serve.batch_invariant:
        return (
            "backbone.serve.batch_invariant=true for scripts/serve_backbone.py (on NVIDIA GPUs), "
            "or backbone.concurrency=1"
        )
    return "backbone.concurrency=1, or a server whose answers do not depend on the batch"


def _crowd(flips: Flips, crowd: int, cfg: OpenAIServerConfig | None) -> list[Finding]:
    if not flips.failures:
        return []
    said = (
        f"{len(flips.failures)} of {flips.crowd} calls at once had no answer: "
        f"{one_line(flips.failures[0])}"
    )
    fewer = max(1, crowd // 4)
    key = f"backbone.concurrency={fewer}, " if cfg is not None else ""
    return [fail("crowd", said, f"{key}a stronger server, or --deadline SECONDS")]


def _speed(flips: Flips, crowd: int) -> Finding:
    return ok(
        "speed",
        f"{flips.alone_s:.2f} s a call alone ({flips.alone_tokens_s:.0f} new tokens/s); "
        f"{flips.crowd_tokens_s:.0f} new tokens/s in a crowd of {crowd}",
        alone_s=flips.alone_s,
        alone_tokens_per_s=flips.alone_tokens_s,
        crowd_tokens_per_s=flips.crowd_tokens_s,
    )
