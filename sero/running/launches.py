"""What `scripts/serve_backbone.py` starts for a backbone: vLLM, or the router before several."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sero.backbones import smollm2_checkpoint
from sero.backbones.router import RoutedServerConfig, check_route, find_router, route_command
from sero.backbones.server_config import OpenAIServerConfig
from sero.backbones.vllm_config import VLLMServerConfig, check_serve
from sero.backbones.vllm_program import check_fits, find_program
from sero.backbones.vllm_server import Command, health_url, secret_env, serve_command, shell_line
from sero.config.backbone_alone import BackboneAlone
from sero.errors import UserError

VLLM_HINTS = (
    ("torchvision::nms", "pip uninstall -y torchvision torchaudio torchcodec"),
    ("No available memory for the cache blocks", "raise backbone.serve.gpu_memory_utilization"),
    (
        "out of memory",
        "lower backbone.serve.gpu_memory_utilization or max_num_seqs, or use more "
        "GPUs with backbone.serve.tensor_parallel",
    ),
    (
        "is larger than the maximum number of tokens that can be stored in KV cache",
        "lower backbone.context_tokens",
    ),
    ("We couldn't connect to", "set backbone.serve.weights to a folder that holds the weights"),
    ("unrecognized arguments", "this vLLM knows other flags; see backbone.serve.extra_args"),
)
"""What the end of a log may hold, and what to do about it."""

ROUTER_HINTS = (
    ("unrecognized arguments", "this vllm-router knows other flags; see backbone.route.extra_args"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A server to start.

    Attributes:
        choice: name of the backbone's file.
        cfg: of the client; the server is started at its `base_url`.
        command: what is run.
        shown: the same as a line for a shell, without secrets.
        refuse_what_is_missing: raises UserError where the program cannot be run here.
        secret_env: variables that are never shown.
        prepare: done before the start; takes a way to tell the user.
    """

    choice: str
    cfg: OpenAIServerConfig
    command: Command
    shown: str
    health_url: str
    ready_timeout_s: float
    hints: tuple[tuple[str, str], ...]
    refuse_what_is_missing: Callable[[], None]
    secret_env: Callable[[], Mapping[str, str]]
    prepare: Callable[[Callable[[str], None]], None]


def launch_of(chosen: BackboneAlone) -> Launch:
    """What to start for a backbone.

    Raises:
        UserError: nothing is said of a server to start.
        ConfigError: settings that no client could use.
    """
    match chosen.backbone.config:
        case VLLMServerConfig() as cfg:
            return _vllm(chosen.backbone.choice, cfg)
        case RoutedServerConfig() as cfg:
            return _router(chosen.backbone.choice, cfg)
    raise UserError(
        f"backbone={chosen.backbone.choice} says nothing of a server to start. Choose one whose "
        "file builds on conf/backbone/_vllm.yaml, such as backbone=qwen3_8b."
    )


def _vllm(choice: str, cfg: VLLMServerConfig) -> Launch:
    check_serve(cfg)
    command = serve_command(cfg, _or_plain_name(find_program, "vllm"))

    def refuse_what_is_missing() -> None:
        find_program()
        check_fits(cfg)

    return Launch(
        choice=choice,
        cfg=cfg,
        command=command,
        shown=shell_line(cfg, command),
        health_url=health_url(cfg),
        ready_timeout_s=cfg.serve.ready_timeout_s,
        hints=VLLM_HINTS,
        refuse_what_is_missing=refuse_what_is_missing,
        secret_env=partial(secret_env, cfg),
        prepare=partial(_build_weights, cfg),
    )


def _router(choice: str, cfg: RoutedServerConfig) -> Launch:
    check_route(cfg)
    command = route_command(cfg, _or_plain_name(find_router, "vllm-router"))

    def refuse_what_is_missing() -> None:
        find_router()

    return Launch(
        choice=choice,
        cfg=cfg,
        command=command,
        shown=shlex.join(command.argv),
        health_url=health_url(cfg),
        ready_timeout_s=cfg.route.ready_timeout_s,
        hints=ROUTER_HINTS,
        refuse_what_is_missing=refuse_what_is_missing,
        secret_env=dict,
        prepare=lambda say: None,
    )


def _or_plain_name(find: Callable[[], tuple[str, ...]], name: str) -> tuple[str, ...]:
    """A program as it is called here, or by its plain name where it is not installed."""
    try:
        return find()
    except UserError:
        return (name,)


def _build_weights(cfg: VLLMServerConfig, say: Callable[[str], None]) -> None:
    """Make the weights' folder where they come from a package."""
    if cfg.serve.build is None:
        return
    assert cfg.serve.weights is not None  # checked with the rest
    if smollm2_checkpoint.is_built(Path(cfg.serve.weights)):
        return
    say(f"making the checkpoint {cfg.serve.weights}, which takes half a minute")
    # in a process of its own, so that its memory is free again when the server starts
    module = smollm2_checkpoint.__name__
    made = subprocess.run(
        [sys.executable, "-m", module, cfg.serve.weights], stderr=subprocess.PIPE, text=True
    )
    if made.returncode:
        last = "\n".join(made.stderr.strip().splitlines()[-10:])
        raise UserError(f"the checkpoint {cfg.serve.weights} was not made: {last}")
