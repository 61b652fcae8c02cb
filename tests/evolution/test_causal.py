"""CAPE and TCTE by hand, and measured on the toy."""

from dataclasses import replace

import pytest

from sero.evolution.causal import causal_effects, mean_effects, out_degrees, tcte
from sero.evolution.leave_one_out import refresh
from sero.inference.layout import template
from sero.roles.pool import RolePool


@pytest.mark.parametrize(
    ("flips", "degrees", "value"),
    [
        ([], [], 0.0),
        ([False, False], [3, 1], 0.0),
        ([True], [1], 1.0),
        ([True, False, True], [4, 2, 1], (1 / 2 + 0 + 1) / 3),
        ([True, True], [2, 2], 1 / 2**0.5),
    ],
)
def test_tcte_by_hand(flips, degrees, value):
    assert tcte(flips, degrees) == pytest.approx(value)


def test_tcte_refuses_what_is_no_team():
    with pytest.raises(ValueError, match="2 flips and 1 degrees"):
        tcte([True, False], [1])
    with pytest.raises(ValueError, match="at least 1"):
        tcte([True], [0])


def test_the_sink_edge_counts(toy):
    """a → b, a → c, b → c: two, one and no successors, and each feeds the aggregator."""
    rollout = replace(
        toy.scored(1.0, team=("a", "b", "c", "scribe")).rollout,
        edges=(("a", "b"), ("a", "c"), ("b", "c")),
    )
    assert out_degrees(rollout) == {"a": 3, "b": 2, "c": 1}


def voters(toy, *skills):
    """Router, one specialist per skill, checker and scribe; the scribe takes the majority."""
    router, *_, checker, scribe = toy.seed_pool()
    roles = [toy.skilled(f"r{i}", skill, f"family-{i}") for i, skill in enumerate(skills)]
    return toy.state(RolePool((router, *roles, checker, scribe)))


def measure(toy, state, *, repair=False, **changes):
    inference = replace(toy.INFERENCE, repair=replace(toy.INFERENCE.repair, enabled=repair))
    roll = toy.roller(inference=inference)
    task = toy.tasks(1)[0]
    return roll, toy.run(causal_effects(task, state, roll, episode=3, **changes))


def test_a_lone_solver_flips_the_answer_and_the_router_does_not(toy):
    """Router → solver: degrees 2 and 1. Without the solver nothing is voted for:
    TCTE = (0/√2 + 1/√1) / 2.
    """
    roll, effects = measure(toy, voters(toy, "exact"))
    assert effects.correct
    assert effects.flips == {"router": False, "r0": True}
    assert effects.degrees == {"router": 2, "r0": 1}
    assert effects.tcte == pytest.approx(0.5)
    base, *others = roll.ledger.traces
    for name, trace in zip(effects.flips, others, strict=True):
        replaced = [m for m in trace["rollout"]["messages"] if m["replaced"]]
        assert [(m["role"], m["text"]) for m in replaced] == [
            (name, template("counterfactual", "neutral"))
        ]
        for key in ("team", "order", "edges"):
            assert trace["rollout"][key] == base["rollout"][key]


def test_redundant_solvers_hide_each_other(toy):
    """Either of two agreeing roles carries the answer alone: CAPE 0, as leave-one-out 0."""
    _, effects = measure(toy, voters(toy, "exact", "exact"))
    assert effects.correct
    assert effects.tcte == 0.0


def test_partly_right_counts_from_the_threshold_on(toy):
    """`near` scores .5: wrong under the default threshold, and silence is wrong as well."""
    state = voters(toy, "near")
    _, strict = measure(toy, state)
    assert not strict.correct
    assert strict.tcte == 0.0
    _, lenient = measure(toy, state, threshold=0.5)
    assert lenient.correct
    assert lenient.flips["r0"]


def test_a_flip_to_the_right_answer_counts_too(toy):
    """Once `near` falls silent the draft is unreadable, and the checker repairs it."""
    _, effects = measure(toy, voters(toy, "near"), repair=True)
    assert not effects.correct
    assert effects.flips == {"router": False, "r0": True}


def test_means_over_tasks_are_metrics(toy):
    """Each task as by hand above: of two messages one flips, TCTE .5."""
    roll = toy.roller(
        inference=replace(toy.INFERENCE, repair=replace(toy.INFERENCE.repair, enabled=False))
    )
    found = toy.run(mean_effects(toy.tasks(2), voters(toy, "exact"), roll, episode=3))
    assert found == {"credit/cape": pytest.approx(0.5), "credit/tcte": pytest.approx(0.5)}
    assert toy.run(mean_effects([], voters(toy, "exact"), roll, episode=3)) == {}


@pytest.mark.parametrize("causal", [False, True])
def test_a_refresh_measures_them_on_request_and_credit_stays_the_same(toy, causal):
    state, tasks = voters(toy, "exact", "exact"), toy.tasks(2)
    cfg = replace(toy.CREDIT, causal=causal)
    plain = toy.run(refresh(state, tasks, toy.roller(), toy.CREDIT, episode=3))
    measured = toy.run(refresh(state, tasks, toy.roller(), cfg, episode=3))
    assert set(measured.causal) == ({"credit/cape", "credit/tcte"} if causal else set())
    assert (measured.state, measured.loo) == (plain.state, plain.loo)
