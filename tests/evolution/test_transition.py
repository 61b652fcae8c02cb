"""Stored decisions: padding into a batch, and the way to a checkpoint and back."""

import io

import numpy as np
import pytest
import torch

from sero.evolution.transition import Transition, stack


def transition(n, *, target, reward=0.5):
    rng = np.random.default_rng(n)
    return Transition(
        vector=rng.normal(size=7).astype(np.float32),
        roles=rng.normal(size=(n, 3)).astype(np.float32),
        local=rng.normal(size=(n, 2)).astype(np.float32),
        n_bonus=np.arange(n, dtype=np.float32),
        operations=np.array([True, False, True]),
        targets=np.ones(n, dtype=np.bool_),
        operation=2,
        target=target,
        reward=reward,
    )


def test_pools_are_padded_to_the_largest():
    small, large = transition(2, target=-1), transition(4, target=3)
    batch = stack([small, large])
    assert batch.roles.shape == (2, 4, 3)
    assert batch.local.shape == (2, 4, 2)
    np.testing.assert_array_equal(batch.roles[0, :2].numpy(), small.roles)
    np.testing.assert_array_equal(batch.roles[0, 2:].numpy(), np.zeros((2, 3)))
    np.testing.assert_array_equal(batch.roles[1].numpy(), large.roles)
    np.testing.assert_array_equal(batch.n_bonus.numpy(), [[0, 1, 0, 0], [0, 1, 2, 3]])
    # padding is never a target
    assert batch.targets.tolist() == [[True, True, False, False], [True] * 4]
    assert batch.target.tolist() == [-1, 3]
    assert batch.operation.tolist() == [2, 2]
    assert batch.operations.tolist() == [[True, False, True]] * 2


def test_an_empty_batch_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        stack([])


def test_state_and_back_through_a_safe_load():
    before = transition(3, target=1, reward=-0.25)
    file = io.BytesIO()
    torch.save(before.to_state(), file)
    file.seek(0)
    after = Transition.from_state(torch.load(file, weights_only=True))
    for name in ("vector", "roles", "local", "n_bonus", "operations", "targets"):
        old, new = getattr(before, name), getattr(after, name)
        assert new.dtype == old.dtype
        np.testing.assert_array_equal(new, old)
    assert (after.operation, after.target, after.reward) == (2, 1, -0.25)


def test_a_snapshot_shares_no_memory():
    before = transition(3, target=1)
    snapshot = before.to_state()
    before.vector[:] = 0.0
    after = Transition.from_state(snapshot)
    assert after.vector.any()
    after.vector[:] = 0.0
    assert snapshot["vector"].any()
