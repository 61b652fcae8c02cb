"""A healthy chat server that can be given one fault at a time, and a run that uses it."""

import asyncio
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import warm_job
from aiohttp import web

from sero.config.train_alone import composed_jobs
from sero.doctor import Finding, Options
from sero.doctor.server import Patient, check_backbone

CONF = Path(__file__).resolve().parents[2] / "conf"
OBEYED = '{"colour": "blue", "calm": true}'
RUN = (
    *("experiment=single", "benchmark=toy", "encoder=hashing", "backbone=openai"),
    *("backbone.model=tiny", "backbone.revision=r1", "backbone.context_tokens=4096"),
    "exec.max_tokens=256",
)


@dataclass
class FakeServer:
    """Attributes that are not the defaults are the faults.

    Attributes:
        refuse: status and message for requests whose body holds the key, by key.
        status: of every completion; `after` of them are answered first.
        text: of an answer; a function of (text of the question, calls in flight, number).
        message: further fields of the message; `content` replaces the text.
        whole: a body to send instead of a completion.
        counted: most prompt tokens the server counts; None sends no counts.
        close: number of completions whose connection is closed without an answer.
    """

    base_url: str = ""
    models: Any = field(default_factory=lambda: [{"id": "tiny", "max_model_len": 4096}])
    models_status: int = 200
    models_after_s: float = 0.0
    version: Any = field(default_factory=lambda: {"version": "0.32.0"})
    props: Any = None
    key: str = ""
    refuse: dict[str, tuple[int, str]] = field(default_factory=dict)
    status: int = 200
    after: int = 0
    said: str = "broken"
    text: Callable[[str, int, int], str] = lambda question, in_flight, number: "Paris."
    structured: str | None = OBEYED
    message: dict[str, Any] = field(default_factory=dict)
    finish: str | None = "stop"
    whole: bytes | None = None
    counted: int | None = 10**9
    longest: int | None = None
    slow_chars: int = 10**9
    close: int = 0
    in_flight: int = 0
    bodies: list[dict[str, Any]] = field(default_factory=list)

    def _unauthorised(self, request: web.Request) -> web.Response | None:
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if self.key and given != self.key:
            message = f"no such key: {given}"
            return web.json_response({"error": {"message": message}}, status=401)
        return None

    async def list_models(self, request: web.Request) -> web.Response:
        await asyncio.sleep(self.models_after_s)
        return self._unauthorised(request) or web.json_response(
            {"data": self.models}, status=self.models_status
        )

    async def tell_version(self, request: web.Request) -> web.Response:
        return web.json_response(self.version, status=200 if self.version else 404)

    async def tell_props(self, request: web.Request) -> web.Response:
        return web.json_response(self.props, status=200 if self.props else 404)

    async def complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.bodies.append(body)
        self.in_flight += 1
        try:
            if self.close:
                self.close -= 1
                assert request.transport is not None
                request.transport.close()
                return web.Response()
            return self._unauthorised(request) or await self._answer(body)
        finally:
            self.in_flight -= 1

    async def _answer(self, body: dict[str, Any]) -> web.Response:
        # everything that was sent at once is in flight before the first is answered
        await asyncio.sleep(0.02)
        question = body["messages"][-1]["content"]
        for name, (status, said) in self.refuse.items():
            if name in body:
                return web.json_response({"error": {"message": said}}, status=status)
        if len(question) > self.slow_chars:
            await asyncio.sleep(60)
        if self.longest is not None and len(question) > self.longest:
            said = "This model's maximum context length is 64 tokens."
            return web.json_response({"error": {"message": said}}, status=400)
        if self.status != 200 and len(self.bodies) > self.after:
            return web.json_response({"error": {"message": self.said}}, status=self.status)
        if self.whole is not None:
            return web.Response(body=self.whole, content_type="application/json")
        asks = self.structured is not None and "response_format" in body
        text = self.structured if asks else self.text(question, self.in_flight, len(self.bodies))
        choice = {"message": {"content": text, **self.message}, "finish_reason": self.finish}
        reply: dict[str, Any] = {"choices": [choice]}
        if self.counted is not None:
            prompt = min(self.counted, 20 + len(question) // 4)
            reply["usage"] = {"prompt_tokens": prompt, "completion_tokens": 7}
        return web.json_response(reply)


@pytest.fixture
async def server():
    fake = FakeServer()
    app = web.Application(client_max_size=2**26)
    app.router.add_get("/v1/models", fake.list_models)
    app.router.add_get("/version", fake.tell_version)
    app.router.add_get("/props", fake.tell_props)
    app.router.add_post("/v1/chat/completions", fake.complete)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.01, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    fake.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    yield fake
    await runner.cleanup()


@pytest.fixture(scope="module")
def conf_dir():
    """The configuration's folder, its files read once."""
    with warm_job.composing():
        yield CONF


@pytest.fixture(scope="session")
def run_config():
    """A run on `toy` with `backbone=openai`."""
    (job,) = composed_jobs(CONF, RUN)
    return job.config


@pytest.fixture
def options():
    return Options(probes=4, tokens=32, deadline_s=20.0, deep=False, false_commit=0.05, effect=0.1)


@pytest.fixture
def examined(server, run_config, options, monkeypatch):
    """`await examined(changes of the backbone, **changes of the options)`: the findings by name."""
    monkeypatch.setattr("sero.doctor.probing.PAUSE_S", 0.0)

    async def look(changes=None, *, scoring=None, config=run_config, **more) -> dict[str, Finding]:
        settings = {"base_url": server.base_url, **(changes or {})}
        part = config.backbone
        part = dataclasses.replace(part, config=dataclasses.replace(part.config, **settings))
        patient = Patient(config=dataclasses.replace(config, backbone=part), scoring=scoring)
        chosen = dataclasses.replace(options, **more)
        return {f.name: f async for f in check_backbone(patient, chosen)}

    return look
