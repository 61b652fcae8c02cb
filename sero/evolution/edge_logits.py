"""GPTSwarm's distribution over graphs: a Bernoulli logit per ordered pair of roles, learnt.

    p_θ(G) = Π θ_e^[e in G] (1 - θ_e)^[e not in G]  over the candidates of a task,
    maximise E_{G ~ p_θ} u(G) by REINFORCE

Source: Zhuge et al. (2024), "Language Agents as Optimizable Graphs", edge optimization.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import logsigmoid

from sero.evolution.reinforce import DEGENERATE_STD
from sero.inference.graph import Edge
from sero.roles.card import RoleCard, RoleType

Baseline = Literal["leave_one_out", "none"]


def ordered_pairs(cards: Sequence[RoleCard]) -> tuple[Edge, ...]:
    """Every pair whose edge could go forward: stage(a) ≤ stage(b), a ≠ b, no aggregator.

    Two roles of one stage make two pairs; which of them is a candidate, the task's order decides.
    """
    speakers = [card for card in cards if card.role_type is not RoleType.AGGREGATOR]
    return tuple(
        (a.name, b.name)
        for a in speakers
        for b in speakers
        if a is not b and a.role_type.stage <= b.role_type.stage
    )


def forward(pairs: Sequence[Edge], order: Sequence[str]) -> tuple[bool, ...]:
    """One flag per pair: both are in the team, and the first comes before the second.

    Args:
        order: names of B_t in the task's total order.
    """
    place = {name: i for i, name in enumerate(order)}
    return tuple(a in place and b in place and place[a] < place[b] for a, b in pairs)


def log_prob(logits: Tensor, kept: Tensor, candidates: Tensor) -> Tensor:
    """log p_θ(G) over the candidates of each graph's task, in nats.

    Args:
        logits: log θ/(1-θ) per pair. Shape (P,).
        kept: whether the pair's edge is in the graph. Shape (M, P), bool.
        candidates: whether the pair goes forward on the graph's task. Shape (M, P), bool.

    Returns:
        Shape (M,).

    Raises:
        ValueError: the shapes do not fit.
    """
    if kept.shape != candidates.shape or kept.shape[1:] != logits.shape:
        raise ValueError(
            f"log_prob got logits {tuple(logits.shape)}, kept {tuple(kept.shape)} and candidates "
            f"{tuple(candidates.shape)}; pass (P,), (M, P) and (M, P)"
        )
    each = torch.where(kept, logsigmoid(logits), logsigmoid(-logits))
    return torch.where(candidates, each, torch.zeros_like(each)).sum(dim=1)


def utility_advantages(utilities: Sequence[float], baseline: Baseline) -> NDArray[np.float64]:
    """What each graph's log-probability is weighted with.

        none:        A_m = u_m
        leave_one_out:  A_m = u_m - mean of the other graphs' utilities

    Leaving its own utility out of a graph's baseline keeps the gradient unbiased. Under
    `leave_one_out` a single graph, or utilities that do not differ, say nothing: all A are 0.

    Args:
        utilities: u(G_m), scores in [0, 1]. Shape (M,).

    Raises:
        ValueError: `utilities` is empty or not one-dimensional.
    """
    u = np.asarray(utilities, dtype=np.float64)
    if u.ndim != 1 or u.size == 0:
        raise ValueError(f"utility_advantages got shape {u.shape}; pass (M,) with M ≥ 1")
    if baseline == "none":
        return u
    if u.size == 1 or float(u.std()) < DEGENERATE_STD:
        return np.zeros_like(u)
    others: NDArray[np.float64] = (u.sum() - u) / (u.size - 1)
    return u - others


def edge_loss(
    logits: Tensor, kept: Tensor, candidates: Tensor, advantage: NDArray[np.float64]
) -> Tensor:
    """REINFORCE loss of one step: its gradient estimates -∇ E_{G ~ p_θ} u(G).

        L = -1/M Σ_m A_m log p_θ(G_m)

    Args:
        logits, kept, candidates: as for `log_prob`.
        advantage: A, from `utility_advantages`. Shape (M,).
    """
    return -(torch.from_numpy(advantage) * log_prob(logits, kept, candidates)).mean()


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledGraph:
    """A graph that was run on a task.

    Attributes:
        kept, candidates: one flag per pair, as for `log_prob`.
        utility: u(G), the task's score in [0, 1].
    """

    kept: tuple[bool, ...]
    candidates: tuple[bool, ...]
    utility: float


class EdgeLogits:
    """The logits of all pairs, their optimiser, and the graphs since its last step.

    Args:
        pairs: from `ordered_pairs`.
        initial: θ of every pair at the start, in (0, 1).
        lr: Adam's step size.
        graphs: M, graphs per gradient step.
        baseline: what is subtracted from a utility.
    """

    def __init__(
        self, pairs: Sequence[Edge], *, initial: float, lr: float, graphs: int, baseline: Baseline
    ) -> None:
        self.pairs = tuple(pairs)
        self._graphs = graphs
        self._baseline = baseline
        start = math.log(initial) - math.log1p(-initial)
        self._logits = torch.full((len(self.pairs),), start, dtype=torch.float64)
        self._logits.requires_grad_()
        self._optimizer = torch.optim.Adam([self._logits], lr=lr)
        self._batch: list[SampledGraph] = []

    @property
    def due(self) -> bool:
        """A full batch waits for `update`."""
        return len(self._batch) >= self._graphs

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """θ per pair. Shape (P,)."""
        theta: NDArray[np.float64] = torch.sigmoid(self._logits.detach()).numpy()
        return theta

    def sample(self, rng: np.random.Generator) -> frozenset[Edge]:
        """Draw every pair, each with its θ; the task's order tells later which are candidates.

        The same number of draws whatever the probabilities are; pairs are independent, so those
        that turn out to be no candidates change nothing.
        """
        drawn = rng.random(len(self.pairs)) < self.probabilities
        return self._named(drawn.tolist())

    def likely(self, threshold: float) -> frozenset[Edge]:
        """The pairs with θ above the threshold: the graph that is evaluated."""
        return self._named((self.probabilities > threshold).tolist())

    def record(self, kept: frozenset[Edge], order: Sequence[str], utility: float) -> None:
        """Add a graph to the batch.

        Args:
            kept: what `sample` gave.
            order: names of B_t in the task's total order.
            utility: u(G) in [0, 1].

        Raises:
            ValueError: the utility is not finite.
        """
        if not math.isfinite(utility):
            raise ValueError(f"record got utility {utility}; a score lies in [0, 1]")
        self._batch.append(
            SampledGraph(
                kept=tuple(pair in kept for pair in self.pairs),
                candidates=forward(self.pairs, order),
                utility=float(utility),
            )
        )

    def update(self) -> dict[str, float]:
        """One Adam step on the batch, full or partial, which is then forgotten.

        A batch whose advantages are all 0 moves nothing, not even by Adam's momentum.

        Returns:
            Loss and gradient norm before the step, and whether the batch said nothing; empty
            without a batch.
        """
        if not self._batch:
            return {}
        shape = (len(self._batch), len(self.pairs))
        kept, candidates = (
            torch.tensor(rows, dtype=torch.bool).reshape(shape)
            for rows in (
                [graph.kept for graph in self._batch],
                [graph.candidates for graph in self._batch],
            )
        )
        advantage = utility_advantages([g.utility for g in self._batch], self._baseline)
        self._batch.clear()
        if not advantage.any():
            return {"edges/loss": 0.0, "edges/grad_norm": 0.0, "edges/frac_zero_std": 1.0}
        loss = edge_loss(self._logits, kept, candidates, advantage)
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        assert self._logits.grad is not None
        norm = float(self._logits.grad.norm())
        self._optimizer.step()
        return {"edges/loss": loss.item(), "edges/grad_norm": norm, "edges/frac_zero_std": 0.0}

    def to_data(self) -> dict[str, dict[str, float]]:
        """θ as plain data: source to target to probability."""
        found: dict[str, dict[str, float]] = {}
        for (a, b), theta in zip(self.pairs, self.probabilities.tolist(), strict=True):
            found.setdefault(a, {})[b] = theta
        return found

    def state(self) -> dict[str, Any]:
        """A snapshot of tensors and plain types, for `restore`."""
        return {
            "pairs": [list(pair) for pair in self.pairs],
            "logits": self._logits.detach().clone(),
            "optimizer": copy.deepcopy(self._optimizer.state_dict()),
            "batch": [
                {
                    "kept": list(graph.kept),
                    "candidates": list(graph.candidates),
                    "utility": graph.utility,
                }
                for graph in self._batch
            ],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue exactly where the snapshot was taken.

        Raises:
            ValueError: the snapshot is of other pairs.
        """
        found = [tuple(pair) for pair in state["pairs"]]
        if found != list(self.pairs):
            raise ValueError(
                f"state of {len(found)} edges given to {len(self.pairs)} others; the pool that a "
                "run starts from may not change"
            )
        with torch.no_grad():
            self._logits.copy_(state["logits"])
        self._optimizer.load_state_dict(copy.deepcopy(state["optimizer"]))
        self._batch = [
            SampledGraph(
                kept=tuple(row["kept"]),
                candidates=tuple(row["candidates"]),
                utility=row["utility"],
            )
            for row in state["batch"]
        ]

    def _named(self, flags: Sequence[bool]) -> frozenset[Edge]:
        return frozenset(pair for pair, flag in zip(self.pairs, flags, strict=True) if flag)


def mean_entropy(probabilities: NDArray[np.float64]) -> float:
    """Mean entropy of the pairs' Bernoulli variables, in nats; 0 without a pair."""
    if not probabilities.size:
        return 0.0
    p = np.clip(probabilities, 1e-300, 1.0)
    q = np.clip(1.0 - probabilities, 1e-300, 1.0)
    return float(np.mean(-p * np.log(p) - q * np.log(q)))
