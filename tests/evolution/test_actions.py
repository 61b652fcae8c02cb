"""Masks of the operation and target heads (method.md §4.7)."""

import pytest

from sero.evolution.actions import Legal, Operation, TrainPhase, legal_actions, removable
from sero.evolution.sections import GuardConfig, PoolConfig
from sero.roles.card import RoleCard, RoleType
from sero.roles.pool import RolePool

WARMUP, MAIN = TrainPhase.WARMUP, TrainPhase.MAIN
OPERATIONS = ("add", "remove", "noop")
SEED_FAMILIES = ("routing", "algebra", "geometry", "checking", "answer")
PAPER = PoolConfig(p_min=4, p_max=12)


def guard(*, enabled: bool = True, min_validators: int = 1) -> GuardConfig:
    return GuardConfig(
        enabled=enabled, min_validators=min_validators, max_family_share=0.6, max_similarity=0.92
    )


def card(name: str, role_type: RoleType, family: str, *, protected: bool = False) -> RoleCard:
    return RoleCard(
        name=name,
        role_type=role_type,
        protected=protected,
        capability_family=family,
        communication_protocol="text",
        system_prompt=(f"You are {name}.",),
    )


ROUTER = card("router", RoleType.ROUTER, "routing")
ALGEBRA = card("algebra-1", RoleType.SPECIALIST, "algebra")
ALGEBRA_2 = card("algebra-2", RoleType.SPECIALIST, "algebra")
GEOMETRY = card("geometry-1", RoleType.SPECIALIST, "geometry")
GEOMETRY_KEPT = card("geometry-2", RoleType.SPECIALIST, "geometry", protected=True)
NEW = card("new", RoleType.SPECIALIST, "number-theory")
CHECKER = card("checker", RoleType.VALIDATOR, "checking")
CHECKER_2 = card("checker-2", RoleType.VALIDATOR, "algebra")
TERMINAL = card("scribe", RoleType.AGGREGATOR, "answer", protected=True)


def pool_of(*cards: RoleCard) -> RolePool:
    return RolePool(cards)


def seed_pool() -> RolePool:
    return pool_of(ROUTER, ALGEBRA, ALGEBRA_2, GEOMETRY, CHECKER, TERMINAL)


def extended(n: int) -> RolePool:
    """The seed pool with newcomers up to n cards."""
    pool = seed_pool()
    for i in range(n - len(pool)):
        pool = pool.with_role(card(f"new-{i}", RoleType.SPECIALIST, "number-theory"))
    return pool


@pytest.mark.parametrize(
    ("n", "phase", "add", "remove"),
    [
        (6, WARMUP, True, False),  # warm-up adds only
        (6, MAIN, True, True),
        (11, MAIN, True, True),
        (12, MAIN, False, True),  # |P| = P_max
        (12, WARMUP, False, False),
        (13, MAIN, False, True),  # above P_max, however it got there
    ],
)
def test_operations_follow_pool_size_and_phase(n, phase, add, remove):
    legal = legal_actions(
        extended(n),
        SEED_FAMILIES,
        phase,
        pool_cfg=PAPER,
        guard=guard(),
        reserved=True,
        operations=OPERATIONS,
    )
    assert legal.operations == (add, remove, True)
    assert len(legal.targets) == n


@pytest.mark.parametrize(
    ("pool", "reserved", "expected"),
    [
        # router: last of its family; algebra twice: either may go; geometry: last of its family;
        # checker: last of its family and the minimum; terminal: protected
        (seed_pool(), True, (False, True, True, False, False, False)),
        # a newcomer's family is no seed family, so its last card may go
        (
            pool_of(ROUTER, ALGEBRA, NEW, CHECKER, TERMINAL),
            True,
            (False, False, True, False, False),
        ),
        # protection holds where the family would be covered; the unprotected twin may go
        (
            pool_of(GEOMETRY, GEOMETRY_KEPT, ROUTER, CHECKER, TERMINAL),
            True,
            (True, False, False, False, False),
        ),
        # validator at the minimum, its family covered by another: only the reserved pass keeps it
        (
            pool_of(ROUTER, ALGEBRA, NEW, CHECKER_2, TERMINAL),
            True,
            (False, True, True, False, False),
        ),
        (
            pool_of(ROUTER, ALGEBRA, NEW, CHECKER_2, TERMINAL),
            False,
            (False, True, True, True, False),
        ),
        # two validators: one is spare, though the last of a seed family stays
        (
            pool_of(ROUTER, ALGEBRA, CHECKER, CHECKER_2, TERMINAL),
            True,
            (False, True, False, True, False),
        ),
        # |P| = P_min: nobody goes
        (pool_of(ALGEBRA, ALGEBRA_2, CHECKER, TERMINAL), True, (False, False, False, False)),
    ],
)
def test_who_may_be_removed(pool, reserved, expected):
    found = removable(pool, SEED_FAMILIES, pool_cfg=PAPER, guard=guard(), reserved=reserved)
    assert found == expected


def test_validator_minimum_of_two_keeps_both():
    pool = pool_of(ROUTER, ALGEBRA, CHECKER, CHECKER_2, TERMINAL)
    found = removable(
        pool, SEED_FAMILIES, pool_cfg=PAPER, guard=guard(min_validators=2), reserved=True
    )
    # CHECKER_2 covers algebra too, so ALGEBRA is not the last of its family
    assert found == (False, True, False, False, False)


def test_remove_is_off_when_nobody_is_removable():
    pool = pool_of(ROUTER, ALGEBRA, GEOMETRY, CHECKER, TERMINAL)
    legal = legal_actions(
        pool,
        SEED_FAMILIES,
        MAIN,
        pool_cfg=PAPER,
        guard=guard(),
        reserved=True,
        operations=OPERATIONS,
    )
    assert legal == Legal(operations=(True, False, True), targets=(False,) * 5)


@pytest.mark.parametrize(
    ("pool", "phase", "operations", "targets"),
    [
        # protected, terminal, coverage, validators and P_min are all lifted
        (pool_of(ALGEBRA, TERMINAL), MAIN, (True, True, True), (True, True)),
        # the last card stays
        (pool_of(TERMINAL), MAIN, (True, False, True), (False,)),
        # P_max stays, and warm-up is no guard
        (extended(12), WARMUP, (False, False, True), (True,) * 12),
    ],
)
def test_without_guards_only_p_max_and_the_last_card_bind(pool, phase, operations, targets):
    legal = legal_actions(
        pool,
        SEED_FAMILIES,
        phase,
        pool_cfg=PAPER,
        guard=guard(enabled=False),
        reserved=True,
        operations=OPERATIONS,
    )
    assert legal == Legal(operations=operations, targets=targets)


def test_flags_follow_the_configured_order_and_choice():
    legal = legal_actions(
        extended(12),
        SEED_FAMILIES,
        MAIN,
        pool_cfg=PAPER,
        guard=guard(),
        reserved=True,
        operations=("noop", "add"),
    )
    assert legal.operations == (True, False)


def test_operation_values_are_the_configurations_words():
    assert tuple(Operation) == OPERATIONS
