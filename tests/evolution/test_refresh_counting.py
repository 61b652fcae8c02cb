"""Calls of a credit refresh on one task, worked by hand for a team of two."""

from dataclasses import replace

import pytest

from sero.evolution.refresh_counting import refresh_calls
from sero.inference.counting import Makeup
from sero.inference.span import Span

# The team is one specialist of two and one validator, n = 2: F = 2 + 2 + 1 + (0..2) = 5 to 7.
POOL = Makeup(routers=0, specialists=2, validators=1, aggregators=1)
SPARE = Makeup(routers=0, specialists=2, validators=2, aggregators=1)


@pytest.fixture
def sections(toy):
    """The toy's sections with one slot for each type; changes to credit and repair."""

    def make(*, repair=None, **credit):
        base = toy.INFERENCE
        return replace(
            base,
            retrieval=replace(base.retrieval, setup_slots=1, spec_slots=1, val_slots=1),
            credit=replace(base.credit, **credit),
            repair=replace(base.repair, **(repair or {})),
        )

    return make


@pytest.mark.parametrize(
    ("pool", "changes", "calls"),
    [
        # base, then without the specialist (the other enters: 5..7) and without the validator
        # (n = 1, nobody checks: 3)
        (POOL, {}, Span(5 + 5 + 3, 7 + 7 + 3)),
        # the second validator checks and may be measured too: without it n = 2 as before (5..7)
        (SPARE, {}, Span(5 + 5 + 5, 7 + 7 + 7 + 7)),
        # two ratings more wherever two draft, those of the silenced included
        (POOL, {"peer_ratings": True}, Span(7 + 7 + 3, 9 + 9 + 3)),
        (POOL, {"peer_ratings": True, "estimator": "clamp"}, Span(7 + 6 + 6, 9 + 8 + 6)),
        (SPARE, {"repair": {"always": True}}, Span(6 * 4, 7 * 4)),
        (SPARE, {"repair": {"enabled": False}}, Span(5 * 3, 5 * 3)),
        (Makeup(0, 2, 1, 0), {}, Span(0, 0)),
        # clamped: the specialist's message is not made, 2 + 1 + 1 + (0..2); the validator, who
        # checks as well, is silenced in both places: 4
        (POOL, {"estimator": "clamp"}, Span(5 + 4 + 4, 7 + 6 + 4)),
        # with another to check: 4 to 6 for both members, and 5 for the silenced checker
        (SPARE, {"estimator": "clamp"}, Span(5 + 4 + 4, 7 + 6 + 6 + 5)),
        # coalitions of 0 (F = 1..3) and 1 member (F = 3..5), the latter both ways round
        (POOL, {"estimator": "shapley_mc", "orders": 8}, Span(5 + 1 + 2 * 3, 7 + 3 + 2 * 5)),
        (
            POOL,
            {"estimator": "shapley_mc", "orders": 1, "antithetic": False},
            Span(5 + 1 + 3, 7 + 3 + 5),
        ),
        (POOL, {"estimator": "tmc", "orders": 8}, Span(5 + 1, 7 + 3 + 2 * 5)),
        (
            POOL,
            {"estimator": "shapley_mc", "orders": 8, "loo_sequential": True},
            Span(5 + 2 * (1 + 2 * 3), 7 + 2 * (3 + 2 * 5)),
        ),
        # CAPE: a base run of its own and both members clamped
        (POOL, {"causal": True}, Span(13 + 5 + 4 + 4, 17 + 7 + 6 + 4)),
    ],
)
def test_calls_of_a_refresh(sections, pool, changes, calls):
    assert refresh_calls(pool, sections(**changes)) == calls


def test_one_coalition_is_rolled_once_however_many_orders_there_are(sections):
    cfg = sections(estimator="shapley_mc", orders=100, repair={"enabled": False})
    cfg = replace(cfg, retrieval=replace(cfg.retrieval, spec_slots=3))
    # n = 3: 1, 3 and 3 coalitions of 0, 1 and 2 members, F = 1, 3, 5; the base run 7
    assert refresh_calls(Makeup(0, 3, 0, 1), cfg).high == 7 + 1 + 3 * 3 + 3 * 5
