"""The pool: ordered, immutable, named by a hash over everything."""

import dataclasses
import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sero.roles.card import RoleCard, RoleType
from sero.roles.pool import RolePool


@pytest.fixture
def pool(card):
    return RolePool(
        (
            card("router", "router", capability_family="setup"),
            card("b", capability_family="trip"),
            card("a", capability_family="meeting"),
            card("check", "validator", capability_family="trip"),
            card("agg", "aggregator", capability_family="final", protected=True),
        )
    )


def test_reads_in_order(pool):
    assert len(pool) == 5
    assert pool.names == ("router", "b", "a", "check", "agg")
    assert [card.name for card in pool] == list(pool.names)
    assert pool.families == ("setup", "trip", "meeting", "final")
    assert [pool.index(name) for name in pool.names] == [0, 1, 2, 3, 4]
    assert [card.name for card in pool.of_type(RoleType.SPECIALIST)] == ["b", "a"]
    assert pool["a"].capability_family == "meeting"
    assert "a" in pool
    assert "c" not in pool


def test_an_unknown_role_is_named_with_those_there_are(pool):
    with pytest.raises(KeyError, match=r"no role 'c' in the pool; it has \['a', 'agg'"):
        pool["c"]
    with pytest.raises(KeyError):
        pool.index("c")


def test_the_terminal_is_the_first_aggregator(pool, card):
    assert pool.terminal is pool["agg"]
    assert pool.with_role(card("agg2", "aggregator")).terminal is pool["agg"]
    assert pool.without_role("agg").terminal is None


def test_edits_give_a_new_pool_and_leave_the_old(pool, card):
    before = (pool.cards, pool.hash, pool.names)
    larger = pool.with_role(card("new"))
    smaller = pool.without_role("b")
    assert larger.names == ("router", "b", "a", "check", "agg", "new")
    assert smaller.names == ("router", "a", "check", "agg")
    assert (pool.cards, pool.hash, pool.names) == before
    assert larger.without_role("new") == pool
    with pytest.raises(dataclasses.FrozenInstanceError):
        pool.cards = ()


def test_names_are_unique(pool, card):
    with pytest.raises(ValueError, match=r"duplicate role names \['b'\]"):
        pool.with_role(card("b"))
    with pytest.raises(KeyError):
        pool.without_role("c")


def test_the_hash_is_over_every_field_of_every_card():
    made = RoleCard(
        name="é",
        role_type=RoleType.SPECIALIST,
        capability_family="f",
        communication_protocol="p",
        system_prompt=("s", "t"),
        temperature=0.5,
    )
    text = (
        '[{"name":"é","role_type":"specialist","protected":false,"capability_family":"f",'
        '"capability_tags":[],"communication_protocol":"p","system_prompt":["s","t"],'
        '"temperature":0.5,"parent":null,"created_at":null,"backbone":null}]'
    )
    assert json.loads(text)[0].keys() == {field.name for field in dataclasses.fields(RoleCard)}
    assert RolePool((made,)).hash == hashlib.sha256(text.encode()).hexdigest()[:16]


@pytest.mark.parametrize(
    "change",
    [
        {"name": "b2"},
        {"role_type": RoleType.VALIDATOR},
        {"protected": True},
        {"capability_family": "g"},
        {"capability_tags": ("t",)},
        {"communication_protocol": "p"},
        {"system_prompt": ("You are", "b.")},
        {"temperature": 0.1},
        {"parent": "a"},
        {"created_at": 0},
        {"backbone": "small"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_every_change_changes_the_hash(pool, change):
    cards = [dataclasses.replace(c, **change) if c.name == "b" else c for c in pool]
    assert RolePool(tuple(cards)).hash != pool.hash


def test_the_order_is_part_of_the_hash(pool):
    assert RolePool(pool.cards[::-1]).hash != pool.hash
    assert RolePool(pool.cards).hash == pool.hash


@given(names=st.lists(st.text("abc", min_size=1, max_size=2), unique=True, max_size=8), n=st.data())
def test_an_add_and_its_removal_is_the_identity(names, n):
    cards = tuple(
        RoleCard(
            name=name,
            role_type=RoleType.SPECIALIST,
            capability_family="f",
            communication_protocol="p",
            system_prompt=("s",),
        )
        for name in names
    )
    pool = RolePool(cards)
    added = pool.with_role(dataclasses.replace(_any(), name="new"))
    assert added.without_role("new") == pool
    assert added.without_role("new").hash == pool.hash
    if names:
        gone = n.draw(st.sampled_from(names))
        assert pool.without_role(gone).names == tuple(name for name in names if name != gone)


def _any() -> RoleCard:
    return RoleCard(
        name="x",
        role_type=RoleType.SPECIALIST,
        capability_family="f",
        communication_protocol="p",
        system_prompt=("s",),
    )
