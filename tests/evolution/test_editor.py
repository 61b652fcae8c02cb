"""The editor: what it asks, what it refuses, what it notes."""

import json
from dataclasses import replace

import pytest

from sero.backbones.base import Completion, Usage
from sero.backbones.scripted import ScriptedBackbone
from sero.errors import ServerUnavailable
from sero.evolution.editor import Situation, add_prompt
from sero.evolution.reasons import Code, Reason
from sero.evolution.rolling import Ledger
from sero.inference.trace import Cost
from sero.roles.card import RoleType
from sero.roles.load import add_card_schema

EPISODE = 9


@pytest.fixture
def situation(toy):
    pool = toy.seed_pool()
    return Situation(
        pool=pool,
        seed_families=pool.families,
        anchor=pool["adder"],
        failures=("odd: scored 0.50",),
        removed=("old-hand",),
    )


@pytest.fixture
def ask(toy, situation):
    """Have a card proposed by an editor that gets the given replies; (offer, requests, editor)."""

    def ask(*replies, task=0, episode=EPISODE, situation=situation, **changes):
        answers = iter(replies)
        backbone = ScriptedBackbone(lambda request: next(answers))
        editor = toy.editor(backbone, **changes)
        offer = toy.run(editor.propose(toy.tasks(3)[task], situation, episode))
        return offer, backbone.requests, editor

    return ask


def test_a_good_card_is_taken_at_once_with_its_lineage(toy, ask):
    offer, requests, _ = ask(toy.card_json("new", capability_tags=["tens"], temperature=0.2))
    assert offer.reasons == ()
    assert offer.card == replace(
        toy.card("new", family="adding", lines=("Skill: exact.", "Work column by column, new.")),
        capability_tags=("tens",),
        temperature=0.2,
        parent="adder",
        created_at=EPISODE,
    )
    assert len(requests) == 1


def test_protection_and_lineage_of_the_reply_are_not_believed(toy, ask):
    reply = toy.card_json("new", protected=True, backbone="big", parent="king", created_at=1)
    offer, _, _ = ask(reply)
    card = offer.card
    assert (card.protected, card.backbone, card.parent, card.created_at) == (
        False,
        None,
        "adder",
        EPISODE,
    )


def test_the_request_carries_schema_temperature_bound_and_name(toy, ask):
    _, (request,), _ = ask(toy.card_json("new"))
    assert request.role == "editor"
    assert (request.temperature, request.max_tokens) == (0.7, 256)
    assert request.schema.name == "role_card"
    schema = json.loads(request.schema.text)
    assert schema == add_card_schema(max_prompt_chars=400)
    assert schema["additionalProperties"] is False
    assert [message.role for message in request.messages] == ["system", "user"]


def test_attempts_differ_in_their_sample_index_and_the_second_shows_the_reasons(toy, ask):
    offer, (first, second), _ = ask("nonsense", toy.card_json("new"))
    assert offer.card.name == "new"
    assert first.sample_index == (toy.SEED, "edit", EPISODE, 0)
    assert second.sample_index == (toy.SEED, "edit", EPISODE, 1)
    assert "previous card was refused" not in first.messages[-1].content
    asked = second.messages[-1].content
    assert asked == (
        first.messages[-1].content
        + "\n\n### Your previous card was refused\n- reply: no JSON object in it"
    )


def test_greedy_attempts_differ_too(toy, ask):
    cfg = replace(toy.EDITOR, temperature=0.0)
    _, requests, _ = ask("nonsense", "nonsense", cfg=cfg)
    assert [request.sample_index for request in requests] == [(0,), (1,)]


@pytest.mark.parametrize("attempts", [1, 2, 3])
def test_it_asks_as_often_as_configured_and_keeps_the_last_reasons(toy, ask, attempts):
    replies = ["nonsense"] * (attempts - 1) + [toy.card_json("adder")]
    offer, requests, _ = ask(*replies, cfg=replace(toy.EDITOR, attempts=attempts))
    assert len(requests) == attempts
    assert offer.card is None
    assert offer.reasons == (Reason(Code.DUPLICATE_NAME, "the pool already has 'adder'"),)


INVALID = {
    "no JSON": ("I would rather not.", ["reply: no JSON object in it"]),
    "a list": ("[1, 2]", ["reply: no JSON object in it"]),
    "cut short": ('{"name": "new", "role_type": "spec', ["reply: no JSON object in it"]),
    "empty": ("", ["reply: no JSON object in it"]),
}


@pytest.mark.parametrize("name", INVALID)
def test_a_reply_without_a_card_is_invalid(toy, ask, name):
    reply, details = INVALID[name]
    offer, _, _ = ask(reply, cfg=replace(toy.EDITOR, attempts=1))
    assert offer.card is None
    assert offer.reasons == tuple(Reason(Code.INVALID_CARD, detail) for detail in details)


def test_every_fault_of_a_card_is_a_reason(toy, ask):
    reply = toy.card_json(
        "new", role_type="critic", capability_family="Adding Things", sytem_prompt=["x"]
    )
    offer, _, _ = ask(reply, cfg=replace(toy.EDITOR, attempts=1))
    assert {reason.code for reason in offer.reasons} == {Code.INVALID_CARD}
    details = "\n".join(reason.detail for reason in offer.reasons)
    assert "card.role_type: got 'critic'" in details
    assert "card.capability_family: got 'Adding Things'" in details
    assert "card.sytem_prompt: unknown field; did you mean 'system_prompt'?" in details


def test_a_prompt_that_is_too_long_is_invalid(toy, ask):
    offer, _, _ = ask(
        toy.card_json("new", system_prompt=["word " * 100]), cfg=replace(toy.EDITOR, attempts=1)
    )
    (reason,) = offer.reasons
    assert reason.code is Code.INVALID_CARD
    assert "500 characters; at most 400" in reason.detail


# the task: "What is 112 plus 205? Give the total to Nadia."
@pytest.mark.parametrize(
    "changes",
    [
        {"system_prompt": ["Serve Nadia well."]},
        {"system_prompt": ["Begin with 112."]},
        {"communication_protocol": "ANSWER: <number>, for Nadia"},
        {"name": "Nadia helper"},
        {"name": "nadia_helper"},
        {"capability_family": "nadia-sums"},
        {"capability_tags": ["sums", "nadia"]},
        {"capability_tags": ["sum-205"]},
    ],
)
def test_a_leak_anywhere_in_the_card_is_refused(toy, ask, changes):
    reply = toy.card_json(**{"name": "new", **changes})
    offer, _, _ = ask(reply, cfg=replace(toy.EDITOR, attempts=1))
    (reason,) = offer.reasons
    assert reason.code is Code.LEAK
    assert reason.detail.startswith("taken from the task: ")
    unchecked, _, _ = ask(reply, cfg=replace(toy.EDITOR, attempts=1, leak_check=False))
    assert unchecked.card is not None


def test_known_texts_may_be_used(toy, ask):
    reply = toy.card_json("new", system_prompt=["Serve Nadia well."])
    offer, _, _ = ask(reply, known_texts=("Nadia asks all questions.",))
    assert offer.card is not None


def test_duplicate_name_and_leak_are_reported_together(toy, ask):
    reply = toy.card_json("adder", system_prompt=["Serve Nadia well, from 112 up."])
    offer, _, _ = ask(reply, cfg=replace(toy.EDITOR, attempts=1))
    assert offer.reasons == (
        Reason(Code.DUPLICATE_NAME, "the pool already has 'adder'"),
        Reason(Code.LEAK, "taken from the task: Nadia, 112"),
    )


def test_a_card_around_prose_and_fences_is_found(toy, ask):
    offer, _, _ = ask(f"Here it is:\n```json\n{toy.card_json('new')}\n```\nGood luck!")
    assert offer.card.name == "new"


def test_validators_and_aggregators_are_the_guards_business(toy, ask):
    for role_type in ("validator", "aggregator", "router"):
        offer, _, _ = ask(toy.card_json("new", role_type=role_type))
        assert offer.card.role_type is RoleType(role_type)


def test_without_an_anchor_there_is_no_parent(toy, ask, situation):
    offer, _, _ = ask(toy.card_json("new"), situation=replace(situation, anchor=None))
    assert offer.card.parent is None


def test_costs_and_traces_are_noted_and_replies_are_durable_before_they_are_read(toy, ask):
    commits, ledger = [], Ledger()
    replies = (
        Completion(
            text="nonsense",
            finish_reason="length",
            usage=Usage(prompt_tokens=100, completion_tokens=7),
            cached=True,
        ),
        Completion(
            text=toy.card_json("new"),
            finish_reason="stop",
            usage=Usage(prompt_tokens=120, completion_tokens=40),
            latency_s=0.5,
            retries=2,
        ),
    )
    ask(*replies, ledger=ledger, commit=lambda: commits.append(len(ledger.traces)))
    assert commits == [0, 0, 1, 1]  # a commit on both sides of a reply, before it is noted
    cost, (first, second) = ledger.take()
    assert cost == Cost(calls=2, prompt_tokens=220, completion_tokens=47)  # hits count
    assert first["outcome"] == ["invalid_card: reply: no JSON object in it"]
    assert second["outcome"] == ["card"]
    for trace in (first, second):
        assert (trace["episode"], trace["phase"], trace["item"]) == (EPISODE, "edit", "sum-0")
    assert first["messages"] == [
        {
            "role": "editor",
            "kind": "add",
            "round": 1,
            "text": "nonsense",
            "finish_reason": "length",
            "prompt_tokens": 100,
            "completion_tokens": 7,
            "cached": True,
            "latency_s": 0.0,
            "retries": 0,
        }
    ]
    message = second["messages"][0]
    assert (message["round"], message["latency_s"], message["retries"]) == (2, 0.5, 2)
    assert ledger.take() == (Cost(), [])


def test_a_broken_machine_is_no_refused_card(toy, ask):
    def broken(request):
        raise ServerUnavailable("http://localhost:1 does not answer")

    editor = toy.editor(ScriptedBackbone(broken))
    pool = toy.seed_pool()
    nothing = Situation(pool=pool, seed_families=(), anchor=None, failures=(), removed=())
    with pytest.raises(ServerUnavailable):
        toy.run(editor.propose(toy.tasks()[0], nothing, 1))
    assert editor.ledger.take() == (Cost(), [])


def test_the_prompt_tells_the_whole_situation(toy, situation):
    pool = toy.seed_pool().without_role("guesser")
    anchor = replace(pool["adder"], capability_tags=("tens", "ones"))
    told = add_prompt(
        toy.tasks()[0], replace(situation, pool=pool, anchor=anchor), (), excerpt_chars=15
    )
    assert told == (
        "### Task excerpt\nWhat is 112 plu\n\n"
        "### Roles in the pool\n"
        "- router (router, planning)\n"
        "- adder (specialist, adding)\n"
        "- adder-2 (specialist, adding)\n"
        "- checker (validator, checking)\n"
        "- scribe (aggregator, answering)\n\n"
        "### Required capability families\n"
        "present: planning, adding, checking, answering\n"
        "missing: guessing\n\n"
        "### Recent failures\n- odd: scored 0.50\n\n"
        "### Recently removed\nold-hand\n\n"
        "### Best role so far\nname: adder\ntags: tens, ones\nprotocol: ANSWER: <number>\n\n"
        "Write one new role card of type specialist."
    )


def test_text_of_the_task_is_never_read_as_a_template(toy, situation):
    task = replace(toy.tasks()[0], prompt="Fill {pool} and {anchor_name} and {reasons}.")
    refused = (Reason(Code.LEAK, "{excerpt}"),)
    told = add_prompt(task, situation, refused, excerpt_chars=800)
    assert "Fill {pool} and {anchor_name} and {reasons}." in told
    assert told.endswith("- {excerpt}")
