"""Does the controller learn? Algorithm 2 with the pool frozen: a bandit with exact action values.

Every action on every training task is rolled out once and tabulated. A controller is then trained
on the table through the interface it is trained through in a run, and the value of its policy is
computed exactly instead of estimated (method.md §8.3).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from sero.backbones.base import Phase
from sero.benchmarks.base import Task
from sero.credit import PoolState
from sero.evolution.actions import Action, Operation, TrainPhase
from sero.evolution.controller import DecisionView, MlpController
from sero.evolution.leave_one_out import refresh, refresh_tasks
from sero.evolution.policy import PolicyNetwork, masked_log_softmax
from sero.evolution.proposal import edit
from sero.evolution.rolling import Scored
from sero.evolution.trainer import Trainer, look
from sero.seeding import rng_for

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RewardTable:
    """R of every action on every task, the pool the same throughout.

    Attributes:
        operations: order of the operation head.
        views: what a controller sees before it acts, one per task.
        add: R of sampled Adds; one that a guard refuses is worth 0. Shape (T, n_add).
        remove: R of removing each role, 0 where it may not go. Shape (T, P).
    """

    operations: tuple[Operation, ...]
    views: tuple[DecisionView, ...]
    add: Matrix
    remove: Matrix

    @property
    def removable(self) -> NDArray[np.bool_]:
        """Roles a Remove may name; the same for every task. Shape (P,)."""
        return np.array(self.views[0].legal.targets, dtype=np.bool_)

    @property
    def uniform(self) -> float:
        """V of a uniform operation with a uniform target; Noop is worth 0."""
        return float(self.add.mean() + self.remove[:, self.removable].mean()) / 3.0

    @property
    def best_fixed(self) -> float:
        """V of the best single action for all tasks: Add, one role's removal, or Noop."""
        removals = self.remove[:, self.removable].mean(axis=0)
        return max(float(self.add.mean()), float(removals.max()), 0.0)

    def gap_share(self, value: float) -> float:
        """(V - V_uniform) / (V_best - V_uniform); above 1 when the choice depends on the task."""
        return (value - self.uniform) / (self.best_fixed - self.uniform)

    def reward(self, task: int, action: Action, rng: np.random.Generator) -> float:
        """R of an action; an Add draws one of its samples, and a number is drawn either way."""
        drawn = int(rng.integers(self.add.shape[1]))
        match action.operation:
            case Operation.ADD:
                return float(self.add[task, drawn])
            case Operation.REMOVE:
                assert action.target is not None
                return float(self.remove[task, action.target])
            case Operation.NOOP:
                return 0.0


async def measured_credit(t: Trainer, pool_state: PoolState, *, refreshes: int) -> PoolState:
    """The state after a number of leave-one-out refreshes, its pool untouched."""
    for number in range(1, refreshes + 1):
        drawn = refresh_tasks(t.tasks, t.credit, run_seed=t.run_seed, episode=number)
        refreshed = await refresh(pool_state, drawn, t.roll, t.credit, episode=number)
        pool_state = refreshed.state
    return pool_state


async def reward_table(t: Trainer, state: PoolState, *, n_add: int) -> RewardTable:
    """Roll out every removal and `n_add` sampled Adds on every training task, in the main phase.

    Raises:
        ValueError: no role may be removed, no Add is legal, or an Add's value would depend on a
            target (`policy.add_target=anchor`).
        BackboneError: the machine failed.
    """
    if t.policy.add_target != "none":
        raise ValueError("reward_table needs policy.add_target=none: it holds one value per Add")
    views: list[DecisionView] = []
    add = np.zeros((len(t.tasks), n_add))
    remove = np.zeros((len(t.tasks), len(state.pool)))
    for i, task in enumerate(t.tasks):
        first = 1 + i * n_add
        before = await t.roll(task, state, Phase.PRE, first)
        view = look(t, task, before, state, TrainPhase.MAIN)
        views.append(view)
        for z in np.flatnonzero(view.legal.targets):
            gone = Action(operation=Operation.REMOVE, target=int(z))
            remove[i, z] = await _reward(t, task, state, before, gone, first)
        for j in range(n_add):
            newcomer = Action(operation=Operation.ADD, target=None)
            add[i, j] = await _reward(t, task, state, before, newcomer, first + j)
    table = RewardTable(
        operations=tuple(Operation(name) for name in t.policy.operations),
        views=tuple(views),
        add=add,
        remove=remove,
    )
    if not all(all(view.legal.operations) for view in views):
        raise ValueError(
            f"reward_table got a pool of {len(state.pool)} under p_max {t.guard.pool.p_max} with "
            f"{int(table.removable.sum())} removable roles; Add and Remove must both be legal"
        )
    return table


async def _reward(
    t: Trainer, task: Task, state: PoolState, before: Scored, action: Action, episode: int
) -> float:
    """R of one edit as training would see it: 0 without a candidate or past a guard."""
    proposal = await edit(
        action,
        task,
        state,
        t.editor,
        t.credit,
        seed_families=t.guard.terms.seed_families,
        failures=(),
        removed=(),
        episode=episode,
    )
    candidate = proposal.candidate
    if candidate is None or t.guard.violations(candidate.pool, state.pool):
        return 0.0
    after = await t.roll(task, candidate, Phase.POST, episode)
    return after.value - before.value


@torch.inference_mode()
def policy_value(network: PolicyNetwork, table: RewardTable) -> float:
    """V(π) = (1/T) Σ_t [ π(add) r̄_t,add + π(remove) Σ_z π(z | remove) r_t,z ], exactly."""
    operations = table.operations
    seen = [view.observation for view in table.views]
    h = network.features(torch.from_numpy(np.stack([o.vector for o in seen])))
    legal = torch.tensor([view.legal.operations for view in table.views])
    of_op = masked_log_softmax(network.op_logits(h), legal).exp().double().numpy()
    scores = network.target_logits(
        h,
        torch.full((len(seen),), operations.index(Operation.REMOVE)),
        torch.from_numpy(np.stack([o.roles for o in seen])),
        torch.from_numpy(np.stack([o.local for o in seen])),
        torch.from_numpy(np.stack([o.n_bonus for o in seen])),
    )
    targets = torch.tensor([view.legal.targets for view in table.views])
    of_target = masked_log_softmax(scores, targets).exp().double().numpy()
    added = of_op[:, operations.index(Operation.ADD)] * table.add.mean(axis=1)
    removed = of_op[:, operations.index(Operation.REMOVE)] * (of_target * table.remove).sum(axis=1)
    return float((added + removed).mean())


def learning_curve(
    controller: MlpController, table: RewardTable, *, marks: Collection[int], run_seed: int
) -> dict[int, float]:
    """Train on the table; the exact value of the policy after each number of episodes in `marks`.

    Tasks are drawn with replacement, so that no mark depends on where an epoch ends.
    """
    values: dict[int, float] = {}
    for episode in range(1, max(marks) + 1):
        rng = rng_for(run_seed, "bandit", episode)
        task = int(rng.integers(len(table.views)))
        view = table.views[task]
        decision = controller.act(view, rng)
        controller.record(view, decision, table.reward(task, decision.action, rng))
        if controller.due:
            controller.update()
        if episode in marks:
            values[episode] = policy_value(controller.network, table)
    return values
