from collections import Counter

import numpy as np
import pytest

from sero.skillworld.sheet import Kind, Truth
from sero.skillworld.world import MIN_DIM, SCENARIOS, World, WorldSpec, world_for

IDS = [f"test-{i:03d}" for i in range(3000)]


def other_world(key=7, scenario="default", dim=32):
    """A world of its own, which has computed nothing yet."""
    return World(WorldSpec(key=key, scenario=scenario, dim=dim))


def test_a_case_depends_on_its_id_alone(world):
    forward = {i: world.case(i) for i in IDS[:50]}
    fresh = other_world(dim=64)
    assert {i: fresh.case(i) for i in reversed(IDS[:50])} == forward
    assert other_world(key=8).case("test-000") != world.case("test-000")


def test_cases_follow_their_groups(world):
    groups = {0: ("g04", {0, 4}), 1: ("g15", {1, 5}), 2: ("g23", {2, 3})}
    for i, case in enumerate(map(world.case, IDS[:300])):
        name, pair = groups[i % 3]
        assert case.group == name
        assert len(case.required) == len(set(case.required)) == 3
        assert pair < set(case.required) <= set(range(6))


def test_order_and_third_capability_are_uniform(world, tools):
    cases = [world.case(i) for i in IDS[::3]]  # group g04, 1000 cases
    assert all(case.group == "g04" for case in cases)
    places = Counter(case.required.index(0) for case in cases)
    assert all(tools.likely(places[p], 1000, 1 / 3) for p in range(3))
    third = Counter(k for case in cases for k in case.required if k not in (0, 4))
    assert set(third) == {1, 2, 3, 5}
    assert all(tools.likely(n, 1000, 1 / 4) for n in third.values())


def test_facts_have_four_digits_and_one_wrong_value(world):
    for case in map(world.case, IDS):
        for right, wrong in zip(case.right, case.wrong, strict=True):
            assert len(right) == len(wrong) == 4
            assert 1000 <= int(right) <= 9999
            assert 1000 <= int(wrong) <= 9999
            assert right != wrong


def test_facts_do_not_repeat_beyond_chance(world):
    values = Counter(value for case in map(world.case, IDS) for value in case.right)
    assert max(values.values()) <= 9  # 9000 values over 9000 slots: Poisson(1)


def test_draws_are_uniform_and_named(world):
    u = np.array([world.draws("role", "seed-0", i) for i in IDS])
    assert u.shape == (3000, 16)
    assert u.min() >= 0.0
    assert u.max() < 1.0
    # 48,000 uniforms: mean 1/2 with sd sqrt(1/12 / 48000) = 0.0013; lag correlations about 0.018
    assert abs(u.mean() - 0.5) < 4 * 0.0013
    assert abs(np.corrcoef(u[:, 0], u[:, 1])[0, 1]) < 4 * 0.0183
    assert world.draws("role", "seed-0", IDS[0]) == tuple(u[0])
    assert world.draws("role", "seed-1", IDS[0]) != tuple(u[0])
    assert other_world(key=8).draws("role", "seed-0", IDS[0]) != tuple(u[0])
    assert world.draws("role", "ab", "c") != world.draws("role", "a", "bc")


@pytest.mark.parametrize(("scenario", "dim"), [("default", 32), ("saturated", MIN_DIM)])
def test_directions_are_orthonormal(scenario, dim):
    space = other_world(scenario=scenario, dim=dim).directions
    rows = np.vstack([space.right, space.wrong, space.router, space.validator, space.aggregator])
    n = 2 * SCENARIOS[scenario].n_capabilities + 3
    assert rows.shape == (n, dim)
    np.testing.assert_allclose(rows @ rows.T, np.eye(n), atol=1e-12)


@pytest.mark.parametrize("dim", [32, 128, 512])
def test_noise_keeps_its_length_in_every_dimension(dim):
    world = other_world(dim=dim)
    squared = [float(world.noise("x", str(i)) @ world.noise("x", str(i))) for i in range(400)]
    # |xi|^2 = (32/d) chi2_d: mean 32, sd 32 sqrt(2/d) <= 8; mean over 400 draws sd <= 0.4
    assert abs(np.mean(squared) - 32.0) < 1.6


def test_the_saturated_scenario(world):
    full = world_for(WorldSpec(key=7, scenario="saturated", dim=32))
    assert full.n_capabilities == 8
    groups = [full.case(i).group for i in IDS[:4]]
    assert groups == ["g04", "g15", "g26", "g37"]
    assert {k for i in IDS for k in full.case(i).required} == set(range(8))
    assert full.scenario.seed_specialists[:-1] == world.scenario.seed_specialists
    assert full.scenario.seed_specialists[-1] == Truth(kind=Kind.MEDIUM, family=4)


def test_scenarios_and_keys_have_their_own_sheets(world):
    truth = Truth(kind=Kind.GOOD, family=2)
    code = world.sheet(truth, nonce="n")
    assert world.truth(code) == truth
    assert other_world(dim=512).truth(code) == truth  # the same world, seen at another length
    for stranger in (other_world(key=8), other_world(scenario="saturated")):
        assert stranger.truth(code).kind is Kind.UNKNOWN
