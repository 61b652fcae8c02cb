"""Calls of training, and the pools that edits can lead to, on pools small enough to follow."""

from dataclasses import replace

import pytest

from sero.backbones.base import Phase
from sero.evolution.counting import (
    Course,
    EditRules,
    gate_pairs,
    kept_by_families,
    training_calls,
)
from sero.inference.counting import Makeup
from sero.inference.span import Span
from sero.roles.card import RoleType
from sero.roles.pool import RolePool

START = Makeup(routers=0, specialists=2, validators=0, aggregators=1)
RULES = EditRules(
    adds=True,
    removes=True,
    removes_in_warmup=False,
    addable=(RoleType.SPECIALIST,),
    p_max=4,
    smallest=2,
    kept=Makeup(0, 0, 0, 1),
    kept_at_first=Makeup(0, 0, 0, 1),
    one_terminal=True,
)
COURSE = Course(warmup=2, main=2, least=4, n_train=2, attempts=2, judged=True, gate_pairs=0)


@pytest.fixture
def sections(toy):
    """No drafts, no repair, three slots for specialists: F = n + 1."""
    base = toy.INFERENCE
    return replace(
        base,
        retrieval=replace(base.retrieval, spec_slots=3),
        credit=replace(base.credit, order_source="stored", loo_every=0),
        repair=replace(base.repair, enabled=False),
    )


def specialists(trained):
    return sorted(makeup.specialists for makeup in trained.pools)


def test_four_episodes_by_hand(sections):
    found = training_calls(START, RULES, COURSE, sections)
    # Pools by specialists: 2 | after warm-up 2, 3 (p_max 4 with the aggregator) | main also 1.
    assert specialists(found) == [1, 2, 3]
    # before the episodes: {2}, {2,3}, {2,3}, {1,2,3}: F = 3, 3..4, 3..4, 2..4
    assert found.calls[Phase.PRE] == Span(3 + 3 + 3 + 2, 3 + 4 + 4 + 4)
    assert found.calls[Phase.EDIT] == Span(0, 4 * 2)
    # the largest candidate has three specialists, in every episode
    assert found.calls[Phase.POST] == Span(0, 4 * 4)
    assert found.calls[Phase.GATE] == found.calls[Phase.LOO] == Span(0, 0)


def test_an_early_end_lowers_what_is_certain(sections):
    found = training_calls(START, RULES, replace(COURSE, least=3), sections)
    assert found.calls[Phase.PRE] == Span(3 + 3 + 3, 3 + 4 + 4 + 4)


def test_a_full_pool_is_asked_nothing_in_the_warmup(sections):
    full = replace(RULES, p_max=3)
    found = training_calls(START, full, replace(COURSE, main=0, least=2), sections)
    assert found.calls == {
        Phase.PRE: Span(6, 6),
        Phase.EDIT: Span(0, 0),
        Phase.POST: Span(0, 0),
        Phase.GATE: Span(0, 0),
        Phase.LOO: Span(0, 0),
    }
    # in the main phase a role may go, its place is free one episode later
    found = training_calls(START, full, COURSE, sections)
    assert found.calls[Phase.EDIT] == Span(0, 2)
    assert specialists(found) == [1, 2]


def test_the_gate_asks_for_the_old_and_the_new_pool(sections):
    found = training_calls(START, RULES, replace(COURSE, gate_pairs=3), sections)
    # episode 1: 2 -> 3 specialists, F = 3 + 4; then 4 + 3 (a removal) is no more than 3 + 4
    assert found.calls[Phase.GATE] == Span(0, 4 * 3 * 7)
    unjudged = training_calls(START, RULES, replace(COURSE, gate_pairs=3, judged=False), sections)
    assert unjudged.calls[Phase.GATE] == unjudged.calls[Phase.POST] == Span(0, 0)


@pytest.mark.parametrize(
    ("tasks", "repeats", "n_train", "pairs"),
    [(1, 1, 9, 0), (4, 1, 9, 3), (1, 3, 9, 2), (4, 3, 9, 11), (4, 1, 2, 1), (8, 2, 1, 1)],
)
def test_pairs_of_the_gate(tasks, repeats, n_train, pairs):
    """repeats x (tasks - 1) others, and the task itself again for each further repetition."""
    assert gate_pairs(tasks, repeats, n_train) == pairs


def test_a_refresh_comes_on_schedule_and_only_in_large_pools(sections):
    credit = replace(sections.credit, loo_every=2, loo_tasks=5, loo_min_pool=3)
    found = training_calls(START, RULES, COURSE, replace(sections, credit=credit))
    # Two training tasks. Behind episode 2 the pools have 2 or 3 specialists, |P| = 3 or 4:
    # 3 + 2 x 2 = 7 or 4 + 3 x 3 = 13 a task. Behind episode 4 one of |P| = 2 may have none.
    assert found.calls[Phase.LOO] == Span(2 * 7, 2 * 13 + 2 * 13)


def test_while_nothing_is_added_the_last_of_a_family_stays(toy):
    cards = {"a": "f", "b": "f", "c": "g"}
    pool = RolePool(
        (
            *(toy.card(name, family=family) for name, family in cards.items()),
            toy.card("v", "validator", "f"),
            toy.card("w", "aggregator", "h", protected=True),
        )
    )
    # of family f (2 specialists, 1 validator) two of the three may go, whichever they are
    found = kept_by_families(pool, Makeup(0, 0, 0, 1))
    assert found == Makeup(routers=0, specialists=1, validators=0, aggregators=1)
    assert kept_by_families(pool, Makeup(0, 0, 1, 1)).validators == 1


def test_guards_off_may_lose_the_terminal(sections):
    lawless = replace(
        RULES,
        addable=tuple(RoleType),
        smallest=1,
        kept=Makeup(),
        kept_at_first=Makeup(),
        one_terminal=False,
    )
    found = training_calls(START, lawless, COURSE, sections)
    assert any(makeup.aggregators == 0 for makeup in found.pools)
    assert found.calls[Phase.PRE].low == 3 + 3 + 3 + 0  # the last episode may ask nobody
