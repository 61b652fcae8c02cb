"""The faults of a roster as a message of a bounded length that is safe to print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sero.assignment.names import escaped
from sero.errors import RosterError
from sero.roles.card import MAX_NAME_CHARS
from sero.validation import did_you_mean

_MAX_FAULTS, _MAX_FAULT_CHARS = 20, 500


def refusal(where: str, faults: Sequence[str]) -> RosterError:
    """The first faults and how many more there are, safe to print."""
    lines = [escaped(fault) for fault in first_faults(faults)]
    cut = [
        line if len(line) <= _MAX_FAULT_CHARS else f"{line[:_MAX_FAULT_CHARS]}…" for line in lines
    ]
    return RosterError(where, cut)


def first_faults(faults: Sequence[str]) -> list[str]:
    """Twenty at most, and a line that counts the others."""
    more = len(faults) - _MAX_FAULTS
    return [*faults[:_MAX_FAULTS], *([f"... and {more} more"] if more > 0 else [])]


def unknown_fields(table: Mapping[Any, Any], known: Sequence[str]) -> list[str]:
    """A fault for each key that nobody reads."""
    words = [_word(key) for key in table if key not in known]
    return [f"{word}: unknown field{did_you_mean(word, known)}" for word in words]


def _word(key: Any) -> str:
    try:
        return str(key)[:MAX_NAME_CHARS]
    except ValueError:  # an integer of thousands of digits has no decimal form here
        return f"a huge {type(key).__name__}"
