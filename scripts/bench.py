"""Speed as ratios: each line is a figure over a limit measured in the same run.

    python scripts/bench.py
    python scripts/bench.py --calls 5000 --rounds 7

A benchmark, not a test: a busy machine moves both sides of a ratio, so read the ratios.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import aiohttp
from aiohttp import web
from rich.console import Console
from rich.table import Table

from sero.backbones.base import ChatMessage, Request
from sero.backbones.cached import CachedBackbone
from sero.backbones.openai_server import OpenAIServer, OpenAIServerConfig
from sero.backbones.scripted import ScriptedBackbone

Call = Callable[[str], Awaitable[str]]

CONF = Path(__file__).resolve().parent.parent / "conf"

ANSWER = "The answer is 42."
SYSTEM = "You are the planner. Do only your part and pass a short note to the next role."


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much is measured.

    Attributes:
        calls: per round.
        rounds: of each side, taken in turn; the median counts.
        in_flight: calls at once.
    """

    calls: int
    rounds: int
    in_flight: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One row of the table: a figure, its limit of the same run, and what their ratio should be.

    `target` reads as `<= 3.0` or `>= 0.5`.
    """

    figure: str
    measured: float
    limit: float
    unit: str
    target: str
    limit_is: str

    @property
    def ratio(self) -> float:
        return self.measured / self.limit

    @property
    def holds(self) -> bool:
        sign, bound = self.target.split()
        return self.ratio <= float(bound) if sign == "<=" else self.ratio >= float(bound)


# ---- the server ---------------------------------------------------------------------------------


async def answer_for_ever() -> None:
    """A chat server that answers at once; prints its address and ends with its parent's pipe."""
    reply = json.dumps(
        {
            "id": "c",
            "object": "chat.completion",
            "model": "m",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": ANSWER},
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 40, "completion_tokens": 5, "total_tokens": 45},
        }
    ).encode()

    async def chat(request: web.Request) -> web.Response:
        await request.read()
        return web.Response(body=reply, content_type="application/json")

    app = web.Application()
    app.router.add_post("/v1/chat/completions", chat)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}/v1", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await runner.cleanup()


@contextlib.contextmanager
def fake_server() -> Iterator[str]:
    """The server in a process of its own, so that its CPU is not the client's. Gives its URL."""
    with subprocess.Popen(
        [sys.executable, __file__, "--serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.stdin.close()


# ---- the client ---------------------------------------------------------------------------------


def prompt_of(number: int) -> str:
    return f"Task {number}: a train leaves at {number % 24}:00 and rides {number + 7} km."


async def timed_calls(call: Call, size: Size, first: int) -> tuple[float, float]:
    """CPU and wall seconds of `size.calls` distinct calls, `size.in_flight` at once."""
    numbers = iter(range(first, first + size.calls))

    async def worker() -> None:
        for number in numbers:
            assert await call(prompt_of(number)) == ANSWER

    cpu, wall = time.process_time(), time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(size.in_flight)))
    return time.process_time() - cpu, time.perf_counter() - wall


async def in_turn(sides: dict[str, Call], size: Size) -> dict[str, tuple[float, float]]:
    """Median CPU and wall seconds per call of each side; rounds alternate, the first warms up."""
    seen: dict[str, list[tuple[float, float]]] = {name: [] for name in sides}
    first = 0
    for _ in range(size.rounds + 1):
        for name, call in sides.items():
            seen[name].append(await timed_calls(call, size, first))
            first += size.calls
    return {
        name: (
            statistics.median(cpu for cpu, _ in rounds[1:]) / size.calls,
            statistics.median(wall for _, wall in rounds[1:]) / size.calls,
        )
        for name, rounds in seen.items()
    }


def request_of(prompt: str) -> Request:
    return Request(
        messages=(ChatMessage("system", SYSTEM), ChatMessage("user", prompt)),
        temperature=0.0,
        max_tokens=256,
        sample_index=(0,),
        role="planner",
    )


def server_backbone(base_url: str, size: Size) -> OpenAIServer:
    return OpenAIServer(
        OpenAIServerConfig(
            name="openai",
            base_url=base_url,
            model="m",
            revision="",
            api_key_env=None,
            concurrency=size.in_flight,
            timeout_s=60.0,
            max_retries=2,
            backoff_s=0.5,
            backoff_max_s=8.0,
            send_seed=True,
            context_tokens=None,
            reserve_tokens=0,
            chars_per_token=3.5,
            chat_template_kwargs={},
            extra_body={},
            schema_style="json_schema",
            session_header=None,
        )
    )


def client_lines(size: Size) -> list[Line]:
    """The client, alone and behind the cache, over a bare aiohttp loop against the same server."""

    async def measure(base_url: str, directory: Path) -> dict[str, tuple[float, float]]:
        url = base_url + "/chat/completions"
        alone = server_backbone(base_url, size)
        cached = CachedBackbone(server_backbone(base_url, size), directory / "calls.sqlite")
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

            async def bare(prompt: str) -> str:
                body = {
                    "model": "m",
                    "messages": [
                        {"role": "system", "content": SYSTEM},
                        {"role": "user", "content": prompt},
                    ],
                }
                async with session.post(url, json=body) as response:
                    data = await response.json()
                text: str = data["choices"][0]["message"]["content"]
                return text

            async def ours(prompt: str) -> str:
                return (await alone.generate(request_of(prompt))).text

            asked = 0

            async def ours_cached(prompt: str) -> str:
                nonlocal asked
                text = (await cached.generate(request_of(prompt))).text
                asked += 1
                # a rollout's worth of calls per transaction
                if asked % 10 == 0:
                    cached.commit()
                return text

            seen = await in_turn({"bare": bare, "client": ours, "cached": ours_cached}, size)
        await alone.close()
        await cached.close()
        return seen

    with fake_server() as base_url, tempfile.TemporaryDirectory() as name:
        seen = asyncio.run(measure(base_url, Path(name)))
    bare_cpu, bare_wall = seen["bare"]
    lines = []
    for side, label in (("client", "client"), ("cached", "client + cache, commit per 10 calls")):
        cpu, wall = seen[side]
        lines += [
            Line(
                figure=f"{label}: CPU per call",
                measured=1e3 * cpu,
                limit=1e3 * bare_cpu,
                unit="ms",
                target="<= 3.0",
                limit_is="bare aiohttp loop",
            ),
            Line(
                figure=f"{label}: CPU per call",
                measured=1e3 * cpu,
                limit=0.5,
                unit="ms",
                target="<= 1.0",
                limit_is="0.5 ms",
            ),
            Line(
                figure=f"{label}: calls per second",
                measured=1.0 / wall,
                limit=1.0 / bare_wall,
                unit="1/s",
                target=">= 0.5",
                limit_is="bare aiohttp loop",
            ),
        ]
    return lines


# ---- the cache ----------------------------------------------------------------------------------


def cache_lines(size: Size) -> list[Line]:
    """What the cache costs by itself: a hit, a miss, and a transaction over a bare fsync."""
    per_commit = 10

    async def ask(backbone: CachedBackbone, first: int) -> float:
        """CPU seconds of asking for `size.calls` prompts."""
        requests = [request_of(prompt_of(first + n)) for n in range(size.calls)]
        started = time.process_time()
        for request in requests:
            await backbone.generate(request)
        return time.process_time() - started

    async def measure(directory: Path) -> tuple[float, float, float, float]:
        inner = ScriptedBackbone([], default=ANSWER)
        backbone = CachedBackbone(inner, directory / "calls.sqlite", memory_entries=size.calls)
        hits, misses, disk = [], [], []
        for number in range(size.rounds + 1):
            misses.append(await ask(backbone, number * size.calls))
            hits.append(await ask(backbone, number * size.calls))
            backbone.commit()
            cold = CachedBackbone(inner, directory / "calls.sqlite")
            disk.append(await ask(cold, number * size.calls))
            await cold.close()
            inner.requests.clear()
        commits = []
        for number in range(20):
            for n in range(per_commit):
                await backbone.generate(request_of(f"commit {number} {n}"))
            started = time.perf_counter()
            backbone.commit()
            commits.append(time.perf_counter() - started)
        await backbone.close()
        per_call = [statistics.median(side[1:]) / size.calls for side in (hits, misses, disk)]
        return per_call[0], per_call[1], per_call[2], statistics.median(commits)

    def bare_fsync(directory: Path) -> float:
        """Seconds to append and fsync as many bytes as a transaction of ours holds."""
        taken = []
        with (directory / "bare").open("ab") as file:
            for _ in range(20):
                started = time.perf_counter()
                file.write(b"x" * 200 * per_commit)
                file.flush()
                os.fsync(file.fileno())
                taken.append(time.perf_counter() - started)
        return statistics.median(taken)

    with tempfile.TemporaryDirectory() as name:
        hit, miss, disk, commit = asyncio.run(measure(Path(name)))
        sync = bare_fsync(Path(name))
    lines = [
        Line(
            figure=f"cache: {label}",
            measured=1e6 * seconds,
            limit=60.0,
            unit="µs",
            target="<= 1.0",
            limit_is="60 µs",
        )
        for label, seconds in (
            ("hit in memory", hit),
            ("hit on disk", disk),
            ("miss, scripted reply included", miss),
        )
    ]
    lines.append(
        Line(
            figure=f"cache: commit of {per_commit} calls",
            measured=1e3 * commit,
            limit=1e3 * sync,
            unit="ms",
            target="<= 5.0",
            limit_is="one bare append + fsync",
        )
    )
    return lines


# ---- training in the simulated world ----------------------------------------------------------


def training_lines(size: Size) -> list[Line]:
    """Episodes per second of a whole training run on one core, cache and traces on."""
    import torch

    from sero.config import composer, parse_config
    from sero.inference.trace import Cost
    from sero.methods.base import Fitting
    from sero.running.build import assemble, load_inputs
    from sero.running.directory import RunDirectory
    from sero.running.progress import make_progress
    from sero.running.recording import RunRecorder
    from sero.running.saved import Journals
    from sero.tracking import JsonlMetrics

    torch.set_num_threads(1)
    overrides = ("experiment=single", "gate.warmup=strict", "early_stop.enabled=false")

    def unlimited(_: Cost) -> None:
        return None

    async def train(folder: Path) -> tuple[int, float]:
        places = (f"paths.runs={folder / 'runs'}", f"paths.cache={folder / 'cache'}")
        with composer(CONF, "train") as composing:
            composed = composing.compose([*overrides, *places])
        config = parse_config(composed.config, composed.choices)
        shop = assemble(config, load_inputs(config))
        journals = Journals.open(folder, None)
        recorder = RunRecorder(
            directory=RunDirectory(folder),
            journals=journals,
            metrics=JsonlMetrics(journals.metrics),
            progress=make_progress("none"),
        )
        fitting = Fitting(recorder=recorder, resume=None, check_budget=unlimited)
        started = time.perf_counter()
        await shop.method.fit(shop.split.train, fitting)
        seconds = time.perf_counter() - started
        journals.close()
        await shop.backbone.close()
        return shop.method.planned_episodes(len(shop.split.train)), seconds

    rates = []
    for _ in range(min(3, size.rounds)):
        with tempfile.TemporaryDirectory() as folder:
            episodes, seconds = asyncio.run(train(Path(folder)))
        rates.append(episodes / seconds)
    return [
        Line(
            figure="SkillWorld training, gate.tasks = 1",
            measured=statistics.median(rates),
            limit=40.0,
            unit="episodes/s",
            target=">= 1.0",
            limit_is="the least we promise",
        )
    ]


SECTIONS: tuple[Callable[[Size], list[Line]], ...] = (client_lines, cache_lines, training_lines)


def table_of(lines: list[Line]) -> Table:
    table = Table(title="each figure over its limit, measured in one run")
    for heading in ("figure", "measured", "limit", "", "ratio", "target", "holds"):
        table.add_column(heading, justify="left" if heading in ("figure", "") else "right")
    for line in lines:
        table.add_row(
            line.figure,
            f"{line.measured:.3g} {line.unit}",
            f"{line.limit:.3g} {line.unit}",
            line.limit_is,
            f"{line.ratio:.2f}",
            line.target,
            "yes" if line.holds else "no",
        )
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=2000, help="per round")
    parser.add_argument("--rounds", type=int, default=5, help="of each side, in turn")
    parser.add_argument("--in-flight", type=int, default=32, help="calls at once")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        asyncio.run(answer_for_ever())
        return
    size = Size(calls=args.calls, rounds=args.rounds, in_flight=args.in_flight)
    lines = [line for section in SECTIONS for line in section(size)]
    Console(width=None if sys.stdout.isatty() else 140).print(table_of(lines))


if __name__ == "__main__":
    main()
