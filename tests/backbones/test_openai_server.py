"""The client against a server that misbehaves: what is sent, what comes back, what is retried."""

import asyncio
import json
import logging
import re

import pytest

from sero.backbones.base import request_key, request_seed
from sero.backbones.openai_server import MAX_REPLY_BYTES, ServerStats
from sero.errors import DeadlineExceeded, MalformedReply, RequestRejected


def failing(status, *, headers=None, message="no"):
    return (status, headers or {}, json.dumps({"error": {"message": message}}).encode())


# ---- what is sent -------------------------------------------------------------------------------


async def test_a_request_carries_everything_that_was_asked(server, client, request_of, schema):
    backbone = client(chat_template_kwargs={"enable_thinking": False}, extra_body={"top_p": 0.9})
    request = request_of(temperature=0.7, sample_index=(3, "pre", 5, 0), schema=schema)
    await backbone.generate(request)
    assert server.bodies == [
        {
            "model": "tiny",
            "top_p": 0.9,
            "chat_template_kwargs": {"enable_thinking": False},
            "messages": [
                {"role": "system", "content": "You add."},
                {"role": "user", "content": "What is 2 + 2?"},
            ],
            "temperature": 0.7,
            "max_tokens": 64,
            "seed": request_seed(request_key(backbone.identity, request)),
            "response_format": {
                "type": "json_schema",
                "json_schema": {
                    "name": "card",
                    "schema": {"type": "object", "required": ["name"]},
                    "strict": True,
                },
            },
        }
    ]
    assert 0 <= server.bodies[0]["seed"] < 2**31
    assert server.headers[0]["Content-Type"] == "application/json"
    assert "Authorization" not in server.headers[0]


async def test_nothing_optional_is_sent_unasked(server, client, request_of, schema):
    await client(send_seed=False, schema_style="none").generate(request_of(schema=schema))
    assert sorted(server.bodies[0]) == ["max_tokens", "messages", "model", "temperature"]


async def test_a_role_keeps_its_session_whatever_its_name_holds(server, client, request_of):
    backbone = client(session_header="X-Session-Id")
    await backbone.generate(request_of(role="time checker\r\nX-Evil: 1 é"))
    assert server.headers[0]["X-Session-Id"] == "time%20checker%0D%0AX-Evil%3A%201%20%C3%A9"
    assert "X-Evil" not in server.headers[0]


async def test_a_prompt_of_more_than_a_megabyte_is_sent_whole(server, client, request_of):
    long = "x" * (2**20 + 5)
    await client().generate(request_of(long))
    assert server.bodies[0]["messages"][1]["content"] == long


async def test_one_connection_serves_calls_one_after_another(server, client, request_of):
    backbone = client()
    for number in range(3):
        await backbone.generate(request_of(str(number)))
    assert backbone.stats == ServerStats(requests=3, attempts=3, retries=0, uncounted=0)


async def test_a_closed_client_opens_again(server, client, request_of):
    backbone = client()
    await backbone.generate(request_of())
    await backbone.close()
    assert (await backbone.generate(request_of())).text == "fine"


# ---- what comes back ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "finish", "text", "reasoning"),
    [
        ({"content": "4"}, "stop", "4", ""),
        ({"content": ""}, "stop", "", ""),
        ({"content": None}, "stop", "", ""),
        ({"content": "The ans"}, "length", "The ans", ""),
        ({"content": "<think>\n2+2\n</think>\n\n4"}, "stop", "4", "2+2"),
        ({"content": "<think>\nIs it 5? or"}, "length", "", "Is it 5? or"),
        ({"content": "4", "reasoning": "2+2"}, "stop", "4", "2+2"),
        ({"content": None, "reasoning_content": "2+2"}, "length", "", "2+2"),
    ],
)
async def test_an_answer_is_data_whatever_it_is(
    server, client, request_of, completion, message, finish, text, reasoning
):
    server.script.append(completion(message.pop("content"), finish=finish, **message))
    got = await client().generate(request_of())
    assert (got.text, got.reasoning, got.finish_reason) == (text, reasoning, finish)
    assert (got.usage.prompt_tokens, got.usage.completion_tokens) == (11, 7)
    assert (got.cached, got.retries) == (False, 0)
    assert 0.0 < got.latency_s < 10.0


async def test_missing_usage_is_estimated_and_said_once(
    server, client, request_of, completion, caplog
):
    bare = completion("12345")
    del bare["usage"]
    server.script.extend([bare, bare])
    backbone = client()
    with caplog.at_level(logging.WARNING):
        got = await backbone.generate(request_of())
        await backbone.generate(request_of())
    # "You add." + "What is 2 + 2?" are 8 + 14 = 22 characters, six tokens; "12345" is two
    assert (got.usage.prompt_tokens, got.usage.completion_tokens) == (6, 2)
    assert backbone.stats.uncounted == 2
    assert [r.message for r in caplog.records] == [
        f"{server.base_url}/chat/completions sends no token counts; "
        "they are estimated as characters / 4"
    ]


# ---- what is retried ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        failing(408),
        failing(409),
        failing(429),
        failing(429, headers={"Retry-After": "0"}),
        failing(500),
        failing(503),
        (502, {"Content-Type": "text/html"}, b"<html><h1>502 Bad Gateway</h1></html>"),
        "drop",
        "cut",
        "half_json",
        {"choices": []},
        {"error": {"message": "engine dead"}},
    ],
    ids=str,
)
async def test_a_fault_that_passes_is_retried(server, client, request_of, fault):
    server.script.extend([fault, fault])
    backbone = client()
    got = await backbone.generate(request_of())
    assert (got.text, got.retries) == ("fine", 2)
    assert backbone.stats == ServerStats(requests=1, attempts=3, retries=2, uncounted=0)
    # the same bytes each time: same seed, so the same answer
    assert len(set(server.raw_bodies)) == 1


async def test_retry_after_is_honoured(server, client, request_of):
    server.script.append(failing(429, headers={"Retry-After": "0.2"}))
    got = await client().generate(request_of())
    assert got.retries == 1
    assert got.latency_s >= 0.2


async def test_a_longer_wait_than_the_deadline_is_not_begun(server, client, request_of):
    server.script.append(failing(429, headers={"Retry-After": "3600"}))
    with pytest.raises(DeadlineExceeded, match="HTTP 429"):
        await asyncio.wait_for(client(timeout_s=5.0).generate(request_of()), 1.0)
    assert len(server.bodies) == 1


async def test_a_reply_without_end_is_cut_off(server, client, request_of):
    server.script.append((200, {}, b"x" * (MAX_REPLY_BYTES + 1)))
    with pytest.raises(MalformedReply, match=f"more than {MAX_REPLY_BYTES} bytes"):
        await client(max_retries=0).generate(request_of())


# ---- deadline and bound -------------------------------------------------------------------------


async def test_a_server_that_hangs_is_an_error_in_time(server, client, request_of):
    server.script.append("hang")
    with pytest.raises(DeadlineExceeded, match=r"backbone.timeout_s=0.1 s \(0 failed"):
        await asyncio.wait_for(client(timeout_s=0.1).generate(request_of()), 2.0)


async def test_the_deadline_is_one_for_all_attempts(server, client, request_of):
    server.delay_s = 0.05
    server.script.extend([failing(500, message="boom")] * 100)
    backbone = client(timeout_s=0.3, max_retries=99)
    started = asyncio.get_running_loop().time()
    with pytest.raises(DeadlineExceeded, match="boom"):
        await backbone.generate(request_of())
    assert asyncio.get_running_loop().time() - started < 1.0
    # 0.3 s hold at most six attempts of 0.05 s
    assert 2 <= len(server.bodies) <= 6


async def test_the_bound_on_calls_in_flight_holds(server, client, request_of):
    server.delay_s = 0.01
    backbone = client(concurrency=3)
    await asyncio.gather(*(backbone.generate(request_of(str(n))) for n in range(15)))
    assert server.most_in_flight == 3
    assert len(server.bodies) == 15


async def test_waiting_for_a_place_does_not_use_up_the_deadline(server, client, request_of):
    # eight calls of 0.05 s, one at a time, take 0.4 s; each has 0.2 s of its own
    server.delay_s = 0.05
    backbone = client(concurrency=1, timeout_s=0.2)
    got = await asyncio.gather(*(backbone.generate(request_of(str(n))) for n in range(8)))
    assert [one.text for one in got] == ["fine"] * 8


async def test_a_cancelled_call_gives_its_place_back(server, client, request_of):
    server.script.append("hang")
    backbone = client(concurrency=1)
    stuck = asyncio.create_task(backbone.generate(request_of("stuck")))
    while not server.bodies:
        await asyncio.sleep(0.001)
    stuck.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stuck
    got = await asyncio.wait_for(backbone.generate(request_of("next")), 2.0)
    assert got.text == "fine"


# ---- secrets ---------------------------------------------------------------------


async def test_the_key_is_sent_and_never_shown(server, client, request_of, monkeypatch, caplog):
    secret = "sk-very-secret-0123456789"
    monkeypatch.setenv("TINY_KEY", f"{secret}\n")
    # the server repeats the key, once across the place where a long message is cut
    echo = f"{'.' * 290}{secret} wrong key {secret}"
    server.script.extend(
        [failing(500, message=echo), (200, {}, echo.encode()), failing(401, message=echo)]
    )
    with caplog.at_level(logging.DEBUG), pytest.raises(RequestRejected) as caught:
        await client(api_key_env="TINY_KEY").generate(request_of())
    assert [h["Authorization"] for h in server.headers] == [f"Bearer {secret}"] * 3
    assert "sk-" not in str(caught.value)
    assert "sk-" not in caplog.text
    assert "HTTP 500" in caplog.text


async def test_a_key_in_an_answer_reaches_nobody(
    server, client, request_of, completion, monkeypatch
):
    secret = "sk-very-secret-0123456789"
    monkeypatch.setenv("TINY_KEY", secret)
    server.script.append(completion(f"You sent {secret}.", reasoning=secret, finish=secret))
    got = await client(api_key_env="TINY_KEY").generate(request_of())
    assert (got.text, got.reasoning, got.finish_reason) == ("You sent ***.", "***", "***")


async def test_counts_beyond_any_context_are_estimated(server, client, request_of, completion):
    answer = completion("12345")
    answer["usage"] = {"prompt_tokens": 10**400, "completion_tokens": 10**400}
    server.script.append(answer)
    backbone = client()
    got = await backbone.generate(request_of())
    assert (got.usage.prompt_tokens, got.usage.completion_tokens) == (6, 2)
    assert backbone.stats.uncounted == 1


async def test_secrets_in_the_address_are_sent_but_not_shown(server, client, request_of):
    url = server.base_url.replace("http://", "http://me:pass-word@") + "?token=tok-en"
    server.script.append(failing(400))
    with pytest.raises(RequestRejected) as caught:
        await client(base_url=url).generate(request_of())
    assert server.headers[0]["Authorization"].startswith("Basic ")
    assert f"{server.base_url}/chat/completions answered" in str(caught.value)
    assert not re.search("pass-word|tok-en|me:", str(caught.value))
