"""A backbone's server in the foreground: started, watched, its log passed on, stopped."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from yarl import URL

from sero.backbones import smollm2_checkpoint
from sero.backbones.child_server import ChildServer, port_is_taken
from sero.backbones.vllm_config import VLLMServerConfig, check_serve
from sero.backbones.vllm_program import check_fits, find_program
from sero.backbones.vllm_server import (
    Command,
    health_url,
    secret_env,
    serve_command,
    shell_line,
)
from sero.config.backbone_alone import BackboneAlone
from sero.errors import ServerNotReady, UserError
from sero.running.signals import stopping

Say = Callable[[str], None]

HINTS = (
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
"""What the end of the log may hold, and what to do about it."""

_LOOK_S = 0.3


def serve(chosen: BackboneAlone, say: Say, pass_on: Say) -> int:
    """Serve a backbone until interrupted; returns the exit code.

    0 after an interrupt once the server was ready, 128 + N for signal N before that.

    Args:
        say: takes a line for the user.
        pass_on: takes what the server writes, as it writes it.

    Raises:
        UserError: not a vLLM backbone, vLLM not installed, the port is taken.
        ConfigError: settings that no client could use.
        ServerNotReady: the server ended or never got ready, with the end of its log.
    """
    cfg = _vllm_config(chosen)
    check_serve(cfg)
    if chosen.dry_run:
        say(shell_line(cfg, serve_command(cfg, _program_to_show())))
        return 0
    program = find_program()
    check_fits(cfg)
    _check_port(cfg)
    secret = secret_env(cfg)
    _build(cfg, say)
    command = serve_command(cfg, program)
    say(f"starting: {shell_line(cfg, command)}\nlog: {chosen.log}")
    server = ChildServer(
        command.argv,
        health_url=health_url(cfg),
        env={**command.env, **secret},
        log=Path(chosen.log),
        ready_timeout_s=cfg.serve.ready_timeout_s,
    )
    return asyncio.run(_in_front(server, _ready_line(chosen, cfg, command), say, pass_on))


async def _in_front(server: ChildServer, ready: str, say: Say, pass_on: Say) -> int:
    """Start, wait, and stay until the server ends or somebody interrupts."""
    is_ready = False
    async with stopping() as stop:
        try:
            server.start()
            started = time.monotonic()
            async with _passing_on(server, pass_on):
                await server.wait_ready()
                is_ready = True
                say(f"ready after {time.monotonic() - started:.0f} s: {ready}")
                while server.alive:
                    await asyncio.sleep(_LOOK_S)
        except asyncio.CancelledError:
            if stop.requested is None:
                raise
            stop.settle()
            say(f"{stop.requested}: stopping the server")
            return 0 if is_ready else 128 + (2 if stop.requested == "SIGINT" else 15)
        except ServerNotReady as error:
            raise ServerNotReady(f"{error}{_hint(server)}") from None
        finally:
            server.stop()
    raise server.lost()


@contextlib.asynccontextmanager
async def _passing_on(server: ChildServer, pass_on: Say) -> AsyncIterator[None]:
    """Pass the log on while the body runs, and what is left of it at the end."""
    with server.log.open("rb") as log:
        log.seek(server.log_start)

        def rest() -> None:
            if text := log.read():
                pass_on(text.decode("utf-8", "replace"))

        async def keep_on() -> None:
            while True:
                rest()
                await asyncio.sleep(_LOOK_S)

        task = asyncio.create_task(keep_on())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            rest()


def _vllm_config(chosen: BackboneAlone) -> VLLMServerConfig:
    cfg = chosen.backbone.config
    if not isinstance(cfg, VLLMServerConfig):
        raise UserError(
            f"backbone={chosen.backbone.choice} says nothing of a vLLM server. Choose one whose "
            "file builds on conf/backbone/_vllm.yaml, such as backbone=qwen3_8b."
        )
    return cfg


def _program_to_show() -> tuple[str, ...]:
    """vLLM's command as it is called here, or by its plain name where it is not installed."""
    try:
        return find_program()
    except UserError:
        return ("vllm",)


def _check_port(cfg: VLLMServerConfig) -> None:
    url = URL(cfg.base_url)
    assert url.host is not None  # checked with the rest of the address
    assert url.port is not None
    if port_is_taken(url.host, url.port):
        raise UserError(
            f"{url.host}:{url.port} cannot be listened on: something is running there already, or "
            "it is no address of this machine. Stop it, or choose another port with "
            f"backbone.base_url=http://{url.host}:PORT/v1, for the runs as well."
        )


def _build(cfg: VLLMServerConfig, say: Say) -> None:
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


def _ready_line(chosen: BackboneAlone, cfg: VLLMServerConfig, command: Command) -> str:
    name = chosen.backbone.choice
    return (
        f"{cfg.base_url} serves {cfg.model}\n"
        f"the same by hand: {shell_line(cfg, command)}\n"
        f"next: python scripts/train.py experiment=single backbone={name} "
        f"backbone.base_url={cfg.base_url} encoder=minilm benchmark=toy\n"
        "Ctrl-C stops it."
    )


def _hint(server: ChildServer) -> str:
    end = "\n".join(server.tail(200))
    found = [advice for mark, advice in HINTS if mark in end]
    return f"\nPerhaps: {found[0]}." if found else ""
