"""A backbone's server in the foreground: started, watched, its log passed on, stopped."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from yarl import URL

from sero.backbones.child_server import ChildServer, port_is_taken
from sero.config.backbone_alone import BackboneAlone
from sero.errors import ServerNotReady, UserError
from sero.running.launches import Launch, launch_of
from sero.running.signals import stopping

Say = Callable[[str], None]

_LOOK_S = 0.3


def serve(chosen: BackboneAlone, say: Say, pass_on: Say) -> int:
    """Serve a backbone until interrupted; returns the exit code.

    0 after an interrupt once the server was ready, 128 + N for signal N before that.

    Args:
        say: takes a line for the user.
        pass_on: takes what the server writes, as it writes it.

    Raises:
        UserError: a backbone without a server to start, its program not installed, the port taken.
        ConfigError: settings that no client could use.
        ServerNotReady: the server ended or never got ready, with the end of its log.
    """
    launch = launch_of(chosen)
    if chosen.dry_run:
        say(launch.shown)
        return 0
    launch.refuse_what_is_missing()
    _check_port(launch.cfg.base_url)
    secret = launch.secret_env()
    launch.prepare(say)
    say(f"starting: {launch.shown}\nlog: {chosen.log}")
    server = ChildServer(
        launch.command.argv,
        health_url=launch.health_url,
        env={**launch.command.env, **secret},
        log=Path(chosen.log),
        ready_timeout_s=launch.ready_timeout_s,
    )
    return asyncio.run(_in_front(server, launch, say, pass_on))


async def _in_front(server: ChildServer, launch: Launch, say: Say, pass_on: Say) -> int:
    """Start, wait, and stay until the server ends or somebody interrupts."""
    is_ready = False
    async with stopping() as stop:
        try:
            server.start()
            started = time.monotonic()
            async with _passing_on(server, pass_on):
                await server.wait_ready()
                is_ready = True
                say(f"ready after {time.monotonic() - started:.0f} s: {_ready_line(launch)}")
                while server.alive:
                    await asyncio.sleep(_LOOK_S)
        except asyncio.CancelledError:
            if stop.requested is None:
                raise
            stop.settle()
            say(f"{stop.requested}: stopping the server")
            return 0 if is_ready else 128 + (2 if stop.requested == "SIGINT" else 15)
        except ServerNotReady as error:
            raise ServerNotReady(f"{error}{_hint(server, launch)}") from None
        finally:
            server.stop()
    raise server.lost()


@contextlib.asynccontextmanager
async def _passing_on(server: ChildServer, pass_on: Say) -> AsyncIterator[None]:
    """Pass the log on while the body runs, and what is left of it at the end."""
    with server.log.open("rb") as log:
        log.seek(server.log_start)

        def rest() -> None:
            if text := log.read():
                pass_on(text.decode("utf-8", "replace"))

        async def keep_on() -> None:
            while True:
                rest()
                await asyncio.sleep(_LOOK_S)

        task = asyncio.create_task(keep_on())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            rest()


def _check_port(base_url: str) -> None:
    url = URL(base_url)
    assert url.host is not None  # checked with the rest of the address
    assert url.port is not None
    if port_is_taken(url.host, url.port):
        raise UserError(
            f"{url.host}:{url.port} cannot be listened on: something is running there already, or "
            "it is no address of this machine. Stop it, or choose another port with "
            f"backbone.base_url=http://{url.host}:PORT/v1, for the runs as well."
        )


def _ready_line(launch: Launch) -> str:
    cfg = launch.cfg
    return (
        f"{cfg.base_url} serves {cfg.model}\n"
        f"the same by hand: {launch.shown}\n"
        f"next: python scripts/train.py experiment=single backbone={launch.choice} "
        f"backbone.base_url={cfg.base_url} encoder=minilm benchmark=toy\n"
        "Ctrl-C stops it."
    )


def _hint(server: ChildServer, launch: Launch) -> str:
    end = "\n".join(server.tail(200))
    found = [advice for mark, advice in launch.hints if mark in end]
    return f"\nPerhaps: {found[0]}." if found else ""
