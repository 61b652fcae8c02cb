"""What can be wrong with a server's configuration, and what of it names an answer."""

import pytest

from sero.backbones import server_config
from sero.backbones.openai_server import OpenAIServer
from sero.errors import ConfigError, UserError


def test_faults_of_a_configuration_are_told_together(config):
    cfg = config(
        "localhost:8000/v1", context_tokens=100, reserve_tokens=100, extra_body={"seed": 1}
    )
    with pytest.raises(ConfigError) as caught:
        OpenAIServer(cfg)
    assert [fault.split(":")[0] for fault in caught.value.faults] == [
        "base_url",
        "context_tokens",
        "extra_body",
    ]


@pytest.mark.parametrize(
    ("context", "reserve", "per_token", "chars"),
    [
        (None, 1024, 3.5, None),
        (4096, 1024, 3.5, 10752),  # 3072 tokens of 3.5 characters
        (1003, 1000, 1.5, 4),  # 4.5 rounds down
    ],
)
def test_the_room_for_a_prompt(config, context, reserve, per_token, chars):
    cfg = config(
        "http://h/v1", context_tokens=context, reserve_tokens=reserve, chars_per_token=per_token
    )
    assert OpenAIServer(cfg).max_prompt_chars == chars


def test_identity_holds_what_can_change_an_answer_and_nothing_else(config):
    def identity(url="http://a/v1", **changes):
        return OpenAIServer(config(url, **changes)).identity

    base = identity()
    assert (base.model, base.revision, base.template, base.simulated) == ("tiny", "r1", "{}", False)
    for other in (
        identity("https://b:9/v1"),
        identity(concurrency=1, timeout_s=1.0, max_retries=0, api_key_env="K"),
        identity(send_seed=False, session_header="X", context_tokens=9),
    ):
        assert other == base
    different = {
        identity(model="other"),
        identity(revision="r2"),
        identity(chat_template_kwargs={"enable_thinking": False}),
        identity(extra_body={"top_p": 0.9}),
        identity(schema_style="none"),
        identity(schema_style="strict"),
        base,
    }
    assert len(different) == 7
    assert identity(extra_body={"a": 1, "b": 2}) == identity(extra_body={"b": 2, "a": 1})


@pytest.mark.parametrize(
    ("base_url", "posted", "shown"),
    [
        ("http://h:8/v1", "http://h:8/v1/chat/completions", "http://h:8/v1/chat/completions"),
        ("http://h/v1/", "http://h/v1/chat/completions", "http://h/v1/chat/completions"),
        ("https://h/v1?k=s", "https://h/v1/chat/completions?k=s", "https://h/v1/chat/completions"),
        ("http://u:p@h/v1", "http://u:p@h/v1/chat/completions", "http://h/v1/chat/completions"),
    ],
)
def test_where_completions_are_posted_and_what_is_shown(base_url, posted, shown):
    url, text = server_config.chat_url(base_url)
    assert (str(url), text) == (posted, shown)


@pytest.mark.parametrize("base_url", ["", "h/v1", "ftp://h/v1", "http://", "http://h:x/v1"])
def test_an_address_that_is_none(config, base_url):
    with pytest.raises(ConfigError, match="base_url: not an http or https address"):
        server_config.check(config(base_url))


def test_two_ways_to_log_in_are_one_too_many(config):
    with pytest.raises(ConfigError, match="keep one of the two"):
        server_config.check(config("http://u:p@h/v1", api_key_env="KEY"))


def test_a_key_loses_the_newline_of_its_file(config, monkeypatch):
    monkeypatch.setenv("TINY_KEY", " sk-1\n")
    assert server_config.read_key(config("http://h/v1", api_key_env="TINY_KEY")) == "sk-1"
    assert server_config.read_key(config("http://h/v1")) == ""


@pytest.mark.parametrize(
    ("value", "said"), [(None, "is not set"), (" ", "is not set"), ("a\tb", "no key has")]
)
def test_a_key_that_cannot_be_used_is_the_users_to_mend(config, monkeypatch, value, said):
    if value is None:
        monkeypatch.delenv("TINY_KEY", raising=False)
    else:
        monkeypatch.setenv("TINY_KEY", value)
    with pytest.raises(UserError, match=rf"TINY_KEY.* {said}") as caught:
        server_config.read_key(config("http://h/v1", api_key_env="TINY_KEY"))
    assert "a\tb" not in str(caught.value)
