"""A chat server that misbehaves on demand, and short ways to make clients and requests."""

import asyncio
import contextlib
import json
from collections import deque
from dataclasses import dataclass, field

import pytest
from aiohttp import web

from sero.backbones.base import ChatMessage, OutputSchema, Request
from sero.backbones.openai_server import OpenAIServer, OpenAIServerConfig
from sero.backbones.price import PriceConfig


def chat_completion(content, *, finish="stop", **message):
    return {
        "id": "c-1",
        "object": "chat.completion",
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, **message},
                "finish_reason": finish,
            }
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }


@dataclass
class ChatServer:
    """Takes one entry of `script` per request, then answers "fine" for ever.

    An entry is a dict (sent as JSON with status 200), a (status, headers, body) triple, or the
    name of a fault: drop, cut, half_json, hang, slow.
    """

    base_url: str = ""
    script: deque = field(default_factory=deque)
    bodies: list = field(default_factory=list)
    raw_bodies: list = field(default_factory=list)
    headers: list = field(default_factory=list)
    delay_s: float = 0.0
    in_flight: int = 0
    most_in_flight: int = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        self.raw_bodies.append(raw)
        self.bodies.append(json.loads(raw))
        self.headers.append(request.headers)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if self.delay_s:
                await asyncio.sleep(self.delay_s)
            step = self.script.popleft() if self.script else chat_completion("fine")
            return await self._play(step, request)
        finally:
            self.in_flight -= 1

    async def _play(self, step, request):
        whole = json.dumps(chat_completion("fine")).encode()
        match step:
            case dict():
                return web.Response(text=json.dumps(step), content_type="application/json")
            case (status, headers, body):
                return web.Response(status=status, headers=headers, body=body)
            case "drop":
                request.transport.close()
                return web.Response()
            case "cut":
                response = web.StreamResponse(headers={"Content-Length": str(len(whole))})
                await response.prepare(request)
                await response.write(whole[:20])
                request.transport.close()
                return response
            case "half_json":
                return web.Response(body=whole[:40], content_type="application/json")
            case "hang":
                await asyncio.sleep(30)
        raise AssertionError(f"no such step: {step!r}")


@pytest.fixture
async def server():
    chat = ChatServer()
    app = web.Application(client_max_size=2**26)
    app.router.add_post("/v1/chat/completions", chat.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.01, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    chat.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    yield chat
    await runner.cleanup()


@pytest.fixture
def config():
    """`config(base_url, **changes)`: a patient, fast-retrying client."""

    def make(base_url, **changes):
        values = {
            "name": "openai",
            "base_url": base_url,
            "model": "tiny",
            "revision": "r1",
            "api_key_env": None,
            "concurrency": 8,
            "timeout_s": 10.0,
            "max_retries": 2,
            "backoff_s": 0.001,
            "backoff_max_s": 0.004,
            "send_seed": True,
            "context_tokens": None,
            "reserve_tokens": 0,
            "chars_per_token": 3.5,
            "chat_template_kwargs": {},
            "extra_body": {},
            "schema_style": "json_schema",
            "session_header": None,
            "price": PriceConfig(
                prompt_usd_per_mtok=None, completion_usd_per_mtok=None, as_of=None
            ),
        }
        return OpenAIServerConfig(**(values | changes))

    return make


@pytest.fixture
async def client(server, config):
    """`client(**changes)`: an OpenAIServer for `server`; all are closed at the end."""
    made = []

    def make(**changes):
        made.append(OpenAIServer(config(changes.pop("base_url", server.base_url), **changes)))
        return made[-1]

    yield make
    for one in made:
        with contextlib.suppress(asyncio.CancelledError):
            await one.close()


@pytest.fixture
def completion():
    """`completion(content, finish=…, **message)`: the JSON of a chat completion."""
    return chat_completion


@pytest.fixture
def request_of():
    """`request_of(text, **changes)`: a request at temperature 0."""

    def make(text="What is 2 + 2?", **changes):
        values = {
            "messages": (ChatMessage("system", "You add."), ChatMessage("user", text)),
            "temperature": 0.0,
            "max_tokens": 64,
            "sample_index": (0,),
            "role": "adder",
        }
        return Request(**(values | changes))

    return make


@pytest.fixture
def schema():
    return OutputSchema(name="card", text='{"type":"object","required":["name"]}')
