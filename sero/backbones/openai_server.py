"""vLLM or any OpenAI-compatible server over aiohttp: one session, one bound, one deadline."""

from __future__ import annotations

import asyncio
import io
import logging
import random
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar
from urllib.parse import quote

import aiohttp

from sero.backbones import server_config, wire
from sero.backbones.base import BackboneId, Completion, Request, Usage, request_key, request_seed
from sero.backbones.retrying import Transient, retry_after_s, retryable, try_again
from sero.backbones.server_config import OpenAIServerConfig
from sero.backbones.server_failures import given_up, out_of_time, rejected

__all__ = ["MAX_REPLY_BYTES", "OpenAIServer", "OpenAIServerConfig", "ServerStats"]

log = logging.getLogger(__name__)

MAX_REPLY_BYTES = 32 * 2**20
# aiohttp warns of larger bodies in one piece, because sending them blocks the loop
_ONE_PIECE_BYTES = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStats:
    """What was sent: distinct calls, HTTP requests, and those beyond a call's first.

    Attributes:
        uncounted: answers without token counts, whose usage is estimated.
    """

    requests: int
    attempts: int
    retries: int
    uncounted: int


class OpenAIServer:
    """A chat-completions server as a backbone.

    The session is opened by the first call and belongs to that call's event loop until `close`.
    A call keeps its place under `concurrency` while it pauses, so a server that asks for patience
    gets it; the deadline starts with the place, so a long queue times nobody out.

    Raises:
        ConfigError: the address, the context or `extra_body` cannot be used; all faults at once.
    """

    Config: ClassVar[type[OpenAIServerConfig]] = OpenAIServerConfig

    def __init__(self, cfg: OpenAIServerConfig) -> None:
        server_config.check(cfg)
        self._cfg = cfg
        self._url, self._shown = server_config.chat_url(cfg.base_url)
        self._start = wire.constant_part(cfg.model, cfg.chat_template_kwargs, cfg.extra_body)
        self._identity = BackboneId(
            model=cfg.model,
            revision=cfg.revision,
            template=server_config.template(cfg),
            simulated=False,
        )
        self._session: aiohttp.ClientSession | None = None
        self._places = asyncio.Semaphore(cfg.concurrency)
        self._key = ""
        # the jitter of pauses moves no result, so it is not a stream of the run's seed
        self._jitter = random.Random()
        self._requests = self._attempts = self._uncounted = 0

    @property
    def identity(self) -> BackboneId:
        return self._identity

    @property
    def max_prompt_chars(self) -> int | None:
        cfg = self._cfg
        if cfg.context_tokens is None:
            return None
        return int((cfg.context_tokens - cfg.reserve_tokens) * cfg.chars_per_token)

    @property
    def stats(self) -> ServerStats:
        return ServerStats(
            requests=self._requests,
            attempts=self._attempts,
            retries=self._attempts - self._requests,
            uncounted=self._uncounted,
        )

    async def generate(self, request: Request) -> Completion:
        """Answer a request; see `Backbone.generate`.

        Raises:
            ServerUnavailable: connection errors, 408, 409, 429 or 5xx to the last attempt.
            MalformedReply: no chat completion to the last attempt.
            DeadlineExceeded: no answer within `timeout_s`.
            RequestRejected: any other status; not retried.
            UserError: the key's environment variable is not set.
        """
        cfg = self._cfg
        session = self._session or self._open()
        seed = request_seed(request_key(self._identity, request)) if cfg.send_seed else None
        schema = server_config.schema_to_send(cfg, request)
        body = wire.encode_body(self._start, request, seed=seed, schema=schema)
        # role names may come from a model: quoted, they are a legal header whatever they hold
        headers = {cfg.session_header: quote(request.role)} if cfg.session_header else None
        failures: list[Transient] = []

        async def attempt() -> wire.Reply:
            try:
                return await self._send(session, body, headers)
            except Transient as failure:
                failures.append(failure)
                raise

        async with self._places:
            self._requests += 1
            started = time.monotonic()
            try:
                async with asyncio.timeout(cfg.timeout_s):
                    try:
                        reply = await attempt()
                    except Transient as first:
                        reply = await try_again(
                            first,
                            attempt,
                            max_retries=cfg.max_retries,
                            backoff_s=cfg.backoff_s,
                            backoff_max_s=cfg.backoff_max_s,
                            left_s=started + cfg.timeout_s - time.monotonic(),
                            jitter=self._jitter,
                        )
            except TimeoutError:
                raise out_of_time(cfg, self._shown, failures) from None
            except Transient as last:
                raise given_up(cfg, self._shown, failures) from last
            latency_s = time.monotonic() - started
        return Completion(
            text=reply.text,
            finish_reason=reply.finish_reason,
            usage=self._usage(request, reply),
            reasoning=reply.reasoning,
            latency_s=latency_s,
            retries=len(failures),
        )

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _open(self) -> aiohttp.ClientSession:
        """The run's session, made inside the running loop."""
        self._key = server_config.read_key(self._cfg)
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        # a semaphore belongs to the loop it first made somebody wait on, as the session does
        self._places = asyncio.Semaphore(self._cfg.concurrency)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            headers=headers,
            # the deadline of `generate` is the only clock
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        return self._session

    async def _send(
        self, session: aiohttp.ClientSession, body: bytes, headers: dict[str, str] | None
    ) -> wire.Reply:
        """One attempt.

        Raises:
            Transient: worth another attempt.
            RequestRejected: not worth one.
        """
        self._attempts += 1
        try:
            async with session.post(
                self._url,
                data=body if len(body) < _ONE_PIECE_BYTES else io.BytesIO(body),
                headers=headers,
                # a redirect would turn the POST into a GET
                allow_redirects=False,
            ) as response:
                raw = wire.blotted(await _read_bounded(response.content), self._key)
        except aiohttp.ClientPayloadError as error:
            raise Transient(f"the reply was cut off ({error})", malformed=True) from None
        except (aiohttp.ClientError, OSError) as error:
            # not chained: aiohttp's errors carry the request's headers, and with them the key
            raise Transient(f"{type(error).__name__}: {error}") from None
        status = response.status
        if 200 <= status < 300:
            try:
                return wire.decode_reply(raw)
            except wire.NotACompletion as error:
                gist = wire.excerpt(raw, self._key)
                raise Transient(f"{error}: {gist}", status=status, malformed=True) from None
        said = wire.excerpt(raw, self._key)
        if retryable(status):
            raise Transient(
                f"HTTP {status}: {said}",
                status=status,
                retry_after_s=retry_after_s(response.headers.get("Retry-After"), datetime.now(UTC)),
            )
        raise rejected(self._cfg, self._shown, status, said)

    def _usage(self, request: Request, reply: wire.Reply) -> Usage:
        """The server's count, or an estimate by length where it sent none."""
        prompt, completion = reply.prompt_tokens, reply.completion_tokens
        if prompt is None or completion is None:
            self._uncounted += 1
            if self._uncounted == 1:
                log.warning(
                    "%s sends no token counts; they are estimated as characters / 4", self._shown
                )
            if prompt is None:
                prompt = wire.estimate_tokens(sum(len(m.content) for m in request.messages))
            if completion is None:
                completion = wire.estimate_tokens(len(reply.text) + len(reply.reasoning))
        return Usage(prompt_tokens=prompt, completion_tokens=completion)


async def _read_bounded(stream: aiohttp.StreamReader) -> bytes:
    """A whole body.

    Raises:
        Transient: it is larger than any completion.
    """
    chunks = []
    size = 0
    while chunk := await stream.readany():
        chunks.append(chunk)
        size += len(chunk)
        if size > MAX_REPLY_BYTES:
            raise Transient(f"a reply of more than {MAX_REPLY_BYTES} bytes", malformed=True)
    return b"".join(chunks)
