"""Pydantic's complaints as lines a user can act on: path, what was found, what is accepted."""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` for the closest known word, or nothing."""
    close = difflib.get_close_matches(word, sorted(known), n=1, cutoff=0.6)
    return f"; did you mean '{close[0]}'?" if close else ""


def key_path(location: Sequence[str | int], prefix: str = "") -> str:
    """`("policy", "hidden")` to `policy.hidden`; list positions become `[i]`."""
    path = prefix
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += f".{part}" if path else part
    return path


def faults_of(
    error: ValidationError, known_fields: Mapping[str, Iterable[str]], prefix: str = ""
) -> list[str]:
    """Every fault of a failed validation, one line each.

    Args:
        error: what pydantic raised.
        known_fields: path of a mapping (`""` is the root) to the field names it accepts, for
            the suggestion beside an unknown field.
        prefix: put before every path.
    """
    lines = []
    for fault in error.errors(include_url=False):
        location = [part for part in fault["loc"] if not _is_type_name(part)]
        path = key_path(location, prefix)
        match fault["type"]:
            case "unexpected_keyword_argument" | "extra_forbidden":
                # the last part is the document's own word, whatever it looks like
                *parents, word = fault["loc"]
                parent = key_path([part for part in parents if not _is_type_name(part)])
                path = key_path([*([parent] if parent else []), _brief(str(word))], prefix)
                hint = did_you_mean(str(word), known_fields.get(parent, ()))
                lines.append(f"{path}: unknown field{hint}")
            case "missing" | "missing_argument" | "missing_keyword_only_argument":
                lines.append(f"{path}: missing")
            case _:
                lines.append(f"{path}: got {_shown(fault['input'])}. {fault['msg']}")
    return lines


def _is_type_name(part: str | int) -> bool:
    """Union members and wrappers that pydantic adds to a location: `function-after[...]`."""
    return isinstance(part, str) and ("[" in part or part.startswith(("function-", "constrained-")))


def _shown(value: Any) -> str:
    """A value as it stands in a message; cut in depth too, for a document can nest without end."""
    shown = reprlib.Repr()
    shown.maxlevel, shown.maxstring, shown.maxother = 3, 120, 120
    try:
        return _brief(shown.repr(value))
    except ValueError:  # an integer of thousands of digits has no decimal form here
        return f"a huge {type(value).__name__}"


def _brief(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
