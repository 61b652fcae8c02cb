from collections import Counter
from dataclasses import replace

import pytest

from sero.benchmarks.base import Task
from sero.benchmarks.splits import check_disjoint, equal_shares, stratified_split
from sero.errors import DataError


def tasks(**sizes):
    return [
        Task(id=f"{group}-{i:03}", group=group, prompt=f"prompt {group} {i}", reference={})
        for group, n in sizes.items()
        for i in range(n)
    ]


def split(rows, n_train=6, n_heldout=None, seed=0):
    return stratified_split(rows, n_train=n_train, n_heldout=n_heldout, seed=seed, name="b")


def ids(rows):
    return [task.id for task in rows]


def groups(rows):
    return dict(Counter(task.group for task in rows))


@pytest.mark.parametrize(
    ("total", "sizes", "shares"),
    [
        (30, {"a": 100, "b": 100, "c": 100}, {"a": 10, "b": 10, "c": 10}),
        (8, {"c": 9, "a": 9, "b": 9}, {"a": 3, "b": 3, "c": 2}),  # left-overs by name
        (10, {"a": 1, "b": 9, "c": 9}, {"a": 1, "b": 5, "c": 4}),  # 3,4,4 then a's two move on
        (100, {"a": 2, "b": 3}, {"a": 2, "b": 3}),
        (0, {"a": 2}, {"a": 0}),
        (5, {}, {}),
    ],
)
def test_equal_shares(total, sizes, shares):
    assert equal_shares(total, sizes) == shares


def test_training_is_balanced_and_the_rest_is_held_out():
    parts = split(tasks(a=5, b=9, c=4))
    assert groups(parts.train) == {"a": 2, "b": 2, "c": 2}
    assert groups(parts.heldout) == {"a": 3, "b": 7, "c": 2}
    assert not set(ids(parts.train)) & set(ids(parts.heldout))


def test_groups_take_turns():
    parts = split(tasks(a=5, b=5))
    assert [task.group for task in parts.train] == ["a", "b"] * 3


def test_counts_per_group_can_be_given():
    parts = split(tasks(a=5, b=9), n_train={"a": 1, "b": 4}, n_heldout=6)
    assert groups(parts.train) == {"a": 1, "b": 4}
    assert groups(parts.heldout) == {"a": 3, "b": 3}


def test_file_order_does_not_matter_and_the_seed_does():
    rows = tasks(a=40, b=40)
    assert split(rows) == split(rows[::-1])
    assert ids(split(rows).train) != ids(split(rows, seed=1).train)


def test_a_draw_does_not_move_another():
    rows = tasks(a=40, b=40)
    whole = split(rows)
    fewer = split(rows, n_heldout=10)
    assert fewer.train == whole.train
    assert set(ids(fewer.heldout)) <= set(ids(whole.heldout))
    more_b = split(tasks(a=40, b=41))
    assert [i for i in ids(more_b.train) if i < "b"] == [i for i in ids(whole.train) if i < "b"]


def test_too_few_tasks_are_refused_with_the_counts():
    with pytest.raises(DataError, match="5 tasks found, 6 wanted"):
        split(tasks(a=2, b=3))
    with pytest.raises(DataError, match="b: 3 found, 4 wanted"):
        split(tasks(a=9, b=3), n_train={"a": 1, "b": 4})


def test_an_item_in_both_parts_is_refused():
    one, other = tasks(a=2)
    twin = Task(id="x", group="a", prompt=one.prompt, reference={})
    check_disjoint([one], [other])
    with pytest.raises(DataError, match="a-000: in the training split too"):
        check_disjoint([one], [one])
    with pytest.raises(DataError, match="x: same prompt as the training task a-000"):
        check_disjoint([one], [other, twin])


def finer(group, subgroup, n, *, prompt=None):
    return [
        Task(
            id=f"{group}-{subgroup}-{i}",
            group=group,
            subgroup=subgroup,
            prompt=prompt or f"{group} {subgroup} {i}",
            reference={},
        )
        for i in range(n)
    ]


def test_subgroups_share_the_training_draw_equally():
    """7 of 3 + 1 subgroups: 2, 2, 2 and 1 by name; a group gets what its subgroups get."""
    tasks = [*finer("a", "x", 9), *finer("a", "y", 9), *finer("a", "z", 9), *finer("b", "w", 9)]
    parts = stratified_split(tasks, n_train=7, n_heldout=None, seed=0, name="t")
    drawn = Counter((task.group, task.subgroup) for task in parts.train)
    assert drawn == {("a", "x"): 2, ("a", "y"): 2, ("a", "z"): 2, ("b", "w"): 1}
    assert len(parts.heldout) == 29


def test_a_number_for_each_group_is_spread_over_its_subgroups():
    tasks = [*finer("a", "x", 2), *finer("a", "y", 9), *finer("b", "w", 9)]
    parts = stratified_split(tasks, n_train={"a": 6, "b": 1}, n_heldout=None, seed=0, name="t")
    drawn = Counter((task.group, task.subgroup) for task in parts.train)
    assert drawn == {("a", "x"): 2, ("a", "y"): 4, ("b", "w"): 1}


@pytest.mark.parametrize("seed", range(20))
def test_a_task_with_a_twin_is_held_out_and_so_is_the_twin(seed):
    twins = [
        replace(task, id=f"twin{i}") for i, task in enumerate(finer("a", "x", 3, prompt="the same"))
    ]
    parts = stratified_split(
        [*twins, *finer("a", "x", 5)], n_train=4, n_heldout=None, seed=seed, name="t"
    )
    assert {task.id for task in parts.heldout} >= {task.id for task in twins}
    assert len(parts.train) == 4
