"""What a vLLM backbone is configured with: the client's part, and the server's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, MinLen
from yarl import URL

from sero.backbones.server_config import OpenAIServerConfig
from sero.errors import ConfigError

OWN_FLAGS = frozenset(
    {
        *("--host", "--port", "--model", "--served-model-name", "--revision", "--api-key"),
        *("--tensor-parallel-size", "-tp", "--data-parallel-size", "-dp", "--max-model-len"),
        *("--max-num-seqs", "--max-num-batched-tokens", "--gpu-memory-utilization", "--dtype"),
        *("--kv-cache-dtype", "--enable-prefix-caching", "--no-enable-prefix-caching"),
        *("--structured-outputs-config", "--reasoning-parser", "--enforce-eager", "--seed"),
    }
)
"""Flags that a key of their own sets; a key given twice would be read one way or the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeConfig:
    """How `scripts/serve_backbone.py` starts vLLM. None leaves a flag out: vLLM chooses.

    A run talks to an address and cannot know how the server behind it was started, perhaps by
    hand, on another machine, in another month. So nothing of this section is in the key of a stored
    answer, in a run's variant or in what a resumed run is compared by. A run's `config.yaml` holds
    it as what was meant; the manifest holds what was seen, which these flags are not. Whoever
    changes a flag that moves answers (`dtype`, `kv_cache_dtype`, `batch_invariant`, ...) and wants
    them apart gives the backbone's `revision` another name, which is in all three.

    Attributes:
        weights: folder of a checkpoint; None is `backbone.model` at `backbone.revision`, from the
            hub or its cache.
        build: makes that folder before the start, from a model that is installed as a package.
        structured_outputs: engine that holds answers to a JSON schema.
        batch_invariant: an answer does not depend on what is computed beside it.
        ready_timeout_s: until it must be healthy, weights fetched and loaded.
    """

    weights: Annotated[str, MinLen(1)] | None
    build: Literal["smollm2_135m"] | None
    tensor_parallel: Annotated[int, Gt(0)]
    data_parallel: Annotated[int, Gt(0)]
    max_model_len: Annotated[int, Gt(0)] | None
    max_num_seqs: Annotated[int, Gt(0)] | None
    max_num_batched_tokens: Annotated[int, Gt(0)] | None
    gpu_memory_utilization: Annotated[float, Gt(0), Le(1)] | None
    dtype: Literal["auto", "bfloat16", "float16", "float32"]
    kv_cache_dtype: Annotated[str, MinLen(1)] | None
    enable_prefix_caching: bool
    structured_outputs: Literal["auto", "xgrammar", "guidance", "outlines", "lm-format-enforcer"]
    reasoning_parser: Annotated[str, MinLen(1)] | None
    batch_invariant: bool
    enforce_eager: bool
    seed: Annotated[int, Ge(0)]
    extra_args: tuple[str | int | float, ...]
    env: Mapping[str, str]
    ready_timeout_s: Annotated[float, Gt(0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class VLLMServerConfig(OpenAIServerConfig):
    """A client's configuration, and how the server it talks to is started."""

    serve: ServeConfig


def check_serve(cfg: VLLMServerConfig) -> None:
    """Find what would start a server that this backbone's clients cannot reach or use.

    Raises:
        ConfigError: with every fault.
    """
    serve, url = cfg.serve, URL(cfg.base_url)
    faults = []
    if url.scheme != "http" or url.path.rstrip("/") != "/v1":
        faults.append(
            f"base_url: got {cfg.base_url}; vLLM is started at http://HOST:PORT/v1, and whatever "
            "stands before it (TLS, a proxy, a router) is started apart"
        )
    if serve.build is not None and serve.weights is None:
        faults.append(f"serve.build: {serve.build} is made in a folder; name it in serve.weights")
    context, length = cfg.context_tokens, serve.max_model_len
    if context is not None and length is not None and length < context:
        faults.append(
            f"serve.max_model_len: got {length}, and prompts are trimmed to fit "
            f"backbone.context_tokens={context}; it must not be smaller"
        )
    taken = sorted({str(word).partition("=")[0].partition(".")[0] for word in serve.extra_args})
    for flag in [word for word in taken if word in OWN_FLAGS]:
        what = (
            "the key's variable is named in api_key_env" if flag == "--api-key" else "it has a key"
        )
        faults.append(f"serve.extra_args: {flag} cannot be set here; {what}")
    if faults:
        raise ConfigError(f"backbone={cfg.name}", faults)
