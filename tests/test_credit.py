"""Credit: the EMA, fast credit, Eq. 10, and C as a frozen value."""

import dataclasses
import math

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sero.credit import (
    UNKNOWN,
    CreditConfig,
    CreditState,
    FastWeights,
    PoolState,
    RoleCredit,
    credit_from_data,
    ema_update,
    fast_credit,
    historical,
    pool_state_to_data,
    pool_statistics,
)
from sero.roles.card import RoleCard, RoleType
from sero.roles.load import pool_from_data
from sero.roles.pool import RolePool

E1, E2 = np.eye(2, dtype=np.float32)


def config(**changes):
    values = {
        "mu": 0.1,
        "fast_alpha": 0.5,
        "fast_weights": FastWeights(similarity=0, history=0, agreement=0, validity=0, peer=0),
        "peer_ratings": False,
        "order_source": "bootstrap",
        "loo_every": 40,
        "loo_tasks": 3,
        "loo_min_pool": 4,
        "loo_inactive": "skip",
        "loo_sequential": False,
        "estimator": "loo",
        "orders": 8,
        "antithetic": True,
        "tmc_tol": 0.01,
        "causal": False,
        "new_n": 3,
        "bias_correction": False,
    }
    return CreditConfig(**{**values, **changes})


def pool(*names):
    return RolePool(
        tuple(
            RoleCard(
                name=name,
                role_type=RoleType.SPECIALIST,
                capability_family="f",
                communication_protocol="p",
                system_prompt=("s",),
            )
            for name in names
        )
    )


class TestEma:
    @pytest.mark.parametrize(
        ("ema", "loo", "mu", "after"),
        [
            (0.0, 0.5, 0.1, 0.05),  # 0.9 · 0   + 0.1 · 0.5
            (0.2, -1.0, 0.1, 0.08),  # 0.9 · 0.2 - 0.1 · 1
            (0.4, 0.4, 0.3, 0.4),  # a fixed point
            (0.7, 0.1, 1.0, 0.1),  # no memory
            (-0.3, 0.0, 0.05, -0.285),
        ],
    )
    def test_the_update(self, ema, loo, mu, after):
        old = RoleCredit(ema=ema, loo=9.0, fast=0.3, n_updates=2, n_bonus=5)
        new = ema_update(old, loo, mu=mu)
        assert new.ema == pytest.approx(after)
        assert (new.loo, new.fast, new.n_updates, new.n_bonus) == (loo, 0.3, 3, 6)
        assert (old.ema, old.n_updates) == (ema, 2)

    @pytest.mark.parametrize(
        ("n_updates", "corrected", "expected"),
        [
            (1, True, 0.5),  # 0.05 / (1 - 0.9)
            (2, True, 0.05 / 0.19),  # 1 - 0.81
            (0, True, 0.05),  # nothing to correct yet
            (1, False, 0.05),
        ],
    )
    def test_bias_correction(self, n_updates, corrected, expected):
        credit = RoleCredit(ema=0.05, n_updates=n_updates)
        got = historical(credit, config(bias_correction=corrected))
        assert got == pytest.approx(expected)

    def test_the_corrected_ema_of_a_constant_is_the_constant(self):
        credit = UNKNOWN
        for _ in range(7):
            credit = ema_update(credit, 0.3, mu=0.1)
            assert historical(credit, config(bias_correction=True)) == pytest.approx(0.3)
        assert credit.ema == pytest.approx(0.3 * (1 - 0.9**7))

    def test_the_bonus_counter_of_a_newcomer_does_not_correct(self):
        newcomer = RoleCredit(n_bonus=3)
        after = ema_update(newcomer, 0.5, mu=0.1)
        assert (after.n_updates, after.n_bonus) == (1, 4)
        assert historical(after, config(bias_correction=True)) == pytest.approx(0.5)


class TestFastCredit:
    @pytest.mark.parametrize(
        ("alpha", "expected"),
        [
            # q = e1; messages e1, e1, e2: mean (2/3, 1/3), unit (2, 1)/√5
            (1.0, [1.0, 1.0, 0.0]),
            (0.0, [2 / math.sqrt(5), 2 / math.sqrt(5), 1 / math.sqrt(5)]),
            (0.5, [(1 + 2 / math.sqrt(5)) / 2, (1 + 2 / math.sqrt(5)) / 2, 0.5 / math.sqrt(5)]),
        ],
    )
    def test_by_hand(self, alpha, expected):
        got = fast_credit(E1, [E1, E1, E2], alpha=alpha)
        assert got == pytest.approx(expected)
        assert all(isinstance(value, float) for value in got)

    def test_opposite_messages_agree_with_nobody(self):
        # the mean is the zero vector: only similarity is left, 0.5 · ±1
        assert fast_credit(E1, [E1, -E1], alpha=0.5) == pytest.approx([0.5, -0.5])

    def test_a_message_without_content_is_worth_nothing(self):
        # ū = e1/2, its direction e1: the silent role has neither similarity nor agreement
        assert fast_credit(E1, [E1, 0 * E1], alpha=0.5) == pytest.approx([1.0, 0.0])

    def test_no_messages(self):
        assert fast_credit(E1, [], alpha=0.5) == []

    @given(st.integers(0, 10**6), st.integers(1, 6), st.floats(0, 1))
    def test_against_a_slow_loop(self, seed, n, alpha):
        rng = np.random.default_rng(seed)
        vectors = rng.normal(size=(n + 1, 5))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        query, *messages = vectors.astype(np.float32)
        mean = [sum(float(u[k]) for u in messages) / n for k in range(5)]
        norm = math.sqrt(sum(v * v for v in mean))
        for u, got in zip(messages, fast_credit(query, messages, alpha=alpha), strict=True):
            similarity = sum(float(a) * float(b) for a, b in zip(u, query, strict=True))
            cosine = sum(float(a) * b for a, b in zip(u, mean, strict=True)) / norm
            assert got == pytest.approx(alpha * similarity + (1 - alpha) * cosine, abs=1e-5)
            assert -1.000001 <= got <= 1.000001


class TestStatistics:
    CREDIT = CreditState(
        {
            "a": RoleCredit(ema=0.1, loo=0.2, n_updates=1),
            "b": RoleCredit(ema=-0.1, loo=0.4, n_updates=1),
            "gone": RoleCredit(ema=9.0, loo=9.0),
        }
    )

    def test_by_hand(self):
        # c over the pool: .1, -.1, 0 (c is unknown); mean 0, variance (.01 + .01 + 0) / 3
        got = pool_statistics(pool("a", "b", "c"), self.CREDIT, config())
        assert got == pytest.approx((0.0, math.sqrt(0.02 / 3), -0.1, 0.1, 0.2))

    def test_a_pool_of_one(self):
        assert pool_statistics(pool("b"), self.CREDIT, config()) == (-0.1, 0.0, -0.1, -0.1, 0.4)

    def test_they_read_the_corrected_credit(self):
        got = pool_statistics(pool("a"), self.CREDIT, config(bias_correction=True))
        assert got == pytest.approx((1.0, 0.0, 1.0, 1.0, 0.2))


class TestState:
    def test_a_role_without_an_entry_has_none_yet(self):
        assert CreditState()["anybody"] == RoleCredit(ema=0, loo=0, fast=None)

    def test_updates_leave_the_old_state_as_it_was(self):
        old = CreditState().updated({"a": RoleCredit(ema=0.1)})
        new = old.updated({"a": RoleCredit(ema=0.2), "b": RoleCredit(ema=0.3)})
        fast = new.with_fast({"a": 0.7, "c": 0.1})
        assert old["a"].ema == 0.1
        assert (new["a"].ema, new["a"].fast) == (0.2, None)
        assert fast["a"] == RoleCredit(ema=0.2, fast=0.7)
        assert fast["c"] == RoleCredit(fast=0.1)
        assert fast["b"] is new["b"]

    def test_it_cannot_be_changed(self):
        state = CreditState().updated({"a": UNKNOWN})
        with pytest.raises(TypeError):
            state.roles["a"] = RoleCredit(ema=1.0)
        with pytest.raises(dataclasses.FrozenInstanceError):
            state.roles = {}
        with pytest.raises(dataclasses.FrozenInstanceError):
            UNKNOWN.ema = 1.0

    def test_equal_credit_is_equal_whatever_holds_it(self):
        one = CreditState().updated({"a": RoleCredit(ema=0.1)})
        assert one == CreditState().updated({"a": RoleCredit(ema=0.1)})
        assert one == CreditState({"a": RoleCredit(ema=0.1)})
        assert one != CreditState().updated({"a": RoleCredit(ema=0.2)})

    def test_roles_that_left_are_forgotten(self):
        state = CreditState().updated({"a": RoleCredit(ema=0.1), "b": RoleCredit(ema=0.2)})
        kept = state.restricted(("b", "new"))
        assert dict(kept.roles) == {"b": RoleCredit(ema=0.2)}

    def test_pool_and_fast_credit(self):
        state = PoolState(pool("a"))
        after = state.with_fast({"a": 0.5})
        assert after.pool is state.pool
        assert (state.credit["a"].fast, after.credit["a"].fast) == (None, 0.5)


class TestSaved:
    def test_a_pool_with_credit_there_and_back_through_yaml(self):
        credit = CreditState().updated(
            {"a": RoleCredit(ema=0.1 + 0.2, loo=-1e-17, fast=0.25, n_updates=4, n_bonus=7)}
        )
        state = PoolState(pool("a", "b"), credit)
        data = yaml.safe_load(yaml.safe_dump(pool_state_to_data(state)))
        assert credit_from_data(data)["a"] == credit["a"]
        assert credit_from_data(data["roles"])["b"] == UNKNOWN
        assert pool_from_data(data, where="test") == state.pool

    def test_a_role_without_a_block_is_unknown(self):
        rows = [{"name": "a"}, {"name": "b", "credit": None}, {"name": "c", "credit": {"ema": 1.0}}]
        assert dict(credit_from_data(rows).roles) == {"c": RoleCredit(ema=1.0)}
