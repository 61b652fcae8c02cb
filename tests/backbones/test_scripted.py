"""Replies from a script."""

import re

import pytest

from sero.backbones.base import Completion, Usage
from sero.backbones.scripted import ScriptedBackbone, ScriptedConfig
from sero.errors import ServerUnavailable, UserError

RULES = [
    ("capital of France", "Paris"),
    (re.compile(r"\d \+ \d"), "4"),
    ("capital", "some town"),
]


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("The capital of France?", "Paris"),  # the first that is found wins
        ("The capital of Chad?", "some town"),
        ("What is 2 + 2?", "4"),
        ("You add.", "no idea"),  # the system message is searched too, and says nothing
    ],
)
async def test_the_first_rule_that_is_found_wins(request_of, prompt, text):
    backbone = ScriptedBackbone(RULES, default="no idea")
    assert (await backbone.generate(request_of(prompt))).text == text


async def test_a_rule_may_look_at_the_system_message(request_of):
    assert (await ScriptedBackbone([("You add", "yes")]).generate(request_of())).text == "yes"


async def test_a_prompt_without_a_rule_says_so(request_of):
    with pytest.raises(UserError, match=r"no reply for role 'adder'.*ends '.*unheard of'"):
        await ScriptedBackbone(RULES).generate(request_of("unheard of"))


async def test_tokens_are_counted_by_length(request_of):
    got = await ScriptedBackbone([], default="12345").generate(request_of())
    # "You add." + "What is 2 + 2?" are 8 + 14 = 22 characters, six tokens; "12345" is two
    assert got == Completion(
        text="12345", finish_reason="stop", usage=Usage(prompt_tokens=6, completion_tokens=2)
    )


async def test_a_function_of_the_request(request_of):
    backbone = ScriptedBackbone(lambda request: request.role.upper())
    assert (await backbone.generate(request_of())).text == "ADDER"


async def test_an_async_function_and_a_whole_completion(request_of):
    cut = Completion(
        text="4", finish_reason="length", usage=Usage(prompt_tokens=1, completion_tokens=1)
    )

    async def answer(request):
        return cut

    assert await ScriptedBackbone(answer).generate(request_of()) is cut
    assert await ScriptedBackbone([("2", cut)]).generate(request_of()) is cut


async def test_a_broken_machine_can_be_played(request_of):
    def broken(request):
        raise ServerUnavailable("down", status=503)

    with pytest.raises(ServerUnavailable, match="down"):
        await ScriptedBackbone(broken).generate(request_of())


async def test_every_request_is_kept_in_order(request_of):
    backbone = ScriptedBackbone([], default="")
    requests = [request_of(text) for text in "abc"]
    for request in requests:
        await backbone.generate(request)
    assert backbone.requests == requests


async def test_a_configuration_is_a_script(request_of):
    cfg = ScriptedConfig(name="dry", replies={"2 + 2": "4"}, default="hm")
    backbone = ScriptedBackbone(cfg)
    got = [(await backbone.generate(request_of(text))).text for text in ("2 + 2?", "3 + 3?")]
    assert got == ["4", "hm"]
    assert (backbone.identity.model, backbone.identity.simulated) == ("dry", False)
    assert backbone.max_prompt_chars is None
    assert ScriptedBackbone.Config is ScriptedConfig


def test_another_script_is_another_model():
    def revision(**changes):
        values = {"name": "dry", "replies": {"a": "b"}, "default": ""} | changes
        return ScriptedBackbone(ScriptedConfig(**values)).identity.revision

    assert revision() == revision()
    assert len({revision(), revision(replies={"a": "c"}), revision(default="x")}) == 3
