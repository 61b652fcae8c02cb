"""One worker of a fleet as a process of its own, to be killed: `fleet_worker.py PORT LOG`.

Answers at once, the same to everybody, and writes one line a request: which role asked for what.
"""

import asyncio
import hashlib
import json
import sys
from pathlib import Path

from aiohttp import web


def main() -> None:
    port, log = int(sys.argv[1]), Path(sys.argv[2]).open("a", buffering=1)  # noqa: SIM115

    async def chat(request: web.Request) -> web.Response:
        body = await request.json()
        text = json.dumps(body["messages"], sort_keys=True)
        asked = hashlib.sha256(text.encode()).hexdigest()
        log.write(json.dumps({"role": request.headers.get("X-Session-ID"), "asked": asked}) + "\n")
        await asyncio.sleep(0.02)
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": "Answer: 4"},
            "finish_reason": "stop",
        }
        usage = {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}
        return web.json_response({"id": "x", "model": "m", "choices": [choice], "usage": usage})

    async def fine(_: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "Qwen/Qwen3-8B"}]})

    app = web.Application()
    app.router.add_post("/v1/chat/completions", chat)
    app.router.add_get("/{anything:.*}", fine)
    web.run_app(app, host="127.0.0.1", port=port, print=None)


if __name__ == "__main__":
    main()
