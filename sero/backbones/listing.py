"""What a server says it serves: the answer of `/models`, bounded and read with care."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import aiohttp

from sero.backbones.wire import one_line

MAX_BYTES = 4 * 2**20
_SHOWN_CHARS = 80


async def read_start(stream: aiohttp.StreamReader) -> bytes:
    """A body to its end, or its first `MAX_BYTES`."""
    read = bytearray()
    while len(read) < MAX_BYTES and (chunk := await stream.readany()):
        read += chunk
    return bytes(read[:MAX_BYTES])


def listed_models(data: Any) -> dict[str, Mapping[str, Any]]:
    """`{"data": [{"id": …}, …]}` as a mapping; whatever else stands there is left out."""
    entries = data.get("data") if isinstance(data, dict) else None
    return {
        entry["id"]: entry
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict) and isinstance(entry.get("id"), str)
    }


async def why_not_serving(
    session: aiohttp.ClientSession, seconds: float, *, url: str, model: str, key: str
) -> str:
    """Whether a server lists a model: empty if so, else what it says instead.

    Args:
        session: asks.
        seconds: deadline.
        url: of `/models`.
        model: its name there.
        key: sent as a bearer token where there is one, and never shown.
    """
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    timeout = aiohttp.ClientTimeout(total=seconds)
    try:
        async with session.get(url, headers=headers, timeout=timeout) as answer:
            status, raw = answer.status, await read_start(answer.content)
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        return f"{url} does not answer ({type(error).__name__})."
    if status != 200:
        return f"{url} answers HTTP {status}: the server there is another one."
    try:
        names = listed_models(json.loads(raw))
    except (ValueError, RecursionError):
        names = {}
    if model in names:
        return ""
    first = min(names, default="no model").replace(key or "\n", "***")
    return (
        f"{url} lists {one_line(first, _SHOWN_CHARS)} and not {model}: the server there is "
        "another one. Stop it, or choose another port with backbone.base_url."
    )
