"""The observation vector and the roles' features (method.md §4.6)."""

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

from sero.credit import CreditConfig, CreditState, FastWeights, PoolState, RoleCredit
from sero.encoders import HashingConfig, HashingEncoder
from sero.evolution.actions import TrainPhase
from sero.evolution.observation import answer_text, observation_size, observe
from sero.evolution.sections import PolicyConfig
from sero.inference.trace import Rollout
from sero.roles.card import RoleCard, RoleType
from sero.roles.pool import RolePool

CREDIT = CreditConfig(
    mu=0.1,
    fast_alpha=0.5,
    fast_weights=FastWeights(similarity=0, history=0, agreement=0, validity=0, peer=0),
    peer_ratings=False,
    order_source="bootstrap",
    loo_every=40,
    loo_tasks=3,
    loo_min_pool=4,
    loo_inactive="skip",
    loo_sequential=False,
    estimator="loo",
    orders=8,
    antithetic=True,
    tmc_tol=0.01,
    causal=False,
    new_n=3,
    bias_correction=False,
)
POLICY = PolicyConfig(
    hidden=256,
    op_embedding=64,
    bonus=0.1,
    credit_scale=10.0,
    credit_features=True,
    add_target="none",
    operations=("add", "remove", "noop"),
)


class TableEncoder:
    """Two dimensions, every text known in advance."""

    name = "table"
    dim = 2

    def __init__(self, vectors):
        self._vectors = vectors

    def encode(self, text):
        return np.array(self._vectors[text], dtype=np.float32)


def card(name, role_type):
    return RoleCard(
        name=name,
        role_type=role_type,
        capability_family=name,
        communication_protocol="text",
        system_prompt=(f"I am {name}.", "Be brief."),
    )


POOL = RolePool(
    (
        card("left", RoleType.SPECIALIST),
        card("idle", RoleType.SPECIALIST),
        card("scribe", RoleType.AGGREGATOR),
    )
)
ENCODER = TableEncoder(
    {
        "What?\n\nAnswer: 42": (0.6, 0.8),
        "I am left.\nBe brief.": (1.0, 0.0),
        "I am idle.\nBe brief.": (-1.0, 0.0),
        "I am scribe.\nBe brief.": (0.0, 1.0),
    }
)
STATE = PoolState(
    POOL,
    CreditState(
        MappingProxyType(
            {
                "left": RoleCredit(ema=0.03, loo=0.2, n_updates=2, n_bonus=2),
                "idle": RoleCredit(ema=-0.01, loo=-0.1, n_updates=1, n_bonus=4),
            }
        )
    ),
)


def rollout(team=("left", "scribe"), answer="42"):
    return Rollout(
        team=team,
        order=team[:-1],
        edges=(),
        levels=(0,) * len(team[:-1]),
        similarity={},
        fast={},
        final_fast={},
        messages=(),
        answer=answer,
    )


def seen(phase=TrainPhase.MAIN, *, policy=POLICY, credit=CREDIT, team=("left", "scribe")):
    return observe("What?", rollout(team), STATE, ENCODER, phase, credit_cfg=credit, policy=policy)


def test_main_phase_vector_by_hand():
    # team mean over left (1,0) and the aggregator (0,1): (.5,.5), not renormalised
    # c = (.03, -.01, 0): mean .02/3, population std sqrt((.0009+.0001)/3 - (.02/3)^2)
    # φ = (.2, -.1, 0): mean .1/3; everything times 10
    std = np.sqrt(0.001 / 3 - (0.02 / 3) ** 2)
    expected = [0.6, 0.8, 0.5, 0.5, 0.2 / 3, 10 * std, -0.1, 0.3, 1 / 3]
    found = seen()
    np.testing.assert_allclose(found.vector, expected, rtol=1e-6)
    np.testing.assert_allclose(found.roles, [(1, 0), (-1, 0), (0, 1)])
    np.testing.assert_allclose(found.local, [(0.3, 2.0), (-0.1, -1.0), (0, 0)], rtol=1e-6)
    np.testing.assert_array_equal(found.n_bonus, [2, 4, 0])
    for array in (found.vector, found.roles, found.local, found.n_bonus):
        assert array.dtype == np.float32


def test_warmup_hides_credit_and_keeps_the_rest():
    found, main = seen(TrainPhase.WARMUP), seen()
    np.testing.assert_array_equal(found.vector[4:], np.zeros(5))
    np.testing.assert_array_equal(found.local, np.zeros((3, 2)))
    np.testing.assert_array_equal(found.vector[:4], main.vector[:4])
    np.testing.assert_array_equal(found.n_bonus, main.n_bonus)


def test_credit_features_can_be_switched_off():
    found = seen(policy=replace(POLICY, credit_features=False))
    np.testing.assert_array_equal(found.vector[4:], np.zeros(5))
    np.testing.assert_array_equal(found.local, np.zeros((3, 2)))


def test_scale_one_is_the_literal_version():
    found = seen(policy=replace(POLICY, credit_scale=1.0))
    np.testing.assert_allclose(found.local[0], (0.03, 0.2), rtol=1e-6)
    assert found.vector[7] == pytest.approx(0.03)


def test_bias_correction_reaches_the_features():
    # c_left = .03 / (1 - .9^2) = .03 / .19, times 10
    found = seen(credit=replace(CREDIT, bias_correction=True))
    assert found.local[0, 0] == pytest.approx(0.3 / 0.19, rel=1e-6)


def test_an_empty_team_is_zeros():
    np.testing.assert_array_equal(seen(team=()).vector[2:4], (0, 0))


def test_a_team_member_outside_the_pool_is_an_error():
    with pytest.raises(KeyError):
        seen(team=("left", "stranger"))


def test_the_answer_is_cut_at_200_characters():
    assert answer_text("Q", "a" * 500) == "Q\n\nAnswer: " + "a" * 200
    assert answer_text("Q", "") == "Q\n\nAnswer: "


def test_published_size():
    # 512 task + 512 team + 5 statistics
    assert observation_size(512) == 1029
    encoder = HashingEncoder(HashingConfig(dim=512))
    found = observe(
        "What?",
        rollout(),
        STATE,
        encoder,
        TrainPhase.MAIN,
        credit_cfg=CREDIT,
        policy=POLICY,
    )
    assert found.vector.shape == (1029,)
    assert found.roles.shape == (3, 512)
