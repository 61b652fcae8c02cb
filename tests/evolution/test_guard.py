"""Guards before commitment: each reason code, the exemptions, and several at once."""

import math
from dataclasses import replace

import numpy as np
import pytest

from sero.evolution.guard import family_share, largest_family_share
from sero.evolution.reasons import Code
from sero.evolution.sections import GuardConfig, PoolConfig
from sero.roles.pool import RolePool

OFF = GuardConfig(enabled=False, min_validators=1, max_family_share=0.6, max_similarity=0.92)


def codes(guard, candidate, current):
    return [reason.code for reason in guard.violations(candidate, current)]


def family_of(toy, name, n):
    return [toy.skilled(f"{name}-{i}", "wrong", name) for i in range(n)]


def pool_of(toy, *cards):
    scribe = toy.seed_pool()["scribe"]
    return RolePool((*cards, scribe))


def test_a_sound_add_and_a_sound_remove_break_nothing(toy):
    pool = toy.seed_pool()
    guard = toy.guard()
    assert codes(guard, pool.with_role(toy.skilled("new", "exact", "carrying")), pool) == []
    assert codes(guard, pool.without_role("adder-2"), pool) == []
    assert codes(guard, pool, pool) == []


@pytest.mark.parametrize(
    ("p_max", "adds", "expected"),
    [
        (7, True, []),  # 6 + 1 = 7 roles
        (6, True, [Code.POOL_FULL]),
        (4, False, []),  # 6 - 1 = 5 is too many still, but a Remove goes the right way
    ],
)
def test_p_max(toy, p_max, adds, expected):
    pool = toy.seed_pool()
    edited = (
        pool.with_role(toy.skilled("new", "exact", "carrying"))
        if adds
        else pool.without_role("adder-2")
    )
    assert codes(toy.guard(pool=PoolConfig(p_min=4, p_max=p_max)), edited, pool) == expected


@pytest.mark.parametrize(
    ("p_min", "adds", "expected"),
    [
        (5, False, []),  # 6 - 1 = 5 roles
        (6, False, [Code.POOL_TOO_SMALL]),
        (9, True, []),  # 7 is too few still, but an Add goes the right way
    ],
)
def test_p_min(toy, p_min, adds, expected):
    pool = toy.seed_pool()
    edited = (
        pool.with_role(toy.skilled("new", "exact", "carrying"))
        if adds
        else pool.without_role("adder-2")
    )
    assert codes(toy.guard(pool=PoolConfig(p_min=p_min, p_max=9)), edited, pool) == expected


def test_a_protected_role_stays(toy):
    pool = toy.seed_pool()
    held = RolePool(tuple(replace(c, protected=c.name in ("adder-2", "scribe")) for c in pool))
    (reason,) = toy.guard().violations(held.without_role("adder-2"), held)
    assert (reason.code, reason.detail) == (Code.PROTECTED, "'adder-2' is protected")


def test_the_last_of_a_seed_family_stays(toy):
    pool = toy.seed_pool()
    (reason,) = toy.guard().violations(pool.without_role("guesser"), pool)
    assert reason.code is Code.FAMILY_LOST
    assert "'guesser' is the last of family 'guessing'" in reason.detail


def test_the_last_of_a_family_that_came_later_may_leave(toy):
    pool = toy.seed_pool().with_role(toy.skilled("new", "exact", "carrying"))
    assert codes(toy.guard(), pool.without_role("new"), pool) == []


def test_validators_stay_at_the_minimum(toy):
    second = toy.card("checker-2", "validator", "checking")
    pool = toy.seed_pool().with_role(second)
    guard = toy.guard()
    assert codes(guard, pool.without_role("checker"), pool) == []
    two = toy.guard(own_terms=toy.terms(min_validators=2))
    assert codes(two, pool.without_role("checker"), pool) == [Code.VALIDATORS_TOO_FEW]


@pytest.mark.parametrize(
    ("reserved", "expected"), [(True, [Code.VALIDATOR_GENERATED]), (False, [])]
)
def test_validators_are_not_generated_while_one_is_reserved(toy, reserved, expected):
    pool = toy.seed_pool()
    edited = pool.with_role(toy.card("checker-2", "validator", "carrying"))
    assert codes(toy.guard(reserved=reserved), edited, pool) == expected


@pytest.mark.parametrize(
    ("n_family", "n_other", "expected"),
    [
        (2, 2, []),  # after the Add 3 of 5 unprotected roles: a share of .6, the most allowed
        (2, 1, [Code.FAMILY_DOMINATES]),  # 3 of 4
        (3, 2, [Code.FAMILY_DOMINATES]),  # 4 of 6
        (0, 1, []),  # 1 of 2
        (0, 0, [Code.FAMILY_DOMINATES]),  # 1 of 1: the protected terminal does not count
    ],
)
def test_the_dominance_cap_counts_after_the_add_and_without_protected_roles(
    toy, n_family, n_other, expected
):
    pool = pool_of(toy, *family_of(toy, "adding", n_family), *family_of(toy, "other", n_other))
    terms = toy.terms(seed_families=pool.families)
    guard = toy.guard(own_terms=terms, pool=PoolConfig(p_min=1, p_max=12))
    edited = pool.with_role(toy.skilled("new", "exact", "adding"))
    assert codes(guard, edited, pool) == expected


@pytest.mark.parametrize(
    ("seed_families", "expected"),
    [
        (("adding", "other"), []),  # a seed family that has no role any more comes back
        (("other",), [Code.FAMILY_DOMINATES]),  # no seed family: no exemption
    ],
)
def test_a_card_for_a_missing_seed_family_is_exempt_from_the_cap(toy, seed_families, expected):
    pool = pool_of(toy)
    guard = toy.guard(
        own_terms=toy.terms(seed_families=seed_families), pool=PoolConfig(p_min=1, p_max=12)
    )
    edited = pool.with_role(toy.skilled("new", "exact", "adding"))
    assert codes(guard, edited, pool) == expected


def test_a_second_card_for_a_seed_family_is_not_exempt(toy):
    pool = pool_of(toy, *family_of(toy, "adding", 1))
    guard = toy.guard(
        own_terms=toy.terms(seed_families=("adding",)), pool=PoolConfig(p_min=1, p_max=12)
    )
    edited = pool.with_role(toy.skilled("new", "exact", "adding"))
    assert codes(guard, edited, pool) == [Code.FAMILY_DOMINATES]  # 2 of 2


def similar(cosine):
    """Two unit vectors of that cosine, and one orthogonal to both for everything else."""
    return {
        "Skill: near.": (1.0, 0.0, 0.0),
        "Skill: exact.": (cosine, math.sqrt(1.0 - cosine**2), 0.0),
    }


@pytest.mark.parametrize(
    ("cosine", "expected"), [(0.95, [Code.NEAR_DUPLICATE]), (0.921, [Code.NEAR_DUPLICATE]),
                             (0.919, []), (0.0, [])]
)  # fmt: skip
def test_near_duplicates_of_an_unprotected_role_are_refused(toy, cosine, expected):
    pool = toy.seed_pool()
    guard = toy.guard(encoder=toy.Table(similar(cosine), 3))
    assert codes(guard, pool.with_role(toy.skilled("new", "exact", "carrying")), pool) == expected


def test_the_limit_itself_is_refused(toy):
    """`max cosine < max_similarity`: equal is too close. .5 is exact in float32."""
    table = {"Skill: near.": np.eye(4)[0], "Skill: exact.": np.full(4, 0.5)}
    cfg = replace(toy.GUARD, max_similarity=0.5)
    guard = toy.guard(cfg=cfg, encoder=toy.Table(table, 4))
    pool = RolePool(tuple(c for c in toy.seed_pool() if c.name in ("adder", "scribe")))
    (reason,) = guard.violations(pool.with_role(toy.skilled("n", "exact", "carrying")), pool)
    assert reason.code is Code.NEAR_DUPLICATE
    assert reason.detail == "cosine 0.500 to 'adder', below 0.5 needed"


def test_a_copy_of_a_protected_role_is_no_duplicate(toy):
    pool = toy.seed_pool()
    held = RolePool(tuple(replace(c, protected=c.name in ("adder", "scribe")) for c in pool))
    guard = toy.guard(encoder=toy.Table(similar(0.99), 3))
    assert codes(guard, held.with_role(toy.skilled("new", "exact", "carrying")), held) == []


def test_the_whole_identity_is_compared(toy):
    """Prompt, family and tags: a copied prompt under other labels is further away."""
    pool = toy.seed_pool()
    guard, copied = toy.guard(), replace(pool["adder"], name="adder-copy")
    assert codes(guard, pool.with_role(copied), pool) == [Code.NEAR_DUPLICATE]
    relabelled = replace(
        copied,
        capability_family="columns",
        capability_tags=("tens", "ones", "carry", "sum", "left"),
    )
    assert codes(guard, pool.with_role(relabelled), pool) == []


def test_exactly_one_terminal_remains(toy):
    pool = toy.seed_pool()
    more = pool.with_role(toy.card("second", "aggregator", "carrying"))
    (reason,) = toy.guard().violations(more, pool)
    assert (reason.code, reason.detail) == (
        Code.TERMINAL_COUNT,
        "2 aggregators, exactly one is needed",
    )


def test_every_violation_of_an_add_is_returned(toy):
    """A full pool gets a copy of a validator, in a family that then holds 3 of 4 places."""
    pool = RolePool(
        (
            toy.card("checker", "validator", "checking", lines=("Look.",)),
            toy.card("checker-2", "validator", "checking", lines=("Look twice.",)),
            toy.skilled("adder", "near", "adding"),
            toy.seed_pool()["scribe"],
        )
    )
    guard = toy.guard(pool=PoolConfig(p_min=1, p_max=4), own_terms=toy.terms(
        seed_families=pool.families))  # fmt: skip
    edited = pool.with_role(replace(pool["checker"], name="checker-3"))
    assert codes(guard, edited, pool) == [
        Code.POOL_FULL,
        Code.VALIDATOR_GENERATED,
        Code.FAMILY_DOMINATES,
        Code.NEAR_DUPLICATE,
    ]


def test_every_violation_of_a_remove_is_returned(toy):
    """A pool at P_min gives up its protected terminal, or its last validator."""
    pool = toy.seed_pool()
    guard = toy.guard(pool=PoolConfig(p_min=6, p_max=8))
    assert codes(guard, pool.without_role("scribe"), pool) == [
        Code.POOL_TOO_SMALL,
        Code.PROTECTED,
        Code.FAMILY_LOST,
        Code.TERMINAL_COUNT,
    ]
    assert codes(guard, pool.without_role("checker"), pool) == [
        Code.POOL_TOO_SMALL,
        Code.FAMILY_LOST,
        Code.VALIDATORS_TOO_FEW,
    ]


@pytest.mark.parametrize("name", ["scribe", "checker", "guesser", "adder-2"])
def test_switched_off_guards_let_any_role_leave(toy, name):
    pool = toy.seed_pool()
    assert codes(toy.guard(cfg=OFF), pool.without_role(name), pool) == []


@pytest.mark.parametrize("role_type", ["validator", "aggregator", "specialist"])
def test_switched_off_guards_let_any_card_in(toy, role_type):
    pool = toy.seed_pool()
    copied = replace(pool["adder"], name="copy", role_type=toy.card("x", role_type).role_type)
    assert codes(toy.guard(cfg=OFF), pool.with_role(copied), pool) == []


def test_switched_off_guards_keep_p_max_and_the_last_card(toy):
    pool = toy.seed_pool()
    guard = toy.guard(cfg=OFF, pool=PoolConfig(p_min=4, p_max=6))
    assert codes(guard, pool.with_role(toy.skilled("n", "exact", "x")), pool) == [Code.POOL_FULL]
    last = RolePool((pool["adder"],))
    assert codes(guard, last.without_role("adder"), last) == [Code.POOL_TOO_SMALL]
    two = RolePool((pool["adder"], pool["guesser"]))
    assert codes(guard, two.without_role("adder"), two) == []


def test_family_shares_leave_protected_roles_out(toy):
    pool = toy.seed_pool()  # unprotected: planning 1, adding 2, guessing 1, checking 1
    assert family_share(pool, "adding") == 2 / 5
    assert family_share(pool, "answering") == 0.0
    assert largest_family_share(pool) == 2 / 5
    assert family_share(RolePool((pool["scribe"],)), "answering") == 0.0
    assert largest_family_share(RolePool((pool["scribe"],))) == 0.0
