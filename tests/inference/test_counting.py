"""Calls of a rollout against the formula n + nT + 1 + (0..2), worked by hand."""

import pytest

from sero.inference.counting import (
    Makeup,
    makeup_of,
    most_edges,
    most_shown_per_call,
    rollout_calls,
    team_of,
)
from sero.inference.span import Span, covering
from sero.roles.card import RoleType

SEED = Makeup(routers=1, specialists=5, validators=2, aggregators=1)


def test_spans_add_and_cover():
    assert Span(1, 3) + Span(2, 2) == Span(3, 5)
    assert Span(1, 3) * 4 == Span(4, 12)
    assert (Span(2, 2).exact, Span(2, 3).exact) == (True, False)
    assert covering([Span(2, 5), Span(1, 3), Span(4, 4)]) == Span(1, 5)
    assert covering([]) == Span(0, 0)


def test_a_pool_is_counted_by_type(pool_of):
    assert makeup_of(pool_of("r1", "s1", "s2", "v1", "a1")) == Makeup(1, 2, 1, 1)
    assert SEED.size == 9
    assert SEED.changed(RoleType.VALIDATOR, -1) == Makeup(1, 5, 1, 1)


@pytest.mark.parametrize(
    ("pool", "changes", "team"),
    [
        (SEED, {}, Makeup(1, 3, 1)),  # one router, three specialists, one validator
        (Makeup(0, 2, 1, 1), {}, Makeup(0, 2, 1)),  # slots that nobody fills
        # one of two validators is kept back for the repair, of one none is
        (SEED, {"retrieval": {"val_slots": 2}}, Makeup(1, 3, 1)),
        (SEED, {"retrieval": {"val_slots": 2}, "repair": {"reserved": False}}, Makeup(1, 3, 2)),
        (Makeup(1, 1, 0, 1), {}, Makeup(1, 1, 0)),
    ],
)
def test_a_team_fills_its_slots(config, pool, changes, team):
    assert team_of(pool, config(**changes)) == team


@pytest.mark.parametrize(
    ("pool", "changes", "calls"),
    [
        (SEED, {}, Span(11, 13)),  # n = 5: 5 drafts, 5 messages, 1 answer, 0 to 2 for the repair
        (SEED, {"exec": {"rounds": 2}}, Span(16, 18)),
        (SEED, {"credit": {"order_source": "stored"}}, Span(6, 8)),
        (SEED, {"credit": {"peer_ratings": True}}, Span(16, 18)),  # and five ratings
        (SEED, {"credit": {"peer_ratings": True, "order_source": "stored"}}, Span(6, 8)),
        (Makeup(0, 1, 0, 1), {"credit": {"peer_ratings": True}}, Span(3, 3)),  # no other to rate
        (SEED, {"repair": {"always": True}}, Span(12, 13)),
        (SEED, {"repair": {"enabled": False}}, Span(11, 11)),
        (Makeup(1, 3, 0, 1), {}, Span(9, 9)),  # nobody can check
        (Makeup(0, 0, 0, 1), {}, Span(1, 1)),  # the aggregator alone
        (Makeup(1, 3, 1, 0), {}, Span(0, 0)),  # nobody answers, so nobody is asked
        (Makeup(1, 3, 1, 2), {}, Span(11, 13)),  # the first aggregator answers
    ],
)
def test_calls_of_a_rollout(config, pool, changes, calls):
    assert rollout_calls(pool, config(**changes)) == calls


@pytest.mark.parametrize(
    ("n", "dag", "edges"),
    [
        (0, {}, 0),
        (1, {}, 0),
        (3, {}, 3),  # b_in = 1: {12, 13} are two; three is the bound of every rule
        (5, {}, 10),  # b_out = b_in = 2
        (5, {"order": "flat"}, 0),
        (5, {"b_out": 1}, 5),
        (5, {"rule": "cross_stage", "b_out": 1}, 10),
    ],
)
def test_edges_among_a_team_at_most(section, n, dag, edges):
    assert most_edges(n, section("dag", **dag)) == edges


def test_completions_in_the_prompts_of_a_rollouts_calls(config):
    # n = 1 (a specialist alone), stored order, no repair: message, answer; the answer sees one.
    # With the message put in its mouth one call is left, which still sees it.
    cfg = config(credit={"order_source": "stored"}, repair={"enabled": False})
    repaired = (1 + (2 * 1 + 3)) / (1 + 2)
    assert most_shown_per_call([Makeup(0, 1, 0, 1)], cfg) == pytest.approx(repaired)
    assert most_shown_per_call([Makeup(0, 0, 0, 1)], cfg) == pytest.approx(3 / 3)


def test_a_rating_shows_the_drafts_of_the_others(config):
    # n = 3: three edges, three messages to the aggregator, two drafts to each of three raters. Of
    # 3 drafts, 3 ratings, 2 messages (one is put in a mouth) and an answer that is 12 to 9; with a
    # check, which sees four, and a second answer, which sees five, 12 + 9 to 11.
    cfg = config(credit={"peer_ratings": True})
    assert most_shown_per_call([Makeup(0, 3, 0, 1)], cfg) == pytest.approx((12 + 9) / 11)
    assert most_shown_per_call([Makeup(0, 3, 0, 1)], config()) == pytest.approx((6 + 9) / 8)
