"""What the methods without training have in common: no episodes, nothing to fit."""

from __future__ import annotations

from typing import ClassVar

from sero.benchmarks.base import Task
from sero.credit import PoolState
from sero.methods.base import Fitting, Lab


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

    async def fit(self, tasks: tuple[Task, ...], fitting: Fitting) -> None:
        """Nothing to train."""
