"""Streams by name: stable for ever, independent of each other."""

import hashlib
import random

import numpy as np
import pytest
import torch

from sero.seeding import derive_seed, rng_for, seed_everything


@pytest.fixture
def global_generators():
    """The process's generators, put back as they were."""
    states = random.getstate(), np.random.get_state(), torch.get_rng_state()
    yield
    random.setstate(states[0])
    np.random.set_state(states[1])
    torch.set_rng_state(states[2])


def test_a_seed_is_the_top_of_a_hash_of_the_name():
    digest = hashlib.sha256(b'[7, "edit", 3]').hexdigest()
    assert derive_seed(7, "edit", 3) == int(digest[:16], 16) // 2  # 64 bits, the last one dropped
    assert derive_seed(7, "edit", 3, bits=32) == int(digest[:8], 16)


@pytest.mark.parametrize(
    ("keys", "seed", "first"),
    [
        ((0,), 7520536977032167579, 7494695652684029125),
        ((42, "edit", 17), 3918310517421027898, 1577080860638514869),
        ((42, "dag-order", "trip_7", "Prüfer"), 1065857434172243405, 9906452725334380115),
    ],
)
def test_streams_never_change(keys, seed, first):
    assert derive_seed(*keys) == seed
    assert rng_for(*keys).bit_generator.random_raw() == first


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((0, "a"), (1, "a")),
        ((0, "a"), (0, "b")),
        ((0, "a", 1), (0, "a", 2)),
        ((0, "a", 1), (0, "a", "1")),  # a number is not its digits
        ((0, "ab", "c"), (0, "a", "bc")),
        ((0, "a", 12), (0, "a", 1, 2)),
        ((0, 1), (1, 0)),
        ((0,), (0, "")),
    ],
)
def test_other_names_are_other_streams(one, other):
    assert derive_seed(*one) != derive_seed(*other)


def test_a_stream_is_always_at_its_start_and_shifts_no_other():
    before = rng_for(5, "gate", 2).random(4)
    rng_for(5, "gate", 1).random(1000)
    assert np.array_equal(rng_for(5, "gate", 2).random(4), before)


def test_streams_of_neighbouring_names_are_uncorrelated():
    draws = np.array([rng_for(0, "edit", episode).random(50) for episode in range(200)])
    # the mean of 10,000 uniform draws: 0.5 with a standard error of 0.2887 / 100
    assert draws.mean() == pytest.approx(0.5, abs=4 * 0.2887 / 100)
    # neighbours: a correlation of 199 * 50 independent pairs has standard error 0.01
    assert abs(np.corrcoef(draws[:-1].ravel(), draws[1:].ravel())[0, 1]) < 0.04
    assert len(np.unique(draws)) == draws.size


@pytest.mark.usefixtures("global_generators")
def test_seeding_everything_reaches_the_three_generators():
    def draws():
        return random.random(), float(np.random.random()), float(torch.rand(1))

    seed_everything(3)
    first = draws()
    assert draws() != first
    seed_everything(3)
    assert draws() == first
    seed_everything(4)
    assert all(a != b for a, b in zip(draws(), first, strict=True))


@pytest.mark.usefixtures("global_generators")
def test_named_streams_do_not_touch_the_global_generator():
    before = np.random.get_state()[1].copy()
    rng_for(0, "edit").random(10)
    assert np.array_equal(np.random.get_state()[1], before)
