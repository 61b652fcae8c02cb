"""Logical calls of a rollout, from how many roles of each type the pool has (method.md §4.4).

A team fills its slots whatever the similarities are, so its size follows from the pool alone; only
the repair pass (0 to 2 calls) depends on what is answered.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from sero.inference.graph import DagConfig, degree_budgets
from sero.inference.operator import InferenceConfig
from sero.inference.retrieval import team_slots
from sero.roles.card import RoleType
from sero.roles.pool import RolePool


@dataclass(frozen=True, slots=True)
class Span:
    """A number that lies between `low` and `high`, both included."""

    low: int
    high: int

    @property
    def exact(self) -> bool:
        return self.low == self.high

    def __add__(self, other: Span) -> Span:
        return Span(self.low + other.low, self.high + other.high)

    def __mul__(self, factor: int) -> Span:
        return Span(self.low * factor, self.high * factor)


ZERO = Span(0, 0)


def exactly(n: int) -> Span:
    return Span(n, n)


def covering(spans: Iterable[Span]) -> Span:
    """The narrowest span that holds all of them; 0 of none."""
    found = list(spans)
    if not found:
        return ZERO
    return Span(min(span.low for span in found), max(span.high for span in found))


class Makeup(NamedTuple):
    """How many roles of each type a pool, or a team, has."""

    routers: int = 0
    specialists: int = 0
    validators: int = 0
    aggregators: int = 0

    @property
    def size(self) -> int:
        return sum(self)

    def changed(self, role_type: RoleType, by: int) -> Makeup:
        """The same with `by` more roles of a type."""
        counts = list(self)
        counts[role_type.stage] += by
        return Makeup(*counts)


def makeup_of(pool: RolePool) -> Makeup:
    return Makeup(*(len(pool.of_type(role_type)) for role_type in RoleType))


def team_of(pool: Makeup, cfg: InferenceConfig) -> Makeup:
    """B_t by type; its size is n."""
    slots = team_slots(pool.validators, cfg.retrieval, cfg.repair.reserved)
    picked = [min(slots[kind], pool[kind.stage]) for kind in slots]
    return Makeup(*picked)


def spoken_calls(n: int, cfg: InferenceConfig, *, silenced: int = 0) -> int:
    """n drafts (with `credit.order_source=bootstrap`), n·T messages and the aggregator's answer.

    Args:
        silenced: members whose messages are put in their mouths; they draft, and cost no more.
    """
    drafts = n if cfg.credit.order_source == "bootstrap" else 0
    return drafts + (n - silenced) * cfg.exec.rounds + 1


def repair_calls(pool: Makeup, cfg: InferenceConfig) -> Span:
    """The check and the second answer; none where nobody can check."""
    if not cfg.repair.enabled or not pool.validators:
        return ZERO
    return Span(1 if cfg.repair.always else 0, 2)


def rollout_calls(pool: Makeup, cfg: InferenceConfig) -> Span:
    """F(P, C, x): n + nT + 1 + (0..2); nothing from a pool that lost its terminal."""
    return coalition_calls(pool, team_of(pool, cfg).size, cfg)


def coalition_calls(pool: Makeup, n: int, cfg: InferenceConfig) -> Span:
    """F with a team of n named members, who are part of the pool."""
    if not pool.aggregators:
        return ZERO
    return exactly(spoken_calls(n, cfg)) + repair_calls(pool, cfg)


def most_shown_per_call(pools: Iterable[Makeup], cfg: InferenceConfig) -> float:
    """Earlier completions in the prompts of a rollout's calls, per call, at most.

    Over every team size up to the largest, with and without drafts, repaired or not, and with one
    member silenced. Among B_t an edge shows one message; from the second round on a role sees its
    own as well; the aggregator sees all n, a check the draft beside them, a second answer the draft
    and the report.
    """
    largest = max((team_of(pool, cfg).size for pool in pools), default=0)
    most = 0.0
    for n in range(largest + 1):
        shown = cfg.exec.rounds * most_edges(n, cfg.dag) + (cfg.exec.rounds - 1) * n + n
        for repaired in (0, n + 1, 2 * n + 3):
            calls = spoken_calls(n, cfg, silenced=min(n, 1)) + (repaired > 0) + (repaired > n + 1)
            most = max(most, (shown + repaired) / calls)
    return most


def most_edges(n: int, cfg: DagConfig) -> int:
    """Edges among n roles, at most."""
    every = n * (n - 1) // 2
    if cfg.order == "flat":
        return 0
    if cfg.rule == "cross_stage":
        return every
    b_out, b_in = degree_budgets(n, cfg)
    return min(every, n * b_out, n * b_in)
