"""What one episode leaves in `episodes.jsonl` and `metrics.jsonl`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from sero.credit import CreditConfig, PoolState, historical
from sero.evolution.guard import largest_family_share
from sero.evolution.progress import Progress
from sero.evolution.ranks import foresight
from sero.evolution.step import Step
from sero.inference.trace import Cost
from sero.roles.card import RoleType


class Recorder(Protocol):
    """Where a training run writes. All calls are synchronous: an episode is in, or it is not."""

    def episode(
        self,
        record: Mapping[str, Any],
        metrics: Mapping[str, float],
        traces: list[dict[str, Any]],
        committed: PoolState | None,
    ) -> None:
        """Append one finished episode; `committed` is the new state if the pool changed."""
        ...

    def last_update(self, metrics: Mapping[str, float], episode: int) -> None:
        """Log the gradient step on the last, incomplete batch, after the last episode."""
        ...

    def checkpoint(self, progress: Mapping[str, Any], controller: Mapping[str, Any]) -> None:
        """Make everything up to here durable and resumable."""
        ...


def episode_record(
    step: Step,
    episode: int,
    epoch: int,
    state: PoolState,
    cost: Cost,
    loo: dict[str, float] | None,
    loo_stderr: dict[str, float] | None = None,
) -> dict[str, Any]:
    """The line of `episodes.jsonl`: nothing that varies between equal runs.

    `loo_stderr` stands there only when the refresh's estimator has standard errors.
    """
    verdict, proposal = step.verdict, step.proposal
    return {
        "episode": episode,
        "epoch": epoch,
        "phase": str(step.phase),
        "task": step.task.id,
        "group": step.task.group,
        "action": str(proposal.operation),
        "target": proposal.target,
        "role": proposal.card.name if proposal.card else None,
        "verdict": step.outcome,
        "reasons": [str(reason.code) for reason in verdict.reasons],
        "details": [reason.detail for reason in verdict.reasons],
        "score_before": step.before.value,
        "score_after": verdict.score_after,
        "reward": verdict.reward,
        "gate_delta": verdict.delta,
        "committed": verdict.committed,
        "contracts": (
            None if step.contracts is None else {c.name: c.holds for c in step.contracts}
        ),
        "contract_reasons": (
            None
            if step.contracts is None
            else [f"{c.name}: {reason}" for c in step.contracts for reason in c.reasons]
        ),
        "pool_size": len(state.pool),
        "pool_hash": state.pool.hash,
        "calls": cost.calls,
        "prompt_tokens": cost.prompt_tokens,
        "completion_tokens": cost.completion_tokens,
        "loo": loo,
        **({"loo_stderr": loo_stderr} if loo_stderr else {}),
    }


def episode_metrics(
    step: Step,
    progress: Progress,
    cfg: CreditConfig,
    measured: Mapping[str, float] | None = None,
) -> dict[str, float]:
    """The scalars after an episode, under the names of the metric table; what is unknown is absent.

    Args:
        measured: φ per role when a refresh followed the episode.
    """
    state, cost = progress.state, progress.cost
    known = {
        "train/score_after": step.verdict.score_after,
        "train/gate_delta": step.verdict.delta,
        "credit/loo_mean": _loo_mean(state),
        "credit/ema_loo_rank": foresight(step.verdict.state.credit, measured or {}, cfg),
    }
    ema = [historical(state.credit[name], cfg) for name in state.pool.names]
    return {
        "train/reward": step.verdict.reward,
        "train/score_before": step.before.value,
        "train/committed": float(step.verdict.committed),
        "train/acceptance": progress.commits / progress.episode,
        "pool/size": float(len(state.pool)),
        "pool/family_share": largest_family_share(state.pool),
        "pool/validators": float(len(state.pool.of_type(RoleType.VALIDATOR))),
        "controller/op_entropy": step.decision.entropy,
        "credit/mean": float(np.mean(ema)),
        "credit/spread": float(np.std(ema)),
        "cost/calls": float(cost.calls),
        "cost/prompt_tokens": float(cost.prompt_tokens),
        "cost/completion_tokens": float(cost.completion_tokens),
        **{name: value for name, value in known.items() if value is not None},
    }


def _loo_mean(state: PoolState) -> float | None:
    """Mean of φ over P as Eq. 10 has it; None before the first refresh."""
    credit = [state.credit[name] for name in state.pool.names]
    if not any(known.n_updates for known in credit):
        return None
    return float(np.mean([known.loo for known in credit]))
