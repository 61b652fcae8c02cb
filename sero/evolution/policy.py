"""The policy π(ω, z | o): trunk, operation head, conditional target head (method.md §4.7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

N_LOCAL = 2
"""Features of a role beside its embedding: c_r and φ_r."""


class PolicyNetwork(nn.Module):
    """The only trained network: 610,244 parameters at the published sizes.

        h = ReLU(W2 ReLU(W1 o));   op logits = Wo h
        u_r = w · ReLU(T [h ; E_ω ; V e(r) ; c_r ; φ_r]) + γ / (n_r + 1)

    Every layer has a bias. Leading batch dimensions are free in all methods.

    Args:
        obs_dim: length of o.
        role_dim: d of e(r).
        hidden: width of trunk, projection and target layer.
        op_embedding: length of E_ω.
        n_ops: operations the head chooses from.
        bonus: γ ≥ 0, favours roles that leave-one-out has seldom measured.
    """

    def __init__(
        self,
        obs_dim: int,
        role_dim: int,
        *,
        hidden: int,
        op_embedding: int,
        n_ops: int,
        bonus: float,
    ) -> None:
        super().__init__()
        self.bonus = bonus
        self.trunk = nn.Sequential(
            nn.Linear(obs_dim, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()
        )
        self.op_head = nn.Linear(hidden, n_ops)
        self.op_embedding = nn.Embedding(n_ops, op_embedding)
        self.projection = nn.Linear(role_dim, hidden)
        self.target_layer = nn.Linear(hidden + op_embedding + hidden + N_LOCAL, hidden)
        self.target_score = nn.Linear(hidden, 1)

    def features(self, vector: Tensor) -> Tensor:
        """h of an observation. Shape (..., obs_dim) to (..., hidden)."""
        h: Tensor = self.trunk(vector)
        return h

    def op_logits(self, h: Tensor) -> Tensor:
        """Logits of the operations, unmasked. Shape (..., n_ops)."""
        logits: Tensor = self.op_head(h)
        return logits

    def target_logits(
        self, h: Tensor, operation: Tensor, roles: Tensor, local: Tensor, n_bonus: Tensor
    ) -> Tensor:
        """u_r of every role under an operation, unmasked.

        Args:
            h: trunk features. Shape (..., hidden).
            operation: index of ω, int64. Shape (...).
            roles: e(r). Shape (..., P, role_dim).
            local: c_r and φ_r. Shape (..., P, 2).
            n_bonus: n_r ≥ 0. Shape (..., P).

        Returns:
            Shape (..., P).
        """
        context = torch.cat([h, self.op_embedding(operation)], dim=-1)
        context = context.unsqueeze(-2).expand(*roles.shape[:-1], -1)
        x = torch.cat([context, self.projection(roles), local], dim=-1)
        score: Tensor = self.target_score(torch.relu(self.target_layer(x))).squeeze(-1)
        return score + self.bonus / (n_bonus + 1.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PolicyBatch:
    """B decisions, pools padded to the largest P of the batch.

    Attributes:
        vector: o. Shape (B, obs_dim).
        roles, local, n_bonus: the pool's features, padding zero. Shapes (B, P, ...).
        operations: admissible operations, bool. Shape (B, n_ops).
        operation: index of the operation taken, int64. Shape (B,).
        targets: roles the operation taken could name, bool, padding False. Shape (B, P).
        target: index of the role named, -1 where the operation named none. Shape (B,).
    """

    vector: Tensor
    roles: Tensor
    local: Tensor
    n_bonus: Tensor
    operations: Tensor
    operation: Tensor
    targets: Tensor
    target: Tensor


class PolicyTerms(NamedTuple):
    """log π(ω, z | o) and the entropy of the operation head, in nats. Shapes (B,)."""

    log_prob: Tensor
    op_entropy: Tensor


def log_policy(network: PolicyNetwork, batch: PolicyBatch) -> PolicyTerms:
    """log π(ω, z | o) = log π(ω | o) + log π(z | ω, o), the second term 0 without a target."""
    h = network.features(batch.vector)
    log_ops = masked_log_softmax(network.op_logits(h), batch.operations)
    log_prob = log_ops.gather(-1, batch.operation.unsqueeze(-1)).squeeze(-1)
    named = batch.target >= 0
    if bool(named.any()):
        scores = network.target_logits(h, batch.operation, batch.roles, batch.local, batch.n_bonus)
        log_targets = masked_log_softmax(scores, batch.targets)
        of_named = log_targets.gather(-1, batch.target.clamp(min=0).unsqueeze(-1)).squeeze(-1)
        log_prob = log_prob + torch.where(named, of_named, torch.zeros_like(of_named))
    return PolicyTerms(log_prob, entropy(log_ops))


def masked_log_softmax(logits: Tensor, mask: Tensor) -> Tensor:
    """log softmax over the entries the mask admits; the others get probability exactly 0.

    Masked entries hold the lowest finite number rather than -∞, so that p · log p is 0 and a row
    without admissible entries (unused by its caller) stays free of NaN, gradients included.
    """
    return torch.log_softmax(logits.masked_fill(~mask, torch.finfo(logits.dtype).min), dim=-1)


def entropy(log_probs: Tensor) -> Tensor:
    """H = -Σ p log p over the last axis, in nats; masked entries add nothing."""
    return -(log_probs.exp() * log_probs).sum(dim=-1)


def inverse_cdf(log_probs: Tensor, u: float) -> int:
    """The index whose share of [0, 1) holds u; never one of probability 0.

    Args:
        log_probs: log-probabilities. Shape (n,).
        u: a uniform number in [0, 1).
    """
    probs = log_probs.exp().double().numpy()
    cdf = probs.cumsum()
    index = int(np.searchsorted(cdf, u * cdf[-1], side="right"))
    # u · total can round up to the total, which lies past the last share.
    return min(index, int(np.flatnonzero(probs)[-1]))
