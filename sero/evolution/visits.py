"""Which training task an episode works on: every task once an epoch, in an order of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sero.benchmarks.base import Task
from sero.seeding import rng_for


class Visit(NamedTuple):
    """An episode's number and its epoch's, both from 1, and its task."""

    episode: int
    epoch: int
    task: Task


def visits(
    tasks: tuple[Task, ...], *, epochs: int, run_seed: int, done: int = 0
) -> Iterator[Visit]:
    """The visits of `epochs` epochs from the first episode after `done`.

    The order of an epoch is a function of `run_seed` and its number alone, so that every method
    that trains meets the tasks in one order.
    """
    n = len(tasks)
    for epoch in range(epochs):
        order = rng_for(run_seed, "tasks", epoch).permutation(n)
        for position, i in enumerate(order):
            episode = epoch * n + position + 1
            if episode > done:
                yield Visit(episode, epoch + 1, tasks[i])
