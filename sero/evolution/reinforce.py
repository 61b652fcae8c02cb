"""REINFORCE for one batch of edits: advantage, baseline and loss (method.md §4.8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

DEGENERATE_STD = 1e-8
EPSILON = 1e-6


class Advantages(NamedTuple):
    """Advantages of one batch, float64 of shape (B,), and whether the rewards carried a signal."""

    values: NDArray[np.float64]
    degenerate: bool


def advantages(
    rewards: Sequence[float], baseline: float, *, mode: Literal["published", "baseline_first"]
) -> Advantages:
    """Batch-normalised rewards against the EMA baseline.

        published:       A_i = (R_i - mean R) / (std R + 1e-6) - b
        baseline_first:  A_i = (R_i - b) / std R

    A batch of one, or one whose rewards do not differ, says nothing about its edits: its
    advantages are 0 in both modes, and only the entropy term acts.

    Args:
        rewards: R, score differences in [-1, 1]. Shape (B,).
        baseline: b before this batch, in the units of R.
        mode: `reinforce.baseline`.

    Raises:
        ValueError: `rewards` is empty or not one-dimensional.

    Source: policy objective of the controller-training appendix; std is the population's.
    """
    raw = np.asarray(rewards, dtype=np.float64)
    if raw.ndim != 1 or raw.size == 0:
        raise ValueError(f"advantages got rewards of shape {raw.shape}; pass (B,) with B ≥ 1")
    std = float(raw.std())
    if raw.size == 1 or std < DEGENERATE_STD:
        return Advantages(np.zeros_like(raw), True)
    if mode == "published":
        return Advantages((raw - raw.mean()) / (std + EPSILON) - baseline, False)
    return Advantages((raw - baseline) / std, False)


def next_baseline(baseline: float, rewards: Sequence[float], decay: float) -> float:
    """b ← decay · b + (1 - decay) · mean R, taken after b was used.

    In raw units: normalised rewards have mean 0, so their average would be 0 for ever.
    """
    return decay * baseline + (1.0 - decay) * float(np.mean(rewards))


def reinforce_loss(
    log_prob: Tensor, advantage: Tensor, op_entropy: Tensor, *, entropy_coef: float
) -> Tensor:
    """REINFORCE loss of one batch of edits, with an entropy bonus on the operation head.

        L = -mean_i A_i log π(ω_i, z_i | o_i) - β · mean_i H(π_op(· | o_i))

    Args:
        log_prob: log π of the sampled edit, operation plus target, in nats. Shape (B,).
        advantage: A, from `advantages`, dimensionless; no gradient flows into it. Shape (B,).
        op_entropy: entropy of the operation head over admissible operations, in nats. Shape (B,).
        entropy_coef: β ≥ 0.

    Raises:
        ValueError: the shapes differ; (B,) against (B, 1) would broadcast and train on nonsense.

    Source: policy objective of the controller-training appendix; Williams (1992).
    """
    shapes = {tuple(t.shape) for t in (log_prob, advantage, op_entropy)}
    if len(shapes) != 1 or log_prob.ndim != 1:
        raise ValueError(
            f"reinforce_loss got log_prob {tuple(log_prob.shape)}, advantage "
            f"{tuple(advantage.shape)} and op_entropy {tuple(op_entropy.shape)}; all must be (B,)"
        )
    return -(advantage.detach() * log_prob).mean() - entropy_coef * op_entropy.mean()
