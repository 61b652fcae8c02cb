"""Controllers that do not learn: what they draw, and that a decision says how likely it was."""

import math
from collections import Counter
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

from sero.credit import CreditState, PoolState, RoleCredit
from sero.evolution.actions import Action, Legal, Operation, TrainPhase
from sero.evolution.controller import Controller, DecisionView
from sero.evolution.controls import CreditHeuristic, UniformLegal, UniformUngated
from sero.evolution.observation import Observation
from sero.seeding import rng_for

ADD, REMOVE, NOOP = Operation.ADD, Operation.REMOVE, Operation.NOOP
OPERATIONS = ("add", "remove", "noop")
N_DRAWS = 6000


@pytest.fixture
def view(toy):
    """A view of the seed pool (six roles, of which 1, 2 and 3 may go) with a few things changed."""

    def view(
        *,
        operations=(True, True, True),
        targets=(False, True, True, True, False, False),
        anchors=(False, True, True, True, False, False),
        ema=(),
        score=0.5,
    ):
        pool = toy.seed_pool()
        credit = {pool.cards[i].name: RoleCredit(ema=c, n_updates=1) for i, c in dict(ema).items()}
        return DecisionView(
            # all zeros: a control that read the observation would show it
            observation=Observation(
                vector=np.zeros(5, dtype=np.float32),
                roles=np.zeros((6, 2), dtype=np.float32),
                local=np.zeros((6, 2), dtype=np.float32),
                n_bonus=np.zeros(6, dtype=np.float32),
            ),
            legal=Legal(operations=operations, targets=targets),
            anchors=anchors,
            state=PoolState(pool, CreditState(MappingProxyType(credit))),
            score=score,
            phase=TrainPhase.MAIN,
        )

    return view


def heuristic(toy):
    return CreditHeuristic(OPERATIONS, credit=toy.CREDIT)


def controls(toy) -> list[Controller]:
    return [UniformLegal(OPERATIONS), UniformUngated(OPERATIONS), heuristic(toy)]


def drawn(control, seen, n=N_DRAWS):
    """How often each (operation, target) comes up; every decision must say its own probability."""
    rng = np.random.default_rng(3)
    counts, said = Counter(), {}
    for _ in range(n):
        decision = control.act(seen, rng)
        key = (decision.action.operation, decision.action.target)
        counts[key] += 1
        said[key] = math.exp(decision.log_prob)
    for key, probability in said.items():
        # three standard deviations and a half of a binomial share
        slack = 3.5 * math.sqrt(probability * (1 - probability) / n)
        assert counts[key] / n == pytest.approx(probability, abs=slack + 1e-12)
    assert sum(said.values()) == pytest.approx(1.0)
    return said


def test_they_learn_nothing_and_resume_by_name(toy, view):
    for control in controls(toy):
        decision = control.act(view(), rng_for(1, "policy", 1))
        control.record(view(), decision, 0.4)
        assert (control.due, control.pending, control.update()) == (False, 0, {})
        assert control.state() == {"name": control.name}
        control.restore(control.state())
        with pytest.raises(ValueError, match="state of controller 'mlp' given to"):
            control.restore({"name": "mlp"})
    assert len({control.name for control in controls(toy)}) == 3


def test_the_number_of_draws_never_depends_on_the_decision(toy, view):
    views = [
        view(),
        view(operations=(False, False, True)),
        view(operations=(False, False, False)),
        view(targets=(False,) * 6),
        view(ema={1: -0.2}),
        view(score=1.0),
    ]
    for control in controls(toy):
        left = set()
        for seen in views:
            rng = np.random.default_rng(8)
            control.act(seen, rng)
            left.add(rng.random())
        assert len(left) == 1


def test_gated_random_is_uniform_over_what_is_legal(view):
    """Three operations, Remove over three roles: 1/3, 3 x 1/9, 1/3."""
    said = drawn(UniformLegal(OPERATIONS), view())
    third, ninth = pytest.approx(1 / 3), pytest.approx(1 / 9)
    assert said == {
        (ADD, None): third,
        (NOOP, None): third,
        (REMOVE, 1): ninth,
        (REMOVE, 2): ninth,
        (REMOVE, 3): ninth,
    }
    decision = UniformLegal(OPERATIONS).act(view(), rng_for(0, "policy", 1))
    assert decision.op_probs == pytest.approx((1 / 3,) * 3)
    assert decision.entropy == pytest.approx(math.log(3))


def test_gated_random_keeps_to_the_masks(view):
    """A full pool in warm-up leaves Noop alone; a full one in the main phase Remove and Noop."""
    only_noop = UniformLegal(OPERATIONS).act(
        view(operations=(False, False, True)), rng_for(0, "policy", 1)
    )
    assert only_noop.action == Action(operation=NOOP, target=None)
    assert (only_noop.log_prob, only_noop.entropy) == (0.0, 0.0)
    assert only_noop.op_probs == (0.0, 0.0, 1.0)
    said = drawn(UniformLegal(OPERATIONS), view(operations=(False, True, True)))
    assert {operation for operation, _ in said} == {REMOVE, NOOP}
    assert said[NOOP, None] == pytest.approx(0.5)


def test_gated_random_without_a_legal_operation_does_nothing(view):
    seen = view(operations=(False, False), targets=(False,) * 6)
    decision = UniformLegal(("add", "remove")).act(seen, rng_for(0, "policy", 1))
    assert decision.action == Action(operation=NOOP, target=None)
    assert decision.op_probs == (0.0, 0.0)


def test_gated_random_draws_the_anchor_where_the_learned_controller_does(view):
    """1/3 for Add, uniform over the three specialists."""
    said = drawn(UniformLegal(OPERATIONS, anchored=True), view())
    assert {key: p for key, p in said.items() if key[0] is ADD} == {
        (ADD, i): pytest.approx(1 / 9) for i in (1, 2, 3)
    }


@pytest.mark.parametrize("operations", [(True, True, True), (False, False, True)])
def test_random_evolution_asks_for_anything(view, operations):
    """Whatever is legal: 1/3 each, Remove over all six roles, the protected one among them."""
    said = drawn(UniformUngated(OPERATIONS), view(operations=operations))
    eighteenth = pytest.approx(1 / 18)
    assert said == {
        (ADD, None): pytest.approx(1 / 3),
        (NOOP, None): pytest.approx(1 / 3),
        **{(REMOVE, i): eighteenth for i in range(6)},
    }


BAD = {2: -0.006}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        # nobody is below -0.005: Add while the score leaves room
        ({}, {(ADD, None): 1.0}),
        ({"ema": {2: -0.005}}, {(ADD, None): 1.0}),
        ({"score": 1.0}, {(NOOP, None): 1.0}),
        ({"operations": (False, True, True)}, {(NOOP, None): 1.0}),
        # somebody is: half the time they leave, else as before
        ({"ema": BAD}, {(REMOVE, 2): 0.5, (ADD, None): 0.5}),
        ({"ema": BAD, "score": 1.0}, {(REMOVE, 2): 0.5, (NOOP, None): 0.5}),
        ({"ema": BAD, "operations": (False, True, True)}, {(REMOVE, 2): 0.5, (NOOP, None): 0.5}),
        # the lowest credit, ties by index, among the removable ones only
        ({"ema": {1: -0.01, 2: -0.02, 3: -0.02}}, {(REMOVE, 2): 0.5, (ADD, None): 0.5}),
        ({"ema": {0: -0.9, 3: -0.01}}, {(REMOVE, 3): 0.5, (ADD, None): 0.5}),
        ({"ema": {5: -0.9}}, {(ADD, None): 1.0}),
        # warm-up, or a pool at its lower bound
        ({"ema": BAD, "operations": (True, False, True)}, {(ADD, None): 1.0}),
        ({"ema": BAD, "operations": (False, False, True)}, {(NOOP, None): 1.0}),
    ],
)
def test_the_credit_heuristic(toy, view, changes, expected):
    seen = view(**changes)
    assert drawn(heuristic(toy), seen, 2000) == pytest.approx(expected)
    decision = heuristic(toy).act(seen, rng_for(0, "policy", 1))
    by_operation = {operation: p for (operation, _), p in expected.items()}
    assert decision.op_probs == tuple(by_operation.get(o, 0.0) for o in (ADD, REMOVE, NOOP))
    assert decision.entropy == pytest.approx(math.log(2) if len(expected) == 2 else 0.0)


def test_the_credit_heuristic_reads_credit_as_configured(toy, view):
    """c = -0.001 after one update is -0.001 / (1 - 0.9) = -0.01 once corrected for its start."""
    seen = view(ema={2: -0.001})
    assert set(drawn(heuristic(toy), seen, 50)) == {(ADD, None)}
    corrected = CreditHeuristic(OPERATIONS, credit=replace(toy.CREDIT, bias_correction=True))
    assert set(drawn(corrected, seen, 500)) == {(REMOVE, 2), (ADD, None)}


def test_the_credit_heuristic_with_fewer_operations(toy, view):
    control = CreditHeuristic(("remove", "noop"), credit=toy.CREDIT)
    seen = view(ema=BAD, operations=(True, True))
    assert set(drawn(control, seen, 500)) == {(REMOVE, 2), (NOOP, None)}
