"""Controllers: who proposes an edit, and the learned one (method.md §4.7, §4.8).

A controller sees a `DecisionView`, answers with a `Decision`, is told the reward, and says when an
update is due. Controls that do not learn follow the same protocol.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import torch

from sero.credit import PoolState
from sero.evolution.actions import Action, Legal, Operation, TrainPhase
from sero.evolution.observation import Observation
from sero.evolution.policy import (
    PolicyNetwork,
    entropy,
    inverse_cdf,
    log_policy,
    masked_log_softmax,
)
from sero.evolution.reinforce import advantages, next_baseline, reinforce_loss
from sero.evolution.sections import PolicyConfig, ReinforceConfig
from sero.evolution.transition import Transition, stack
from sero.seeding import derive_seed


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DecisionView:
    """Everything a controller may look at before it acts.

    Attributes:
        observation: o and the roles' features.
        legal: masks of operations and removable roles.
        anchors: one flag per pool index: the role may be an Add's anchor.
        state: (P, C) before the edit.
        score: s⁻, the pre-edit score in [0, 1].
        phase: warm-up or main.
    """

    observation: Observation
    legal: Legal
    anchors: tuple[bool, ...]
    state: PoolState
    score: float
    phase: TrainPhase


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """An action, and how sure the controller was.

    Attributes:
        action: a = (ω, z).
        log_prob: log π(a | o), in nats.
        entropy: entropy of the operation head over legal operations, in nats.
        op_probs: probability of each entry of `policy.operations`.
    """

    action: Action
    log_prob: float
    entropy: float
    op_probs: tuple[float, ...]


class Controller(Protocol):
    """Proposes edits; may learn from their rewards."""

    @property
    def name(self) -> str: ...

    @property
    def due(self) -> bool:
        """A full batch waits for `update`."""
        ...

    @property
    def pending(self) -> int:
        """Recorded decisions that no update has used yet."""
        ...

    def act(self, view: DecisionView, rng: np.random.Generator) -> Decision:
        """Choose a legal action; all randomness comes from `rng`."""
        ...

    def record(self, view: DecisionView, decision: Decision, reward: float) -> None:
        """Take note of R, the score difference in [-1, 1] the decision led to."""
        ...

    def update(self) -> Mapping[str, float]:
        """Learn from what is pending, full batch or not; metrics, empty if nothing was learnt."""
        ...

    def state(self) -> dict[str, Any]:
        """A snapshot of tensors and plain types, for `restore`."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue exactly where the snapshot was taken."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MlpControllerConfig:
    """`controller=mlp`; its sizes and rates are the `policy` and `reinforce` sections."""

    name: str


class MlpController:
    """The paper's controller: `PolicyNetwork` trained by REINFORCE, on the CPU in float32.

    Args:
        cfg: its name.
        obs_dim: length of o, `observation_size(d)`.
        role_dim: d.
        seed: the run's seed; names the stream of the initial weights.
        policy: sizes, operations and exploration.
        reinforce: learning rate, entropy coefficient, baseline and clipping.
        batch: B, decisions per gradient step (`train.batch`).

    Raises:
        ValueError: `policy.operations` names one twice.
    """

    Config: ClassVar[type[MlpControllerConfig]] = MlpControllerConfig

    def __init__(
        self,
        cfg: MlpControllerConfig,
        *,
        obs_dim: int,
        role_dim: int,
        seed: int,
        policy: PolicyConfig,
        reinforce: ReinforceConfig,
        batch: int,
    ) -> None:
        self.name = cfg.name
        self._operations = tuple(Operation(name) for name in policy.operations)
        if len(set(self._operations)) != len(self._operations):
            raise ValueError(f"policy.operations={policy.operations}: name each operation once")
        self._anchored = policy.add_target == "anchor"
        self._cfg = reinforce
        self._batch = batch
        with torch.random.fork_rng(devices=[]):
            # Only the CPU generator is seeded: `torch.manual_seed` would reach devices as well.
            torch.default_generator.manual_seed(derive_seed(seed, "controller"))
            self.network = PolicyNetwork(
                obs_dim,
                role_dim,
                hidden=policy.hidden,
                op_embedding=policy.op_embedding,
                n_ops=len(self._operations),
                bonus=policy.bonus,
            )
        self._optimizer = torch.optim.Adam(self.network.parameters(), lr=reinforce.lr)
        self._baseline = 0.0
        self._buffer: list[Transition] = []

    @property
    def pending(self) -> int:
        return len(self._buffer)

    @property
    def due(self) -> bool:
        return len(self._buffer) >= self._batch

    @torch.inference_mode()
    def act(self, view: DecisionView, rng: np.random.Generator) -> Decision:
        """Sample an operation, then its target if it has one.

        Two numbers are drawn from `rng` whatever happens. Where no operation is legal (possible
        only if `policy.operations` lacks Noop) the pool is left alone, with nothing to learn.
        """
        u_op, u_target = rng.random(2)
        if not any(view.legal.operations):
            noop = Action(operation=Operation.NOOP, target=None)
            idle = (0.0,) * len(self._operations)
            return Decision(action=noop, log_prob=0.0, entropy=0.0, op_probs=idle)
        seen = view.observation
        h = self.network.features(torch.tensor(seen.vector))
        log_ops = masked_log_softmax(self.network.op_logits(h), torch.tensor(view.legal.operations))
        chosen = inverse_cdf(log_ops, u_op)
        log_prob = float(log_ops[chosen])
        named: int | None = None
        targets = self._targets(view, self._operations[chosen])
        if any(targets):
            inputs = (chosen, seen.roles, seen.local, seen.n_bonus)
            scores = self.network.target_logits(h, *map(torch.tensor, inputs))
            log_targets = masked_log_softmax(scores, torch.tensor(targets))
            named = inverse_cdf(log_targets, u_target)
            log_prob += float(log_targets[named])
        return Decision(
            action=Action(operation=self._operations[chosen], target=named),
            log_prob=log_prob,
            entropy=float(entropy(log_ops)),
            op_probs=tuple(log_ops.exp().tolist()),
        )

    def record(self, view: DecisionView, decision: Decision, reward: float) -> None:
        """Append the decision to the batch; `reinforce.reward=gain` keeps max(R, 0).

        Raises:
            ValueError: the reward is not finite.
        """
        if not math.isfinite(reward):
            raise ValueError(f"record got reward {reward}; a score difference is finite")
        if not any(view.legal.operations):
            return
        action, seen = decision.action, view.observation
        self._buffer.append(
            Transition(
                vector=seen.vector,
                roles=seen.roles,
                local=seen.local,
                n_bonus=seen.n_bonus,
                operations=np.array(view.legal.operations, dtype=np.bool_),
                targets=np.array(self._targets(view, action.operation), dtype=np.bool_),
                operation=self._operations.index(action.operation),
                target=-1 if action.target is None else int(action.target),
                reward=float(max(reward, 0.0) if self._cfg.reward == "gain" else reward),
            )
        )

    def update(self) -> Mapping[str, float]:
        """One clipped Adam step on the batch, full or partial, which is then forgotten.

        Entropy and loss are those before the step, the baseline is the one after it, the
        gradient's norm the one before clipping.
        """
        if not self._buffer:
            return {}
        rewards = [transition.reward for transition in self._buffer]
        advantage, degenerate = advantages(rewards, self._baseline, mode=self._cfg.baseline)
        log_prob, op_entropy = log_policy(self.network, stack(self._buffer))
        loss = reinforce_loss(
            log_prob,
            torch.tensor(advantage, dtype=torch.float32),
            op_entropy,
            entropy_coef=self._cfg.beta,
        )
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        norm = torch.nn.utils.clip_grad_norm_(self.network.parameters(), self._cfg.clip)
        self._optimizer.step()
        self._baseline = next_baseline(self._baseline, rewards, self._cfg.baseline_decay)
        self._buffer.clear()
        return {
            "controller/loss": loss.item(),
            "controller/batch_entropy": op_entropy.mean().item(),
            "controller/grad_norm": norm.item(),
            "controller/baseline": self._baseline,
            "controller/frac_zero_std": float(degenerate),
            "controller/reward_mean": float(np.mean(rewards)),
            "controller/reward_std": float(np.std(rewards)),
            "controller/advantage_std": float(advantage.std()),
        }

    def state(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "network": {k: v.detach().clone() for k, v in self.network.state_dict().items()},
            "optimizer": copy.deepcopy(self._optimizer.state_dict()),
            "baseline": self._baseline,
            "buffer": [transition.to_state() for transition in self._buffer],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a snapshot of a controller of the same sizes, bit for bit.

        Raises:
            ValueError: the snapshot is of another controller, or of other sizes.
        """
        if state["name"] != self.name:
            raise ValueError(f"state of controller {state['name']!r} given to {self.name!r}")
        own = {k: v.shape for k, v in self.network.state_dict().items()}
        found = {k: v.shape for k, v in state["network"].items()}
        wrong = sorted(k for k in own.keys() | found.keys() if own.get(k) != found.get(k))
        if wrong:
            raise ValueError(f"controller state of other sizes; these layers differ: {wrong}")
        self.network.load_state_dict(state["network"])
        self._optimizer.load_state_dict(copy.deepcopy(state["optimizer"]))
        self._baseline = state["baseline"]
        self._buffer = [Transition.from_state(row) for row in state["buffer"]]

    def _targets(self, view: DecisionView, operation: Operation) -> tuple[bool, ...]:
        """The roles an operation may name; none where it names nobody."""
        if operation is Operation.REMOVE:
            return view.legal.targets
        if operation is Operation.ADD and self._anchored:
            return view.anchors
        return (False,) * len(view.legal.targets)
