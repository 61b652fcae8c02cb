"""The inference operator F(P, C, x), straight down the page.

No branch on a benchmark, no prompt text, no reference answer in reach: parsing and scoring follow
outside, where the task and its gold are known. F never writes P or C.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sero.backbones.base import CallContext
from sero.credit import CreditConfig, PoolState
from sero.inference.execution import ExecConfig, bootstrap, run_dag, upstream_of
from sero.inference.graph import DagConfig, Edge, build_dag, dag_along, stage_order
from sero.inference.parts import Parts
from sero.inference.peers import NOBODY_ASKED, PeerRatings, peer_ratings
from sero.inference.repair import RepairConfig, aggregate, choose_validator, repair
from sero.inference.retrieval import RetrievalConfig, assigned_team, explicit_team, retrieve_team
from sero.inference.role_assignment import Assigner
from sero.inference.signals import rollout_fast_credit, with_validator_floors
from sero.inference.trace import RoleMessage, Rollout


@dataclass(frozen=True, slots=True, kw_only=True)
class InferenceConfig:
    """The sections the operator reads.

    Attributes:
        assigner: who decides which candidate plays a role; None: every card stands as it is.
    """

    retrieval: RetrievalConfig
    credit: CreditConfig
    exec: ExecConfig
    dag: DagConfig
    repair: RepairConfig
    assigner: Assigner | None = None


async def answer(
    prompt: str,
    state: PoolState,
    parts: Parts,
    cfg: InferenceConfig,
    *,
    call: CallContext,
    team_names: Sequence[str] | None = None,
    replace: Mapping[str, str] | None = None,
    edges: frozenset[Edge] | None = None,
) -> Rollout:
    """Run F(P, C, x): retrieve, draft, rank, join, execute, aggregate, repair.

    Args:
        prompt: x, the task's whole text.
        state: (P, C), read only.
        call: where in the run this rollout stands; reaches every request.
        team_names: B_t by name instead of retrieval (credit estimators).
        replace: texts put in roles' mouths, as final message and as repair report (clamped
            counterfactuals).
        edges: (from, to) by name instead of the rule's; those that go forward in the order count.

    Raises:
        BackboneError: the machine failed; no partial rollout is returned.

    Source: method.md §4.1-4.4; the structured inference procedure of the paper.
    """
    # A_t: the best roles of each stage for this task, and the terminal
    team = (
        retrieve_team(prompt, state, parts.encoder, cfg.retrieval, cfg.credit, cfg.repair.reserved)
        if team_names is None
        else explicit_team(prompt, team_names, state, parts.encoder)
    )
    # and who plays its roles, where several candidates could
    team = await assigned_team(prompt, team, cfg.assigner, call=call)
    if team.aggregator is None:
        return Rollout.without_terminal(team.names, team.similarity)

    def fast_credit(messages: Sequence[RoleMessage], peers: PeerRatings) -> dict[str, float]:
        return rollout_fast_credit(
            prompt, messages, team, state.credit, cfg.credit, parts, peers.importance
        )

    # m⁰_r and f_r: every role drafts alone, and may rate the others; no score ranks the drafts
    if cfg.credit.order_source == "bootstrap":
        drafts = await bootstrap(prompt, team.members, parts, call=call)
        rated = await peer_ratings(prompt, team.members, drafts, parts, cfg.credit, call=call)
        fast = fast_credit(drafts, rated)
    else:
        drafts, rated = [], NOBODY_ASKED
        fast = {card.name: state.credit[card.name].fast or 0.0 for card in team.members}

    # Eq. 7 and the DAG: by stage, then by credit; forward edges under degree budgets, or given ones
    order = stage_order(team.members, fast, cfg.dag.order, call)
    dag = build_dag(order, fast, cfg.dag) if edges is None else dag_along(order, edges)

    # m_r: each role speaks once its predecessors have spoken
    said = await run_dag(prompt, dag, parts, rounds=cfg.exec.rounds, call=call, replace=replace)
    final = said[len(said) - len(order) :]

    # ŷ: the aggregator answers from all messages; a validator may ask for one revision
    upstream = upstream_of(dag, final)
    draft = await aggregate(prompt, team.aggregator, upstream, parts, call=call)
    validator = choose_validator(state, team, cfg.repair, cfg.credit)
    fixed = await repair(
        prompt,
        draft,
        upstream,
        validator,
        team.aggregator,
        parts,
        cfg.repair,
        call=call,
        replace=replace,
    )

    return Rollout(
        team=team.names,
        order=tuple(card.name for card in order),
        edges=tuple((order[i].name, order[j].name) for i, j in dag.edges),
        levels=dag.levels,
        similarity=dict(team.similarity),
        fast=fast,
        final_fast=with_validator_floors(fast_credit(final, rated), team.members, fixed),
        messages=(
            *team.assignment.messages,
            *drafts,
            *rated.messages,
            *said,
            draft.message,
            *fixed.messages,
        ),
        answer=fixed.answer,
        validator=fixed.validator,
        revised=fixed.revised,
        adopted=fixed.adopted,
        metrics=rated.metrics,
        assignment=team.assignment.record,
    )
