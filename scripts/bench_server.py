"""Tokens per second through an evaluation, over what the same server does without Sero.

    python scripts/serve_backbone.py backbone=smollm2_vllm            # in another terminal
    python scripts/bench_server.py backbone=smollm2_vllm

Three sides in turn, on one server: an evaluation (`scripts/evaluate.py method=cot`), a bare client
loop that sends exactly the evaluation's requests, and, where vLLM is installed, its own
`vllm bench serve` on exactly their prompts. All run at one concurrency, every completion has the
same length (the end of a text is ignored), and a first round that is not counted has put all
prompts into the prefix cache. A benchmark, not a test: read the ratios.

vLLM's own benchmark wants `pip install pandas` beside it. Where it is installed in another
environment, as the CPU build is, say how it is called, with fewer and shorter completions:
`--items 32 --max-tokens 32 --vllm "PYTHON -m sero.backbones.vllm_cpu"`.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import aiohttp
from aiohttp import web
from rich.console import Console
from rich.table import Table

from sero.backbones.vllm_program import find_program
from sero.config.backbone_alone import compose_backbone
from sero.errors import SeroError, UserError

HERE = Path(__file__).resolve().parent
TARGET = 0.90


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """What is asked for.

    Attributes:
        overrides: of `scripts/evaluate.py`, the backbone first.
        items: held-out items, one request each.
        in_flight: requests at once.
        max_tokens: length of every completion.
    """

    overrides: tuple[str, ...]
    items: int
    in_flight: int
    max_tokens: int


def evaluate(mix: Mix, base_url: str) -> float:
    """Completion tokens per second of one evaluation, from its own account; nothing is cached."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [
                *(sys.executable, str(HERE / "evaluate.py"), "experiment=single", "method=cot"),
                *("benchmark=toy", "encoder=hashing", "logger=none", "progress=none"),
                *mix.overrides,
                *(f"backbone.base_url={base_url}", f"backbone.concurrency={mix.in_flight}"),
                *("+backbone.extra_body.ignore_eos=true", f"exec.max_tokens={mix.max_tokens}"),
                *(f"benchmark.n_heldout={mix.items}", f"evaluate.concurrency={mix.in_flight}"),
                f"benchmark.generated.n={mix.items + 60}",
                *(f"paths.runs={folder}/runs", f"paths.cache={folder}/cache"),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise UserError(f"the evaluation ended with {done.returncode}: {done.stderr.strip()}")
        (path,) = Path(folder).rglob("result.json")
        result = json.loads(path.read_text(encoding="utf-8"))
    sent = result["requests"] * mix.max_tokens
    if result["completion_tokens"] != sent:
        raise UserError(
            f"{result['completion_tokens']} completion tokens in {result['requests']} requests, "
            f"expected {sent}: the server does not know ignore_eos"
        )
    return float(sent / result["wall_s"])


async def recorded(mix: Mix, base_url: str) -> list[bytes]:
    """The bodies of an evaluation's requests, as they passed on their way to the server."""
    bodies: list[bytes] = []
    async with aiohttp.ClientSession() as session:

        async def chat(request: web.Request) -> web.Response:
            bodies.append(await request.read())
            async with session.post(f"{base_url}/chat/completions", **as_json(bodies[-1])) as reply:
                return web.Response(body=await reply.read(), status=reply.status)

        app = web.Application()
        app.router.add_post("/v1/chat/completions", chat)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        await asyncio.to_thread(evaluate, mix, url)
        await runner.cleanup()
    return bodies


def as_json(body: bytes) -> dict[str, object]:
    return {"data": body, "headers": {"Content-Type": "application/json"}}


async def bare_loop(bodies: Sequence[bytes], in_flight: int, base_url: str) -> float:
    """Completion tokens per second of the least a client can do."""
    places = asyncio.Semaphore(in_flight)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def send(body: bytes) -> int:
            async with (
                places,
                session.post(f"{base_url}/chat/completions", **as_json(body)) as reply,
            ):
                return int((await reply.json())["usage"]["completion_tokens"])

        started = time.perf_counter()
        tokens = sum(await asyncio.gather(*map(send, bodies)))
        return tokens / (time.perf_counter() - started)


async def prompts(bodies: Sequence[bytes], base_url: str) -> list[str]:
    """The texts the server's chat template makes of the requests."""
    root = base_url.removesuffix("/v1")
    texts = []
    async with aiohttp.ClientSession() as session:
        for body in map(json.loads, bodies):
            ask = {"model": body["model"], "messages": body["messages"]}
            ask["chat_template_kwargs"] = body.get("chat_template_kwargs", {})
            async with session.post(f"{root}/tokenize", json=ask) as reply:
                tokens = (await reply.json())["tokens"]
            ask = {"model": body["model"], "tokens": tokens}
            async with session.post(f"{root}/detokenize", json=ask) as reply:
                texts.append((await reply.json())["prompt"])
    return texts


async def weights_of(base_url: str) -> tuple[str, str]:
    """The model's name, and the folder or hub name its tokenizer is loaded from."""
    async with aiohttp.ClientSession() as session, session.get(f"{base_url}/models") as reply:
        model = (await reply.json())["data"][0]
    return model["id"], model["root"]


def servers_own(
    program: Sequence[str], texts: Sequence[str], mix: Mix, base_url: str, model: str, root: str
) -> float:
    """Output tokens per second as `vllm bench serve` measures them."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "prompts.jsonl"
        data.write_text("".join(json.dumps({"prompt": text}) + "\n" for text in texts))
        done = subprocess.run(
            [
                *(*program, "bench", "serve", "--backend", "openai", "--endpoint"),
                *("/v1/completions", "--base-url", base_url.removesuffix("/v1")),
                *("--model", model, "--tokenizer", root, "--dataset-name", "custom"),
                *("--dataset-path", str(data), "--skip-chat-template", "--disable-shuffle"),
                *("--custom-output-len", str(mix.max_tokens), "--ignore-eos"),
                *("--num-prompts", str(len(texts)), "--max-concurrency", str(mix.in_flight)),
                *("--temperature", "0", "--save-result", "--result-dir", folder),
                *("--result-filename", "result.json"),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        result = Path(folder) / "result.json"
        if done.returncode or not result.exists():
            raise UserError(
                f"{shlex.join(program)} bench serve ended with {done.returncode}: "
                f"{done.stderr.strip()[-1500:]}"
            )
        return float(json.loads(result.read_text(encoding="utf-8"))["output_throughput"])


def measure(mix: Mix, base_url: str, program: Sequence[str], rounds: int) -> dict[str, list[float]]:
    """Tokens per second of each side by round, the sides taken in turn."""
    bodies = asyncio.run(recorded(mix, base_url))
    model, root = asyncio.run(weights_of(base_url))
    texts = asyncio.run(prompts(bodies, base_url)) if program else []
    found: dict[str, list[float]] = {"evaluation": [], "bare loop": []}
    for _ in range(rounds):
        found["evaluation"].append(evaluate(mix, base_url))
        found["bare loop"].append(asyncio.run(bare_loop(bodies, mix.in_flight, base_url)))
        if program:
            try:
                own = servers_own(program, texts, mix, base_url, model, root)
            except UserError as error:  # what was measured without it stands
                sys.stderr.write(f"{error}\n")
                program = ()
            else:
                found.setdefault("vllm bench serve", []).append(own)
    return found


def print_table(found: dict[str, list[float]], mix: Mix) -> None:
    title = f"{mix.items} requests of {mix.max_tokens} tokens, {mix.in_flight} at once"
    table = Table("side", "tokens/s, by round", "median", "evaluation over it", title=title)
    ours = found["evaluation"]
    for side, values in found.items():
        ratio = statistics.median(a / b for a, b in zip(ours, values, strict=False))
        said = "" if side == "evaluation" else f"{ratio:.2f} (target >= {TARGET:.2f})"
        shown = " ".join(f"{value:.1f}" for value in values)
        table.add_row(side, shown, f"{statistics.median(values):.1f}", said)
    Console(width=None if sys.stdout.isatty() else 110).print(table)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("overrides", nargs="+", metavar="key=value", help="backbone=NAME first")
    parser.add_argument("--items", type=int, default=64, help="requests a round")
    parser.add_argument("--in-flight", type=int, default=16, help="requests at once")
    parser.add_argument("--max-tokens", type=int, default=64, help="length of a completion")
    parser.add_argument("--rounds", type=int, default=3, help="of every side")
    parser.add_argument("--vllm", metavar="WORDS", help="how vLLM's command is called")
    args = parser.parse_args(argv)
    mix = Mix(
        overrides=tuple(args.overrides),
        items=args.items,
        in_flight=args.in_flight,
        max_tokens=args.max_tokens,
    )
    try:
        base_url = compose_backbone(HERE.parent / "conf", args.overrides).backbone.config.base_url
        program = tuple(shlex.split(args.vllm)) if args.vllm else ()
        if not program:
            with contextlib.suppress(UserError):
                program = find_program()
        print_table(measure(mix, base_url.rstrip("/"), program, args.rounds), mix)
    except SeroError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
