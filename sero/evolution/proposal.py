"""From the controller's action to an edited state: E(P, C, x, a) (method.md §4.8)."""

from __future__ import annotations

from dataclasses import dataclass

from sero.benchmarks.base import Task
from sero.credit import CreditConfig, PoolState, RoleCredit, historical
from sero.evolution.actions import Action, Operation
from sero.evolution.editor import CardEditor, Situation
from sero.evolution.reasons import Reason
from sero.evolution.sections import EditorConfig
from sero.roles.card import RoleCard, RoleType


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """An edit that is not committed yet.

    Attributes:
        operation: what was asked for.
        target: the removed role, or the anchor of an Add; None for Noop.
        card: the new role of an Add.
        candidate: (P~, C~), None when nothing would change.
        reasons: why an Add has no usable card.
    """

    operation: Operation
    target: str | None = None
    card: RoleCard | None = None
    candidate: PoolState | None = None
    reasons: tuple[Reason, ...] = ()


def anchor_mask(state: PoolState, cfg: EditorConfig) -> tuple[bool, ...]:
    """Which roles may be the editor's anchor (`editor.anchor_types`)."""
    return tuple(
        cfg.anchor_types == "all" or card.role_type is RoleType.SPECIALIST for card in state.pool
    )


def best_anchor(state: PoolState, cfg: EditorConfig, credit: CreditConfig) -> RoleCard | None:
    """argmax c_r over the allowed anchors, ties by pool index; None if there is none."""
    allowed = [c for c, ok in zip(state.pool, anchor_mask(state, cfg), strict=True) if ok]
    return max(allowed, default=None, key=lambda card: historical(state.credit[card.name], credit))


async def edit(
    action: Action,
    task: Task,
    state: PoolState,
    editor: CardEditor,
    credit: CreditConfig,
    *,
    seed_families: tuple[str, ...],
    failures: tuple[str, ...],
    removed: tuple[str, ...],
    episode: int,
) -> Proposal:
    """Apply an action to (P, C) without committing it.

    Add asks the editor for a card beside the anchor: the action's target if it names one, else
    the role with the highest credit. A new role starts with zero credit and an exploration count
    of `credit.new_n`.

    Raises:
        BackboneError: the editor's call failed.
    """
    if action.operation is Operation.NOOP:
        return Proposal(operation=action.operation)
    if action.operation is Operation.REMOVE:
        if action.target is None:
            raise ValueError("edit got Remove without a target; a Remove action names a pool index")
        gone = state.pool.cards[action.target].name
        pool = state.pool.without_role(gone)
        return Proposal(
            operation=action.operation,
            target=gone,
            candidate=PoolState(pool, state.credit.restricted(pool.names)),
        )
    anchor = (
        best_anchor(state, editor.cfg, credit)
        if action.target is None
        else state.pool.cards[action.target]
    )
    situation = Situation(
        pool=state.pool,
        seed_families=seed_families,
        anchor=anchor,
        failures=failures,
        removed=removed,
    )
    offer = await editor.propose(task, situation, episode)
    target = anchor.name if anchor else None
    if offer.card is None:
        return Proposal(operation=action.operation, target=target, reasons=offer.reasons)
    newcomer = {offer.card.name: RoleCredit(n_bonus=credit.new_n)}
    return Proposal(
        operation=action.operation,
        target=target,
        card=offer.card,
        candidate=PoolState(state.pool.with_role(offer.card), state.credit.updated(newcomer)),
    )
