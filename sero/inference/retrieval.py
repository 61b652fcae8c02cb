"""The active team A_t: who is asked for a task (method.md §4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Le


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalConfig:
    """The `retrieval` section. `family_cover_min` None means `family_cover_rel` decides."""

    credit_mode: Literal["raw", "minmax", "none"]
    alpha: Annotated[float, Ge(0), Le(1)]
    setup_slots: Annotated[int, Ge(0)]
    spec_slots: Annotated[int, Ge(0)]
    val_slots: Annotated[int, Ge(0)]
    family_cover: Literal["distinct", "soft", "off"]
    family_cover_min: Annotated[float, Ge(-1), Le(1)] | None
    family_cover_rel: Annotated[float, Ge(0), Le(1)]
