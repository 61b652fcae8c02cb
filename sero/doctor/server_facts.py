"""What a server tells about itself: its models and its version, by plain GET requests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from yarl import URL

from sero.backbones import server_config, wire
from sero.backbones.listing import listed_models, read_start
from sero.backbones.server_config import OpenAIServerConfig

VERSION_CHARS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The answer to a GET.

    Attributes:
        status: of HTTP; None when no answer came.
        data: the body as JSON; None where it is none.
        said: the gist of the body, or why there is no answer; without secrets.
        header: the `Server` header.
    """

    status: int | None
    data: Any = None
    said: str = ""
    header: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """What was found out without a completion.

    Attributes:
        shown: the address without secrets.
        models: the answer of `/models`.
        listed: the models there, each with what else is said of it.
        version: `vLLM 0.32.0`, `llama.cpp b4000`; empty when the server does not tell.
        context_tokens: the longest context the server gives one request; None when unknown.
    """

    shown: str
    models: Page
    listed: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    version: str = ""
    context_tokens: int | None = None


async def gather_facts(cfg: OpenAIServerConfig, key: str, seconds: float) -> ServerFacts:
    """Ask a server for its models, and then what it is.

    Args:
        cfg: where it is, and the model's name.
        key: sent as a bearer token where there is one.
        seconds: deadline of each request.
    """
    base = URL(cfg.base_url)
    shown = server_config.chat_url(cfg.base_url)[1].removesuffix("/chat/completions")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    timeout = aiohttp.ClientTimeout(total=seconds)
    async with aiohttp.ClientSession(headers=headers, timeout=timeout) as session:
        models = await _get(session, (base / "models").with_query(base.query), key)
        listed = listed_models(models.data)
        if models.status is None:
            return ServerFacts(shown=shown, models=models)
        root = base.with_path(base.path.rstrip("/").removesuffix("/v1")).with_query(None)
        version, props = await asyncio.gather(
            _get(session, root / "version", key), _get(session, root / "props", key)
        )
    return ServerFacts(
        shown=shown,
        models=models,
        listed=listed,
        version=wire.one_line(_version(version.data, props.data, models.header), VERSION_CHARS),
        context_tokens=_context(listed.get(cfg.model, {}), props.data),
    )


async def _get(session: aiohttp.ClientSession, url: URL, key: str) -> Page:
    try:
        async with session.get(url) as response:
            raw = wire.blotted(await read_start(response.content), key)
            status, header = response.status, response.headers.get("Server", "")
    except TimeoutError:
        return Page(status=None, said="no answer in time")
    except (aiohttp.ClientError, OSError) as error:
        # not the error itself: it carries the request's headers, and with them the key
        text = f"{type(error).__name__}: {error}"
        return Page(status=None, said=text.replace(key, "***") if key else text)
    try:
        data = json.loads(raw) if 200 <= status < 300 else None
    except (ValueError, RecursionError):
        data = None
    header = header.replace(key, "***") if key else header
    return Page(status=status, data=data, said=wire.excerpt(raw, key), header=header)


def _version(version: Any, props: Any, header: str) -> str:
    """vLLM answers `/version`, llama.cpp `/props`; others have a header at best."""
    if isinstance(version, dict) and isinstance(version.get("version"), str):
        return f"vLLM {version['version']}"
    if isinstance(props, dict) and isinstance(props.get("build_info"), str):
        return f"llama.cpp {props['build_info']}"
    return f"not told; Server: {header}" if header else ""


def _context(entry: Mapping[str, Any], props: Any) -> int | None:
    """vLLM says it of the model, llama.cpp of a slot."""
    said = entry.get("max_model_len")
    if said is None and isinstance(props, dict):
        slot = props.get("default_generation_settings")
        said = slot.get("n_ctx") if isinstance(slot, dict) else None
    return said if type(said) is int and 0 < said <= wire.MAX_TOKENS else None
