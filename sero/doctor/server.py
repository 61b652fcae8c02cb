"""Every check of a live model, in the order in which one makes the next possible."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from sero.backbones import server_config
from sero.backbones.base import Backbone
from sero.backbones.openai_server import OpenAIServer
from sero.backbones.router import RoutedServerConfig
from sero.backbones.scripted import ScriptedBackbone
from sero.backbones.server_config import OpenAIServerConfig
from sero.backbones.vllm_config import VLLMServerConfig
from sero.config import Component, RunConfig
from sero.doctor import address, completion
from sero.doctor.context import check_long_prompt, check_stated
from sero.doctor.failures import mend_of, said_of, start_command
from sero.doctor.finding import Finding, Level, fail, ok, skipped
from sero.doctor.flip_findings import flip_findings, flip_mend
from sero.doctor.flips import CROWD_PATIENCE, Scoring, measure_flips
from sero.doctor.gate_advice import gate_advice
from sero.doctor.options import Options
from sero.doctor.probing import Prober
from sero.doctor.schema_probe import check_schema
from sero.doctor.server_facts import ServerFacts, gather_facts
from sero.errors import SeroError, UserError

STARTING_S = 180.0
"""What a backbone that starts its own model may take for the first answer."""

SERVED = (VLLMServerConfig, RoutedServerConfig)
"""What `scripts/serve_backbone.py` can start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patient:
    """A backbone to look at, and the run it is meant for.

    Attributes:
        config: of the first job that uses it.
        scoring: tasks to use as probes, and who scores them; None where there are none.
    """

    config: RunConfig
    scoring: Scoring | None


async def check_backbone(patient: Patient, options: Options) -> AsyncIterator[Finding]:
    """Findings as they come; a server that cannot be asked ends them."""
    part = patient.config.backbone
    cfg = part.config if isinstance(part.config, OpenAIServerConfig) else None
    try:
        backbone = _gentle(part, cfg, options)
    except UserError as error:
        yield fail("settings", said_of(error), "mend these keys; nothing was asked")
        return
    if backbone.identity.simulated or isinstance(backbone, ScriptedBackbone):
        yield skipped("server", f"{part.choice} answers by itself; there is no server to ask")
        return
    facts = None
    if cfg is not None:
        facts, findings = await _look(cfg, part.choice, options)
        for finding in findings:
            yield finding
        if facts is None:
            return
    patience_s = options.deadline_s if cfg is None else min(options.deadline_s, cfg.timeout_s)
    prober = Prober(backbone=backbone, deadline_s=patience_s)
    try:
        async for finding in _ask(prober, cfg, facts, patient, options):
            yield finding
    finally:
        await prober.backbone.close()
    yield completion.check_retries(prober.failed, prober.sent)
    yield ok("calls", f"{prober.sent} sent, at most {most_calls(options)}", sent=prober.sent)


def most_calls(options: Options) -> int:
    """Bound on the calls of one backbone: all probes, repetitions of failed ones included."""
    first, schema, context = 4, 1, 3  # a refused first one is asked without each of three settings
    flips = 3 * options.probes + options.fillers if options.probes else 0
    return 2 * (first + schema + context + flips)


def _gentle(part: Component, cfg: OpenAIServerConfig | None, options: Options) -> Backbone:
    """The backbone; a client of a server with the doctor's patience and no retries of its own.

    Raises:
        UserError: its settings cannot be used.
    """
    backbone: Backbone = part.build() if cfg is None else _build(part.target, options)(cfg)
    return backbone


def _build(target: type[Any], options: Options) -> Callable[[OpenAIServerConfig], Backbone]:
    def build(cfg: OpenAIServerConfig) -> Backbone:
        timeout_s = min(cfg.timeout_s, CROWD_PATIENCE * options.deadline_s)
        backbone: Backbone = target(dataclasses.replace(cfg, max_retries=0, timeout_s=timeout_s))
        return backbone

    return build


async def _look(
    cfg: OpenAIServerConfig, choice: str, options: Options
) -> tuple[ServerFacts | None, list[Finding]]:
    """What needs no completion; no facts where there is nobody to ask for one."""
    try:
        key = server_config.read_key(cfg)
    except UserError as error:
        refused = fail("key", said_of(error), f"export {cfg.api_key_env}=...")
        return None, [refused, skipped("reachable", "nothing is asked without the key")]
    facts = await gather_facts(cfg, key, options.deadline_s)
    start = start_command(cfg, choice, facts.shown, serves=isinstance(cfg, SERVED))
    reached = address.check_reachable(facts, start)
    if reached.level is Level.FAIL:
        return None, [reached, skipped("completion", "the server does not answer")]
    keyed = address.check_key(facts, cfg)
    if keyed.level is Level.FAIL:
        return None, [reached, keyed, skipped("completion", "the key is refused")]
    return facts, [
        reached,
        keyed,
        address.check_model(facts, cfg),
        address.check_revision(cfg),
        address.check_version(facts, cfg),
    ]


async def _ask(
    prober: Prober,
    cfg: OpenAIServerConfig | None,
    facts: ServerFacts | None,
    patient: Patient,
    options: Options,
) -> AsyncIterator[Finding]:
    """What completions show."""
    config = patient.config
    build = _build(config.backbone.target, options)
    answered = await completion.first_completion(
        prober, cfg, build, options.tokens, None if cfg is not None else STARTING_S
    )
    for finding in answered.findings:
        yield finding
    found = answered.completion
    if found is None:
        yield skipped("further", "content, thinking, schema, context and flips need a completion")
        return
    yield completion.check_content(found)
    yield completion.check_finish(found, options.tokens, config.exec.max_tokens)
    yield completion.check_thinking(found, _thinking_wanted(cfg), options.tokens)
    uncounted = prober.backbone.stats.uncounted if isinstance(prober.backbone, OpenAIServer) else 0
    yield completion.check_usage(found, uncounted)
    yield await check_schema(prober, cfg)
    if cfg is not None and facts is not None:
        yield check_stated(cfg, facts.context_tokens)
        yield await check_long_prompt(
            prober, cfg, facts.context_tokens, deep=options.deep, counted=not uncounted
        )
    async for finding in _crowd(prober, cfg, patient, options):
        yield finding


async def _crowd(
    prober: Prober, cfg: OpenAIServerConfig | None, patient: Patient, options: Options
) -> AsyncIterator[Finding]:
    """Flips, and what they mean for the gate."""
    if not options.probes:
        yield skipped("flips", "--probes 0")
        return
    try:
        flips = await measure_flips(
            prober,
            options.probes,
            options.tokens,
            fillers=options.fillers,
            scoring=patient.scoring,
        )
    except SeroError as error:
        yield fail("flips", said_of(error), mend_of(error, cfg))
        return
    for finding in flip_findings(flips, cfg, options.tokens):
        yield finding
    yield gate_advice(
        flips,
        patient.config.gate,
        level=options.false_commit,
        effect=options.effect,
        mend=flip_mend(flips, cfg),
    )


def _thinking_wanted(cfg: OpenAIServerConfig | None) -> bool | None:
    wanted = cfg.chat_template_kwargs.get("enable_thinking") if cfg is not None else None
    return wanted if isinstance(wanted, bool) else None
