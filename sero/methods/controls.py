"""The controls: Sero with another controller, and random evolution as it was published.

Comparing Sero with ungated random evolution cannot tell the controller from the gate; `GatedRandom`
and `CreditHeuristic` keep gate and guards, and change the controller alone (method.md §4.9).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sero.benchmarks.base import Task
from sero.credit import PoolState
from sero.evolution import controls
from sero.evolution.actions import TrainPhase
from sero.evolution.controller import Controller
from sero.evolution.counting import Course, EditRules
from sero.evolution.editor import CardEditor, Offer, Situation
from sero.evolution.gate import Gate, Verdict
from sero.evolution.guard import Guard
from sero.evolution.proposal import Proposal
from sero.evolution.reasons import Code, Reason
from sero.evolution.rolling import Roller, Scored
from sero.evolution.trainer import Trainer
from sero.inference.counting import makeup_of
from sero.inference.operator import InferenceConfig
from sero.methods.base import Fitting
from sero.methods.role_pool import Sero
from sero.roles.card import RoleType
from sero.roles.pool import RolePool


class GatedRandom(Sero):
    """Sero with random legal edits in the place of learned ones; same gate, same guards.

    It draws from the stream the learned controller draws from, episode by episode. While that one
    is near its uniform start the two act alike, so their difference over seeds is a paired one.
    """

    def controller(self) -> Controller:
        policy = self._lab.policy
        return controls.UniformLegal(policy.operations, anchored=policy.add_target == "anchor")


class CreditHeuristic(Sero):
    """Sero with a two-line rule on credit in the place of the learned controller."""

    def controller(self) -> Controller:
        lab = self._lab
        return controls.CreditHeuristic(lab.policy.operations, credit=lab.inference.credit)


class RandomEvolution(Sero):
    """Random Role Evolution: seed pool, editor, card schema and P_max of Sero, and no gate.

    `random.passes` passes over the training tasks, all of them with every operation, none stopped
    early. The pre-edit score is logged and decides nothing. Credit stays as it started, unless
    `random.loo` refreshes it on Sero's schedule; the anchor of an Add is the role it ranks highest.
    """

    def planned_episodes(self, n_train: int) -> int:
        return self._lab.random.passes * n_train

    def _course(self, n_train: int) -> Course:
        episodes = self.planned_episodes(n_train)
        return replace(
            super()._course(n_train),
            warmup=0,
            main=episodes,
            least=episodes,
            judged=False,
            gate_pairs=0,
        )

    def _edit_rules(self) -> EditRules:
        """What `BoundsGuard` and `RoomyEditor` let an edit do."""
        protected = RolePool(tuple(card for card in self._state.pool if card.protected))
        return replace(
            super()._edit_rules(),
            addable=tuple(RoleType),
            smallest=1,
            kept=makeup_of(protected),
            kept_at_first=makeup_of(protected),
            one_terminal=False,
        )

    @property
    def _training(self) -> InferenceConfig:
        credit = self._lab.inference.credit
        if self._lab.random.loo:
            return self._lab.inference
        return replace(self._lab.inference, credit=replace(credit, loo_every=0))

    def controller(self) -> Controller:
        return controls.UniformUngated(self._lab.policy.operations)

    def gate(self, tasks: tuple[Task, ...]) -> Gate:
        return OpenGate()

    def _trainer(
        self, tasks: tuple[Task, ...], controller: Controller, fitting: Fitting
    ) -> Trainer:
        lab = self._lab
        whole = super()._trainer(tasks, controller, fitting)
        guard, editor = whole.guard, whole.editor
        return replace(
            whole,
            guard=BoundsGuard(
                cfg=replace(guard.cfg, enabled=False),
                pool=guard.pool,
                terms=guard.terms,
                reserved=guard.reserved,
                encoder=guard.encoder,
            ),
            editor=RoomyEditor(
                backbone=editor.backbone,
                cfg=editor.cfg,
                max_prompt_chars=editor.max_prompt_chars,
                known_texts=editor.known_texts,
                run_seed=editor.run_seed,
                commit=editor.commit,
                ledger=editor.ledger,
                p_max=lab.pool.p_max,
            ),
            train=replace(lab.train, warmup_epochs=0, main_epochs=lab.random.passes),
            credit=self._training.credit,
            early_stop=replace(lab.early_stop, enabled=False),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenGate:
    """Commits every edit that can be done, without running it: s⁺ is unknown and R is 0."""

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
        if proposal.candidate is None or broken:
            return Verdict(state=state, committed=False, reasons=(*proposal.reasons, *broken))
        return Verdict(state=proposal.candidate, committed=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundsGuard(Guard):
    """Refuses to remove a protected role or the last one, and to grow beyond P_max; nothing else.

    Coverage, the validator minimum and diversity do not apply to random evolution.
    """

    def violations(self, candidate: RolePool, current: RolePool) -> tuple[Reason, ...]:
        found = [
            Reason(Code.PROTECTED, f"'{card.name}' is protected")
            for card in current
            if card.protected and card.name not in candidate
        ]
        if not len(candidate):
            found.append(Reason(Code.POOL_TOO_SMALL, "0 roles, at least 1"))
        if len(current) < len(candidate) and len(candidate) > self.pool.p_max:
            found.append(_full(len(candidate), self.pool.p_max))
        return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomyEditor(CardEditor):
    """Sero's editor, asked only while there is room: an Add to a full pool costs no call.

    Attributes:
        p_max: P_max, from which on a pool is full.
    """

    p_max: int

    async def propose(self, task: Task, situation: Situation, episode: int) -> Offer:
        if len(situation.pool) >= self.p_max:
            refused = _full(len(situation.pool) + 1, self.p_max)
            return Offer(card=None, reasons=(refused,))
        # Not `super()`: a dataclass with slots is another class than the one being defined here.
        return await CardEditor.propose(self, task, situation, episode)


def _full(size: int, p_max: int) -> Reason:
    return Reason(Code.POOL_FULL, f"{size} roles, at most {p_max}")
