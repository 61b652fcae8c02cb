"""Settings that change how a run is done and not what comes out of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

VOLATILE = (
    "paths",
    "logger",
    "progress",
    "budget",
    "evaluate",
    "train.checkpoint_every",
    "backbone.base_url",
    "backbone.api_key_env",
    "backbone.concurrency",
    "backbone.timeout_s",
    "backbone.max_retries",
    "backbone.backoff_s",
    "backbone.backoff_max_s",
    "backbone.session_header",
    "backbone.serve",
    "backbone.price",
    "backbone.replicas",
    "backbone.threads",
    "backbone.ready_timeout_s",
    "backbone.logs",
    "backbone.note",
)
"""Keys, or whole sections; those of `backbone` are meant of every further backbone too."""

FURTHER_BACKBONE = re.compile(r"^backbones\.[^.]+\.")
"""What a dotted key of a further backbone begins with."""


def comparable(data: Mapping[str, Any]) -> dict[str, Any]:
    """Resolved data without the keys that may change between two starts of one run."""
    return _without_volatile(data, "")


def _without_volatile(data: Mapping[str, Any], path: str) -> dict[str, Any]:
    kept = {}
    for key, value in data.items():
        where = f"{path}{key}"
        if FURTHER_BACKBONE.sub("backbone.", where) in VOLATILE:
            continue
        kept[key] = _without_volatile(value, f"{where}.") if isinstance(value, dict) else value
    return kept
