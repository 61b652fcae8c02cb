"""The five structural contracts of a pool, as booleans with reasons (method.md §1, §4.8)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sero.backbones.base import CallContext, Phase
from sero.benchmarks.base import Task
from sero.credit import PoolState
from sero.evolution.rolling import Roller
from sero.inference.graph import Dag, build_dag, stage_order
from sero.inference.retrieval import retrieve_team
from sero.roles.card import RoleType
from sero.roles.pool import RolePool


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """One contract: its name, whether the pool keeps it, and why not."""

    name: str
    holds: bool
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What the contracts ask of every pool of a run.

    Attributes:
        seed_families: families of the seed pool, in its order; each stays covered.
        min_validators: validators that must remain; 0 when no validator is reserved.
        output_protocol: the benchmark's answer format, which the terminal role must own.
    """

    seed_families: tuple[str, ...]
    min_validators: int
    output_protocol: str


def static_contracts(pool: RolePool, terms: Terms | None = None) -> tuple[Contract, ...]:
    """What can be said of a pool without a task: all five, communication by its protocols alone.

    Without terms the pool is judged by itself: its own families, one validator, any output format.
    """
    terms = terms or Terms(seed_families=pool.families, min_validators=1, output_protocol="")
    return (
        capability(pool, terms.seed_families),
        communication(pool, None),
        validation(pool, terms.min_validators),
        aggregation(pool),
        output(pool, terms.output_protocol),
    )


def contract_report(pool: RolePool, terms: Terms, dag: Dag) -> tuple[Contract, ...]:
    """The five contracts of a pool, given the DAG its retrieved team would run for a task."""
    capability_, _, *others = static_contracts(pool, terms)
    return (capability_, communication(pool, dag), *others)


def report_for_task(
    task: Task, state: PoolState, terms: Terms, roll: Roller
) -> tuple[Contract, ...]:
    """The report of a candidate for the task it was proposed on; costs no model call.

    The team is the one retrieval would pick; the order uses the stored fast credit, because no
    draft exists yet.
    """
    parts, cfg = roll.parts, roll.inference
    team = retrieve_team(
        task.prompt, state, parts.encoder, cfg.retrieval, cfg.credit, cfg.repair.reserved
    )
    fast = {card.name: state.credit[card.name].fast or 0.0 for card in team.members}
    call = CallContext(run_seed=roll.run_seed, phase=Phase.POST, episode=None, item=task.id)
    order = stage_order(team.members, fast, cfg.dag.order, call)
    return contract_report(state.pool, terms, build_dag(order, fast, cfg.dag))


def capability(pool: RolePool, seed_families: Collection[str]) -> Contract:
    """At least one role for every family of the seed pool."""
    missing = [family for family in seed_families if family not in pool.families]
    return _contract("capability", [f"no role covers family '{family}'" for family in missing])


def communication(pool: RolePool, dag: Dag | None) -> Contract:
    """Protocols are non-empty; the team's DAG is acyclic and reaches the aggregator."""
    reasons = [
        f"'{card.name}' has an empty communication protocol"
        for card in pool
        if not card.communication_protocol.strip()
    ]
    if dag is not None:
        reasons += [
            f"edge from '{dag.order[i].name}' to '{dag.order[j].name}' does not go forward"
            for i, j in dag.edges
            if i >= j
        ]
        if pool.terminal is None:
            reasons.append("no aggregator: the messages reach nobody")
    return _contract("communication", reasons)


def validation(pool: RolePool, minimum: int) -> Contract:
    """Detection and repair stay reachable: enough validators."""
    n = len(pool.of_type(RoleType.VALIDATOR))
    short = [f"{n} validator(s), at least {minimum} needed"] if n < minimum else []
    return _contract("validation", short)


def aggregation(pool: RolePool) -> Contract:
    """Exactly one aggregator, and it is protected."""
    terminals = pool.of_type(RoleType.AGGREGATOR)
    reasons = []
    if len(terminals) != 1:
        reasons.append(f"{len(terminals)} aggregators, exactly one is needed")
    reasons += [
        f"aggregator '{card.name}' is not protected" for card in terminals if not card.protected
    ]
    return _contract("aggregation", reasons)


def output(pool: RolePool, output_protocol: str) -> Contract:
    """The terminal role's protocol is the benchmark's."""
    terminal = pool.terminal
    if terminal is None:
        return _contract("output", ["no aggregator owns the answer format"])
    owns = output_protocol in terminal.communication_protocol
    reason = f"'{terminal.name}' does not own the answer format {output_protocol!r}"
    return _contract("output", [] if owns else [reason])


def _contract(name: str, reasons: list[str]) -> Contract:
    return Contract(name=name, holds=not reasons, reasons=tuple(reasons))
