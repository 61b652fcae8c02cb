"""The seeded split into training and held-out tasks, stratified by group, and its checks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sero.benchmarks.base import Task
from sero.errors import DataError
from sero.seeding import rng_for

Key = TypeVar("Key", str, tuple[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The two parts of a split, disjoint by id and by prompt."""

    train: tuple[Task, ...]
    heldout: tuple[Task, ...]


def stratified_split(
    tasks: Sequence[Task],
    *,
    n_train: int | Mapping[str, int],
    n_heldout: int | None,
    seed: int,
    name: str,
) -> Parts:
    """Draw training and held-out tasks, each group from a stream of its own.

    The order of `tasks` has no influence: a group is sorted by id before it is shuffled. The
    held-out draw follows the training draw in the same shuffled order, so `n_heldout` never
    moves a training task, and a further item in one group never moves another group. Inside a
    group the subgroups share the training draw equally. A task whose prompt occurs twice is never
    drawn for training, so that its twin may be held out.

    Args:
        tasks: with unique ids.
        n_train: training tasks in all, shared equally between the subgroups of all groups (what is
            left over goes to the first by name), or a number for each group.
        n_heldout: held-out tasks in all, shared equally as far as groups have them; None takes
            every task that is not for training.
        seed: `benchmark.split_seed`, not the run's seed.
        name: the benchmark's name, part of the stream's name.

    Returns:
        Both parts with the groups taking turns, so that any prefix is about balanced.

    Raises:
        DataError: too few tasks for the counts, or a task in both parts.
    """
    groups: dict[str, list[Task]] = defaultdict(list)
    for task in sorted(tasks, key=lambda task: task.id):
        groups[task.group].append(task)
    names = sorted(groups)
    prompts = Counter(task.prompt for task in tasks)
    free = {group: sum(prompts[t.prompt] == 1 for t in groups[group]) for group in names}
    wanted = dict(n_train) if isinstance(n_train, Mapping) else _shares_of(n_train, groups)
    short = [
        f"{group}: {free.get(group, 0)} found, {n} wanted for training"
        for group, n in sorted(wanted.items())
        if free.get(group, 0) < n
    ]
    if isinstance(n_train, int) and sum(wanted.values()) < n_train:
        short.append(f"{len(tasks)} tasks found, {n_train} wanted for training")
    if short:
        raise DataError(f"{name}: too few tasks to split\n  " + "\n  ".join(short))
    rest = {group: len(groups[group]) - wanted.get(group, 0) for group in names}
    held = rest if n_heldout is None else equal_shares(n_heldout, rest)

    train: list[list[Task]] = []
    heldout: list[list[Task]] = []
    for group in names:
        order = rng_for(seed, "split", name, group).permutation(len(groups[group]))
        drawn = [groups[group][int(i)] for i in order]
        chosen = _draw(drawn, wanted.get(group, 0), prompts)
        train.append(chosen)
        taken = {task.id for task in chosen}
        heldout.append([task for task in drawn if task.id not in taken][: held[group]])
    parts = Parts(train=_taking_turns(train), heldout=_taking_turns(heldout))
    check_disjoint(parts.train, parts.heldout)
    return parts


def _shares_of(total: int, groups: Mapping[str, Sequence[Task]]) -> dict[str, int]:
    """Training tasks for each group: equal shares of the subgroups, added up."""
    sizes = Counter(_kind(task) for tasks in groups.values() for task in tasks)
    shares = equal_shares(total, sizes)
    return {group: sum(n for kind, n in shares.items() if kind[0] == group) for group in groups}


def _draw(drawn: Sequence[Task], n: int, prompts: Mapping[str, int]) -> list[Task]:
    """The first `n` of a shuffled group, spread over its subgroups, none with a twin."""
    free = [task for task in drawn if prompts[task.prompt] == 1]
    left = equal_shares(n, Counter(_kind(task) for task in free))
    chosen = []
    for task in free:
        if left[_kind(task)]:
            left[_kind(task)] -= 1
            chosen.append(task)
    return chosen


def _kind(task: Task) -> tuple[str, str]:
    return (task.group, task.subgroup)


def equal_shares(total: int, sizes: Mapping[Key, int]) -> dict[Key, int]:
    """Share `total` equally between groups, none above its size; a small group's rest moves on.

    The sum is `min(total, sum of sizes)`. Left-overs of a division go to the first groups by
    name.
    """
    shares = dict.fromkeys(sizes, 0)
    left = min(total, sum(sizes.values()))
    while left > 0:
        open_groups = [group for group in sorted(sizes) if shares[group] < sizes[group]]
        share, extra = divmod(left, len(open_groups))
        for i, group in enumerate(open_groups):
            given = min(share + (i < extra), sizes[group] - shares[group])
            shares[group] += given
            left -= given
    return shares


def check_disjoint(train: Sequence[Task], heldout: Sequence[Task]) -> None:
    """Refuse a held-out item in the training split.

    Raises:
        DataError: names every task that shares its id or its prompt with a training task.
    """
    ids = {task.id for task in train}
    prompts = {task.prompt: task.id for task in train}
    leaks = [
        f"{task.id}: in the training split too"
        if task.id in ids
        else f"{task.id}: same prompt as the training task {prompts[task.prompt]}"
        for task in heldout
        if task.id in ids or task.prompt in prompts
    ]
    if leaks:
        raise DataError(
            f"{len(leaks)} held-out task(s) are in the training split\n  " + "\n  ".join(leaks)
        )


def _taking_turns(rows: Sequence[Sequence[Task]]) -> tuple[Task, ...]:
    longest = max((len(row) for row in rows), default=0)
    return tuple(row[i] for i in range(longest) for row in rows if i < len(row))
