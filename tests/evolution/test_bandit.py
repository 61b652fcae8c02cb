"""The frozen-pool bandit: values by hand, a table measured, the targets of method.md §8.3."""

import os
from dataclasses import replace
from statistics import fmean
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from sero.encoders import MemoryEncoder
from sero.evolution.actions import Action, Legal, Operation, TrainPhase
from sero.evolution.bandit import (
    RewardTable,
    learning_curve,
    measured_credit,
    policy_value,
    reward_table,
)
from sero.evolution.controller import DecisionView, MlpController, MlpControllerConfig
from sero.evolution.observation import Observation, observation_size
from sero.skillworld import SkillWorldBackbone, SkillWorldBenchmark, SkillWorldEncoder
from sero.skillworld.scenarios import P_MAX, frozen_pool
from sero.skillworld.world import WorldSpec, world_for

ADD, REMOVE, NOOP = Operation.ADD, Operation.REMOVE, Operation.NOOP
OPERATIONS = (ADD, REMOVE, NOOP)
DIM = 4


@pytest.fixture
def one_thread():
    """The networks are small: threads cost more than they bring."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def view(seed, targets=(True, False, True)):
    rng = np.random.default_rng(seed)
    draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)  # noqa: E731
    return DecisionView(
        observation=Observation(
            vector=draw(observation_size(DIM)),
            roles=draw(len(targets), DIM),
            local=draw(len(targets), 2),
            n_bonus=np.arange(len(targets), dtype=np.float32),
        ),
        legal=Legal(operations=(True, True, True), targets=targets),
        anchors=targets,
        state=None,
        score=0.5,
        phase=TrainPhase.MAIN,
    )


TABLE = RewardTable(
    operations=OPERATIONS,
    views=(view(1), view(2)),
    add=np.array([[0.5, 0.0], [0.25, -0.25]]),  # means .25 and 0
    remove=np.array([[0.5, 0.0, -1.0], [0.25, 0.0, 0.0]]),  # role 1 may not go
)


def small_controller(toy, seed=3, **reinforce):
    return MlpController(
        MlpControllerConfig(name="mlp"),
        obs_dim=observation_size(DIM),
        role_dim=DIM,
        seed=seed,
        policy=toy.POLICY,
        reinforce=replace(toy.REINFORCE, **reinforce),
        batch=8,
    )


def test_values_of_simple_policies_by_hand():
    """Add .125; removals .375 and -.5, mean -.0625; uniform (.125 - .0625 + 0) / 3 = 1/48."""
    assert TABLE.uniform == pytest.approx(1 / 48)
    assert TABLE.best_fixed == pytest.approx(0.375)
    assert TABLE.gap_share(1 / 48) == 0.0
    assert TABLE.gap_share(0.375) == pytest.approx(1.0)
    assert TABLE.gap_share(0.5 / 2 + 0.25 / 2) == pytest.approx(1.0)
    worthless = replace(TABLE, add=-np.ones((2, 2)), remove=-np.ones((2, 3)))
    assert worthless.best_fixed == 0.0  # Noop


def test_a_flat_policy_is_worth_what_a_uniform_one_is(toy):
    controller = small_controller(toy)
    with torch.no_grad():
        for parameter in controller.network.parameters():
            parameter.zero_()
    controller.network.bonus = 0.0
    assert policy_value(controller.network, TABLE) == pytest.approx(TABLE.uniform)


def test_the_exact_value_is_the_mean_of_many_sampled_rewards(toy):
    """Against a slow loop: 4000 sampled decisions of an untrained policy."""
    controller = small_controller(toy)
    rng = np.random.default_rng(5)
    rewards = []
    for i in range(4000):
        decision = controller.act(TABLE.views[i % 2], rng)
        rewards.append(TABLE.reward(i % 2, decision.action, rng))
    error = np.std(rewards) / len(rewards) ** 0.5
    exact = policy_value(controller.network, TABLE)
    assert exact == pytest.approx(np.mean(rewards), abs=4 * error)
    assert 4 * error < 0.03


def test_rewards_are_looked_up_and_always_draw_one_number():
    states = []
    for action in (
        Action(operation=ADD, target=None),
        Action(operation=REMOVE, target=2),
        Action(operation=NOOP, target=None),
    ):
        rng = np.random.default_rng(0)
        reward = TABLE.reward(0, action, rng)
        states.append(rng.bit_generator.state["state"])
        match action.operation:
            case Operation.ADD:
                assert reward in (0.5, 0.0)
            case Operation.REMOVE:
                assert reward == -1.0
            case Operation.NOOP:
                assert reward == 0.0
    assert states[0] == states[1] == states[2]


def test_training_finds_the_best_action_and_is_reproducible(toy, one_thread):
    marks = (50, 400)
    curve = learning_curve(small_controller(toy, beta=0.0), TABLE, marks=marks, run_seed=1)
    assert list(curve) == list(marks)
    assert TABLE.gap_share(curve[400]) > 0.8
    again = learning_curve(small_controller(toy, beta=0.0), TABLE, marks=marks, run_seed=1)
    assert again == curve
    other = learning_curve(small_controller(toy, beta=0.0), TABLE, marks=marks[:1], run_seed=2)
    assert other[50] != curve[50]


def test_a_measured_table_agrees_with_rollouts_of_the_edited_pools(toy):
    """On the toy: removing adder-2 or a guesser changes the vote; refused Adds are worth 0."""
    trainer = toy.trainer()
    state = toy.state()
    table = toy.run(reward_table(trainer, state, n_add=3))
    assert table.removable.tolist() == [False, True, False, True, False, False]
    names = state.pool.names
    for i, task in enumerate(trainer.tasks):
        whole = toy.run(trainer.roll(task, state, toy.PRE, 1)).value
        for z in np.flatnonzero(table.removable):
            reduced = toy.state(state.pool.without_role(names[z]))
            value = toy.run(trainer.roll(task, reduced, toy.POST, 1)).value
            assert table.remove[i, z] == value - whole
        assert table.views[i].score == whole
        assert table.views[i].phase is TrainPhase.MAIN
    assert not table.remove[:, ~table.removable].any()
    assert table.add.shape == (2, 3)
    assert len(np.unique(table.add)) > 1  # the samples are different cards
    full = replace(trainer, guard=toy.guard(pool=replace(toy.POOL, p_max=6)))
    with pytest.raises(ValueError, match="p_max 6"):
        toy.run(reward_table(full, state, n_add=1))
    anchored = replace(trainer, policy=replace(toy.POLICY, add_target="anchor"))
    with pytest.raises(ValueError, match="add_target=none"):
        toy.run(reward_table(anchored, state, n_add=1))


def test_credit_is_measured_without_touching_the_pool(toy):
    trainer = toy.trainer()
    state = toy.run(measured_credit(trainer, toy.state(), refreshes=2))
    assert state.pool == toy.seed_pool()
    assert max(state.credit[name].n_updates for name in state.pool.names) == 2


# ---- the simulated world

MARKS = (300, 600, 1200)
WHOLE = bool(os.environ.get("SERO_FULL_SIZE"))
N_WORLDS, N_CONTROLLERS, N_TASKS, N_ADD = (5, 3, 30, 12) if WHOLE else (2, 1, 10, 4)


def world_policy(toy):
    return replace(toy.POLICY, hidden=64, op_embedding=16, credit_scale=10.0)


def world_controller(toy, seed):
    return MlpController(
        MlpControllerConfig(name="mlp"),
        obs_dim=observation_size(32),
        role_dim=32,
        seed=seed,
        policy=world_policy(toy),
        reinforce=replace(toy.REINFORCE, lr=3e-3, beta=0.02),
        batch=8,
    )


def world_trainer(toy, key, name):
    """Algorithm 2's parts on a frozen pool of a world, as method.md §8.3 sets them; and the pool.

    d = 32, no family cover, no validator slot, every draft checked.
    """
    where = {"world": key, "scenario": "default", "dim": 32}
    benchmark = SkillWorldBenchmark(
        SkillWorldBenchmark.Config(
            name="skillworld",
            **where,
            score="partial",
            noise=0.0,
            n_train=30,
            n_heldout=1,
            strict_add=False,
            pool="seed",
        )
    )
    backbone = SkillWorldBackbone(
        SkillWorldBackbone.Config(name="skillworld", **where, noise=0.0, editor="benign")
    )
    encoder = MemoryEncoder(SkillWorldEncoder(SkillWorldEncoder.Config(**where)))
    frozen = frozen_pool(world_for(WorldSpec(key=key, scenario="default", dim=32)), name)
    credit = replace(toy.CREDIT, loo_tasks=3, loo_inactive="zero", new_n=0)
    old = toy.INFERENCE
    inference = replace(
        old,
        credit=credit,
        retrieval=replace(old.retrieval, credit_mode=frozen.credit_mode, spec_slots=3),
        repair=replace(old.repair, always=True),
    )
    terms = toy.terms(seed_families=frozen.covered, output_protocol=benchmark.output_protocol)
    shared = toy.trainer()
    trainer = replace(
        shared,
        tasks=benchmark.load().train,
        roll=replace(
            shared.roll,
            parts=replace(
                shared.roll.parts,
                backbone=backbone,
                encoder=encoder,
                parse=benchmark.parse,
                max_tokens=1024,
            ),
            inference=inference,
            benchmark=benchmark,
            run_seed=key,
        ),
        editor=replace(
            shared.editor,
            backbone=backbone,
            max_prompt_chars=4000,
            known_texts=benchmark.known_texts(),
            run_seed=key,
        ),
        guard=replace(
            shared.guard, pool=replace(toy.POOL, p_max=P_MAX), terms=terms, encoder=encoder
        ),
        policy=world_policy(toy),
        credit=credit,
        run_seed=key,
    )
    return trainer, toy.state(frozen.pool)


def learnt(toy, key, name):
    """V uniform and V best of a world, and V after training, averaged over its controllers."""
    trainer, state = world_trainer(toy, key, name)
    state = toy.run(measured_credit(trainer, state, refreshes=10))
    trainer = replace(trainer, tasks=trainer.tasks[:N_TASKS])
    table = toy.run(reward_table(trainer, state, n_add=N_ADD))
    curves = [
        learning_curve(world_controller(toy, seed), table, marks=MARKS, run_seed=seed)
        for seed in range(key, key + 1000 * N_CONTROLLERS, 1000)
    ]
    values = {mark: fmean(curve[mark] for curve in curves) for mark in MARKS}
    return SimpleNamespace(uniform=table.uniform, best=table.best_fixed, values=values)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["seed_pool", "distractors", "polluted"])
def test_reinforce_learns_the_targets_of_the_specification(toy, one_thread, name):
    """Shares of the mean gap over worlds: ≥ 70 % at 1200 episodes, seed pool ≥ 40 % at 300.

    The specification's own figures are 112, 91 and 87 % at 1200. One controller's share is widely
    spread (13 to 142 % in single worlds of `distractors`), hence three in each of five worlds under
    `SERO_FULL_SIZE=1`. By default one in each of two, on a table of 10 tasks with 4 Adds each,
    which is learnt sooner: any two of the five worlds reach 76 % and more at 1200. The share at 300
    is asserted on the whole table alone; single worlds are too far apart there.
    """
    found = [learnt(toy, key, name) for key in range(200, 200 + N_WORLDS)]
    uniform, best = fmean(f.uniform for f in found), fmean(f.best for f in found)
    share = {m: (fmean(f.values[m] for f in found) - uniform) / (best - uniform) for m in MARKS}
    print(f"{name}: V uniform {uniform:.3f}, best {best:.3f}, share of the gap {share}")
    assert best - uniform > 0.03
    assert share[1200] >= 0.70
    if WHOLE and name == "seed_pool":
        assert share[300] >= 0.40


def test_one_small_world_end_to_end(toy):
    """A tabulated world has a gap to learn, and its removal values are those of the cards."""
    trainer, state = world_trainer(toy, 200, "distractors")
    trainer = replace(trainer, tasks=trainer.tasks[:3])
    table = toy.run(reward_table(trainer, state, n_add=1))
    names = np.array(state.pool.names)[table.removable]
    assert len(names) == 9
    assert all(name.startswith(("good", "misleader")) for name in names)
    assert table.best_fixed > table.uniform
