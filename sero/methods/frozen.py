"""What the methods without training have in common: no episodes, nothing to fit."""

from __future__ import annotations

from typing import ClassVar

from sero.backbones.base import Phase
from sero.benchmarks.base import Task
from sero.credit import PoolState
from sero.inference.counting import exactly
from sero.methods.base import Fitting, Lab, PlannedCalls


class Frozen:
    """A method that answers with cards of its own.

    Args:
        name: the method's name.
        lab: what the run lends.
        state: what `start` read, with credit that nobody looks at.
    """

    takes_pool: ClassVar[bool] = False

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
        """Exact: nothing depends on what is answered."""
        calls = self.calls_per_task
        return PlannedCalls(
            by_phase={Phase.EVAL: exactly(calls * n_heldout)},
            distinct_per_task=calls,
            shown_per_call=self.shown_per_task / calls,
        )

    async def fit(self, tasks: tuple[Task, ...], fitting: Fitting) -> None:
        """Nothing to train."""
