"""Why an edit did not happen: stable codes, each with a sentence for people."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Code(StrEnum):
    """Reason codes of `episodes.jsonl`; never renamed."""

    # the editor's reply is no usable card
    INVALID_CARD = "invalid_card"
    LEAK = "leak"
    DUPLICATE_NAME = "duplicate_name"
    # guards (method.md §4.8)
    POOL_FULL = "pool_full"
    POOL_TOO_SMALL = "pool_too_small"
    PROTECTED = "protected"
    FAMILY_LOST = "family_lost"
    VALIDATORS_TOO_FEW = "validators_too_few"
    VALIDATOR_GENERATED = "validator_generated"
    FAMILY_DOMINATES = "family_dominates"
    NEAR_DUPLICATE = "near_duplicate"
    TERMINAL_COUNT = "terminal_count"
    # the gate
    REQUEST_REJECTED = "request_rejected"
    NO_GAIN = "no_gain"
    HARMFUL = "harmful"


@dataclass(frozen=True, slots=True)
class Reason:
    """A code and the sentence behind it."""

    code: Code
    detail: str
