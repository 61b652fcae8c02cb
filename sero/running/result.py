"""result.json: the figures of a finished run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from sero.config.named_backbones import OWN
from sero.evaluation import Summary
from sero.inference.trace import Cost
from sero.running.budget import Prices
from sero.running.build import Workshop

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What was really sent and how long it took, over all processes of a run that ended properly.

    Attributes:
        requests: distinct calls that reached the backbone.
        retries: attempts beyond the first.
        cache_hits: logical calls answered from the cache.
        wall_s: seconds the run was worked on.
        prompt_tokens, completion_tokens: of the requests that were answered, as the backbone
            counted them; what an attempt that failed was billed is not known.
        elsewhere: the part of these two that further backbones had, by their names.
    """

    requests: int = 0
    retries: int = 0
    cache_hits: int = 0
    wall_s: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    elsewhere: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def tokens(self) -> Cost:
        """The tokens that were sent and answered, by backbone."""
        return Cost(
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
            elsewhere={
                name: Cost(prompt_tokens=prompt, completion_tokens=completion)
                for name, (prompt, completion) in self.elsewhere.items()
            },
        )

    def to_data(self) -> dict[str, Any]:
        """Plain data; `elsewhere` only where there is any."""
        data = asdict(self)
        if not self.elsewhere:
            del data["elsewhere"]
        return data

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Usage:
        """The inverse of `to_data`."""
        elsewhere = {name: (p, c) for name, (p, c) in data.get("elsewhere", {}).items()}
        return cls(**{**data, "elsewhere": elsewhere})

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            requests=self.requests + other.requests,
            retries=self.retries + other.retries,
            cache_hits=self.cache_hits + other.cache_hits,
            wall_s=self.wall_s + other.wall_s,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            elsewhere={
                name: (
                    self.elsewhere.get(name, (0, 0))[0] + other.elsewhere.get(name, (0, 0))[0],
                    self.elsewhere.get(name, (0, 0))[1] + other.elsewhere.get(name, (0, 0))[1],
                )
                for name in dict.fromkeys((*self.elsewhere, *other.elsewhere))
            },
        )


def result_record(
    shop: Workshop,
    summary: Summary,
    trained: Cost,
    usage: Usage,
    *,
    method: str,
    variant: str,
    seed: int,
    prices: Prices | None = None,
) -> Mapping[str, Any]:
    """The keys of the product contract, and the cost of training and evaluation apart.

    Args:
        prices: of the backbones' tokens. Where they are known, `usd` is the price of the logical
            cost, which is the method's, and `usd_sent` that of what was sent, which is billed.
    """
    identity = shop.backbone.identity
    total = trained + summary.cost
    return {
        "schema_version": SCHEMA_VERSION,
        "method": method,
        "variant": variant,
        "benchmark": shop.benchmark.name,
        "scorer": shop.benchmark.scorer,
        "backbone": identity.model,
        "simulated": shop.simulated,
        "seed": seed,
        "split": "heldout",
        "n": summary.n,
        "mean_score": summary.mean_score,
        "groups": summary.groups,
        "subgroups": summary.subgroups,
        "metrics": summary.metrics,
        "scorer_timeouts": summary.scorer_timeouts,
        "failures": summary.failures,
        "calls": total.calls,
        "prompt_tokens": total.prompt_tokens,
        "completion_tokens": total.completion_tokens,
        "training_cost": trained.to_data(),
        "evaluation_cost": summary.cost.to_data(),
        **_by_backbone(total, shop),
        "requests": usage.requests,
        "retries": usage.retries,
        "cache_hits": usage.cache_hits,
        "pool_hash": shop.method.state.pool.hash,
        "wall_s": round(usage.wall_s, 3),
        **_dollars(prices, total, usage),
    }


def _by_backbone(total: Cost, shop: Workshop) -> dict[str, Any]:
    """The logical cost of each backbone where there are several: its model, calls and tokens.

    The run's own stands under `own`.
    """
    if not shop.others:
        return {}
    rest = total
    for part in total.elsewhere.values():
        rest = Cost(
            calls=rest.calls - part.calls,
            prompt_tokens=rest.prompt_tokens - part.prompt_tokens,
            completion_tokens=rest.completion_tokens - part.completion_tokens,
        )
    costs = {name: total.elsewhere.get(name, Cost()) for name in shop.others}
    own = {OWN: {"model": shop.backbone.identity.model, **rest.to_data()}}
    others = {
        name: {"model": one.identity.model, **costs[name].to_data()}
        for name, one in shop.others.items()
    }
    return {"cost_by_backbone": {**own, **others}}


def _dollars(prices: Prices | None, total: Cost, usage: Usage) -> dict[str, float]:
    """Nothing where a price is unknown: a 0 would read as free."""
    if prices is None:
        return {}
    method, sent = prices.usd(total), prices.usd(usage.tokens)
    if method is None or sent is None:
        return {}
    return {"usd": round(method, 6), "usd_sent": round(sent, 6)}
