"""Credit of roles: the frozen state C, its updates, fast credit and the pool statistics.

Fast credit is Section 4.2 of the method's specification, leave-one-out and its EMA 4.5, the five
statistics Eq. 10. Everything here is pure; a snapshot of C is the old reference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt, Le
from numpy.typing import NDArray

from sero.roles.load import CREDIT_FIELD, card_to_data
from sero.roles.pool import RolePool

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class FastWeights:
    """Weights of the optional signals added to fast credit (`credit.fast_weights`)."""

    similarity: Annotated[float, Ge(0)]
    history: Annotated[float, Ge(0)]
    agreement: Annotated[float, Ge(0)]
    validity: Annotated[float, Ge(0)]
    peer: Annotated[float, Ge(0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditConfig:
    """The `credit` section.

    `loo_*` schedule the refresh whatever `estimator` measures; `orders` and `antithetic` belong to
    shapley_mc and tmc, `tmc_tol` to tmc.
    """

    mu: Annotated[float, Gt(0), Le(1)]
    fast_alpha: Annotated[float, Ge(0), Le(1)]
    fast_weights: FastWeights
    peer_ratings: bool
    order_source: Literal["bootstrap", "stored"]
    loo_every: Annotated[int, Ge(0)]
    loo_tasks: Annotated[int, Gt(0)]
    loo_min_pool: Annotated[int, Gt(0)]
    loo_inactive: Literal["skip", "zero"]
    loo_sequential: bool
    estimator: Literal["loo", "clamp", "shapley_mc", "tmc"]
    causal: bool
    orders: Annotated[int, Gt(0)]
    antithetic: bool
    tmc_tol: Annotated[float, Ge(0)]
    new_n: Annotated[int, Ge(0)]
    bias_correction: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleCredit:
    """What is known of one role.

    Attributes:
        ema: c_r, the EMA of leave-one-out credit.
        loo: φ_r, the most recent leave-one-out credit.
        fast: f_r of the role's last training rollout; None before the first.
        n_updates: leave-one-out updates so far (bias correction).
        n_bonus: updates as the exploration bonus counts them; a newcomer starts above 0.
    """

    ema: float = 0.0
    loo: float = 0.0
    fast: float | None = None
    n_updates: int = 0
    n_bonus: int = 0


UNKNOWN = RoleCredit()


@dataclass(frozen=True, slots=True)
class CreditState:
    """C: a frozen map from role name to its credit; a role without an entry has none yet."""

    roles: Mapping[str, RoleCredit] = field(default_factory=lambda: MappingProxyType({}))

    def __getitem__(self, name: str) -> RoleCredit:
        return self.roles.get(name, UNKNOWN)

    def updated(self, changes: Mapping[str, RoleCredit]) -> CreditState:
        return CreditState(MappingProxyType({**self.roles, **changes}))

    def restricted(self, names: Sequence[str]) -> CreditState:
        """C without the roles that left the pool."""
        kept = {name: self.roles[name] for name in names if name in self.roles}
        return CreditState(MappingProxyType(kept))

    def with_fast(self, fast: Mapping[str, float]) -> CreditState:
        """C with the fast credit of a rollout stored; everything else stays."""
        return self.updated({name: replace(self[name], fast=value) for name, value in fast.items()})


@dataclass(frozen=True, slots=True)
class PoolState:
    """(P, C): the whole state an edit can change. Frozen, so rollback is keeping the reference."""

    pool: RolePool
    credit: CreditState = field(default_factory=CreditState)

    def with_fast(self, fast: Mapping[str, float]) -> PoolState:
        return PoolState(self.pool, self.credit.with_fast(fast))


def ema_update(credit: RoleCredit, loo: float, *, mu: float) -> RoleCredit:
    """c ← (1 - μ) c + μ φ; φ is stored and both counters grow."""
    return replace(
        credit,
        ema=(1.0 - mu) * credit.ema + mu * loo,
        loo=loo,
        n_updates=credit.n_updates + 1,
        n_bonus=credit.n_bonus + 1,
    )


def historical(credit: RoleCredit, cfg: CreditConfig) -> float:
    """c_r as the rest of the method reads it, bias-corrected if the configuration says so.

    c_r / (1 - (1-μ)^n) with `credit.bias_correction`, plain c_r otherwise.
    """
    if not cfg.bias_correction or credit.n_updates == 0:
        return credit.ema
    return float(credit.ema / (1.0 - (1.0 - cfg.mu) ** credit.n_updates))


def fast_credit(query: Vector, messages: Sequence[Vector], *, alpha: float) -> list[float]:
    """f_r = α ⟨u_r, q⟩ + (1-α) cos(u_r, ū) for every message vector, without any score.

    Args:
        query: q = e(x), unit norm. Shape (d,).
        messages: u_r = e(m_r), unit norm, one per role. Each of shape (d,).
        alpha: α in [0, 1].

    Returns:
        One value in [-1, 1] per message; a zero mean vector agrees with nobody (cosine 0).
    """
    if not messages:
        return []
    stacked = np.asarray(messages, dtype=np.float64)
    mean = stacked.mean(axis=0)
    norm = float(np.linalg.norm(mean))
    consensus = stacked @ (mean / norm) if norm > 1e-12 else np.zeros(len(stacked))
    similarity = stacked @ np.asarray(query, dtype=np.float64)
    return [float(v) for v in alpha * similarity + (1.0 - alpha) * consensus]


def pool_statistics(pool: RolePool, credit: CreditState, cfg: CreditConfig) -> tuple[float, ...]:
    """Eq. 10: mean, population std, min and max of c over P, and the mean of φ."""
    ema = np.array([historical(credit[name], cfg) for name in pool.names])
    loo = np.array([credit[name].loo for name in pool.names])
    return (
        float(ema.mean()),
        float(ema.std()),
        float(ema.min()),
        float(ema.max()),
        float(loo.mean()),
    )


def pool_state_to_data(state: PoolState) -> dict[str, Any]:
    """A pool with a `credit:` block per role, as plain data for YAML."""
    roles = []
    for card in state.pool:
        known = state.credit[card.name]
        block = {
            "ema": known.ema,
            "loo": known.loo,
            "fast": known.fast,
            "n_updates": known.n_updates,
            "n_bonus": known.n_bonus,
        }
        roles.append({**card_to_data(card), CREDIT_FIELD: block})
    return {"roles": roles}


def credit_from_data(raw: Any) -> CreditState:
    """The credit blocks of a saved pool; a role without one counts as unknown (zeros)."""
    rows = raw.get("roles", []) if isinstance(raw, Mapping) else raw
    found = {row["name"]: RoleCredit(**row[CREDIT_FIELD]) for row in rows if row.get(CREDIT_FIELD)}
    return CreditState(MappingProxyType(found))
