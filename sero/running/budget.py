"""The `budget` section: totals that stop a run cleanly, to be gone on with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sero.errors import BudgetSpent


class Limits(Protocol):
    """What the `budget` section says; None is no limit."""

    @property
    def calls(self) -> int | None: ...
    @property
    def tokens(self) -> int | None: ...
    @property
    def hours(self) -> float | None: ...


@dataclass(frozen=True, slots=True)
class Budget:
    """Compares what was spent with the limits."""

    limits: Limits

    def check(self, *, calls: int, tokens: int, hours: float) -> None:
        """Call before the next episode or item: a limit that is reached leaves no room for it.

        Args:
            calls: logical calls so far, of all processes of this run.
            tokens: logical prompt and completion tokens so far.
            hours: time the run was worked on, interruptions left out, in hours.

        Raises:
            BudgetSpent: naming every limit that is reached, and how to go on.
        """
        spent = {"calls": calls, "tokens": tokens, "hours": hours}
        limits = {
            "calls": self.limits.calls,
            "tokens": self.limits.tokens,
            "hours": self.limits.hours,
        }
        reached = []
        for name, value in spent.items():
            limit = limits[name]
            if limit is not None and value >= limit:
                reached.append(f"budget.{name}: {_shown(value)} spent of {_shown(limit)}")
        if reached:
            raise BudgetSpent(
                f"{'; '.join(reached)}. The run is saved: raise the limit (budget.NAME=VALUE, or "
                "null for none) in the same command to go on from here."
            )


def _shown(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
