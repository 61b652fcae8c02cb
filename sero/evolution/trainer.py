"""Algorithm 2: one proposed edit per training task, committed under contracts and a gate."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from sero.backbones.base import Phase
from sero.benchmarks.base import Task
from sero.credit import CreditConfig, PoolState
from sero.errors import BackboneError, BudgetSpent
from sero.evolution.actions import TrainPhase, legal_actions
from sero.evolution.contracts import report_for_task
from sero.evolution.controller import Controller, DecisionView
from sero.evolution.early_stop import should_stop
from sero.evolution.editor import CardEditor
from sero.evolution.gate import Gate
from sero.evolution.guard import Guard
from sero.evolution.leave_one_out import Refresh, refresh, refresh_is_due, refresh_tasks
from sero.evolution.observation import observe
from sero.evolution.progress import Progress, progress_to_data
from sero.evolution.proposal import anchor_mask, edit
from sero.evolution.records import Recorder, episode_metrics, episode_record
from sero.evolution.rolling import Roller, Scored
from sero.evolution.sections import EarlyStopConfig, PolicyConfig, TrainConfig
from sero.evolution.step import Step
from sero.evolution.visits import visits
from sero.inference.trace import Cost
from sero.seeding import rng_for


@dataclass(frozen=True, slots=True, kw_only=True)
class Trainer:
    """The parts of Algorithm 2.

    Attributes:
        tasks: the training split.
        roll: s(F(P, C, x)).
        controller, editor, guard, gate: who proposes, writes, checks and judges an edit.
        run_seed: the run's seed; every draw comes from a stream it names.
        check_budget: raises BudgetSpent when the cost so far leaves no room for an episode.
    """

    tasks: tuple[Task, ...]
    roll: Roller
    controller: Controller
    editor: CardEditor
    guard: Guard
    gate: Gate
    train: TrainConfig
    policy: PolicyConfig
    credit: CreditConfig
    early_stop: EarlyStopConfig
    run_seed: int
    check_budget: Callable[[Cost], None]


async def train(t: Trainer, progress: Progress, recorder: Recorder) -> Progress:
    """Run Algorithm 2 from where `progress` stands to its end.

    Every model call of an episode comes before anything is learnt or written, and what follows
    the last call never awaits: an interruption at any time leaves whole episodes only. They are
    checkpointed on the way out.

    Raises:
        BackboneError: the machine failed; the episode is rolled back, the rest is saved.
        BudgetSpent: a budget is used up; everything so far is saved.
    """
    if progress.finished:
        return progress
    try:
        for episode, epoch, phase, task in schedule(t, done=progress.episode):
            await asyncio.sleep(0)  # lets a signal in even when no call ever suspends
            t.check_budget(progress.cost)
            step = await train_step(t, task, phase, progress, episode)
            measured = await refreshed_credit(t, step.verdict.state, episode)
            state = measured.state

            t.controller.record(step.view, step.decision, step.verdict.reward)
            learnt = dict(t.controller.update()) if t.controller.due else {}

            cost, traces = t.roll.ledger.take()
            progress = progress.after(step, state, cost, keep=t.editor.cfg.recent)
            recorder.episode(
                episode_record(
                    step, episode, epoch, state, cost, measured.loo, measured.loo_stderr
                ),
                episode_metrics(step, progress, t.credit, measured.loo) | measured.causal | learnt,
                traces,
                committed=state if step.verdict.committed else None,
            )
            if should_stop(progress.changed, t.early_stop, len(t.tasks)):
                break
            if episode % t.train.checkpoint_every == 0:
                recorder.checkpoint(progress_to_data(progress), t.controller.state())
    except (BackboneError, BudgetSpent, asyncio.CancelledError):
        t.roll.ledger.take()  # a rolled-back episode leaves no trace
        recorder.checkpoint(progress_to_data(progress), t.controller.state())
        raise
    if t.controller.pending:
        recorder.last_update(t.controller.update(), progress.episode)  # the incomplete batch
    progress = replace(progress, finished=True)
    recorder.checkpoint(progress_to_data(progress), t.controller.state())
    return progress


async def train_step(
    t: Trainer, task: Task, phase: TrainPhase, progress: Progress, episode: int
) -> Step:
    """The body of Algorithm 2: roll out, observe, propose, guard, judge. Changes nothing."""
    # (ŷ, s⁻, A) ← F(P, C, x); its fast credit is kept whatever becomes of the edit
    before = await t.roll(task, progress.state, Phase.PRE, episode)
    state = progress.state.with_fast(before.rollout.final_fast)

    # a = (ω, z) ~ π(· | o, masks)
    view = look(t, task, before, state, phase)
    decision = t.controller.act(view, rng_for(t.run_seed, "policy", episode))

    # (P~, C~) ← E(P, C, x, a)
    proposal = await edit(
        decision.action,
        task,
        state,
        t.editor,
        t.credit,
        seed_families=t.guard.terms.seed_families,
        failures=progress.failures,
        removed=progress.removed,
        episode=episode,
    )

    # guards, then s⁺ and the commit rule; a refused edit leaves the very object that stood before
    candidate = proposal.candidate
    broken = t.guard.violations(candidate.pool, state.pool) if candidate else ()
    contracts = report_for_task(task, candidate, t.guard.terms, t.roll) if candidate else None
    verdict = await t.gate.judge(task, before, state, proposal, broken, phase, t.roll, episode)
    return Step(
        task=task,
        phase=phase,
        before=before,
        view=view,
        decision=decision,
        proposal=proposal,
        contracts=contracts,
        verdict=verdict,
    )


def look(
    t: Trainer, task: Task, before: Scored, state: PoolState, phase: TrainPhase
) -> DecisionView:
    """What the controller sees of (P, C) after the pre-edit rollout: o, masks, anchors, s⁻."""
    return DecisionView(
        observation=observe(
            task.prompt,
            before.rollout,
            state,
            t.roll.parts.encoder,
            phase,
            credit_cfg=t.credit,
            policy=t.policy,
        ),
        legal=legal_actions(
            state.pool,
            t.guard.terms.seed_families,
            phase,
            pool_cfg=t.guard.pool,
            guard=t.guard.cfg,
            reserved=t.guard.reserved,
            operations=t.policy.operations,
        ),
        anchors=anchor_mask(state, t.editor.cfg),
        state=state,
        score=before.value,
        phase=phase,
    )


async def refreshed_credit(t: Trainer, state: PoolState, episode: int) -> Refresh:
    """The credit refresh when it is due; else the state as it is, and nothing measured."""
    if not refresh_is_due(episode, len(state.pool), t.credit):
        return Refresh(state=state)
    drawn = refresh_tasks(t.tasks, t.credit, run_seed=t.run_seed, episode=episode)
    return await refresh(state, drawn, t.roll, t.credit, episode=episode)


def schedule(t: Trainer, *, done: int) -> Iterator[tuple[int, int, TrainPhase, Task]]:
    """(episode, epoch, phase, task) from the first episode not done; warm-up epochs come first."""
    warmup = t.train.warmup_epochs
    epochs = warmup + t.train.main_epochs
    for episode, epoch, task in visits(t.tasks, epochs=epochs, run_seed=t.run_seed, done=done):
        yield episode, epoch, TrainPhase.WARMUP if epoch <= warmup else TrainPhase.MAIN, task
