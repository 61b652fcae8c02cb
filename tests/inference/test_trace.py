"""What a rollout leaves behind: its cost, its messages, plain data."""

import dataclasses
import json

import pytest

from sero.backbones.base import Completion, Usage
from sero.inference.trace import CallKind, Cost, Rollout, spoken
from sero.storage import dumps


@pytest.fixture
def rollout(message):
    def make(*messages):
        return Rollout(
            team=("s1", "s2", "a1"),
            order=("s2", "s1"),
            edges=(("s2", "s1"),),
            levels=(0, 1),
            similarity={"s1": 0.5, "s2": 0.25},
            fast={"s1": 0.1, "s2": 0.2},
            final_fast={"s1": 0.3, "s2": 0.4},
            messages=messages,
            answer="done",
        )

    return make


def test_kinds_of_calls():
    assert [str(kind) for kind in CallKind] == [
        "draft",
        "rating",
        "message",
        "aggregate",
        "validate",
        "revise",
        "sample",
        "criteria",
        "proposal",
        "review",
        "judge",
    ]


def test_a_completion_becomes_a_message():
    completion = Completion(
        text="hm", finish_reason="stop", usage=Usage(prompt_tokens=3, completion_tokens=2)
    )
    got = spoken("s1", CallKind.DRAFT, completion, trimmed=4)
    assert (got.role, got.kind, got.round, got.text, got.trimmed) == ("s1", "draft", 1, "hm", 4)
    assert (got.prompt_tokens, got.completion_tokens) == (3, 2)
    assert (got.cached, got.latency_s, got.retries, got.replaced) == (False, 0.0, 0, False)


def test_costs_add_up():
    one = Cost(calls=1, prompt_tokens=10, completion_tokens=3)
    assert one + one + Cost() == Cost(calls=2, prompt_tokens=20, completion_tokens=6)


def test_hits_cost_what_they_ask_for_and_replaced_texts_nothing(rollout, message):
    got = rollout(
        message("s1", "a", prompt_tokens=5, completion_tokens=2),
        message("s1", "a", prompt_tokens=5, completion_tokens=2, cached=True),
        message("s2", "b", prompt_tokens=9, completion_tokens=9, replaced=True),
    )
    assert got.cost == Cost(calls=2, prompt_tokens=10, completion_tokens=4)


def test_the_final_message_is_the_last_before_aggregation(rollout, message):
    got = rollout(
        message("s1", "draft", kind=CallKind.DRAFT),
        message("s1", "one"),
        message("s1", "two", round=2),
        message("a1", "answer", kind=CallKind.AGGREGATE),
    )
    assert got.final_message("s1") == "two"
    assert got.final_message("s2") == ""
    assert got.final_message("a1") == ""


def test_plain_data(rollout, message):
    got = rollout(message("s1", "ü\n"))
    data = json.loads(dumps(got.to_data()))
    every = {field.name for field in dataclasses.fields(Rollout)}
    assert set(data) == every - {"assignment"}
    assert set(dataclasses.replace(got, assignment={"rule": "random"}).to_data()) == every
    assert data["edges"] == [["s2", "s1"]]
    assert data["messages"][0]["text"] == "ü\n"
    assert data["messages"][0]["kind"] == "message"
    assert data["fast"] == {"s1": 0.1, "s2": 0.2}


def test_a_pool_without_terminal_answers_nothing():
    got = Rollout.without_terminal(("s1",), {"s1": 0.5})
    assert (got.answer, got.reason, got.cost) == ("", "no_terminal", Cost())
    assert (got.team, got.similarity) == (("s1",), {"s1": 0.5})
    assert (got.order, got.edges, got.levels, got.messages) == ((), (), (), ())
    assert (got.fast, got.final_fast) == ({}, {})
