"""GPTSwarm's training: sample a graph per task, score it, and step on every M of them.

The pool and its credit never change, so an episode is one rollout.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sero.backbones.base import Phase
from sero.benchmarks.base import Task
from sero.errors import BackboneError, BudgetSpent
from sero.evolution.edge_logits import EdgeLogits, mean_entropy
from sero.evolution.progress import Progress, progress_to_data
from sero.evolution.records import Recorder
from sero.evolution.rolling import Roller, Scored
from sero.evolution.visits import visits
from sero.inference.trace import Cost
from sero.seeding import rng_for

PHASE = "edges"
ACTION = "sample"


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeTrainer:
    """The parts of edge learning.

    Attributes:
        tasks: the training split.
        roll: u(G) = s(F(P, C, x)) along sampled edges.
        logits: what is learnt.
        passes: passes over the training tasks.
        threshold: probability above which an edge is evaluated with; for the curves alone.
        checkpoint_every: episodes from one checkpoint to the next.
        run_seed: the run's seed; every draw comes from a stream it names.
        check_budget: raises BudgetSpent when the cost so far leaves no room for an episode.
    """

    tasks: tuple[Task, ...]
    roll: Roller
    logits: EdgeLogits
    passes: int
    threshold: float
    checkpoint_every: int
    run_seed: int
    check_budget: Callable[[Cost], None]


async def train_edges(t: EdgeTrainer, progress: Progress, recorder: Recorder) -> Progress:
    """Learn the edges from where `progress` stands to the end.

    As in Algorithm 2's loop, nothing is learnt or written before an episode's last model call, and
    nothing awaits after it: an interruption at any time leaves whole episodes only.

    Raises:
        BackboneError: the machine failed; the episode is rolled back, the rest is saved.
        BudgetSpent: a budget is used up; everything so far is saved.
    """
    if progress.finished:
        return progress
    last = t.passes * len(t.tasks)
    try:
        remaining = visits(t.tasks, epochs=t.passes, run_seed=t.run_seed, done=progress.episode)
        for episode, epoch, task in remaining:
            await asyncio.sleep(0)  # lets a signal in even when no call ever suspends
            t.check_budget(progress.cost)

            # G ~ p_θ, u(G)
            edges = t.logits.sample(rng_for(t.run_seed, "edges", episode))
            scored = await t.roll(task, progress.state, Phase.PRE, episode, edges=edges)
            t.logits.record(edges, scored.rollout.order, scored.value)

            # θ ← θ + lr · 1/M Σ A_m ∇ log p_θ(G_m), the last batch as far as it came
            learnt = t.logits.update() if t.logits.due or episode == last else {}

            cost, traces = t.roll.ledger.take()
            progress = replace(progress, episode=episode, cost=progress.cost + cost)
            recorder.episode(
                episode_record(t, scored, task, progress, epoch, cost, stepped=bool(learnt)),
                episode_metrics(t, scored, progress, learnt),
                traces,
                committed=None,
            )
            if episode % t.checkpoint_every == 0:
                recorder.checkpoint(progress_to_data(progress), t.logits.state())
    except (BackboneError, BudgetSpent, asyncio.CancelledError):
        t.roll.ledger.take()  # a rolled-back episode leaves no trace
        recorder.checkpoint(progress_to_data(progress), t.logits.state())
        raise
    progress = replace(progress, finished=True)
    recorder.checkpoint(progress_to_data(progress), t.logits.state())
    return progress


def episode_record(
    t: EdgeTrainer,
    scored: Scored,
    task: Task,
    progress: Progress,
    epoch: int,
    cost: Cost,
    *,
    stepped: bool,
) -> dict[str, Any]:
    """The line of `episodes.jsonl`: that of an episode without an edit, and what is learnt.

    `edge_probabilities` stands there after a gradient step, and so on the last line of a run.
    """
    pool = progress.state.pool
    return {
        "episode": progress.episode,
        "epoch": epoch,
        "phase": PHASE,
        "task": task.id,
        "group": task.group,
        "action": ACTION,
        "target": None,
        "role": None,
        "verdict": "unchanged",
        "reasons": [],
        "details": [],
        "score_before": scored.value,
        "score_after": None,
        "reward": scored.value,
        "gate_delta": None,
        "committed": False,
        "contracts": None,
        "contract_reasons": None,
        "pool_size": len(pool),
        "pool_hash": pool.hash,
        **cost.to_data(),
        "loo": None,
        "edges": [list(edge) for edge in scored.rollout.edges],
        **({"edge_probabilities": t.logits.to_data()} if stepped else {}),
    }


def episode_metrics(
    t: EdgeTrainer, scored: Scored, progress: Progress, learnt: Mapping[str, float]
) -> dict[str, float]:
    """The scalars after an episode, under the names of the metric table."""
    theta, cost = t.logits.probabilities, progress.cost
    return {
        "train/reward": scored.value,
        "train/score_before": scored.value,
        "pool/size": float(len(progress.state.pool)),
        "edges/drawn": float(len(scored.rollout.edges)),
        "edges/probability": float(theta.mean()) if theta.size else 0.0,
        "edges/entropy": mean_entropy(theta),
        "edges/likely": float(len(t.logits.likely(t.threshold))),
        "cost/calls": float(cost.calls),
        "cost/prompt_tokens": float(cost.prompt_tokens),
        "cost/completion_tokens": float(cost.completion_tokens),
        **learnt,
    }
