"""The `budget` section: totals that stop a run cleanly, to be gone on with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sero.backbones.openai_server import OpenAIServerConfig
from sero.backbones.price import PriceConfig
from sero.config import RunConfig
from sero.errors import BudgetSpent


class Limits(Protocol):
    """What the `budget` section says of one run; None is no limit."""

    @property
    def calls(self) -> int | None: ...
    @property
    def tokens(self) -> int | None: ...
    @property
    def hours(self) -> float | None: ...
    @property
    def usd(self) -> float | None: ...


@dataclass(frozen=True, slots=True)
class Budget:
    """Compares what was spent with the limits."""

    limits: Limits

    def check(self, *, calls: int, tokens: int, hours: float, usd: float | None) -> None:
        """Call before the next episode or item: a limit that is reached leaves no room for it.

        Args:
            calls: logical calls so far, of all processes of this run.
            tokens: logical prompt and completion tokens so far.
            hours: time the run was worked on, interruptions left out, in hours.
            usd: US dollars for what was sent so far; None, where no price is known, meets no limit.

        Raises:
            BudgetSpent: naming every limit that is reached, and how to go on.
        """
        spent = {"calls": calls, "tokens": tokens, "hours": hours, "usd": usd}
        limits = {
            "calls": self.limits.calls,
            "tokens": self.limits.tokens,
            "hours": self.limits.hours,
            "usd": self.limits.usd,
        }
        reached = []
        for name, value in spent.items():
            limit = limits[name]
            if limit is not None and value is not None and value >= limit:
                reached.append(f"budget.{name}: {_shown(value)} spent of {_shown(limit)}")
        if reached:
            raise BudgetSpent(
                f"{'; '.join(reached)}. The run is saved: raise the limit (budget.NAME=VALUE, or "
                "null for none) in the same command to go on from here."
            )


def price_of(config: RunConfig) -> PriceConfig | None:
    """The price of the backbone's tokens; None where it is unknown, or where there is none."""
    section = config.backbone.config
    if not isinstance(section, OpenAIServerConfig) or not section.price.known:
        return None
    return section.price


def unpriced(config: RunConfig) -> str | None:
    """Why `budget.usd` cannot stop this run, None where it can or was not set."""
    if config.budget.usd is None or price_of(config) is not None:
        return None
    name = config.backbone.choice
    if not isinstance(config.backbone.config, OpenAIServerConfig):
        return f"budget.usd={config.budget.usd:g} has no effect: backbone={name} has no price"
    return (
        f"budget.usd={config.budget.usd:g} has no effect: the price of backbone={name} is not "
        "known. Set backbone.price.prompt_usd_per_mtok and backbone.price.completion_usd_per_mtok, "
        "US dollars for a million tokens"
    )


def _shown(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
