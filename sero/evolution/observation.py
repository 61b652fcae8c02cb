"""The observation o_t: task with answer, team and credit statistics (method.md §4.6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sero.credit import CreditConfig, PoolState, historical, pool_statistics
from sero.encoders import TextEncoder, Vector
from sero.evolution.actions import TrainPhase
from sero.evolution.sections import PolicyConfig
from sero.inference.trace import Rollout

ANSWER_CHARS = 200
N_STATISTICS = 5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Observation:
    """What the controller sees before it acts; all float32.

    Attributes:
        vector: o = [task and answer; team; five statistics]. Shape (2d + 5,).
        roles: e(r) of every role in pool order. Shape (|P|, d).
        local: c_r and φ_r of every role, scaled. Shape (|P|, 2).
        n_bonus: leave-one-out updates per role as the exploration bonus counts them.
            Shape (|P|,).
    """

    vector: Vector
    roles: Vector
    local: Vector
    n_bonus: Vector


def observation_size(dim: int) -> int:
    """Length of o for an encoder of `dim` dimensions: 2·512 + 5 = 1029."""
    return 2 * dim + N_STATISTICS


def answer_text(prompt: str, answer: str) -> str:
    """The text whose embedding shows task and answer together."""
    return f"{prompt}\n\nAnswer: {answer[:ANSWER_CHARS]}"


def observe(
    prompt: str,
    rollout: Rollout,
    state: PoolState,
    encoder: TextEncoder,
    phase: TrainPhase,
    *,
    credit_cfg: CreditConfig,
    policy: PolicyConfig,
) -> Observation:
    """o_t, and the features of each role the target head reads.

        o = [ e(x ‖ ŷ) ; mean_{r ∈ A_t} e(r) ; s·(mean c, std c, min c, max c, mean φ) ]

    Credit is zero in warm-up and without `policy.credit_features`; the team mean keeps its
    length, which tells how alike the team is.

    Args:
        prompt: the task's text x.
        rollout: the pre-edit rollout; its team must be in the pool.
        state: (P, C) before the edit.
        encoder: e(·), d dimensions.
        phase: warm-up hides the credit features.
        credit_cfg: how c_r is read (bias correction).
        policy: `credit_scale` is s; `credit_features` switches them off.

    Raises:
        KeyError: a team member is not in the pool.
    """
    pool, credit = state.pool, state.credit
    of_role = {card.name: encoder.encode(card.prompt_text) for card in pool}
    team = np.zeros(encoder.dim, dtype=np.float64)
    if rollout.team:
        team = np.mean([of_role[name] for name in rollout.team], axis=0, dtype=np.float64)
    statistics = np.zeros(N_STATISTICS)
    local = np.zeros((len(pool), 2))
    if policy.credit_features and phase is TrainPhase.MAIN:
        statistics += pool_statistics(pool, credit, credit_cfg)
        local += [(historical(credit[name], credit_cfg), credit[name].loo) for name in pool.names]
    seen = encoder.encode(answer_text(prompt, rollout.answer))
    vector = np.concatenate([seen, team, policy.credit_scale * statistics])
    return Observation(
        vector=vector.astype(np.float32),
        roles=np.stack([of_role[name] for name in pool.names]).astype(np.float32),
        local=(policy.credit_scale * local).astype(np.float32),
        n_bonus=np.array([credit[name].n_bonus for name in pool.names], dtype=np.float32),
    )
