"""Stage-aware order (Eq. 7) and the DAG of messages (method.md §4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge


@dataclass(frozen=True, slots=True, kw_only=True)
class DagConfig:
    """The `dag` section. Degree budgets None follow the paper's formulas."""

    rule: Literal["nearest", "farthest", "credit", "cross_stage"]
    order: Literal["credit", "reverse", "random", "flat"]
    b_out: Annotated[int, Ge(1)] | None
    b_in: Annotated[int, Ge(1)] | None
