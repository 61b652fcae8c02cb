"""Run the DAG: a role starts when its predecessors are done (method.md §4.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Gt


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecConfig:
    """The `exec` section."""

    rounds: Annotated[int, Gt(0)]
    max_tokens: Annotated[int, Gt(0)]
