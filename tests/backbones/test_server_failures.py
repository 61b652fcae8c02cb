"""What a user reads when a call fails for good."""

import json
import re
import socket

import pytest

from sero.errors import MalformedReply, RequestRejected, ServerUnavailable


def failing(status, *, message="no"):
    return (status, {}, json.dumps({"error": {"message": message}}).encode())


@pytest.mark.parametrize(
    ("fault", "error", "status", "said"),
    [
        (failing(429, message="slow down"), ServerUnavailable, 429, "HTTP 429: slow down"),
        (failing(500, message="boom"), ServerUnavailable, 500, "HTTP 500: boom"),
        ((502, {}, b"<h1>502</h1>"), ServerUnavailable, 502, "HTTP 502: <h1>502</h1>"),
        ("drop", ServerUnavailable, None, "`vllm serve "),
        ("cut", MalformedReply, None, "cut off"),
        ("half_json", MalformedReply, None, "not JSON"),
        ({"choices": []}, MalformedReply, None, "no choices"),
        ({"error": {"message": "engine dead"}}, MalformedReply, None, "engine dead"),
    ],
    ids=str,
)
async def test_a_fault_that_stays_is_an_error_never_an_answer(
    server, client, request_of, fault, error, status, said
):
    server.script.extend([fault] * 5)
    with pytest.raises(error, match=re.escape(said)) as caught:
        await client(max_retries=2).generate(request_of())
    assert len(server.bodies) == 3
    assert f"{server.base_url}/chat/completions" in str(caught.value)
    assert getattr(caught.value, "status", None) == status


@pytest.mark.parametrize(
    ("status", "changes", "message", "advice"),
    [
        (400, {}, "bad schema", "backbone.extra_body"),
        (400, {}, "maximum context length is 4096", "backbone.context_tokens"),
        (401, {}, "no key", "backbone.api_key_env"),
        (401, {"api_key_env": "TINY_KEY"}, "bad key", "environment variable TINY_KEY"),
        (403, {"api_key_env": "TINY_KEY"}, "bad key", "environment variable TINY_KEY"),
        (404, {}, "unknown", "backbone.model=tiny"),
        (413, {}, "large", "too long"),
        (422, {}, "bad", "backbone.extra_body"),
        (307, {}, "moved", "backbone.base_url"),
    ],
)
async def test_a_refusal_is_never_retried_and_says_what_to_do(
    server, client, request_of, monkeypatch, status, changes, message, advice
):
    monkeypatch.setenv("TINY_KEY", "sk-1")
    server.script.append(failing(status, message=message))
    with pytest.raises(RequestRejected) as caught:
        await client(**changes).generate(request_of())
    text = str(caught.value)
    assert (len(server.bodies), caught.value.status) == (1, status)
    assert f"{server.base_url}/chat/completions" in text
    assert message in text
    assert advice in text


async def test_nobody_listening_names_the_url_and_how_to_start(client, request_of):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with pytest.raises(ServerUnavailable) as caught:
        await client(base_url=url, name="qwen3_8b").generate(request_of())
    assert caught.value.status is None
    assert f"{url}/chat/completions cannot be reached in 3 attempt(s)" in str(caught.value)
    assert "`vllm serve " in str(caught.value)
