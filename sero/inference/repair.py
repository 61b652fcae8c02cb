"""Terminal aggregation and the validator's repair (method.md §4.4)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairConfig:
    """The `repair` section."""

    enabled: bool
    reserved: bool
    always: bool
