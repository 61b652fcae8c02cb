"""Eq. 7 and the DAG, against the vectors of the method's specification."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sero.backbones.base import CallContext, Phase
from sero.inference.graph import (
    Dag,
    DagConfig,
    build_dag,
    dag_along,
    degree_budgets,
    stage_order,
)
from sero.roles.card import RoleCard, RoleType

CALL = CallContext(run_seed=7, phase=Phase.PRE, episode=0, item="x")


def role(name, role_type="specialist"):
    return RoleCard(
        name=name,
        role_type=RoleType(role_type),
        capability_family="f",
        communication_protocol="p",
        system_prompt=("s",),
    )


def dag_config(**changes):
    values = {"rule": "nearest", "order": "credit", "b_out": None, "b_in": None}
    return DagConfig(**{**values, **changes})


def edges(n, fast=None, types=None, **changes):
    """Edges as the specification writes them: 12 is r_1 to r_2."""
    order = [role(f"r{i}", (types or ["specialist"] * n)[i]) for i in range(n)]
    credit = dict(zip((f"r{i}" for i in range(n)), fast or [0.0] * n, strict=True))
    dag = build_dag(order, credit, dag_config(**changes))
    return {10 * (i + 1) + j + 1 for i, j in dag.edges}


MEMBERS = (
    role("late", "validator"),
    role("poor"),
    role("good"),
    role("same"),
    role("start", "router"),
)
FAST = {"late": 0.9, "poor": 0.1, "good": 0.5, "same": 0.5, "start": -1.0}


class TestStageOrder:
    @pytest.mark.parametrize(
        ("order", "names"),
        [
            # stage first; credit inside the stage; `good` before `same` by its place in the pool
            ("credit", ["start", "good", "same", "poor", "late"]),
            ("reverse", ["start", "poor", "good", "same", "late"]),
            ("flat", ["start", "poor", "good", "same", "late"]),
        ],
    )
    def test_keys(self, order, names):
        got = stage_order(MEMBERS, FAST, order, CALL)
        assert [card.name for card in got] == names

    def test_a_random_order_is_named_by_seed_task_and_role(self):
        def names(members, **changes):
            values = {"run_seed": 7, "phase": Phase.PRE, "episode": 0, "item": "x", **changes}
            got = stage_order(members, FAST, "random", CallContext(**values))
            return [card.name for card in got]

        first = names(MEMBERS)
        assert sorted(first) == sorted(FAST)
        assert names(MEMBERS[::-1]) == first
        assert names(MEMBERS, phase=Phase.POST, episode=9) == first  # pairs stay comparable
        # a role that leaves changes nobody else's place
        assert names(MEMBERS[1:]) == [name for name in first if name != "late"]
        others = [names(MEMBERS, item=f"x{i}") for i in range(30)]
        assert len({tuple(other) for other in others}) > 20
        assert names(MEMBERS, run_seed=8) != first

    def test_a_random_order_does_not_keep_stages(self):
        firsts = {
            stage_order(
                MEMBERS,
                FAST,
                "random",
                CallContext(run_seed=0, phase=Phase.PRE, episode=0, item=str(i)),
            )[0].name
            for i in range(60)
        }
        assert firsts == set(FAST)

    @pytest.mark.parametrize("order", ["credit", "reverse", "random", "flat"])
    def test_the_terminal_role_is_refused(self, order):
        with pytest.raises(ValueError, match=r"stage_order got terminal role 'scribe'; pass B_t"):
            stage_order((role("a"), role("scribe", "aggregator")), {"a": 0}, order, CALL)


class TestBudgets:
    @pytest.mark.parametrize(
        ("n", "b_out", "b_in"),
        [(1, 1, 1), (2, 1, 1), (3, 2, 1), (4, 2, 2), (5, 2, 2), (6, 2, 3), (9, 2, 4)],
    )
    def test_the_formulas(self, n, b_out, b_in):
        assert degree_budgets(n, dag_config()) == (b_out, b_in)

    def test_given_budgets_win(self):
        assert degree_budgets(5, dag_config(b_out=4)) == (4, 2)
        assert degree_budgets(5, dag_config(b_in=1)) == (2, 1)


class TestRules:
    @pytest.mark.parametrize(
        ("n", "expected"),
        [
            (0, set()),
            (1, set()),
            (2, {12}),
            (3, {12, 13}),
            (4, {12, 13, 23, 24, 34}),
            (5, {12, 13, 23, 24, 34, 35, 45}),
        ],
    )
    def test_nearest(self, n, expected):
        assert edges(n) == expected

    @pytest.mark.parametrize(
        ("n", "expected"),
        [
            (1, set()),
            (2, {12}),
            # b = (2, 1): r_1 takes 3, then 2; both are full
            (3, {13, 12}),
            # b = (2, 2): 1 to 4, 3; 2 to 4, 3; 3 finds 4 full
            (4, {14, 13, 24, 23}),
            # b = (2, 2): 1 to 5, 4; 2 to 5, 4; 3 finds both full; 4 finds 5 full
            (5, {15, 14, 25, 24}),
        ],
    )
    def test_farthest(self, n, expected):
        assert edges(n, rule="farthest") == expected

    def test_credit(self):
        # b = (2, 2), f = 5, 2, 4, 3: 1 visits 3, 4, (2); 2 visits 3, 4; 3 finds 4 full
        assert edges(4, [5, 2, 4, 3], rule="credit") == {13, 14, 23, 24}
        # equal credit: the nearest first
        assert edges(4, [1, 1, 1, 1], rule="credit") == edges(4)

    def test_cross_stage_joins_different_stages_and_knows_no_budgets(self):
        types = ["router", "specialist", "specialist", "specialist", "validator"]
        expected = {12, 13, 14, 15, 25, 35, 45}
        assert edges(5, types=types, rule="cross_stage", b_out=1, b_in=1) == expected
        assert edges(3, rule="cross_stage") == set()

    @pytest.mark.parametrize("rule", ["nearest", "farthest", "credit", "cross_stage"])
    def test_flat_has_no_edges(self, rule):
        assert edges(4, rule=rule, order="flat", types=["router"] + ["specialist"] * 3) == set()

    def test_given_budgets(self):
        assert edges(4, b_out=1) == {12, 23, 34}
        assert edges(4, b_out=3, b_in=3) == {12, 13, 14, 23, 24, 34}
        # everybody reaches for the next free one: in(j) = 1
        assert edges(4, b_in=1) == {12, 13, 24}


class TestLevels:
    @pytest.mark.parametrize(
        ("predecessors", "levels"),
        [
            ((), ()),
            (((),), (0,)),
            (((), (), ()), (0, 0, 0)),
            (((), (0,), (0,), (1, 2)), (0, 1, 1, 2)),
            (((), (), (0,), (1,), (2,)), (0, 0, 1, 1, 2)),
            (((), (0,), (0, 1)), (0, 1, 2)),
        ],
    )
    def test_by_hand(self, predecessors, levels):
        order = tuple(role(f"r{i}") for i in range(len(predecessors)))
        assert Dag(order=order, predecessors=predecessors).levels == levels

    def test_with_the_default_rule_there_are_as_many_levels_as_roles(self):
        """From n = 4 on, the edge (i, i+1) always exists."""
        for n in range(4, 10):
            order = [role(f"r{i}") for i in range(n)]
            dag = build_dag(order, {c.name: 0.0 for c in order}, dag_config())
            assert dag.levels == tuple(range(n))


TEAMS = st.lists(
    st.tuples(
        st.sampled_from(["router", "specialist", "validator"]), st.sampled_from([-1.0, 0.0, 0.5])
    ),
    max_size=9,
)
CONFIGS = st.builds(
    DagConfig,
    rule=st.sampled_from(["nearest", "farthest", "credit", "cross_stage"]),
    order=st.sampled_from(["credit", "reverse", "random", "flat"]),
    b_out=st.none() | st.integers(1, 4),
    b_in=st.none() | st.integers(1, 4),
)


@given(team=TEAMS, cfg=CONFIGS)
def test_properties_of_every_dag(team, cfg):
    members = [role(f"r{i}", kind) for i, (kind, _) in enumerate(team)]
    fast = {f"r{i}": value for i, (_, value) in enumerate(team)}
    order = stage_order(members, fast, cfg.order, CALL)
    dag = build_dag(order, fast, cfg)
    n = len(team)
    assert sorted(card.name for card in dag.order) == sorted(card.name for card in members)
    if cfg.order in ("credit", "reverse"):
        stages = [card.role_type.stage for card in order]
        assert stages == sorted(stages)

    # edges point forward and stand once
    assert all(i < j for i, j in dag.edges)
    assert len(set(dag.edges)) == len(dag.edges)
    assert all(preds == tuple(sorted(preds)) for preds in dag.predecessors)
    # the caps hold
    if cfg.rule != "cross_stage":
        b_out, b_in = degree_budgets(n, cfg)
        assert all(sum(i == k for i, _ in dag.edges) <= b_out for k in range(n))
        assert all(len(preds) <= b_in for preds in dag.predecessors)
    else:
        assert all(order[i].role_type.stage < order[j].role_type.stage for i, j in dag.edges)
    # every role reaches the sink, along any path: it feeds the sink itself
    sink = n
    reached = {sink}
    for k in reversed(range(n)):
        successors = {j for i, j in dag.edges if i == k} | {sink}
        assert successors & reached
        reached.add(k)
    assert reached == set(range(n + 1))
    # a level is the longest path that leads to a role
    assert dag.levels == tuple(longest_path(dag, k) for k in range(n))


def longest_path(dag, k):
    """By trying every chain of edges that ends in r_k."""
    edges_in = set(dag.edges)
    return max(
        (
            size
            for size in range(k + 1)
            for chain in itertools.combinations(range(k), size)
            if all(pair in edges_in for pair in itertools.pairwise((*chain, k)))
        ),
        default=0,
    )


@given(team=TEAMS, rule=st.sampled_from(["nearest", "farthest", "credit"]))
def test_no_edge_is_left_out_without_a_reason(team, rule):
    """The greedy budgets are used up: a missing edge means that one end is full."""
    order = [role(f"r{i}", "specialist") for i in range(len(team))]
    fast = {f"r{i}": value for i, (_, value) in enumerate(team)}
    cfg = dag_config(rule=rule)
    dag = build_dag(order, fast, cfg)
    b_out, b_in = degree_budgets(len(team), cfg)
    out = [sum(i == k for i, _ in dag.edges) for k in range(len(team))]
    for i, j in itertools.combinations(range(len(team)), 2):
        if i not in dag.predecessors[j]:
            assert out[i] == b_out or len(dag.predecessors[j]) == b_in


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (set(), set()),
        ({"12", "34"}, {12, 34}),
        ({"21", "43", "31"}, set()),  # backwards
        ({"13", "31"}, {13}),
        ({"11", "15", "90"}, set()),  # loops and roles that are not there
        ({"14", "24", "34", "12", "13", "23"}, {12, 13, 14, 23, 24, 34}),  # no degree budgets
    ],
)
def test_a_dag_along_given_edges_has_those_that_go_forward(wanted, found):
    order = [role(str(i)) for i in (1, 2, 3, 4)]
    dag = dag_along(order, {(pair[0], pair[1]) for pair in wanted})
    assert dag.order == tuple(order)
    assert {10 * (i + 1) + j + 1 for i, j in dag.edges} == found
    assert all(list(p) == sorted(p) for p in dag.predecessors)
