"""An OpenAI-compatible server in a thread of the test's process; not a test module."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from aiohttp import web

PROMPT_TOKENS, COMPLETION_TOKENS = 100, 10


class ChatServer:
    """Answers by `reply` and keeps what it was sent.

    Attributes:
        bodies: every body it was sent.
        url: where it listens, while it is `serving`.
    """

    bodies: list[dict]
    url: str

    def reply(self, body: dict) -> str:
        raise NotImplementedError

    async def chat(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.bodies.append(body)
        usage = {
            "prompt_tokens": PROMPT_TOKENS,
            "completion_tokens": COMPLETION_TOKENS,
            "total_tokens": PROMPT_TOKENS + COMPLETION_TOKENS,
        }
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": self.reply(body)},
            "finish_reason": "stop",
        }
        return web.json_response({"id": "x", "choices": [choice], "usage": usage})


Server = TypeVar("Server", bound=ChatServer)


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """The server on a free port of the loopback interface, in a thread of its own."""
    loop = asyncio.new_event_loop()
    ready = threading.Event()

    async def start() -> web.AppRunner:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", server.chat)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        return runner

    def run() -> None:
        asyncio.set_event_loop(loop)
        runner = loop.run_until_complete(start())
        ready.set()
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
