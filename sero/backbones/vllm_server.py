"""A vLLM server of one's own as a backbone: the client of any server, and the command to start it.

vLLM itself is never imported: it runs in an environment of its own, behind HTTP. Flags are those
of vLLM 0.32.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from yarl import URL

from sero.backbones.openai_server import OpenAIServer
from sero.backbones.server_config import OpenAIServerConfig, read_key
from sero.backbones.vllm_config import ServeConfig, VLLMServerConfig

KEY_VARIABLE = "VLLM_API_KEY"
"""Where vLLM looks for the key it is to ask for; a flag would show it to every user."""


class VLLMServer(OpenAIServer):
    """`backbone=qwen3_8b` and the like: the client, unchanged; `serve` is read by the script."""

    Config: ClassVar[type[VLLMServerConfig]] = VLLMServerConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command to start.

    Attributes:
        argv: its words, the program first.
        env: variables it needs beside those that are set.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]


def serve_command(cfg: VLLMServerConfig, program: Sequence[str]) -> Command:
    """The command that serves `cfg.model` at `cfg.base_url`, the key not in it.

    Args:
        cfg: checked by `check_serve`.
        program: words that call vLLM's command line.
    """
    serve, url = cfg.serve, URL(cfg.base_url)
    argv = [*program, "serve", serve.weights or cfg.model, "--served-model-name", cfg.model]
    if serve.weights is None and cfg.revision not in ("", "unknown"):
        argv += ["--revision", cfg.revision]
    argv += ["--host", str(url.host), "--port", str(url.port), *_flags(serve)]
    argv += map(str, serve.extra_args)
    env = dict(serve.env)
    if serve.batch_invariant:
        env["VLLM_BATCH_INVARIANT"] = "1"
    return Command(argv=tuple(argv), env=env)


def secret_env(cfg: VLLMServerConfig) -> dict[str, str]:
    """The variable that holds the server's key, where there is one. Never shown.

    Raises:
        UserError: the variable it is taken from is not set.
    """
    key = read_key(cfg)
    return {KEY_VARIABLE: key} if key else {}


def shell_line(cfg: VLLMServerConfig, command: Command) -> str:
    """A command as one line to paste into a shell; a key is named, not shown."""
    words = [f"{name}={shlex.quote(value)}" for name, value in sorted(command.env.items())]
    if cfg.api_key_env is not None:
        words.append(f'{KEY_VARIABLE}="${cfg.api_key_env}"')
    return " ".join([*words, shlex.join(command.argv)])


def health_url(cfg: OpenAIServerConfig) -> str:
    """What answers 200 once the model is loaded."""
    return str(URL(cfg.base_url).with_path("/health").with_query(None))


def _flags(serve: ServeConfig) -> list[str]:
    """What differs from vLLM's own defaults, or has none worth relying on."""
    values: dict[str, int | float | str | None] = {
        "--tensor-parallel-size": serve.tensor_parallel if serve.tensor_parallel > 1 else None,
        "--data-parallel-size": serve.data_parallel if serve.data_parallel > 1 else None,
        "--max-model-len": serve.max_model_len,
        "--max-num-seqs": serve.max_num_seqs,
        "--max-num-batched-tokens": serve.max_num_batched_tokens,
        "--gpu-memory-utilization": serve.gpu_memory_utilization,
        "--dtype": serve.dtype,
        "--kv-cache-dtype": serve.kv_cache_dtype,
        "--structured-outputs-config.backend": (
            None if serve.structured_outputs == "auto" else serve.structured_outputs
        ),
        "--reasoning-parser": serve.reasoning_parser,
        "--seed": serve.seed,
    }
    flags = [
        word for name, value in values.items() if value is not None for word in (name, f"{value}")
    ]
    caching = "enable" if serve.enable_prefix_caching else "no-enable"
    flags += [f"--{caching}-prefix-caching", "--disable-uvicorn-access-log"]
    return [*flags, *["--enforce-eager"][: serve.enforce_eager]]
