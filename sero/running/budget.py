"""The `budget` section: totals that stop a run cleanly, to be gone on with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from sero.backbones.openai_server import OpenAIServerConfig
from sero.backbones.price import PriceConfig
from sero.config import Component, RunConfig
from sero.errors import BudgetSpent
from sero.inference.trace import Cost


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


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of a run's backbones.

    Attributes:
        own: of the run's own.
        others: of the further ones by name; those of request options stand behind a `#`.
    """

    own: PriceConfig | None
    others: Mapping[str, PriceConfig | None]

    def usd(self, cost: Cost) -> float | None:
        """The price of tokens in US dollars; None while that of a backbone with tokens is unknown.

        Args:
            cost: in whole, with the part of each further backbone.
        """
        prompt, completion, total = cost.prompt_tokens, cost.completion_tokens, 0.0
        for name, part in cost.elsewhere.items():
            if not part.prompt_tokens and not part.completion_tokens:
                continue
            price = self.others.get(name.partition("#")[0]) if name[:1] != "#" else self.own
            usd = None if price is None else price.usd(part.prompt_tokens, part.completion_tokens)
            if usd is None:
                return None
            total += usd
            prompt, completion = prompt - part.prompt_tokens, completion - part.completion_tokens
        own = None if self.own is None else self.own.usd(prompt, completion)
        if own is None:
            return total if cost.elsewhere and not prompt and not completion else None
        return total + own


def prices_of(config: RunConfig) -> Prices:
    """What the configuration says of the prices of its backbones."""
    if not any(map(_is_server, (config.backbone, *config.backbones.values()))):
        return Prices(None, {})
    others = {name: _price(part) for name, part in config.backbones.items()}
    return Prices(_price(config.backbone), others)


def _price(part: Component) -> PriceConfig | None:
    """Nothing is billed for what is no server; None for a server whose price is not known."""
    section = part.config
    if not isinstance(section, OpenAIServerConfig):
        return PriceConfig(prompt_usd_per_mtok=0.0, completion_usd_per_mtok=0.0, as_of=None)
    return section.price if section.price.known else None


def _is_server(part: Component) -> bool:
    return isinstance(part.config, OpenAIServerConfig)


def unpriced(config: RunConfig) -> str | None:
    """Why `budget.usd` cannot stop this run, None where it can or was not set."""
    if config.budget.usd is None:
        return None
    parts = {"backbone": config.backbone}
    parts.update({f"backbones.{name}": part for name, part in config.backbones.items()})
    idle = f"budget.usd={config.budget.usd:g} has no effect"
    if not any(map(_is_server, parts.values())):
        return f"{idle}: backbone={config.backbone.choice} has no price"
    without = [key for key, part in parts.items() if _price(part) is None]
    if not without:
        return None
    key = without[0]
    when = "" if key == "backbone" else f" once {key} is asked"
    return (
        f"{idle}{when}: the price of {key}={parts[key].choice} is not known. Set "
        f"{key}.price.prompt_usd_per_mtok and {key}.price.completion_usd_per_mtok, US dollars for "
        "a million tokens"
    )


def _shown(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
