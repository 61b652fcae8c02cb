"""A further backbone: what it says is about its own keys."""

import pytest

from sero.backbones.further import under_its_name
from sero.backbones.scripted import ScriptedBackbone
from sero.errors import RequestRejected, ServerUnavailable, UserError


def failing(error):
    def reply(request):
        raise error

    return ScriptedBackbone(reply)


@pytest.mark.parametrize(
    ("name", "said", "wanted"),
    [
        (
            "big",
            "no answer from http://h:1/v1; set backbone.base_url, or backbone.timeout_s",
            "backbones.big: no answer from http://h:1/v1; set backbones.big.base_url, or "
            "backbones.big.timeout_s",
        ),
        (
            "big#a1b2c3",
            "backbone.extra_body: refused",
            "backbones.big.extra_body: refused",
        ),
        ("#a1b2c3", "set backbone.timeout_s", "backbone: set backbone.timeout_s"),
    ],
)
async def test_an_error_names_the_keys_of_the_backbone_it_is_about(name, said, wanted, request_of):
    backbone = under_its_name(name, lambda: failing(ServerUnavailable(said, status=503)))
    with pytest.raises(ServerUnavailable) as found:
        await backbone.generate(request_of("hello"))
    assert str(found.value) == wanted
    assert found.value.status == 503


async def test_the_kind_of_an_error_stays(request_of):
    backbone = under_its_name("b", lambda: failing(RequestRejected("no", status=401)))
    with pytest.raises(RequestRejected) as found:
        await backbone.generate(request_of("hello"))
    assert not found.value.blames_the_request


def test_what_cannot_be_built_is_told_under_the_name():
    def build():
        raise UserError("backbone.api_key_env: the variable X is not set")

    with pytest.raises(UserError, match=r"^backbones\.b\.api_key_env: the variable X"):
        under_its_name("b", build)


async def test_everything_else_is_passed_on(request_of):
    inner = ScriptedBackbone(lambda request: "fine")
    backbone = under_its_name("b", lambda: inner)
    assert backbone.identity == inner.identity
    assert backbone.max_prompt_chars == inner.max_prompt_chars
    assert (await backbone.generate(request_of("hello"))).text == "fine"
    await backbone.close()
