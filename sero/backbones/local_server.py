"""A small real model on this machine: `backbone=local`, servers that live and die with the run.

Each answer is computed alone, on one thread by default: what a model answers then depends on the
request only, so that the same command gives the same figures. Two servers keep two cores busy.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from annotated_types import Ge, Gt

from sero.backbones import server_config
from sero.backbones.base import BackboneId, Completion, Request
from sero.backbones.child_server import ChildServer, free_port
from sero.backbones.local_model import ModelFile, find_model
from sero.backbones.openai_server import OpenAIServer, OpenAIServerConfig
from sero.backbones.price import PriceConfig
from sero.errors import DeadlineExceeded, ServerUnavailable

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalServerConfig:
    """`backbone=local`.

    Attributes:
        name: of the config file, named in messages.
        gguf: the model's file; None is the packaged SmolLM2-135M.
        replicas: servers, each of which answers one request at a time.
        threads: of each server.
        context_tokens: prompt and completion together.
        reserve_tokens: part of the context kept for the completion.
        chars_per_token: characters a token of a prompt has on average; low is safe.
        chat_template_kwargs: arguments of the model's chat template.
        ready_timeout_s: for loading the model.
        timeout_s: total deadline of a call, attempts and pauses included.
        max_retries: attempts beyond the first.
        backoff_s, backoff_max_s: first and longest pause between attempts.
        logs: folder of the servers' logs.
        note: what a reader must know of such a model's scores; stands under every table.
    """

    name: str
    gguf: str | None
    replicas: Annotated[int, Gt(0)]
    threads: Annotated[int, Gt(0)]
    context_tokens: Annotated[int, Gt(0)]
    reserve_tokens: Annotated[int, Ge(0)]
    chars_per_token: Annotated[float, Gt(0)]
    chat_template_kwargs: Mapping[str, Any]
    ready_timeout_s: Annotated[float, Gt(0)]
    timeout_s: Annotated[float, Gt(0)]
    max_retries: Annotated[int, Ge(0)]
    backoff_s: Annotated[float, Gt(0)]
    backoff_max_s: Annotated[float, Gt(0)]
    logs: str
    note: str | None


class LocalServer:
    """A GGUF model in processes of its own, behind the client of any server.

    A server starts with the first request that needs it, the second when two are in flight; a run
    that the call cache serves wholly starts none. They end with `close`, and with this process
    however that dies. A server that dies in mid-run is not started again by this object.

    Raises:
        UserError: packages are missing, or the model's file is none.
        ConfigError: the context leaves no room for a prompt.
    """

    Config: ClassVar[type[LocalServerConfig]] = LocalServerConfig

    def __init__(self, cfg: LocalServerConfig) -> None:
        self._cfg = cfg
        self._model = find_model(cfg.gguf)
        client = _client_config(cfg, self._model, port=0)
        server_config.check(client)
        self._identity = BackboneId(
            model=self._model.name,
            revision=self._model.sha256,
            template=server_config.template(client),
            simulated=False,
        )
        self._replicas: list[_Replica] = []
        self._free: asyncio.LifoQueue[_Replica] | None = None

    @property
    def identity(self) -> BackboneId:
        return self._identity

    @property
    def max_prompt_chars(self) -> int | None:
        cfg = self._cfg
        return int((cfg.context_tokens - cfg.reserve_tokens) * cfg.chars_per_token)

    async def generate(self, request: Request) -> Completion:
        """Answer a request; see `Backbone.generate`.

        Raises:
            ServerNotReady: the server could not be started.
            ServerUnavailable: it died, or answers no more.
            DeadlineExceeded: no answer within `timeout_s`.
            RequestRejected: the server does not take this request.
        """
        free = self._free or self._open()
        replica = await free.get()
        try:
            return await replica.generate(request)
        finally:
            free.put_nowait(replica)

    async def close(self) -> None:
        """End the servers; a later request would start them again."""
        replicas, self._replicas, self._free = self._replicas, [], None
        for replica in replicas:
            await replica.close()

    def _open(self) -> asyncio.LifoQueue[_Replica]:
        """The queue of idle servers, made inside the running loop; none of them started."""
        self._replicas = [
            _Replica(self._cfg, self._model, number) for number in range(self._cfg.replicas)
        ]
        # last in, first out: a run that never asks two things at once starts one server
        self._free = asyncio.LifoQueue()
        for replica in reversed(self._replicas):
            self._free.put_nowait(replica)
        return self._free


class _Replica:
    """One server process, and the client that asks it one thing at a time."""

    def __init__(self, cfg: LocalServerConfig, model: ModelFile, number: int) -> None:
        self._cfg = cfg
        self._model = model
        self._log = Path(cfg.logs) / f"server_{number}.log"
        self._child: ChildServer | None = None
        self._client: OpenAIServer | None = None

    async def generate(self, request: Request) -> Completion:
        client = self._client or await self._start()
        try:
            return await client.generate(request)
        except ServerUnavailable as error:
            if error.status is not None:
                raise
            raise ServerUnavailable(self._gone()) from error
        except DeadlineExceeded as error:
            raise DeadlineExceeded(
                f"backbone={self._cfg.name}: no answer within backbone.timeout_s="
                f"{self._cfg.timeout_s:g} s. This machine may be too busy for the model; raise the "
                f"deadline or lower exec.max_tokens. Its log: {self._log}"
            ) from error

    async def close(self) -> None:
        client, self._client = self._client, None
        child, self._child = self._child, None
        try:
            if client is not None:
                await client.close()
        finally:
            if child is not None:
                child.stop()

    async def _start(self) -> OpenAIServer:
        """Start the server and wait for the model.

        Raises:
            ServerNotReady: it ended, or took too long.
        """
        port = free_port()
        if self._child is not None:
            self._child.stop()  # of a start that was cancelled, or failed
        self._child = ChildServer(
            _command(self._cfg, self._model, port),
            health_url=f"http://{HOST}:{port}/health",
            # idle threads of OpenMP spin for a core by default: with two of them on two busy cores
            # that made calls five times as slow
            env={"OMP_WAIT_POLICY": "passive"},
            log=self._log,
            ready_timeout_s=self._cfg.ready_timeout_s,
        )
        self._child.start()
        await self._child.wait_ready()
        self._client = OpenAIServer(_client_config(self._cfg, self._model, port=port))
        return self._client

    def _gone(self) -> str:
        child = self._child
        assert child is not None
        status = child.exit_status
        what = "answers no more" if status is None else f"ended with exit status {status}"
        if status is not None and status > 128:
            what = f"was ended by signal {status - 128}"
        last = "\n".join(f"  | {line}" for line in child.tail(5))
        return (
            f"backbone={self._cfg.name}: the server of {self._model.name} {what}. Run the same "
            "command again: it starts another and goes on from here. If the machine ran out of "
            "memory, lower backbone.replicas or backbone.context_tokens. "
            f"The end of {self._log}:\n{last}"
        )


def _command(cfg: LocalServerConfig, model: ModelFile, port: int) -> list[str]:
    # -P: no module of the working directory is taken for one of the server's
    return [
        *(sys.executable, "-P", "-m", "sero.backbones.local_child"),
        *(str(model.path), HOST, str(port), str(cfg.context_tokens), str(cfg.threads)),
    ]


def _client_config(cfg: LocalServerConfig, model: ModelFile, *, port: int) -> OpenAIServerConfig:
    return OpenAIServerConfig(
        name=cfg.name,
        base_url=f"http://{HOST}:{port}/v1",
        model=model.name,
        revision=model.sha256,
        api_key_env=None,
        concurrency=1,
        timeout_s=cfg.timeout_s,
        max_retries=cfg.max_retries,
        backoff_s=cfg.backoff_s,
        backoff_max_s=cfg.backoff_max_s,
        send_seed=True,
        context_tokens=cfg.context_tokens,
        reserve_tokens=cfg.reserve_tokens,
        chars_per_token=cfg.chars_per_token,
        chat_template_kwargs=cfg.chat_template_kwargs,
        extra_body={},
        schema_style="json_schema",
        session_header=None,
        price=PriceConfig(prompt_usd_per_mtok=None, completion_usd_per_mtok=None, as_of=None),
    )
