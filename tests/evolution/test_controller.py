"""The learned controller: sampling, updates, checkpoints, and that it learns."""

import io
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch

from sero.credit import PoolState
from sero.evolution.actions import Legal, Operation, TrainPhase
from sero.evolution.controller import (
    Controller,
    Decision,
    DecisionView,
    MlpController,
    MlpControllerConfig,
)
from sero.evolution.observation import Observation
from sero.evolution.policy import log_policy
from sero.evolution.sections import PolicyConfig, ReinforceConfig
from sero.evolution.transition import Transition, stack
from sero.roles.card import RoleCard, RoleType
from sero.roles.pool import RolePool

ADD, REMOVE, NOOP = Operation.ADD, Operation.REMOVE, Operation.NOOP
DIM, N_ROLES = 4, 4
OBS = 2 * DIM + 5
POLICY = PolicyConfig(
    hidden=16,
    op_embedding=4,
    bonus=0.1,
    credit_scale=10.0,
    credit_features=True,
    add_target="none",
    operations=("add", "remove", "noop"),
)
ANCHORED = replace(POLICY, add_target="anchor")
REINFORCE = ReinforceConfig(
    lr=1e-3, beta=0.05, baseline="published", baseline_decay=0.9, clip=1.0, reward="delta"
)
STATE = PoolState(
    RolePool(
        tuple(
            RoleCard(
                name=f"role-{i}",
                role_type=RoleType.SPECIALIST,
                capability_family="any",
                communication_protocol="text",
                system_prompt=("Help.",),
            )
            for i in range(N_ROLES)
        )
    )
)


def controller(*, seed=0, policy=POLICY, reinforce=REINFORCE, batch=4) -> MlpController:
    return MlpController(
        MlpControllerConfig(name="mlp"),
        obs_dim=OBS,
        role_dim=DIM,
        seed=seed,
        policy=policy,
        reinforce=reinforce,
        batch=batch,
    )


def view(
    key=0, *, operations=(True, True, True), targets=(True,) * N_ROLES, anchors=(False,) * N_ROLES
) -> DecisionView:
    rng = np.random.default_rng(key)
    return DecisionView(
        observation=Observation(
            vector=rng.normal(size=OBS).astype(np.float32),
            roles=rng.normal(size=(N_ROLES, DIM)).astype(np.float32),
            local=rng.normal(size=(N_ROLES, 2)).astype(np.float32),
            n_bonus=np.zeros(N_ROLES, dtype=np.float32),
        ),
        legal=Legal(operations=operations, targets=targets),
        anchors=anchors,
        state=STATE,
        score=0.5,
        phase=TrainPhase.MAIN,
    )


def draws(agent: MlpController, seen: DecisionView, n: int) -> list[Decision]:
    rng = np.random.default_rng(1)
    return [agent.act(seen, rng) for _ in range(n)]


def parameters(agent: MlpController) -> dict[str, torch.Tensor]:
    return agent.state()["network"]


def plain(value):
    """A state with its tensors as dtype, shape and bytes, so that == means bit-equal."""
    match value:
        case torch.Tensor():
            return str(value.dtype), tuple(value.shape), value.numpy().tobytes()
        case dict():
            return {k: plain(v) for k, v in value.items()}
        case list() | tuple():
            return [plain(v) for v in value]
    return value


def assert_equal(left: MlpController, right: MlpController) -> None:
    """Network, optimiser, baseline and buffer, bit for bit."""
    assert plain(left.state()) == plain(right.state())


# --------------------------------------------------------------------------- sampling


def test_masked_actions_are_never_sampled():
    seen = view(operations=(False, True, True), targets=(False, True, False, True))
    found = Counter((d.action.operation, d.action.target) for d in draws(controller(), seen, 400))
    assert set(found) == {(REMOVE, 1), (REMOVE, 3), (NOOP, None)}


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        ((True, True, True), math.log(3)),
        ((True, False, True), math.log(2)),
        ((False, False, True), 0),
    ],
)
def test_entropy_is_over_admissible_operations_only(operations, expected):
    agent = controller()
    with torch.no_grad():
        for parameter in agent.network.op_head.parameters():
            parameter.zero_()
    decision = draws(agent, view(operations=operations), 1)[0]
    assert decision.entropy == pytest.approx(expected, abs=1e-6)
    share = 1 / sum(operations)
    assert decision.op_probs == pytest.approx([share if ok else 0 for ok in operations], abs=1e-6)


def test_a_forced_noop_is_certain():
    decision = draws(controller(), view(operations=(False, False, True)), 1)[0]
    assert (decision.action.operation, decision.action.target) == (NOOP, None)
    assert decision.log_prob == 0.0


def test_frequencies_follow_the_probabilities():
    agent, seen = controller(), view()
    found = draws(agent, seen, 3000)
    for i, operation in enumerate((ADD, REMOVE, NOOP)):
        share = sum(d.action.operation is operation for d in found) / len(found)
        # three standard errors of a share are at most 3 · sqrt(.25 / 3000) = .027
        assert share == pytest.approx(found[0].op_probs[i], abs=0.03)
    # log π of each Remove splits the operation's probability over the four roles
    removed = {d.action.target: d.log_prob for d in found if d.action.operation is REMOVE}
    assert sum(math.exp(lp) for lp in removed.values()) == pytest.approx(found[0].op_probs[1])


def test_every_decision_draws_the_same_amount():
    agent = controller()
    after = set()
    for operations in ((True, False, False), (False, True, False), (False, False, True)):
        rng = np.random.default_rng(5)
        agent.act(view(operations=operations), rng)
        after.add(rng.random())
    assert len(after) == 1


def test_add_names_an_anchor_only_when_asked_to():
    anchors = (False, True, False, True)
    only_add = (True, False, False)
    plain = draws(controller(), view(operations=only_add, anchors=anchors), 50)
    assert {d.action.target for d in plain} == {None}
    assert {d.log_prob for d in plain} == {0.0}  # the second factor is 1
    anchored = draws(controller(policy=ANCHORED), view(operations=only_add, anchors=anchors), 200)
    assert {d.action.target for d in anchored} == {1, 3}
    by_anchor = {d.action.target: math.exp(d.log_prob) for d in anchored}
    assert sum(by_anchor.values()) == pytest.approx(1.0)


def test_add_without_a_possible_anchor_has_factor_one():
    decision = draws(controller(policy=ANCHORED), view(operations=(True, False, False)), 1)[0]
    assert (decision.action.operation, decision.action.target) == (ADD, None)
    assert decision.log_prob == 0.0


def test_nothing_legal_leaves_the_pool_alone_and_teaches_nothing():
    agent = controller(policy=replace(POLICY, operations=("add", "remove")))
    seen = view(operations=(False, False), targets=(False,) * N_ROLES)
    decision = draws(agent, seen, 1)[0]
    agent.record(seen, decision, 0.0)
    assert decision.action.operation is NOOP
    assert agent.pending == 0
    assert agent.update() == {}


def test_an_operation_named_twice_is_refused():
    with pytest.raises(ValueError, match="once"):
        controller(policy=replace(POLICY, operations=("add", "add")))


# --------------------------------------------------------------------------- learning


def recorded(agent, rewards):
    for key, reward in enumerate(rewards):
        seen = view(key)
        agent.record(seen, agent.act(seen, np.random.default_rng(key)), reward)


def test_due_and_pending_count_decisions():
    agent = controller(batch=3)
    assert (agent.pending, agent.due) == (0, False)
    recorded(agent, [0.0, 0.1])
    assert (agent.pending, agent.due) == (2, False)
    recorded(agent, [0.2])
    assert (agent.pending, agent.due) == (3, True)
    agent.update()
    assert (agent.pending, agent.due) == (0, False)


@pytest.mark.parametrize("policy", [POLICY, ANCHORED])
def test_log_probs_are_the_same_when_computed_again(policy):
    agent = controller(policy=policy, batch=30)
    decisions = []
    for key in range(30):
        seen = view(
            key, targets=(True, key % 2 == 0, True, False), anchors=(False, True, True, False)
        )
        decisions.append(agent.act(seen, np.random.default_rng(key)))
        agent.record(seen, decisions[-1], 0.1)
    batch = stack([Transition.from_state(row) for row in agent.state()["buffer"]])
    with torch.no_grad():
        log_prob, op_entropy = log_policy(agent.network, batch)
    np.testing.assert_allclose(log_prob.numpy(), [d.log_prob for d in decisions], atol=1e-5)
    np.testing.assert_allclose(op_entropy.numpy(), [d.entropy for d in decisions], atol=1e-5)


def test_metrics_of_an_update_by_hand():
    agent = controller(batch=4)
    recorded(agent, [0.5, 0.0, -0.5, 0.4])
    metrics = agent.update()
    assert set(metrics) == {
        f"controller/{name}"
        for name in (
            "loss",
            "batch_entropy",
            "grad_norm",
            "baseline",
            "frac_zero_std",
            "reward_mean",
            "reward_std",
            "advantage_std",
        )
    }
    # mean .1; squares about it .16 + .01 + .36 + .09 = .62; std sqrt(.155); b = .9·0 + .1·.1
    assert metrics["controller/reward_mean"] == pytest.approx(0.1)
    assert metrics["controller/reward_std"] == pytest.approx(math.sqrt(0.155))
    assert metrics["controller/baseline"] == pytest.approx(0.01)
    assert metrics["controller/advantage_std"] == pytest.approx(1.0, abs=1e-5)
    assert metrics["controller/frac_zero_std"] == 0.0
    assert 0 < metrics["controller/batch_entropy"] <= math.log(3)
    assert metrics["controller/grad_norm"] > 0


@pytest.mark.parametrize("rewards", [[0.25] * 4, [0.7]])
def test_in_a_degenerate_batch_only_entropy_acts_and_the_baseline_moves(rewards):
    silent = controller(reinforce=replace(REINFORCE, beta=0.0))
    before = parameters(silent)
    recorded(silent, rewards)
    metrics = silent.update()
    torch.testing.assert_close(parameters(silent), before, rtol=0, atol=0)
    assert metrics["controller/frac_zero_std"] == 1.0
    assert metrics["controller/advantage_std"] == 0.0
    assert metrics["controller/loss"] == 0.0
    # raw units: .1 · mean R
    assert metrics["controller/baseline"] == pytest.approx(0.1 * rewards[0])

    exploring = controller()
    recorded(exploring, rewards)
    metrics = exploring.update()
    expected = -REINFORCE.beta * metrics["controller/batch_entropy"]
    assert metrics["controller/loss"] == pytest.approx(expected)
    assert not torch.equal(parameters(exploring)["op_head.bias"], before["op_head.bias"])


def test_the_first_step_is_adams_with_the_norm_clipped():
    # Adam's first step moves every weight by lr · g / (|g| + 1e-8): the direction survives clipping
    agent = controller(reinforce=replace(REINFORCE, clip=1e-3, lr=0.01))
    before = parameters(agent)
    recorded(agent, [1.0, -1.0, 0.5, 0.0])
    assert agent.update()["controller/grad_norm"] > 1e-3  # reported before clipping
    norm = math.sqrt(sum(float(p.grad.square().sum()) for p in agent.network.parameters()))
    assert norm == pytest.approx(1e-3, rel=1e-2)
    moved = (parameters(agent)["op_head.bias"] - before["op_head.bias"]).abs()
    assert moved.max().item() == pytest.approx(0.01, rel=1e-2)


def test_gain_keeps_only_what_a_gate_can_keep():
    agent = controller(reinforce=replace(REINFORCE, reward="gain"))
    recorded(agent, [-0.4, 0.3])
    assert [row["reward"] for row in agent.state()["buffer"]] == [0.0, 0.3]


@pytest.mark.parametrize("reward", [math.nan, math.inf])
def test_a_reward_that_is_no_number_is_refused(reward):
    with pytest.raises(ValueError, match="finite"):
        recorded(controller(), [reward])


def test_it_learns_which_role_to_remove():
    """Three operations and four roles; only removing role 2 pays, removing another one costs."""
    agent = controller(batch=8, reinforce=replace(REINFORCE, lr=3e-3, beta=0.02))
    seen = view()
    rng = np.random.default_rng(0)

    def value(decision: Decision) -> float:
        if decision.action.operation is not REMOVE:
            return 0.0
        return 1.0 if decision.action.target == 2 else -0.2

    for _ in range(200):
        while not agent.due:
            decision = agent.act(seen, rng)
            agent.record(seen, decision, value(decision))
        agent.update()
    late = [agent.act(seen, rng) for _ in range(200)]
    assert np.mean([value(decision) for decision in late]) > 0.8


# --------------------------------------------------------------------------- checkpoints


def episodes(agent: Controller, first: int, last: int) -> list[Decision]:
    decisions = []
    for key in range(first, last):
        seen = view(key)
        decisions.append(agent.act(seen, np.random.default_rng(key)))
        agent.record(seen, decisions[-1], math.sin(key))
        if agent.due:
            agent.update()
    return decisions


@pytest.mark.parametrize("stop", [0, 8, 10])  # fresh, between two batches, inside a batch of 4
def test_a_restored_controller_goes_on_bit_for_bit(stop):
    whole = controller(seed=7)
    episodes(whole, 0, stop)
    file = io.BytesIO()
    torch.save(whole.state(), file)
    file.seek(0)
    resumed = controller(seed=99)
    resumed.restore(torch.load(file, weights_only=True))
    assert_equal(whole, resumed)
    assert episodes(whole, stop, 25) == episodes(resumed, stop, 25)
    assert whole.update() == resumed.update()  # the last, partial batch
    assert_equal(whole, resumed)


def test_a_snapshot_does_not_move_with_the_controller():
    agent = controller()
    episodes(agent, 0, 6)
    snapshot, twin = agent.state(), controller()
    twin.restore(snapshot)
    episodes(agent, 6, 20)
    again = controller(seed=3)
    again.restore(snapshot)
    assert_equal(again, twin)


def test_restoring_keeps_the_snapshot_intact():
    agent = controller()
    episodes(agent, 0, 6)
    snapshot = agent.state()
    before = plain(snapshot)
    twin = controller()
    twin.restore(snapshot)
    episodes(twin, 6, 20)
    assert plain(snapshot) == before


def test_a_foreign_state_is_refused():
    agent = controller()
    with pytest.raises(ValueError, match="'rule'"):
        agent.restore({**agent.state(), "name": "rule"})
    wider = controller(policy=replace(POLICY, hidden=32))
    with pytest.raises(ValueError, match=r"projection\.weight"):
        agent.restore(wider.state())


# --------------------------------------------------------------------------- seeds


def test_initial_weights_are_a_function_of_the_seed_alone():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        first = controller(seed=5)
        torch.manual_seed(2)
        second = controller(seed=5)
    assert_equal(first, second)
    other = controller(seed=6)
    assert not torch.equal(parameters(other)["op_head.weight"], parameters(first)["op_head.weight"])


def test_global_generators_are_left_alone():
    torch_before, numpy_before = torch.get_rng_state(), np.random.get_state()[1].copy()
    agent = controller()
    episodes(agent, 0, 5)
    agent.update()
    assert torch.equal(torch.get_rng_state(), torch_before)
    np.testing.assert_array_equal(np.random.get_state()[1], numpy_before)
