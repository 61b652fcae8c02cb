"""What the simulated backbone promises as a backbone: samples, identity, no state, accounting."""

from dataclasses import replace

import pytest

from sero.backbones.base import ChatMessage, Request
from sero.inference.layout import system_message
from sero.skillworld.cards import seed_pool
from sero.skillworld.sheet import Kind, Truth
from sero.skillworld.text import case_prompt, write_message

GOOD = Truth(kind=Kind.GOOD, family=0)
MEDIUM = Truth(kind=Kind.MEDIUM, family=0)


def test_temperature_rolls_a_share_of_the_draws_again(cases, card, say, tools):
    """A draw is rolled again with probability 0.3; a medium card's c0 then changes with
    1 - (0.45² + 0.12² + 0.43²) = 0.5982, in all 0.17946.
    """
    speaker = card(MEDIUM)
    changed = 0
    for case in cases:
        i = case.required.index(0)
        changed += say(speaker, case)[i] != say(speaker, case, temperature=0.3)[i]
    assert tools.likely(changed, len(cases), 0.17946)


def test_samples_differ_by_index_and_repeat_by_request(cases, card, say):
    speaker = card(MEDIUM)
    texts = [
        [say(speaker, case, temperature=1.0, sample_index=(run,)) for case in cases[:200]]
        for run in (1, 2, 1)
    ]
    assert texts[0] == texts[2]
    assert texts[0] != texts[1]


def test_only_specialists_are_rolled_again(world, cases, tools):
    backbone, pool = tools.backbone(), seed_pool(world, noise=0.0)
    for name in ("router", "validator", "aggregator"):
        for case in cases[:100]:
            upstream = [tools.sent(pool["seed-0"], write_message("aaaaaaaaaaaa", case, [1, 0, 0]))]
            asked = (backbone, pool[name], case_prompt(case), upstream)
            assert tools.ask(*asked) == tools.ask(*asked, temperature=1.0)


def test_the_name_decides_the_draws(cases, card, say):
    good = card(GOOD)
    twin = replace(good, name="twin")  # a duplicate: the same text under another name
    said = [[say(who, case) for case in cases[:200]] for who in (good, twin, good)]
    assert said[0] == said[2] != said[1]


def test_answers_do_not_depend_on_what_was_asked_before(world, cases, tools):
    pool = seed_pool(world, noise=0.0)
    asked = [(card, case_prompt(case)) for card in pool for case in cases[:20]]
    first = tools.backbone()
    forward = [tools.ask(first, card, prompt) for card, prompt in asked]
    second = tools.backbone()
    backward = [tools.ask(second, card, prompt) for card, prompt in reversed(asked)]
    assert forward == backward[::-1]


def test_identity_names_all_that_can_change_an_answer(tools):
    identity = tools.backbone().identity
    assert (identity.model, identity.revision) == ("skillworld-default-benign", "world-7-v1")
    assert identity.simulated
    others = [
        tools.backbone(world=8),
        tools.backbone(scenario="saturated"),
        tools.backbone(editor="hostile"),
        tools.backbone(noise=0.3),
    ]
    assert len({identity, *(backbone.identity for backbone in others)}) == 5
    assert tools.backbone().max_prompt_chars is None


def test_tokens_are_characters_over_four(world, cases, tools):
    backbone, card = tools.backbone(), seed_pool(world, noise=0.0)["seed-0"]
    prompt = case_prompt(cases[0])
    completion = tools.ask(backbone, card, prompt)
    chars = len(system_message(card).content) + len(prompt)
    assert completion.usage.prompt_tokens == -(-chars // 4)
    assert completion.usage.completion_tokens == -(-len(completion.text) // 4)
    assert completion.finish_reason == "stop"


def test_a_reply_longer_than_max_tokens_is_cut(world, cases, tools):
    card = seed_pool(world, noise=0.0)["seed-0"]
    request = Request(
        messages=(system_message(card), ChatMessage("user", case_prompt(cases[0]))),
        temperature=0.0,
        max_tokens=3,
        sample_index=(0,),
    )
    completion = tools.run(tools.backbone().generate(request))
    assert completion.finish_reason == "length"
    assert len(completion.text) == 12


@pytest.mark.parametrize(
    "messages",
    [
        (),
        (ChatMessage("user", "What is the capital of France?"),),
        (ChatMessage("system", "You are ."), ChatMessage("user", "\n\n### Draft answer\n\ud800")),
    ],
)
def test_a_chat_of_another_kind_gets_a_plain_reply(messages, tools):
    request = Request(messages=messages, temperature=0.7, max_tokens=100, sample_index=(0,))
    completion = tools.run(tools.backbone().generate(request))
    assert completion.text == "There is no ledger case here."
