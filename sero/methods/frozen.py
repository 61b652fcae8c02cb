"""What the methods without training have in common: no episodes, nothing to fit."""

from __future__ import annotations

from typing import ClassVar

from sero.backbones.base import CallContext, Phase
from sero.benchmarks.base import Task
from sero.credit import PoolState
from sero.inference.role_assignment import NOTHING_ASKED, RoleAssignment, assign_cards
from sero.inference.span import Span, exactly
from sero.methods.base import Fitting, Lab, PlannedCalls


class Frozen:
    """A method that answers with cards of its own.

    Args:
        name: the method's name.
        lab: what the run lends.
        state: what `start` read, with credit that nobody looks at.
    """

    takes_pool: ClassVar[bool] = False
    needs_training: ClassVar[bool] = False
    takes_players: ClassVar[bool] = False

    def __init__(self, name: str, *, lab: Lab, state: PoolState) -> None:
        self.name = name
        self._lab = lab
        self._state = state

    @property
    def state(self) -> PoolState:
        return self._state

    def planned_episodes(self, n_train: int) -> int:
        return 0

    @property
    def calls_per_task(self) -> int:
        """Logical calls of one `answer`; all of them are different requests."""
        raise NotImplementedError

    @property
    def shown_per_task(self) -> int:
        """Completions that stand in the prompts of these calls."""
        return 0

    def planned_calls(self, n_train: int, n_heldout: int) -> PlannedCalls:
        """Exact: nothing depends on what is answered, but for an assignment of its roles."""
        calls = self.calls_per_task
        return self._planned(exactly(calls), calls, self.shown_per_task, n_heldout)

    def _planned(self, calls: Span, distinct: int, shown: int, n_heldout: int) -> PlannedCalls:
        """The calls of one `answer` as often as there are items, those of an assignment before it.

        Args:
            distinct: different requests among the calls, at least.
            shown: completions in their prompts where there are the most calls.
        """
        before = NOTHING_ASKED
        if self._lab.inference.assigner is not None:
            cards = self._state.pool.cards
            before = self._lab.inference.assigner.planned(len(cards), cards)
        both = before.calls + calls
        most = (before.shown + shown) / (both.low if before.shown else both.high)
        return PlannedCalls(
            by_phase={Phase.EVAL: both * n_heldout},
            distinct_per_task=before.distinct + distinct,
            shown_per_call=most,
        )

    async def _assigned(self, prompt: str, call: CallContext) -> RoleAssignment:
        """The cards, in the order of the pool, as they are played on a task.

        Raises:
            BackboneError: the machine failed.
        """
        return await assign_cards(
            prompt, self._state.pool.cards, self._lab.inference.assigner, call=call
        )

    async def fit(self, tasks: tuple[Task, ...], fitting: Fitting) -> None:
        """Nothing to train."""
