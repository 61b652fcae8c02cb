"""Advantages, baseline and loss (method.md §4.8)."""

import math

import numpy as np
import pytest
import torch

from sero.evolution.reinforce import advantages, next_baseline, reinforce_loss

MODES = ("published", "baseline_first")


def test_published_advantage_by_hand():
    # mean 0, population std sqrt((.25 + .25) / 4) = .3535534; b = .1 is subtracted afterwards
    values, degenerate = advantages([0.5, 0.0, -0.5, 0.0], 0.1, mode="published")
    scaled = 0.5 / (math.sqrt(0.125) + 1e-6)
    np.testing.assert_allclose(values, [scaled - 0.1, -0.1, -scaled - 0.1, -0.1], rtol=1e-12)
    assert not degenerate


def test_baseline_first_advantage_by_hand():
    # (R - b) / std with b = .1 and std = sqrt(.125)
    values, degenerate = advantages([0.5, 0.0, -0.5, 0.0], 0.1, mode="baseline_first")
    std = math.sqrt(0.125)
    np.testing.assert_allclose(values, [0.4 / std, -0.1 / std, -0.6 / std, -0.1 / std], rtol=1e-12)
    assert not degenerate


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "rewards",
    [
        [0.0] * 8,
        [0.25] * 8,  # not 0, yet no edit differs from another
        [1.0],  # B = 1
        [0.5, 0.5 + 1e-9],  # std 5e-10 < 1e-8
    ],
)
def test_degenerate_batches_have_advantage_zero(rewards, mode):
    values, degenerate = advantages(rewards, 0.3, mode=mode)
    np.testing.assert_array_equal(values, np.zeros(len(rewards)))
    assert degenerate


@pytest.mark.parametrize("rewards", [[], [[0.1, 0.2]]])
def test_rewards_must_be_a_batch(rewards):
    with pytest.raises(ValueError, match=r"pass \(B,\)"):
        advantages(rewards, 0.0, mode="published")


def test_the_baseline_follows_raw_rewards():
    # .9 · .2 + .1 · .5; then again, from its own result
    first = next_baseline(0.2, [1.0, 0.0], 0.9)
    assert first == pytest.approx(0.23)
    assert next_baseline(first, [0.0, 0.0], 0.9) == pytest.approx(0.207)
    # raw units: a constant reward is approached, which normalised rewards (mean 0) never do
    b = 0.0
    for _ in range(200):
        b = next_baseline(b, [0.4, 0.4], 0.9)
    assert b == pytest.approx(0.4, abs=1e-6)


def test_loss_by_hand():
    # -(1·(-.5) + (-2)·(-1)) / 2 - .1 · (.6 + .2) / 2 = -.75 - .04
    loss = reinforce_loss(
        torch.tensor([-0.5, -1.0]),
        torch.tensor([1.0, -2.0]),
        torch.tensor([0.6, 0.2]),
        entropy_coef=0.1,
    )
    assert loss.item() == pytest.approx(-0.79)


def test_no_gradient_flows_into_the_advantage():
    log_prob = torch.tensor([-0.5, -1.0], requires_grad=True)
    advantage = torch.tensor([1.0, -2.0], requires_grad=True)
    reinforce_loss(log_prob, advantage, torch.zeros(2), entropy_coef=0.0).backward()
    assert advantage.grad is None
    # dL/d log π_i = -A_i / B
    assert log_prob.grad is not None
    np.testing.assert_allclose(log_prob.grad.numpy(), [-0.5, 1.0])


@pytest.mark.parametrize(
    ("log_prob", "advantage", "entropy"),
    [((3,), (3, 1), (3,)), ((3,), (2,), (3,)), ((3,), (3,), (1,)), ((3, 1), (3, 1), (3, 1))],
)
def test_shapes_must_agree(log_prob, advantage, entropy):
    with pytest.raises(ValueError, match=r"all must be \(B,\)"):
        reinforce_loss(
            torch.zeros(log_prob), torch.zeros(advantage), torch.zeros(entropy), entropy_coef=0.1
        )
