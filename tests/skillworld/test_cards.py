import re

import pytest

from sero.roles.card import RoleType
from sero.roles.load import card_to_data, pool_from_data
from sero.skillworld.cards import named_card, seed_pool
from sero.skillworld.sheet import Kind, Truth
from sero.skillworld.text import output_protocol, read_sheet_code
from sero.skillworld.world import WorldSpec, world_for


def test_the_seed_pool(world):
    pool = seed_pool(world, noise=0.0)
    assert [(c.name, c.role_type.value, c.capability_family) for c in pool] == [
        ("router", "router", "setup"),
        ("seed-0", "specialist", "f0"),
        ("seed-1", "specialist", "f1"),
        ("seed-2", "specialist", "f2"),
        ("seed-3", "specialist", "f3"),
        ("seed-4", "specialist", "f0"),
        ("validator", "validator", "validation"),
        ("aggregator", "aggregator", "aggregation"),
    ]
    truths = [world.truth(read_sheet_code(c.prompt_text)) for c in pool]
    assert [t.kind for t in truths] == [
        Kind.ROUTER, Kind.GOOD, Kind.GOOD, Kind.HARMFUL, Kind.MEDIUM, Kind.DISTRACTOR,
        Kind.VALIDATOR, Kind.AGGREGATOR,
    ]  # fmt: skip
    assert [c.name for c in pool if c.protected] == ["aggregator"]
    assert output_protocol() in pool.terminal.communication_protocol


def test_the_saturated_seed_pool_has_nine_roles():
    pool = seed_pool(world_for(WorldSpec(key=7, scenario="saturated", dim=32)), noise=0.0)
    assert pool.names[5:7] == ("seed-4", "seed-5")
    assert pool["seed-5"].capability_family == "f4"
    assert len(pool) == 9


@pytest.mark.parametrize("scenario", ["default", "saturated"])
def test_cards_pass_the_door_of_pool_files(scenario):
    pool = seed_pool(world_for(WorldSpec(key=3, scenario=scenario, dim=32)), noise=0.25)
    assert pool_from_data([card_to_data(card) for card in pool], where="test") == pool


def test_the_sheet_stands_in_prompt_and_protocol(world):
    codes = set()
    for card in seed_pool(world, noise=0.0):
        code = read_sheet_code(card.prompt_text)
        assert read_sheet_code(card.communication_protocol) == code
        codes.add(code)
    assert len(codes) == 8


def test_a_familys_cards_differ_in_their_sheet_alone(world):
    texts = set()
    for kind in (Kind.GOOD, Kind.MEDIUM, Kind.HARMFUL, Kind.DISTRACTOR):
        card = named_card(world, "a-card", Truth(kind=kind, family=3), noise=0.0)
        code = read_sheet_code(card.prompt_text)
        texts.add(repr(card).replace(code, "SHEET"))
    assert len(texts) == 1


def test_cards_hold_no_long_number(world):
    for card in seed_pool(world, noise=0.0):
        assert not re.search(r"\d{2}", card.identity_text + card.communication_protocol)


def test_noise_is_the_specialists_temperature(world):
    for card in seed_pool(world, noise=0.3):
        specialist = card.role_type is RoleType.SPECIALIST
        assert card.temperature == (0.3 if specialist else 0.0)


def test_other_worlds_have_other_sheets(world):
    other = world_for(WorldSpec(key=8, scenario="default", dim=32))
    here, there = seed_pool(world, noise=0.0), seed_pool(other, noise=0.0)
    assert all(a.prompt_text != b.prompt_text for a, b in zip(here, there, strict=True))
