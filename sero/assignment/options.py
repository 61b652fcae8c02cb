"""What a candidate's `tools` and `request` may hold: plain JSON, not too much, not Sero's keys."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sero.backbones.wire import OWN_KEYS

MAX_OPTION_CHARS = 8000
"""Longest JSON of `tools`, and of `request`."""

RIVAL_KEYS = frozenset(
    {
        "max_completion_tokens",
        "stream_options",
        "guided_json",
        "guided_regex",
        "guided_choice",
        "guided_grammar",
    }
)
"""Keys of a request body that undo what Sero sets under `OWN_KEYS`."""

_chunks = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).iterencode


def option_faults(field: str, value: Mapping[str, Any]) -> list[str]:
    """What is wrong with the content of `tools` or `request`, each fault behind the field."""
    try:
        if _too_long(value):
            return [f"{field}: more than {MAX_OPTION_CHARS:,} characters of JSON; say less"]
    except (TypeError, ValueError, RecursionError):
        return [f"{field}: holds something that JSON has no form for"]
    # short by now, so that all of it may be looked at
    faults = []
    inside = list(_inside(value))
    odd = list(dict.fromkeys(repr(key) for key, is_key in inside if is_key and not _is_text(key)))
    if odd:
        faults.append(f"{field}: keys must be texts at any depth; quote {', '.join(odd[:3])}")
    if any(not _is_whole(text) for text, _ in inside if _is_text(text)):
        faults.append(f"{field}: half a character (a lone surrogate) is in it; take it out")
    return faults


def taken_keys(request: Mapping[str, Any]) -> list[str]:
    """Keys of a request that Sero sets itself or that compete with those, in any case."""
    return sorted(key for key in request if key.casefold() in OWN_KEYS | RIVAL_KEYS)


def _too_long(value: Mapping[str, Any]) -> bool:
    """Encoded piece by piece, for aliases make a short file stand for more than memory holds."""
    chars = 0
    for chunk in _chunks(value):
        chars += len(chunk)
        if chars > MAX_OPTION_CHARS:
            return True
    return False


def _inside(value: Any) -> Iterator[tuple[Any, bool]]:
    """Every key and every leaf at any depth, and whether it is a key."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case Mapping() as mapping:
                yield from ((key, True) for key in mapping)
                waiting += mapping.values()
            case Sequence() as items if not isinstance(items, str):
                waiting += items
            case leaf:
                yield leaf, False


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
