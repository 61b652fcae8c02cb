"""Controllers that do not learn: the controls a learned one is measured against (method.md §4.9).

Each takes the same number of draws from its stream whatever it decides, so that a change of one
episode moves no other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sero.credit import CreditConfig, historical
from sero.evolution.actions import Action, Operation
from sero.evolution.controller import Decision, DecisionView

HARMFUL_CREDIT = -0.005
"""c_r below which the credit heuristic takes a role for harmful, in score units."""


class Control:
    """What controllers without parameters share: nothing to record, nothing to update.

    Args:
        operations: `policy.operations`, the order of a view's flags and of `op_probs`.
    """

    name: str
    due = False
    pending = 0

    def __init__(self, operations: Sequence[str]) -> None:
        self._operations = tuple(Operation(name) for name in operations)

    def record(self, view: DecisionView, decision: Decision, reward: float) -> None:
        """Rewards change nothing here."""

    def update(self) -> Mapping[str, float]:
        return {}

    def state(self) -> dict[str, Any]:
        return {"name": self.name}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Check that the snapshot is of this control; there is nothing else in it.

        Raises:
            ValueError: the snapshot is of another controller.
        """
        if state["name"] != self.name:
            raise ValueError(f"state of controller {state['name']!r} given to {self.name!r}")


class UniformLegal(Control):
    """Gated random: ω uniform over the legal operations, z uniform over the removable roles.

    Args:
        operations: `policy.operations`.
        anchored: `policy.add_target=anchor`: an Add draws its anchor too, as the learned
            controller does.
    """

    name = "uniform_legal"

    def __init__(self, operations: Sequence[str], *, anchored: bool = False) -> None:
        super().__init__(operations)
        self._anchored = anchored

    def act(self, view: DecisionView, rng: np.random.Generator) -> Decision:
        u_op, u_target = rng.random(2)
        legal = [i for i, flag in enumerate(view.legal.operations) if flag]
        if not legal:
            return _certain(Operation.NOOP, None, self._operations)
        operation = self._operations[_pick(legal, u_op)]
        target, log_prob = None, -math.log(len(legal))
        targets: list[int] = []
        if operation is Operation.REMOVE:
            targets = [i for i, flag in enumerate(view.legal.targets) if flag]
        elif operation is Operation.ADD and self._anchored:
            targets = [i for i, flag in enumerate(view.anchors) if flag]
        if targets:
            target = _pick(targets, u_target)
            log_prob -= math.log(len(targets))
        return Decision(
            action=Action(operation=operation, target=target),
            log_prob=log_prob,
            entropy=math.log(len(legal)),
            op_probs=tuple(flag / len(legal) for flag in view.legal.operations),
        )


class UniformUngated(Control):
    """Random evolution: ω uniform over the operations, z over the pool, legal or not.

    Whether the edit can be done is left to the guard and the editor, which say why it cannot.
    """

    name = "uniform_ungated"

    def act(self, view: DecisionView, rng: np.random.Generator) -> Decision:
        u_op, u_target = rng.random(2)
        n_ops, n_roles = len(self._operations), len(view.state.pool)
        operation = self._operations[_pick(range(n_ops), u_op)]
        target, log_prob = None, -math.log(n_ops)
        if operation is Operation.REMOVE:
            target = _pick(range(n_roles), u_target)
            log_prob -= math.log(n_roles)
        return Decision(
            action=Action(operation=operation, target=target),
            log_prob=log_prob,
            entropy=math.log(n_ops),
            op_probs=(1.0 / n_ops,) * n_ops,
        )


class CreditHeuristic(Control):
    """Two lines of common sense: drop the role with the worst credit, else add where points lack.

    With z the removable role of lowest c, ties by index: Remove z with probability 1/2 if
    c_z < -0.005 and Remove is legal; else Add if s⁻ < 1 and Add is legal; else Noop. The credit
    is read in its own units, in warm-up as well, where Remove is not legal anyway.

    Args:
        operations: `policy.operations`.
        credit: how c_r is read (bias correction).
    """

    name = "credit_heuristic"

    def __init__(self, operations: Sequence[str], *, credit: CreditConfig) -> None:
        super().__init__(operations)
        self._credit = credit

    def act(self, view: DecisionView, rng: np.random.Generator) -> Decision:
        heads = rng.random() < 0.5
        legal = dict(zip(self._operations, view.legal.operations, strict=True))
        otherwise = Operation.NOOP
        if view.score < 1.0 and legal.get(Operation.ADD, False):
            otherwise = Operation.ADD
        worst = self._worst(view) if legal.get(Operation.REMOVE, False) else None
        if worst is None:
            return _certain(otherwise, None, self._operations)
        odds = {Operation.REMOVE: 0.5, otherwise: 0.5}
        operation = Operation.REMOVE if heads else otherwise
        return Decision(
            action=Action(operation=operation, target=worst if heads else None),
            log_prob=math.log(0.5),
            entropy=math.log(2.0),
            op_probs=tuple(odds.get(each, 0.0) for each in self._operations),
        )

    def _worst(self, view: DecisionView) -> int | None:
        """Index of the removable role of lowest credit, if that is low enough."""
        credit, cfg = view.state.credit, self._credit
        rows = [
            (historical(credit[card.name], cfg), i)
            for i, (card, removable) in enumerate(
                zip(view.state.pool, view.legal.targets, strict=True)
            )
            if removable
        ]
        lowest, index = min(rows, default=(0.0, -1))
        return index if lowest < HARMFUL_CREDIT else None


def _pick(choices: Sequence[int], u: float) -> int:
    """The choice a uniform number in [0, 1) falls on."""
    return choices[int(u * len(choices))]


def _certain(operation: Operation, target: int | None, operations: Sequence[Operation]) -> Decision:
    """A decision that leaves nothing to chance."""
    return Decision(
        action=Action(operation=operation, target=target),
        log_prob=0.0,
        entropy=0.0,
        op_probs=tuple(float(each is operation) for each in operations),
    )
