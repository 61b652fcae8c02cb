"""Methods that answer with a role pool: the static one, and Sero, which evolves it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from sero.backbones.base import CallContext, Phase
from sero.backbones.settling import settled
from sero.benchmarks.base import Benchmark, Task
from sero.credit import PoolState
from sero.evolution.contracts import Terms
from sero.evolution.controller import Controller
from sero.evolution.counting import (
    Course,
    EditRules,
    gate_pairs,
    kept_by_families,
    training_calls,
)
from sero.evolution.early_stop import first_test
from sero.evolution.editor import CardEditor
from sero.evolution.gate import Gate, ScoreGate
from sero.evolution.guard import Guard
from sero.evolution.progress import Progress, progress_from_data
from sero.evolution.rolling import Ledger, Roller
from sero.evolution.trainer import Trainer, train
from sero.inference.counting import (
    Makeup,
    makeup_of,
    most_shown_per_call,
    rating_calls,
    rollout_calls,
    team_of,
)
from sero.inference.operator import InferenceConfig, answer
from sero.inference.span import Span, covering
from sero.inference.trace import Rollout
from sero.methods.base import Fitting, Lab, PlannedCalls, Start
from sero.roles.card import RoleType
from sero.roles.pool import RolePool


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
    needs_training: ClassVar[bool] = False
    takes_players: ClassVar[bool] = True

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

    def planned_calls(self, n_train: int, n_heldout: int) -> PlannedCalls:
        """Exact but for the repair."""
        pools = frozenset({makeup_of(self._state.pool)})
        return self._planned({}, pools, n_heldout)

    async def fit(self, tasks: tuple[Task, ...], fitting: Fitting) -> None:
        """Nothing to train."""

    async def answer(self, prompt: str, call: CallContext) -> Rollout:
        """F with bootstrap drafts, whatever order training used (method.md §4.2)."""
        roll = partial(answer, prompt, self._state, self._lab.parts, self._frozen, call=call)
        return await settled(roll, self._lab.commit)

    @property
    def _frozen(self) -> InferenceConfig:
        """The operator's sections as an answer reads them."""
        inference = self._lab.inference
        return replace(inference, credit=replace(inference.credit, order_source="bootstrap"))

    def _planned(
        self, trained: Mapping[Phase, Span], pools: frozenset[Makeup], n_heldout: int
    ) -> PlannedCalls:
        """Training's calls, and those of answers with one of the pools it may end with."""
        frozen = self._frozen
        answers = covering(rollout_calls(pool, frozen) for pool in pools)
        # every member drafts or speaks once before it hears anybody, and rates the others where it
        # is asked to; then the aggregator answers
        sizes = [team_of(pool, frozen).size for pool in pools if pool.aggregators]
        speakers = [n + rating_calls(n, frozen) + 1 for n in sizes]
        lost = len(speakers) < len(pools)
        return PlannedCalls(
            by_phase={**trained, Phase.EVAL: answers * n_heldout},
            distinct_per_task=0 if lost else min(speakers),
            shown_per_call=most_shown_per_call(pools, self._lab.inference),
        )


class Sero(StaticRoles):
    """Role-pool evolution: Algorithm 2 on the training split, then the frozen pool.

    A control changes one part: the controller that proposes, or the gate that judges.
    """

    def planned_episodes(self, n_train: int) -> int:
        cfg = self._lab.train
        return (cfg.warmup_epochs + cfg.main_epochs) * n_train

    def planned_calls(self, n_train: int, n_heldout: int) -> PlannedCalls:
        """Spans: nobody knows beforehand which edits are proposed, refused or kept."""
        start = makeup_of(self._state.pool)
        rules, course = self._edit_rules(), self._course(n_train)
        trained = training_calls(start, rules, course, self._training)
        return self._planned(trained.calls, trained.pools, n_heldout)

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

    @property
    def _training(self) -> InferenceConfig:
        """The operator's sections, and the refreshes' schedule, as training reads them."""
        return self._lab.inference

    def _course(self, n_train: int) -> Course:
        """How training goes: its phases, its earliest end, what the gate asks for."""
        lab = self._lab
        warmup, main = lab.train.warmup_epochs * n_train, lab.train.main_epochs * n_train
        stop = first_test(lab.early_stop, n_train) if lab.early_stop.enabled else main
        gated = lab.gate.kind != "none"
        return Course(
            warmup=warmup,
            main=main,
            least=warmup + min(main, stop),
            n_train=n_train,
            attempts=lab.editor.attempts,
            judged=True,
            gate_pairs=gate_pairs(lab.gate.tasks, lab.gate.repeats, n_train) if gated else 0,
        )

    def _edit_rules(self) -> EditRules:
        """What the masks and guards of `actions.py` and `guard.py` let an edit do."""
        lab = self._lab
        pool, reserved = self._state.pool, lab.inference.repair.reserved
        guarded = lab.guard.enabled
        protected = makeup_of(RolePool(tuple(card for card in pool if card.protected)))
        kept = at_first = Makeup()
        smallest = 1
        if guarded:
            validators = max(protected.validators, lab.guard.min_validators if reserved else 0)
            kept = protected._replace(validators=validators)
            at_first = kept_by_families(pool, kept)
            smallest = max(lab.pool.p_min, len(pool.families))
        return EditRules(
            adds="add" in lab.policy.operations,
            removes="remove" in lab.policy.operations,
            removes_in_warmup=False,
            addable=tuple(
                kind
                for kind in RoleType
                if not (guarded and reserved and kind is RoleType.VALIDATOR)
            ),
            p_max=lab.pool.p_max,
            smallest=smallest,
            kept=kept,
            kept_at_first=at_first,
            one_terminal=guarded,
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
