"""Stage-aware order (Eq. 7) and the DAG of messages (method.md §4.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge

from sero.backbones.base import CallContext
from sero.roles.card import RoleCard, RoleType
from sero.seeding import derive_seed

Rule = Literal["nearest", "farthest", "credit", "cross_stage"]
Order = Literal["credit", "reverse", "random", "flat"]
Edge = tuple[str, str]
"""(from, to) by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DagConfig:
    """The `dag` section. Degree budgets None follow the paper's formulas."""

    rule: Rule
    order: Order
    b_out: Annotated[int, Ge(1)] | None
    b_in: Annotated[int, Ge(1)] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dag:
    """Forward edges over an order r_1 < ... < r_n; every role also feeds the aggregator.

    Attributes:
        order: B_t in stage order.
        predecessors: for each role, positions of its predecessors in `order`, ascending.
    """

    order: tuple[RoleCard, ...]
    predecessors: tuple[tuple[int, ...], ...]

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """(i, j) with i before j, by target."""
        return tuple((i, j) for j, preds in enumerate(self.predecessors) for i in preds)

    @property
    def levels(self) -> tuple[int, ...]:
        """0 without predecessors, else 1 + the highest level among them."""
        levels: list[int] = []
        for preds in self.predecessors:
            levels.append(1 + max((levels[i] for i in preds), default=-1))
        return tuple(levels)


def stage_order(
    members: Sequence[RoleCard],
    fast: Mapping[str, float],
    order: Order,
    call: CallContext,
) -> tuple[RoleCard, ...]:
    """Eq. 7: ascending (τ(r), -f_r, index(r)); `members` come in pool order.

    For ablation: `reverse` puts the worst of a stage first, `random` draws an order over all
    stages from (seed, task, role), so that a role keeps its place when another leaves, `flat` is
    pool order within the stage.

    Raises:
        ValueError: a terminal role is among the members.
    """
    for card in members:
        if card.role_type is RoleType.AGGREGATOR:
            raise ValueError(
                f"stage_order got terminal role {card.name!r}; pass B_t, the team without its "
                "aggregator"
            )

    def key(i: int) -> tuple[float, float, int]:
        card = members[i]
        match order:
            case "credit":
                return (card.role_type.stage, -fast[card.name], i)
            case "reverse":
                return (card.role_type.stage, fast[card.name], i)
            case "random":
                return (derive_seed(call.run_seed, "dag-order", call.item, card.name), 0.0, i)
            case "flat":
                return (card.role_type.stage, 0.0, i)

    return tuple(members[i] for i in sorted(range(len(members)), key=key))


def degree_budgets(n: int, cfg: DagConfig) -> tuple[int, int]:
    """(b_out, b_in) = (max(1, min(2, n-1)), max(1, ⌊n/2⌋)) unless the configuration gives them."""
    b_out = max(1, min(2, n - 1)) if cfg.b_out is None else cfg.b_out
    b_in = max(1, n // 2) if cfg.b_in is None else cfg.b_in
    return b_out, b_in


def build_dag(order: Sequence[RoleCard], fast: Mapping[str, float], cfg: DagConfig) -> Dag:
    """Forward edges under the degree budgets; acyclic because edges only go forward.

    For each r_i the later roles are visited nearest first (`nearest`), farthest first, or by
    fast credit descending (`credit`); a visit adds an edge while out(i) < b_out and
    in(j) < b_in. `cross_stage` joins every pair of different stages and knows no budgets.
    `dag.order=flat` has no edges: every role sees the task alone.
    """
    n = len(order)
    predecessors: list[list[int]] = [[] for _ in range(n)]
    b_out, b_in = degree_budgets(n, cfg)
    for i in range(n):
        if cfg.order == "flat":
            break
        later = list(range(i + 1, n))
        if cfg.rule == "cross_stage":
            stage = order[i].role_type.stage
            for j in later:
                if order[j].role_type.stage > stage:
                    predecessors[j].append(i)
            continue
        if cfg.rule == "farthest":
            later.reverse()
        elif cfg.rule == "credit":
            later.sort(key=lambda j: -fast[order[j].name])
        out = 0
        for j in later:
            if out >= b_out:
                break
            if len(predecessors[j]) < b_in:
                predecessors[j].append(i)
                out += 1
    return Dag(order=tuple(order), predecessors=tuple(tuple(sorted(p)) for p in predecessors))


def dag_along(order: Sequence[RoleCard], edges: Set[Edge]) -> Dag:
    """The given edges that join two roles of the order and go forward in it; no degree budgets."""
    return Dag(
        order=tuple(order),
        predecessors=tuple(
            tuple(i for i in range(j) if (order[i].name, target.name) in edges)
            for j, target in enumerate(order)
        ),
    )
