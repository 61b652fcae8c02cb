"""A backbone's server in the foreground: started, watched, its log passed on, stopped."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path

from yarl import URL

from sero.backbones.child_server import ChildServer, Doubt, port_is_taken
from sero.backbones.listing import why_not_serving
from sero.backbones.server_config import OpenAIServerConfig
from sero.config.backbone_alone import BackboneAlone
from sero.errors import ServerNotReady, StorageError, UserError
from sero.running.launches import Launch, launch_of
from sero.running.signals import stopping

Say = Callable[[str], None]

_LOOK_S = 0.3
_PIECE_BYTES = 64 * 2**10


def serve(chosen: BackboneAlone, say: Say, pass_on: Say) -> int:
    """Serve a backbone until interrupted; returns the exit code.

    0 after an interrupt once the server was ready, 128 + N for signal N before that.

    Args:
        say: takes a line for the user.
        pass_on: takes what the server writes, as it writes it.

    Raises:
        UserError: a backbone without a server to start, its program not installed, the port taken.
        ConfigError: settings that no client could use.
        StorageError: the log cannot be written, or is no file.
        ServerNotReady: the server ended or never got ready, with the end of its log.
    """
    launch = launch_of(chosen)
    if chosen.dry_run:
        say(launch.shown)
        return 0
    launch.refuse_what_is_missing()
    _check_port(launch.cfg.base_url)
    log = Path(chosen.log)
    _check_log(log)
    secret = launch.secret_env()
    launch.prepare(say)
    say(f"starting: {launch.shown}\nlog: {chosen.log}")
    server = ChildServer(
        launch.command.argv,
        health_url=launch.health_url,
        env={**launch.command.env, **secret},
        log=log,
        ready_timeout_s=launch.ready_timeout_s,
        doubt=_doubt(launch.cfg),
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
        decoder = codecs.getincrementaldecoder("utf-8")("replace")

        def piece() -> int:
            """Pass on the next bytes, a bounded number of them; returns how many."""
            found = log.read(_PIECE_BYTES)
            if found:
                pass_on(decoder.decode(found))
            return len(found)

        async def keep_on() -> None:
            while True:
                await asyncio.sleep(0.0 if piece() == _PIECE_BYTES else _LOOK_S)

        task = asyncio.create_task(keep_on())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            # what is written meanwhile is not waited for
            left = os.fstat(log.fileno()).st_size - log.tell()
            while left > 0 and (n := piece()):
                left -= n


def _check_log(path: Path) -> None:
    """Find before the start what would end it.

    Raises:
        StorageError: the log's folder cannot be made, or the log is no file that can be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():
            what = "a directory" if path.is_dir() else "no regular file"
            raise StorageError(
                f"log: {path} is {what}, and what the server writes is read back from it; choose a "
                "file with log=FILE."
            )
        path.open("ab").close()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise StorageError(
            f"log: {path} cannot be written: {why}; choose another file with log=FILE."
        ) from None


def _doubt(cfg: OpenAIServerConfig) -> Doubt | None:
    """Who asks whether the server is the one that was started; None where its key is unknown."""
    key = os.environ.get(cfg.api_key_env, "").strip() if cfg.api_key_env else ""
    if cfg.api_key_env and not key:
        return None
    url = URL(cfg.base_url)
    models = str((url / "models").with_query(url.query))
    return partial(why_not_serving, url=models, model=cfg.model, key=key)


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
