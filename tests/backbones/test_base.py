"""The key of a request, the seed made of it, and the sample index."""

import dataclasses

import pytest

from sero.backbones.base import (
    BackboneId,
    CallContext,
    ChatMessage,
    OutputSchema,
    Phase,
    request_key,
    request_seed,
)

IDENTITY = BackboneId(model="m", revision="r", template="{}", simulated=False)


@pytest.mark.parametrize(
    "changes",
    [
        {"messages": (ChatMessage("system", "You add."), ChatMessage("user", "other"))},
        {"messages": (ChatMessage("user", "You add."), ChatMessage("user", "What is 2 + 2?"))},
        {"messages": (ChatMessage("user", "What is 2 + 2?"),)},
        # the border between two messages counts
        {"messages": (ChatMessage("system", "You add.W"), ChatMessage("user", "hat is 2 + 2?"))},
        {"temperature": 0.1},
        {"max_tokens": 65},
        {"sample_index": (1,)},
        {"sample_index": ("0",)},
        {"sample_index": (0, 0)},
        {"schema": OutputSchema(name="a", text="{}")},
    ],
    ids=str,
)
def test_every_input_that_can_change_the_answer_changes_the_key(request_of, changes):
    assert request_key(IDENTITY, request_of(**changes)) != request_key(IDENTITY, request_of())


@pytest.mark.parametrize("field", ["model", "revision", "template"])
def test_who_answers_changes_the_key(request_of, field):
    other = dataclasses.replace(IDENTITY, **{field: "other"})
    assert request_key(other, request_of()) != request_key(IDENTITY, request_of())


@pytest.mark.parametrize("change", [{"name": "b"}, {"text": '{"type":"object"}'}])
def test_both_parts_of_a_schema_count(request_of, change):
    schema = OutputSchema(name="a", text="{}")
    other = dataclasses.replace(schema, **change)
    keys = {request_key(IDENTITY, request_of(schema=s)) for s in (schema, other)}
    assert len(keys) == 2


def test_who_asks_does_not(request_of):
    keys = {request_key(IDENTITY, request_of(role=role)) for role in ("adder", "checker", "")}
    assert len(keys) == 1


def test_a_half_character_has_a_key(request_of):
    assert request_key(IDENTITY, request_of("\ud83d")) != request_key(
        IDENTITY, request_of("\ufffd")
    )


def test_the_seed_is_the_top_31_bits_of_the_key():
    assert request_seed("ffffffff" + "0" * 56) == 2**31 - 1
    assert request_seed("00000003" + "f" * 56) == 1
    assert request_seed("0" * 64) == 0


@pytest.mark.parametrize(
    ("phase", "episode", "repeat", "cold", "warm"),
    [
        # at T = 0 only the repeat; above, seed, phase, episode (or the item), repeat
        (Phase.PRE, 12, 0, (0,), (42, "pre", 12, 0)),
        (Phase.POST, 12, 0, (0,), (42, "post", 12, 0)),
        (Phase.GATE, 12, 3, (3,), (42, "gate", 12, 3)),
        (Phase.LOO, 12, 0, (0,), (42, "loo", 12, 0)),
        (Phase.EDIT, 12, 1, (1,), (42, "edit", 12, 1)),
        (Phase.EVAL, None, 0, (0,), (42, "eval", "trip_7", 0)),
    ],
)
def test_the_sample_index(phase, episode, repeat, cold, warm):
    call = CallContext(run_seed=42, phase=phase, episode=episode, item="trip_7", repeat=repeat)
    assert call.sample_index(0.0) == cold
    assert call.sample_index(0.7) == warm


def test_only_cold_requests_are_shared_across_seeds(request_of):
    def key(seed, temperature):
        call = CallContext(run_seed=seed, phase=Phase.PRE, episode=1, item="x")
        index = call.sample_index(temperature)
        return request_key(IDENTITY, request_of(temperature=temperature, sample_index=index))

    assert key(42, 0.0) == key(43, 0.0)
    assert key(42, 0.7) != key(43, 0.7)
