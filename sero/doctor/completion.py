"""One completion, and everything that can be read off it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sero.backbones.base import Backbone, Completion
from sero.backbones.server_config import OpenAIServerConfig
from sero.doctor.bounding import one_line
from sero.doctor.failures import mend_of, said_of
from sero.doctor.finding import Finding, fail, ok, warn
from sero.doctor.probing import Prober, probe
from sero.errors import RequestRejected, SeroError

QUESTION = "What is the capital of France? Answer in one short sentence."
SHOWN_CHARS = 60

Build = Callable[[OpenAIServerConfig], Backbone]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The first completion.

    Attributes:
        findings: what was found on the way to it.
        completion: None when there was none.
    """

    findings: tuple[Finding, ...]
    completion: Completion | None


async def first_completion(
    prober: Prober,
    cfg: OpenAIServerConfig | None,
    build: Build,
    max_tokens: int,
    deadline_s: float | None = None,
) -> Answered:
    """Ask for one completion; a refused one is asked for again without each optional setting.

    Args:
        prober: makes the calls.
        cfg: of the server; None for a backbone that is none.
        build: a backbone of another configuration.
        max_tokens: bound on the completion.
        deadline_s: of the first call, where it has to be another one than of the rest.
    """
    try:
        found = await prober.ask(probe(QUESTION, max_tokens), deadline_s=deadline_s)
    except RequestRejected as refused:
        if cfg is not None and refused.blames_the_request:
            culprit = await _culprit(prober, cfg, build, max_tokens, refused)
            if culprit is not None:
                return culprit
        return Answered(findings=(_failed(refused, cfg),), completion=None)
    except SeroError as error:
        return Answered(findings=(_failed(error, cfg),), completion=None)
    seed = [] if cfg is None else [_seed_taken(cfg)]
    return Answered(findings=(*seed, _answered(found)), completion=found)


def _failed(error: SeroError, cfg: OpenAIServerConfig | None) -> Finding:
    return fail("completion", said_of(error), mend_of(error, cfg))


def _answered(found: Completion) -> Finding:
    text = one_line(found.text)
    shown = text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 1] + "…"
    return ok("completion", f"{found.latency_s:.2f} s: {shown!r}", latency_s=found.latency_s)


def _seed_taken(cfg: OpenAIServerConfig) -> Finding:
    if cfg.send_seed:
        return ok("seed", "a request with a seed is accepted")
    return ok("seed", "none is sent (backbone.send_seed=false)")


async def _culprit(
    prober: Prober,
    cfg: OpenAIServerConfig,
    build: Build,
    max_tokens: int,
    refused: RequestRejected,
) -> Answered | None:
    """Which setting a request was refused for; None if it is none of them alone.

    The prober goes on without the setting, so that the further checks can be made.
    """
    for name, without, mend in _variants(cfg):
        inner, prober.backbone = prober.backbone, build(without)
        try:
            found = await prober.ask(probe(QUESTION, max_tokens))
        except SeroError:
            await prober.backbone.close()
            prober.backbone = inner
            continue
        await inner.close()
        said = f"the server refuses requests with it: {said_of(refused)}"
        return Answered(findings=(fail(name, said, mend), _answered(found)), completion=found)
    return None


def _variants(cfg: OpenAIServerConfig) -> Iterator[tuple[str, OpenAIServerConfig, str]]:
    """Each optional setting: its check, the configuration without it, and the override."""
    if cfg.send_seed:
        yield "seed", dataclasses.replace(cfg, send_seed=False), "backbone.send_seed=false"
    # An override of a mapping is merged into it, so keys are taken out one by one.
    for name in ("chat_template_kwargs", "extra_body"):
        keys: Mapping[str, Any] = getattr(cfg, name)
        if keys:
            mend = " ".join(f"'~backbone.{name}.{key}'" for key in keys)
            without: Any = {name: {}}
            yield name, dataclasses.replace(cfg, **without), mend


def check_content(found: Completion) -> Finding:
    """Whether there is an answer at all; thinking without one is `check_thinking`'s."""
    if not found.text.strip() and not found.reasoning:
        return fail(
            "content",
            f"the reply is empty (finish_reason={found.finish_reason})",
            "look at the model's chat template (a base model has none) and at "
            "backbone.extra_body.stop",
        )
    return ok("content", "the reply holds text" if found.text else "nothing but thinking")


def check_finish(found: Completion, max_tokens: int, run_tokens: int) -> Finding:
    """Whether the model stops by itself, and the server says so.

    Args:
        found: the completion.
        max_tokens: what it was bounded by.
        run_tokens: what a run's completions are bounded by, `exec.max_tokens`.
    """
    match found.finish_reason:
        case "length":
            return warn(
                "finish",
                f"one short sentence was cut at {max_tokens} tokens (finish_reason=length)",
                f"a model that goes on needs its chat template or backbone.extra_body.stop; a run "
                f"cuts at exec.max_tokens={run_tokens}",
            )
        case "unknown":
            return warn(
                "finish",
                "the server sends no finish_reason: answers that were cut are not recognised",
                "update the server",
            )
        case reason:
            return ok("finish", f"finish_reason={reason}")


def check_usage(found: Completion, uncounted: int) -> Finding:
    """Whether the server counts tokens.

    Args:
        found: the completion.
        uncounted: replies so far that came without counts.
    """
    if uncounted:
        return warn(
            "usage",
            "the server sends no token counts; they are estimated as characters / 4",
            "update the server, or limit a run by budget.calls instead of budget.tokens",
        )
    usage = found.usage
    return ok("usage", f"{usage.prompt_tokens} prompt and {usage.completion_tokens} new tokens")


def check_thinking(found: Completion, wanted: bool | None, max_tokens: int) -> Finding:
    """Whether the model thinks, and whether it was asked to.

    Args:
        found: the completion.
        wanted: `backbone.chat_template_kwargs.enable_thinking`; None where it is not set.
        max_tokens: what the completion was bounded by.
    """
    if not found.reasoning:
        return ok("thinking", "no think block in the reply")
    if wanted is True:
        if found.text:
            return ok("thinking", "on, as asked; a run strips closed think blocks")
        return warn(
            "thinking",
            f"on, as asked, and no answer follows within {max_tokens} tokens",
            "--tokens N to see one; a run needs exec.max_tokens for both",
        )
    mend = "+backbone.chat_template_kwargs.enable_thinking=false"
    if wanted is False:
        mend = (
            "the server ignores chat_template_kwargs: serve the model's own chat template, or "
            "start vLLM with --reasoning-parser, or choose a model that does not think"
        )
    if not found.text:
        said = f"an open think block and no answer within {max_tokens} tokens"
        return fail("thinking", said, mend)
    state = "though it is switched off" if wanted is False else "and nothing switches it off"
    return warn("thinking", f"the reply holds a think block {state}; it costs tokens", mend)


def check_retries(failed: Sequence[str], sent: int) -> Finding:
    """Whether calls had to be made twice.

    Args:
        failed: why the first attempts failed.
        sent: attempts in all.
    """
    if not failed:
        return ok("retries", "no call was answered at a second attempt only")
    return warn(
        "retries",
        f"{len(failed)} of {sent} attempts failed and worked when repeated: {one_line(failed[0])}",
        "look at the server's log; a run repeats such calls up to backbone.max_retries times",
    )
