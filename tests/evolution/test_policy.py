"""The policy network, its masked log-probabilities and their gradient (method.md §4.7)."""

import math

import numpy as np
import pytest
import torch

from sero.evolution.policy import (
    PolicyBatch,
    PolicyNetwork,
    entropy,
    inverse_cdf,
    log_policy,
    masked_log_softmax,
)
from sero.evolution.reinforce import reinforce_loss

OBS, ROLE, OPS = 5, 3, 3


def small_network():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        network = PolicyNetwork(OBS, ROLE, hidden=6, op_embedding=2, n_ops=OPS, bonus=0.1)
    return network.double()


def small_batch():
    """Pools of 4, 2 and 3 roles padded to 4: a Remove, a Noop without any target, an Add."""
    rng = np.random.default_rng(0)
    sizes = (4, 2, 3)
    roles, local, n_bonus = np.zeros((3, 4, ROLE)), np.zeros((3, 4, 2)), np.zeros((3, 4))
    for i, n in enumerate(sizes):
        roles[i, :n] = rng.normal(size=(n, ROLE))
        local[i, :n] = rng.normal(size=(n, 2))
        n_bonus[i, :n] = rng.integers(0, 5, size=n)
    return PolicyBatch(
        vector=torch.from_numpy(rng.normal(size=(3, OBS))),
        roles=torch.from_numpy(roles),
        local=torch.from_numpy(local),
        n_bonus=torch.from_numpy(n_bonus),
        operations=torch.tensor([[1, 1, 1], [1, 0, 1], [1, 1, 0]], dtype=torch.bool),
        operation=torch.tensor([1, 2, 0]),
        targets=torch.tensor([[1, 0, 1, 1], [0, 0, 0, 0], [0, 1, 1, 0]], dtype=torch.bool),
        target=torch.tensor([2, -1, 1]),
    )


def test_parameter_count_at_the_published_sizes():
    network = PolicyNetwork(1029, 512, hidden=256, op_embedding=64, n_ops=3, bonus=0.1)
    parts = {
        "trunk": 1029 * 256 + 256 + 256 * 256 + 256,  # 329,472
        "op_head": 256 * 3 + 3,  # 771
        "op_embedding": 3 * 64,  # 192
        "projection": 512 * 256 + 256,  # 131,328
        # input h 256 + E 64 + V e(r) 256 + c, φ 2 = 578
        "target_layer": 578 * 256 + 256,
        "target_score": 256 + 1,
    }
    for name, expected in parts.items():
        assert sum(p.numel() for p in getattr(network, name).parameters()) == expected
    assert parts["trunk"] == 329_472
    assert parts["target_layer"] + parts["target_score"] == 148_481
    assert sum(p.numel() for p in network.parameters()) == 610_244


def slow_log_policy(network, batch, i, n):
    """log π and the op entropy of row i, whose pool has n roles, written out in numpy."""
    w = {k: v.numpy() for k, v in network.state_dict().items()}

    def layer(name, x):
        return w[f"{name}.weight"] @ x + w[f"{name}.bias"]

    h = np.maximum(layer("trunk.0", batch.vector[i].numpy()), 0)
    h = np.maximum(layer("trunk.2", h), 0)
    logits = layer("op_head", h)
    weights = [
        math.exp(x) if ok else 0.0 for x, ok in zip(logits, batch.operations[i], strict=True)
    ]
    probs = [x / sum(weights) for x in weights]
    op = int(batch.operation[i])
    log_prob = math.log(probs[op])
    if batch.target[i] >= 0:
        total = 0.0
        for r in range(n):
            if batch.targets[i, r]:
                role = layer("projection", batch.roles[i, r].numpy())
                x = np.concatenate([h, w["op_embedding.weight"][op], role, batch.local[i, r]])
                u = layer("target_score", np.maximum(layer("target_layer", x), 0))[0]
                u += 0.1 / (float(batch.n_bonus[i, r]) + 1)
                total += math.exp(u)
                if r == batch.target[i]:
                    chosen = u
        log_prob += chosen - math.log(total)
    return log_prob, -sum(p * math.log(p) for p in probs if p > 0)


def test_log_policy_equals_a_slow_loop():
    network, batch = small_network(), small_batch()
    with torch.no_grad():
        log_prob, op_entropy = log_policy(network, batch)
    expected = [slow_log_policy(network, batch, i, n) for i, n in enumerate((4, 2, 3))]
    np.testing.assert_allclose(log_prob.numpy(), [e[0] for e in expected], rtol=1e-12)
    np.testing.assert_allclose(op_entropy.numpy(), [e[1] for e in expected], rtol=1e-12)


def test_gradient_against_finite_differences():
    network, batch = small_network(), small_batch()
    advantage = torch.tensor([1.3, -0.7, 0.4], dtype=torch.float64)

    def loss():
        log_prob, op_entropy = log_policy(network, batch)
        return reinforce_loss(log_prob, advantage, op_entropy, entropy_coef=0.05)

    loss().backward()
    eps = 1e-6
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None, name
        flat, numeric = parameter.data.view(-1), torch.zeros(parameter.numel()).double()
        for k in range(len(flat)):
            kept = flat[k].item()
            with torch.no_grad():
                flat[k] = kept + eps
                up = loss().item()
                flat[k] = kept - eps
                numeric[k] = (up - loss().item()) / (2 * eps)
            flat[k] = kept
        np.testing.assert_allclose(
            parameter.grad.view(-1).numpy(), numeric.numpy(), atol=1e-8, err_msg=name
        )


def test_the_bonus_favours_roles_seldom_measured():
    network = small_network()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        u = network.target_logits(
            torch.zeros(6).double(),
            torch.tensor(1),
            torch.zeros(3, ROLE).double(),
            torch.zeros(3, 2).double(),
            torch.tensor([0.0, 1.0, 3.0]).double(),
        )
    # .1 / (n + 1)
    np.testing.assert_allclose(u.numpy(), [0.1, 0.05, 0.025])


def test_masked_entries_have_probability_zero_and_no_entropy():
    logits = torch.tensor([1.0, 50.0, 1.0])
    log_probs = masked_log_softmax(logits, torch.tensor([True, False, True]))
    np.testing.assert_allclose(log_probs.exp().numpy(), [0.5, 0.0, 0.5], atol=0, rtol=1e-6)
    assert entropy(log_probs).item() == pytest.approx(math.log(2))


def test_a_row_without_admissible_entries_gives_no_nan():
    logits = torch.tensor([[0.3, -0.2], [0.1, 0.4]], requires_grad=True)
    mask = torch.tensor([[False, False], [True, False]])
    out = masked_log_softmax(logits, mask)
    torch.where(torch.tensor([False, True]), out[:, 0], torch.zeros(2)).sum().backward()
    assert logits.grad is not None
    np.testing.assert_array_equal(logits.grad.numpy(), np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("probs", "u", "index"),
    [
        ((0.25, 0.25, 0.5), 0.0, 0),
        ((0.25, 0.25, 0.5), 0.2499, 0),
        ((0.25, 0.25, 0.5), 0.25, 1),  # shares are closed on the left
        ((0.25, 0.25, 0.5), 0.5, 2),
        ((0.0, 1.0, 0.0), 0.0, 1),  # an excluded first entry, at the very start
        ((0.0, 0.5, 0.0, 0.5, 0.0), 0.5, 3),
        ((0.5, 0.5, 0.0), np.nextafter(1.0, 0.0), 1),  # an excluded last entry, at the very end
    ],
)
def test_inverse_cdf(probs, u, index):
    assert inverse_cdf(torch.tensor(probs, dtype=torch.float64).log(), float(u)) == index
