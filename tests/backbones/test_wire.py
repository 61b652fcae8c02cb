"""Requests to bytes, bytes to answers."""

import json
import time

import pytest

from sero.backbones.wire import (
    NotACompletion,
    blotted,
    constant_part,
    decode_reply,
    encode_body,
    estimate_tokens,
    excerpt,
    split_thinking,
    whole_characters,
)


@pytest.mark.parametrize(
    ("content", "answer", "thought"),
    [
        ("4", "4", ""),
        (" 4\n", " 4\n", ""),  # without a tag nothing is touched
        ("<think>a</think>4", "4", "a"),
        ("<think>\na\n</think>\n\n4\n", "4", "a"),
        ("<think></think>4", "4", ""),
        ("<think>a</think>4<think>b</think>", "4", "ab"),
        ("so <think>a</think>4", "so 4", "a"),
        ("a</think>4", "4", "a"),  # the block was opened inside the prompt
        ("<think>a <think> b</think> c</think>4", "4", "a  b c"),
        ("<think>a", "", "a"),
        ("3<think>a", "", "a"),  # never closed: no answer, whatever stood before
        ("<think>a</think>4<think>b", "", "ab"),
        ("<thinking>4", "<thinking>4", ""),
    ],
)
def test_thinking_is_taken_out(content, answer, thought):
    assert split_thinking(content) == (answer, thought)


def test_a_million_tags_take_no_time():
    started = time.perf_counter()
    assert split_thinking("<think>x</think>" * 200_000)[0] == ""
    assert split_thinking("x</think>" * 200_000)[0] == ""
    assert time.perf_counter() - started < 5.0


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("déjà 数 😀", "déjà 数 😀"),
        ("a\ud83d", "a\ufffd"),
        ("\ude00b", "\ufffdb"),
        ("a\ud83d\ude00b", "a😀b"),  # two halves that belong together
        ("\ud83dx\ude00", "\ufffdx\ufffd"),
    ],
)
def test_half_characters_are_replaced(text, whole):
    assert whole_characters(text) == whole


@pytest.mark.parametrize(("chars", "tokens"), [(0, 0), (1, 1), (4, 1), (5, 2), (22, 6)])
def test_tokens_by_length(chars, tokens):
    assert estimate_tokens(chars) == tokens


def test_a_body_is_one_json_object(request_of, schema):
    start = constant_part('m"1', {"a": [1]}, {"top_p": 0.5, "stop": ["\n"]})
    request = request_of('say "\ud800é"', temperature=0.3, schema=schema)
    body = json.loads(encode_body(start, request, seed=5, schema=schema.text))
    assert list(body) == [
        "model",
        "top_p",
        "stop",
        "chat_template_kwargs",
        "messages",
        "temperature",
        "max_tokens",
        "seed",
        "response_format",
    ]
    assert (body["model"], body["stop"], body["seed"]) == ('m"1', ["\n"], 5)
    assert body["messages"][1] == {"role": "user", "content": 'say "\ud800é"'}
    assert "seed" not in json.loads(encode_body(start, request, seed=None, schema=None))


def reply(**changes):
    data = {
        "choices": [{"message": {"content": "4"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 1},
    }
    return json.dumps(data | changes).encode()


def test_a_plain_reply():
    got = decode_reply(reply())
    assert (got.text, got.finish_reason, got.reasoning) == ("4", "stop", "")
    assert (got.prompt_tokens, got.completion_tokens) == (3, 1)


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        [],
        {"prompt_tokens": None, "completion_tokens": "7"},
        {"prompt_tokens": -1, "completion_tokens": True},
        {"prompt_tokens": 1.5, "completion_tokens": float("nan")},
        {"prompt_tokens": 10**400, "completion_tokens": 10**9 + 1},
    ],
)
def test_counts_that_are_none(usage):
    got = decode_reply(reply(usage=usage))
    assert (got.prompt_tokens, got.completion_tokens) == (None, None)


@pytest.mark.parametrize(
    ("choice", "text", "finish"),
    [
        ({"message": {"content": "4"}}, "4", "unknown"),
        ({"message": {}, "finish_reason": "tool_calls"}, "", "tool_calls"),
        (
            {"message": {"content": [{"type": "text", "text": "4"}, {"type": "x"}, 5]}},
            "4",
            "unknown",
        ),
        ({"message": {"content": "\ud83d"}, "finish_reason": None}, "\ufffd", "unknown"),
    ],
)
def test_replies_of_other_shapes(choice, text, finish):
    got = decode_reply(reply(choices=[choice]))
    assert (got.text, got.finish_reason) == (text, finish)


def test_the_servers_reasoning_comes_before_a_think_block():
    message = {"content": "<think>b</think>4", "reasoning_content": "a"}
    assert decode_reply(reply(choices=[{"message": message}])).reasoning == "a\nb"


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "not JSON"),
        (b'{"choices": [', "not JSON"),
        (b"\xff\xfe\xfa", "not JSON"),
        (b"[" * 200_000, "not JSON"),
        (b"9" * 10_000, "not JSON"),
        (b"null", "no choices"),
        (b"[]", "no choices"),
        (b'{"choices": {}}', "no choices"),
        (b'{"choices": []}', "no choices"),
        (b'{"choices": ["x"]}', "no message"),
        (b'{"choices": [{"text": "x"}]}', "no message"),
        (b'{"choices": [{"message": {"content": 4}}]}', "content is int"),
    ],
)
def test_what_is_no_completion(raw, said):
    with pytest.raises(NotACompletion, match=said):
        decode_reply(raw)


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (b"", ""),
        (b"<h1>Bad\n  Gateway</h1>", "<h1>Bad Gateway</h1>"),
        (b'{"error": {"message": "too\\nlong"}}', "too long"),
        (b'{"error": "busy"}', "busy"),
        (b'{"message": "busy"}', "busy"),
        (b'{"detail": "Not Found"}', "Not Found"),
        (b'{"detail": [1]}', '{"detail": [1]}'),
        (b"a\x1b[31mb\x00", "a?[31mb?"),  # nothing that steers a terminal
        (b"x" * 301, "x" * 299 + "…"),
        (b"[" * 100_000, "[" * 299 + "…"),
        (b"." * 295 + b"sk-12345 end", "." * 295 + "*** e"[:4] + "…"),
    ],
)
def test_the_gist_of_an_error_body(raw, line):
    assert excerpt(raw, "sk-12345") == line


@pytest.mark.parametrize(
    ("raw", "secret", "left"),
    [
        (b'{"a": "sk-0123456789ab"}', "sk-0123456789ab", b'{"a": "***"}'),
        (rb'{"a": "sk\/0123\"456789ab"}', 'sk/0123"456789ab', rb'{"a": "sk\/0123\"456789ab"}'),
        (rb'{"a": "sk-0123\"456789ab"}', 'sk-0123"456789ab', b'{"a": "***"}'),
        (rb'{"a": "sk\/0123456789ab"}', "sk/0123456789ab", b'{"a": "***"}'),
        (b'{"choices": "test"}', "test", b'{"choices": "test"}'),  # a placeholder, no secret
        (b"x", "", b"x"),
    ],
)
def test_a_key_is_taken_out_of_a_body(raw, secret, left):
    assert blotted(raw, secret) == left


def test_counts_up_to_a_bound():
    got = decode_reply(reply(usage={"prompt_tokens": 10**9, "completion_tokens": 0}))
    assert (got.prompt_tokens, got.completion_tokens) == (10**9, 0)
