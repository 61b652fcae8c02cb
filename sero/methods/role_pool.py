"""Methods that answer with a role pool: the static one, and Sero, which evolves it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from sero.backbones.base import CallContext
from sero.backbones.settling import settled
from sero.benchmarks.base import Benchmark, Task
from sero.credit import PoolState
from sero.evolution.contracts import Terms
from sero.evolution.controller import Controller
from sero.evolution.editor import CardEditor
from sero.evolution.gate import Gate, ScoreGate
from sero.evolution.guard import Guard
from sero.evolution.progress import Progress, progress_from_data
from sero.evolution.rolling import Ledger, Roller
from sero.evolution.trainer import Trainer, train
from sero.inference.operator import answer
from sero.inference.trace import Rollout
from sero.methods.base import Fitting, Lab, Start


@dataclass(frozen=True, slots=True, kw_only=True)
class RolePoolConfig:
    """`method=static`, `method=sero`: everything else is in the sections."""

    name: str


class StaticRoles:
    """Static Role Orchestration: F(P_0, C_0, ·), bootstrap order, repair, nothing written.

    Args:
        cfg: its name.
        lab: what the run lends.
        state: the pool to answer with, usually the benchmark's seed pool.
    """

    Config: ClassVar[type[RolePoolConfig]] = RolePoolConfig
    takes_pool: ClassVar[bool] = True

    def __init__(self, cfg: RolePoolConfig, *, lab: Lab, state: PoolState) -> None:
        self.name = cfg.name
        self._lab = lab
        self._state = state

    @classmethod
    def start(cls, cfg: RolePoolConfig, benchmark: Benchmark) -> Start:
        """P_0, the benchmark's seed pool."""
        return Start(pool=benchmark.seed_pool())

    @property
    def state(self) -> PoolState:
        return self._state

    def planned_episodes(self, n_train: int) -> int:
        return 0

    async def fit(self, tasks: tuple[Task, ...], fitting: Fitting) -> None:
        """Nothing to train."""

    async def answer(self, prompt: str, call: CallContext) -> Rollout:
        """F with bootstrap drafts, whatever order training used (method.md §4.2)."""
        lab = self._lab
        credit = replace(lab.inference.credit, order_source="bootstrap")
        frozen = replace(lab.inference, credit=credit)
        roll = partial(answer, prompt, self._state, lab.parts, frozen, call=call)
        return await settled(roll, lab.commit)


class Sero(StaticRoles):
    """Role-pool evolution: Algorithm 2 on the training split, then the frozen pool.

    A control changes one part: the controller that proposes, or the gate that judges.
    """

    def planned_episodes(self, n_train: int) -> int:
        cfg = self._lab.train
        return (cfg.warmup_epochs + cfg.main_epochs) * n_train

    async def fit(self, tasks: tuple[Task, ...], fitting: Fitting) -> None:
        lab = self._lab
        controller = self.controller()
        progress = Progress(state=self._state)
        if fitting.resume is not None:
            controller.restore(fitting.resume["controller"])
            progress = progress_from_data(
                fitting.resume["progress"], max_prompt_chars=lab.schema.max_prompt_chars
            )
        trainer = self._trainer(tasks, controller, fitting)
        progress = await train(trainer, progress, fitting.recorder)
        self._state = progress.state

    def controller(self) -> Controller:
        """Who proposes edits: the learned controller."""
        return self._lab.make_controller()

    def gate(self, tasks: tuple[Task, ...]) -> Gate:
        """Who judges them: the gate of the configuration."""
        lab = self._lab
        return ScoreGate(
            cfg=lab.gate, strict_add=lab.strict_add, train=tasks, run_seed=lab.run_seed
        )

    def _trainer(
        self, tasks: tuple[Task, ...], controller: Controller, fitting: Fitting
    ) -> Trainer:
        lab = self._lab
        ledger = Ledger()
        reserved = lab.inference.repair.reserved
        seed_pool = self._state.pool
        terms = Terms(
            seed_families=seed_pool.families,
            min_validators=lab.guard.min_validators if reserved else 0,
            output_protocol=lab.benchmark.output_protocol,
        )
        return Trainer(
            tasks=tasks,
            roll=Roller(
                parts=lab.parts,
                inference=lab.inference,
                benchmark=lab.benchmark,
                run_seed=lab.run_seed,
                commit=lab.commit,
                ledger=ledger,
            ),
            controller=controller,
            editor=CardEditor(
                backbone=lab.parts.backbone,
                cfg=lab.editor,
                max_prompt_chars=lab.schema.max_prompt_chars,
                known_texts=lab.benchmark.known_texts(),
                run_seed=lab.run_seed,
                commit=lab.commit,
                ledger=ledger,
            ),
            guard=Guard(
                cfg=lab.guard,
                pool=lab.pool,
                terms=terms,
                reserved=reserved,
                encoder=lab.parts.encoder,
            ),
            gate=self.gate(tasks),
            train=lab.train,
            policy=lab.policy,
            credit=lab.inference.credit,
            early_stop=lab.early_stop,
            run_seed=lab.run_seed,
            check_budget=fitting.check_budget,
        )
