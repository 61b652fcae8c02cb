"""The gate: run the candidate, and commit it or keep the old state (method.md §4.8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sero.backbones.base import Phase
from sero.benchmarks.base import Task
from sero.credit import PoolState
from sero.errors import RequestRejected
from sero.evolution.actions import Operation, TrainPhase
from sero.evolution.proposal import Proposal
from sero.evolution.reasons import Code, Reason
from sero.evolution.rolling import Roller, Scored
from sero.evolution.sections import GateConfig
from sero.seeding import rng_for

EPS = 1e-9
"""Slack of score comparisons: means of a few scores carry rounding of this order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of a proposal.

    Attributes:
        state: the committed state: the candidate, or the very object that stood before.
        committed: the candidate was taken.
        reward: R = s⁺ - s⁻ on the task itself, the policy's reward; 0 if nothing was run.
        score_after: s⁺, None if the candidate was not run.
        delta: what the gate compared with 0; differs from R when it averages.
        reasons: why a candidate was refused.
    """

    state: PoolState
    committed: bool
    reward: float = 0.0
    score_after: float | None = None
    delta: float | None = None
    reasons: tuple[Reason, ...] = ()


def accepts(
    operation: Operation, delta: float, phase: TrainPhase, *, warmup: str, strict_add: bool
) -> bool:
    """The commit rule on the observed score difference.

    Main phase: δ > 0. Warm-up: δ ≥ 0 (`nonharmful`), but δ > 0 under `gate.warmup=strict`, and
    for Add on a strict-add benchmark. Noop has nothing to commit.
    """
    if operation is Operation.NOOP:
        return False
    lenient = phase is TrainPhase.WARMUP and warmup == "nonharmful"
    if lenient and not (operation is Operation.ADD and strict_add):
        return delta >= -EPS
    return delta > EPS


class Gate(Protocol):
    """Judges one proposal; the only place where a state becomes another."""

    async def judge(
        self,
        task: Task,
        before: Scored,
        state: PoolState,
        proposal: Proposal,
        broken: Sequence[Reason],
        phase: TrainPhase,
        roll: Roller,
        episode: int,
    ) -> Verdict: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreGate:
    """The published gate (`gate.kind=published`), and its absence (`none`).

    Attributes:
        train: the training tasks, for `gate.tasks` > 1.
        run_seed: names the stream that draws them.
    """

    cfg: GateConfig
    strict_add: bool
    train: tuple[Task, ...]
    run_seed: int

    async def judge(
        self,
        task: Task,
        before: Scored,
        state: PoolState,
        proposal: Proposal,
        broken: Sequence[Reason],
        phase: TrainPhase,
        roll: Roller,
        episode: int,
    ) -> Verdict:
        """Run the candidate on the task (and `gate.tasks` - 1 others), and apply the rule.

        A candidate that is missing or breaks a guard is not run: R = 0 and the state stands; so it
        does when the server refuses the candidate's prompt (a filter, a length). The post-edit
        rollout's fast credit enters C only with a commit.

        Raises:
            BackboneError: the machine failed; the caller still holds the old state.
        """
        candidate = proposal.candidate
        if candidate is None or broken:
            return Verdict(state=state, committed=False, reasons=(*proposal.reasons, *broken))
        try:
            after = await roll(task, candidate, Phase.POST, episode)
        except RequestRejected as error:
            if not error.blames_the_request:
                raise
            return Verdict(
                state=state,
                committed=False,
                reasons=(Reason(Code.REQUEST_REJECTED, str(error)),),
            )
        reward = after.value - before.value
        ungated = self.cfg.kind == "none"
        delta = (
            reward
            if ungated
            else await self._mean_delta(task, reward, state, candidate, roll, episode)
        )
        if ungated or accepts(
            proposal.operation,
            delta,
            phase,
            warmup=self.cfg.warmup,
            strict_add=self.strict_add,
        ):
            return Verdict(
                state=candidate.with_fast(after.rollout.final_fast),
                committed=True,
                reward=reward,
                score_after=after.value,
                delta=delta,
            )
        code = Code.HARMFUL if delta < -EPS else Code.NO_GAIN
        return Verdict(
            state=state,
            committed=False,
            reward=reward,
            score_after=after.value,
            delta=delta,
            reasons=(Reason(code, f"score difference {delta:+.4f}"),),
        )

    async def _mean_delta(
        self,
        task: Task,
        reward: float,
        state: PoolState,
        candidate: PoolState,
        roll: Roller,
        episode: int,
    ) -> float:
        """The mean difference over the gate's tasks and repeats; R itself with one of each."""
        others = [other for other in self.train if other.id != task.id]
        rng = rng_for(self.run_seed, "gate", episode)
        n_others = min(self.cfg.tasks - 1, len(others))
        drawn = rng.permutation(len(others))[:n_others]
        deltas = [reward]
        for repeat in range(self.cfg.repeats):
            asked = [task] if repeat else []
            for one in [*asked, *(others[i] for i in drawn)]:
                old = await roll(one, state, Phase.GATE, episode, repeat=repeat)
                new = await roll(one, candidate, Phase.GATE, episode, repeat=repeat)
                deltas.append(new.value - old.value)
        return float(np.mean(deltas))
