"""Logical calls of a rollout, from how many roles of each type the pool has (method.md §4.4).

A team fills its slots whatever the similarities are, so its size follows from the pool alone; only
the repair pass (0 to 2 calls) depends on what is answered.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sero.inference.graph import DagConfig, degree_budgets
from sero.inference.operator import InferenceConfig
from sero.inference.retrieval import team_slots
from sero.inference.span import ZERO, Span, exactly
from sero.roles.card import RoleType
from sero.roles.pool import RolePool


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


def spoken_calls(n: int, cfg: InferenceConfig, *, silenced: int = 0) -> Span:
    """n drafts (with `credit.order_source=bootstrap`), n·T messages and the aggregator's answer.

    With `credit.peer_ratings` as many ratings as drafts. Where candidates are assigned to the n
    members and the aggregator, that comes before them.

    Args:
        silenced: members whose messages are put in their mouths; they draft and rate, and cost no
            more.
    """
    drafts = n if cfg.credit.order_source == "bootstrap" else 0
    spoken = exactly(drafts + rating_calls(n, cfg) + (n - silenced) * cfg.exec.rounds + 1)
    return spoken if cfg.assigner is None else cfg.assigner.planned(n + 1).calls + spoken


def rating_calls(n: int, cfg: InferenceConfig) -> int:
    """Each of n members rates the drafts of the others, where there are drafts and others."""
    rated = cfg.credit.peer_ratings and cfg.credit.order_source == "bootstrap"
    return n if rated and n > 1 else 0


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
    return spoken_calls(n, cfg) + repair_calls(pool, cfg)


def most_shown_per_call(pools: Iterable[Makeup], cfg: InferenceConfig) -> float:
    """Earlier completions in the prompts of a rollout's calls, per call, at most.

    Over every team size up to the largest, with and without drafts, repaired or not, and with one
    member silenced. Among B_t an edge shows one message; from the second round on a role sees its
    own as well; the aggregator sees all n, a check the draft beside them, a second answer the draft
    and the report. A rating shows the drafts of the others, a review of an assignment proposals.
    """
    largest = max((team_of(pool, cfg).size for pool in pools), default=0)
    most = 0.0
    for n in range(largest + 1):
        shown = cfg.exec.rounds * most_edges(n, cfg.dag) + (cfg.exec.rounds - 1) * n + n
        shown += rating_calls(n, cfg) * (n - 1)
        if cfg.assigner is not None:
            shown += cfg.assigner.planned(n + 1).shown
        for repaired in (0, n + 1, 2 * n + 3):
            spoken = spoken_calls(n, cfg, silenced=min(n, 1)).low
            most = max(most, (shown + repaired) / (spoken + (repaired > 0) + (repaired > n + 1)))
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
