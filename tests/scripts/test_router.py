"""A real router before two fake workers, one of which is killed in mid-run."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from pathlib import Path

import pytest

from sero.backbones.child_server import free_port
from sero.backbones.router import find_router
from sero.errors import UserError

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
WORKER = Path(__file__).with_name("fleet_worker.py")
N_ITEMS = 120
N_SESSIONS = 32
PATIENCE_S = 180.0

try:
    find_router()
except UserError as error:
    pytest.skip(str(error), allow_module_level=True)

pytestmark = pytest.mark.slow


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def eventually(condition) -> None:
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until, "it never came true"
        time.sleep(0.02)


def healthy(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1) as answer:
            return answer.status == 200
    except OSError:
        return False


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def ask(port: int, session: str) -> None:
    """One chat request that carries a session, sent straight to the router."""
    body = {"model": "Qwen/Qwen3-8B", "messages": [{"role": "user", "content": session}]}
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1/chat/completions",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json", "X-Session-ID": session},
    )
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
        assert answer.status == 200


@pytest.fixture
def fleet(tmp_path):
    """Two workers and the router before them: its port, the workers and their logs."""
    ports = [free_port(), free_port()]
    logs = [tmp_path / f"worker{i}.jsonl" for i in range(2)]
    workers = [
        subprocess.Popen([sys.executable, str(WORKER), str(port), str(log)])
        for port, log in zip(ports, logs, strict=True)
    ]
    for port in ports:
        eventually(lambda port=port: healthy(port))
    port = free_port()
    addresses = ",".join(f'"http://127.0.0.1:{worker}"' for worker in ports)
    router = subprocess.Popen(
        [
            *(sys.executable, str(SCRIPTS / "serve_backbone.py"), "backbone=qwen3_8b_fleet"),
            f"backbone.base_url=http://127.0.0.1:{port}/v1",
            f"backbone.route.workers=[{addresses}]",
            "backbone.route.check_interval_s=1",
            f"backbone.route.extra_args=[--prometheus-port,{free_port()}]",
        ],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment(),
    )
    assert router.stdout is not None
    said = []
    while not said or not said[-1].startswith("Ctrl-C"):
        line = router.stdout.readline()
        assert line, "".join(said)
        said.append(line)
    yield port, workers, logs
    for process in (router, *workers):
        process.terminate()
        process.communicate(timeout=PATIENCE_S)


def test_a_role_keeps_to_one_worker_while_all_live(fleet):
    port, _, logs = fleet
    for _ in range(2):
        for k in range(N_SESSIONS):
            ask(port, f"role-{k}")
    places = [{row["role"] for row in lines(log)} for log in logs]
    assert all(places), "with so many roles every worker has some"
    assert not places[0] & places[1]
    assert len(places[0] | places[1]) == N_SESSIONS


def test_every_item_is_answered_once_though_a_worker_dies(fleet, tmp_path):
    port, workers, logs = fleet
    run = subprocess.Popen(
        [
            *(sys.executable, str(SCRIPTS / "evaluate.py"), "experiment=single", "method=static"),
            *("benchmark=toy", f"benchmark.n_heldout={N_ITEMS}", "encoder=hashing", "logger=none"),
            *("backbone=qwen3_8b_fleet", f"backbone.base_url=http://127.0.0.1:{port}/v1"),
            *("backbone.concurrency=8", "backbone.backoff_s=0.1", "progress=none"),
        ],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment(),
    )
    # which worker a role is hashed to depends on the ports: one of them may have nearly all, so
    # the one that dies is the one with more to lose
    eventually(lambda: sum(len(lines(log)) for log in logs) >= 40 or run.poll() is not None)
    dies = max((0, 1), key=lambda side: len(lines(logs[side])))
    before = [len(lines(log)) for log in logs]
    workers[dies].send_signal(signal.SIGKILL)
    said, _ = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 0, said

    (done,) = tmp_path.glob("runs/single/*/static/toy/seed_42")
    predictions = lines(done / "predictions.jsonl")
    assert len(predictions) == len({row["id"] for row in predictions}) == N_ITEMS
    assert [row["failure"] for row in predictions] == [None] * N_ITEMS
    assert len(lines(logs[1 - dies])) > before[1 - dies], "the other worker took over"

    # nothing is answered twice but what was under way at the worker that died
    asked = Counter(row["asked"] for log in logs for row in lines(log))
    result = json.loads((done / "result.json").read_text())
    assert len(asked) == result["requests"]
    twice = {text for text, n in asked.items() if n > 1}
    assert len(twice) <= 8
    assert twice <= {row["asked"] for row in lines(logs[dies])}
