"""Frozen pools: what they hold, and what must stay covered."""

from collections import Counter

import pytest

from sero.skillworld.oracle import harmful_count, kind_of
from sero.skillworld.scenarios import P_MAX, frozen_pool
from sero.skillworld.world import WorldSpec, world_for

SPEC = WorldSpec(key=7, scenario="default", dim=32)


@pytest.mark.parametrize(
    ("name", "size", "kinds", "harmful", "mode"),
    [
        ("seed_pool", 8, {"good": 2, "medium": 1, "harmful": 1, "distractor": 1}, 2, "raw"),
        ("distractors", 12, {"good": 6, "misleader": 3}, 3, "none"),
        ("polluted", 13, {"good": 5, "medium": 1, "harmful": 3, "distractor": 1}, 4, "raw"),
    ],
)
def test_what_the_pools_hold(name, size, kinds, harmful, mode):
    frozen = frozen_pool(world_for(SPEC), name)
    assert len(frozen.pool) == size < P_MAX  # an Add is legal
    expected = {"router": 1, "validator": 1, "aggregator": 1, **kinds}
    assert Counter(kind_of(card, SPEC) for card in frozen.pool) == expected
    assert harmful_count(frozen.pool, SPEC) == harmful
    assert frozen.credit_mode == mode


def test_coverage_is_asked_of_the_seed_families_or_of_the_infrastructure_alone():
    world = world_for(SPEC)
    seed = frozen_pool(world, "seed_pool")
    infrastructure = {"setup", "validation", "aggregation"}
    assert set(seed.covered) == {"f0", "f1", "f2", "f3"} | infrastructure
    assert frozen_pool(world, "polluted").covered == seed.covered
    assert set(frozen_pool(world, "distractors").covered) == infrastructure
    assert set(seed.pool.names) < set(frozen_pool(world, "polluted").pool.names)
