"""GPTSwarm: fixed roles, and a graph between them that is learnt (Zhuge et al., 2024).

Everything but the edges is Static Role Orchestration: the seed pool, retrieval, bootstrap drafts,
the stage order, an aggregator that hears every role, and repair. The edges of `dag.rule` and its
degree budgets give way to learnt ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Annotated, ClassVar

from annotated_types import Ge, Gt, Lt

from sero.backbones.base import CallContext, Phase
from sero.backbones.settling import settled
from sero.benchmarks.base import Task
from sero.credit import PoolState
from sero.evolution.edge_logits import Baseline, EdgeLogits, ordered_pairs
from sero.evolution.edge_training import EdgeTrainer, train_edges
from sero.evolution.progress import Progress, progress_from_data
from sero.evolution.rolling import Ledger, Roller
from sero.inference.counting import makeup_of, most_shown_per_call, rollout_calls
from sero.inference.operator import answer
from sero.inference.trace import Rollout
from sero.methods.base import Fitting, Lab, PlannedCalls
from sero.methods.role_pool import RolePoolConfig, StaticRoles


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeLearningConfig(RolePoolConfig):
    """`method=gptswarm`.

    Attributes:
        lr: Adam's step size on the logits.
        graphs: M, sampled graphs per gradient step, each on the next training task.
        passes: passes over the training tasks, at a rollout per task.
        initial: probability of every edge before training.
        threshold: edges with a probability above it make the graph that answers.
        baseline: what a graph's score is compared with: the mean of the step's other graphs, or 0.
    """

    lr: Annotated[float, Gt(0)]
    graphs: Annotated[int, Gt(0)]
    passes: Annotated[int, Gt(0)]
    initial: Annotated[float, Gt(0), Lt(1)]
    threshold: Annotated[float, Ge(0), Lt(1)]
    baseline: Baseline


class EdgeLearning(StaticRoles):
    """Edge probabilities learnt on the training split, then the likely edges, frozen.

    Args:
        cfg: its section.
        lab: what the run lends.
        state: the pool to answer with; neither it nor its credit ever changes.
    """

    Config: ClassVar[type[RolePoolConfig]] = EdgeLearningConfig
    needs_training: ClassVar[bool] = True

    def __init__(self, cfg: EdgeLearningConfig, *, lab: Lab, state: PoolState) -> None:
        super().__init__(cfg, lab=lab, state=state)
        self._cfg = cfg

    @cached_property
    def _logits(self) -> EdgeLogits:
        """Made when first needed: an optimiser takes seconds to load, and a plan asks for none."""
        cfg = self._cfg
        return EdgeLogits(
            ordered_pairs(self._state.pool.cards),
            initial=cfg.initial,
            lr=cfg.lr,
            graphs=cfg.graphs,
            baseline=cfg.baseline,
        )

    def planned_episodes(self, n_train: int) -> int:
        return self._cfg.passes * n_train

    def planned_calls(self, n_train: int, n_heldout: int) -> PlannedCalls:
        """Exact but for the repair: edges change what a role hears, and not who speaks."""
        pool = makeup_of(self._state.pool)
        rollouts = rollout_calls(pool, self._frozen) * self.planned_episodes(n_train)
        planned = self._planned({Phase.PRE: rollouts}, frozenset({pool}), n_heldout)
        # any forward edge may be learnt, as this rule has them all
        dense = replace(self._frozen.dag, rule="cross_stage", order="credit")
        shown = most_shown_per_call([pool], replace(self._frozen, dag=dense))
        return replace(planned, shown_per_call=shown)

    async def fit(self, tasks: tuple[Task, ...], fitting: Fitting) -> None:
        lab, cfg = self._lab, self._cfg
        progress = Progress(state=self._state)
        if fitting.resume is not None:
            self._logits.restore(fitting.resume["controller"])
            progress = progress_from_data(
                fitting.resume["progress"], max_prompt_chars=lab.schema.max_prompt_chars
            )
        trainer = EdgeTrainer(
            tasks=tasks,
            roll=Roller(
                parts=lab.parts,
                inference=self._frozen,  # C is never written, so no stored order could be learnt on
                benchmark=lab.benchmark,
                run_seed=lab.run_seed,
                commit=lab.commit,
                ledger=Ledger(),
            ),
            logits=self._logits,
            passes=cfg.passes,
            threshold=cfg.threshold,
            checkpoint_every=lab.train.checkpoint_every,
            run_seed=lab.run_seed,
            check_budget=fitting.check_budget,
        )
        await train_edges(trainer, progress, fitting.recorder)

    async def answer(self, prompt: str, call: CallContext) -> Rollout:
        """F along the edges above the threshold."""
        edges = self._logits.likely(self._cfg.threshold)
        roll = partial(
            answer, prompt, self._state, self._lab.parts, self._frozen, call=call, edges=edges
        )
        return await settled(roll, self._lab.commit)
