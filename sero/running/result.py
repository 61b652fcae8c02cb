"""result.json: the figures of a finished run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sero.backbones.price import PriceConfig
from sero.evaluation import Summary
from sero.inference.trace import Cost
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
    """

    requests: int = 0
    retries: int = 0
    cache_hits: int = 0
    wall_s: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            requests=self.requests + other.requests,
            retries=self.retries + other.retries,
            cache_hits=self.cache_hits + other.cache_hits,
            wall_s=self.wall_s + other.wall_s,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
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
    price: PriceConfig | None = None,
) -> Mapping[str, Any]:
    """The keys of the product contract, and the cost of training and evaluation apart.

    Args:
        price: of the backbone's tokens. Where it is known, `usd` is the price of the logical
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
        "simulated": identity.simulated or shop.benchmark.simulated,
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
        "training_cost": asdict(trained),
        "evaluation_cost": asdict(summary.cost),
        "requests": usage.requests,
        "retries": usage.retries,
        "cache_hits": usage.cache_hits,
        "pool_hash": shop.method.state.pool.hash,
        "wall_s": round(usage.wall_s, 3),
        **_dollars(price, total, usage),
    }


def _dollars(price: PriceConfig | None, total: Cost, usage: Usage) -> dict[str, float]:
    """Nothing where the price is unknown: a 0 would read as free."""
    if price is None:
        return {}
    method = price.usd(total.prompt_tokens, total.completion_tokens)
    sent = price.usd(usage.prompt_tokens, usage.completion_tokens)
    if method is None or sent is None:
        return {}
    return {"usd": round(method, 6), "usd_sent": round(sent, 6)}
