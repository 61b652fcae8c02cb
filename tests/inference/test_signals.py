"""Fast credit of a rollout by hand, each further signal alone, and the validators' floors."""

import math

import pytest

from sero.credit import CreditState, FastWeights, RoleCredit
from sero.inference.repair import Repair
from sero.inference.retrieval import Team
from sero.inference.signals import rollout_fast_credit, with_validator_floors

NONE = {"similarity": 0.0, "history": 0.0, "agreement": 0.0, "validity": 0.0, "peer": 0.0}
ROOT = math.sqrt(5)


@pytest.fixture
def fast(parts, table_encoder, section, card):
    """f_r of messages by role: e(x) = e1; `yes` texts are e1, `no` texts e2, others nothing."""

    def run(messages, *, weights=None, alpha=0.5, credit=None, corrected=False, importance=None):
        encoder = table_encoder({"TASK": (1, 0), "yes": (1, 0), "no": (0, 1)})
        cfg = section(
            "credit",
            fast_alpha=alpha,
            fast_weights=FastWeights(**{**NONE, **(weights or {})}),
            bias_correction=corrected,
        )
        team = Team(
            members=tuple(card(m.role) for m in messages),
            aggregator=None,
            similarity={m.role: 0.1 * i for i, m in enumerate(messages)},
        )
        state = CreditState().updated(credit or {})
        held = importance or {}
        return rollout_fast_credit("TASK", messages, team, state, cfg, parts(None, encoder), held)

    return run


@pytest.fixture
def said(message):
    # mean (2/3, 1/3), direction (2, 1)/√5; a and b: .5 · 1 + .5 · 2/√5, c: 0 + .5 · 1/√5
    return [message("a", "yes ANSWER 4"), message("b", "yes ANSWER 5"), message("c", "no ANSWER 4")]


BASE = {"a": 0.5 + 1 / ROOT, "b": 0.5 + 1 / ROOT, "c": 0.5 / ROOT}


def test_similarity_to_the_task_and_agreement_of_the_messages(fast, said):
    assert fast(said) == pytest.approx(BASE)
    assert fast(said, alpha=1.0) == pytest.approx({"a": 1, "b": 1, "c": 0})


def test_nobody(fast):
    assert fast([]) == {}


@pytest.mark.parametrize(
    ("weights", "added"),
    [
        ({"similarity": 0.5}, {"a": 0.0, "b": 0.05, "c": 0.1}),  # ρ = 0, .1, .2
        ({"history": 2.0}, {"a": 0.2, "b": 0.0, "c": -0.1}),  # c = .1, none, -.05
        ({"agreement": 0.3}, {"a": 0.2, "b": 0.1, "c": 0.2}),  # shares 2/3, 1/3, 2/3
        ({"validity": 0.25}, {"a": 0.25, "b": 0.25, "c": 0.25}),
        ({"similarity": 0.5, "agreement": 0.3}, {"a": 0.2, "b": 0.15, "c": 0.3}),
    ],
    ids=lambda value: "-".join(value),
)
def test_each_further_signal_is_added(fast, said, weights, added):
    credit = {"a": RoleCredit(ema=0.1), "c": RoleCredit(ema=-0.05)}
    got = fast(said, weights=weights, credit=credit)
    assert got == pytest.approx({role: BASE[role] + added[role] for role in BASE})


def test_what_peers_hold_of_a_role_counts_for_it(fast, said):
    importance = {"a": 0.4, "b": 0.9}
    got = fast(said, weights={"peer": 0.5}, importance=importance)
    added = {"a": 0.2, "b": 0.45, "c": 0.0}
    assert got == pytest.approx({role: BASE[role] + added[role] for role in BASE})
    assert fast(said, importance=importance) == pytest.approx(BASE)  # weight 0


def test_history_is_corrected_like_everywhere(fast, said):
    credit = {"a": RoleCredit(ema=0.01, n_updates=1)}
    got = fast(said, weights={"history": 1.0}, credit=credit, corrected=True)
    assert got["a"] == pytest.approx(BASE["a"] + 0.1)  # .01 / (1 - .9)


def test_messages_without_an_answer_agree_with_nobody(fast, message):
    messages = [message("a", "no"), message("b", "no"), message("c", "no ANSWER 4")]
    plain = fast(messages)
    got = fast(messages, weights={"agreement": 0.3})
    # shares of three messages: none, none, 1/3
    assert [got[role] - plain[role] for role in "abc"] == pytest.approx([0, 0, 0.1])


def test_empty_and_cut_messages_are_not_valid(fast, message):
    messages = [
        message("a", "yes"),
        message("b", " \n"),
        message("c", "yes", finish_reason="length"),
        message("d", "yes", finish_reason="replaced"),
    ]
    plain, got = fast(messages), fast(messages, weights={"validity": 1.0})
    assert [got[role] - plain[role] for role in "abcd"] == pytest.approx([1, 0, 0, 1])


class TestFloors:
    @pytest.mark.parametrize(
        ("done", "floor"),
        [
            ({"validator": "v1", "revised": True, "adopted": True}, 1.0),
            ({"validator": "v1", "revised": True}, 0.75),
            ({"validator": "v1", "said_ok": True}, 0.55),
            ({"validator": "v1"}, 0.35),  # asked, and no verdict
            ({}, 0.35),  # not asked
        ],
    )
    def test_a_validator_gets_at_least_what_it_did(self, card, done, floor):
        members = [card("s1"), card("v1", "validator")]
        repair = Repair(answer="x", **done)
        low = with_validator_floors({"s1": 0.2, "v1": -0.4}, members, repair)
        assert low == {"s1": 0.2, "v1": floor}
        high = with_validator_floors({"s1": 0.2, "v1": 0.99}, members, repair)
        assert high == {"s1": 0.2, "v1": max(0.99, floor)}

    def test_the_reserved_one_is_credited_and_the_others_are_not(self, card):
        members = [card("v1", "validator"), card("v2", "validator"), card("s1")]
        repair = Repair(answer="x", validator="v9", revised=True, adopted=True)
        got = with_validator_floors({"v1": 0.1, "v2": 0.5, "s1": 0.0}, members, repair)
        assert got == {"v1": 0.35, "v2": 0.5, "s1": 0.0, "v9": 1.0}

    def test_what_came_in_is_left_alone(self, card):
        fast = {"v1": 0.0}
        with_validator_floors(fast, [card("v1", "validator")], Repair(answer="x"))
        assert fast == {"v1": 0.0}
