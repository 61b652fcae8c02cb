"""The card: stages in order, texts for the encoder, a frozen value."""

import dataclasses

import pytest

from sero.roles.card import RoleType


def test_stages_are_setup_spec_val_agg():
    assert [(t.value, t.stage) for t in RoleType] == [
        ("router", 0),
        ("specialist", 1),
        ("validator", 2),
        ("aggregator", 3),
    ]


def test_texts_to_embed(card):
    made = card(
        "a",
        system_prompt=("One.", "Two."),
        capability_family="trip-routing",
        capability_tags=("cities", "flights"),
        communication_protocol="never embedded",
    )
    assert made.prompt_text == "One.\nTwo."
    assert made.identity_text == "One.\nTwo.\ntrip-routing\ncities\nflights"


def test_defaults(card):
    made = card("a")
    assert (made.protected, made.temperature, made.capability_tags) == (False, 0.0, ())
    assert (made.parent, made.created_at, made.backbone) == (None, None, None)


def test_a_card_is_a_frozen_hashable_value(card):
    made = card("a")
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.name = "b"
    assert hash(made) == hash(card("a"))
    assert made == card("a")
    assert made != dataclasses.replace(made, temperature=0.1)
