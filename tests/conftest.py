"""A benchmark of one's own (`tests/quiz/`), a web site on this machine, runs that are killed."""

import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from sero.benchmarks.item_benchmark import GeneratedConfig

TESTS = Path(__file__).resolve().parent
QUIZ = TESTS / "quiz"

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Shells start what they put in the background so, and children would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def quiz_module(monkeypatch: pytest.MonkeyPatch) -> Any:
    """`quiz.py`, importable as a user's module would be."""
    monkeypatch.syspath_prepend(str(QUIZ))
    return importlib.import_module("quiz")


@pytest.fixture
def quiz_rows() -> list[dict[str, Any]]:
    """Four sums and two words, the published counts, and two items that are left out."""
    sums = [
        {"id": f"s{i}", "kind": "sums", "level": "easy", "question": f"{i} + {i}?"}
        | {"answer": str(2 * i), "stored": "a model output"}
        for i in (3, 1, 4, 2)
    ]
    words = [
        {"id": f"w{i}", "kind": "words", "question": f"Word {i}?", "answer": word}
        for i, word in ((2, "Elm"), (1, "Oka"))
    ]
    pictures = [{"id": f"p{i}", "kind": "words", "picture": True} for i in range(2)]
    return [*sums, *words, *pictures]


@pytest.fixture
def write_lines() -> Callable[[Path, Sequence[Mapping[str, Any]]], Path]:
    """Write objects as JSONL; returns the path."""

    def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return write


@pytest.fixture
def quiz(quiz_module: Any) -> Callable[..., Any]:
    """Build the quiz: `quiz(source=..., scorer="official", slow=True)`."""

    def build(*, slow: bool = False, **changes: Any) -> Any:
        settings: dict[str, Any] = {
            "name": "quiz",
            "source": "generated",
            "prompts": str(QUIZ / "prompts"),
            "seed_pool": str(QUIZ / "prompts" / "seed_pool.yaml"),
            "n_train": 2,
            "n_heldout": None,
            "split_seed": 0,
            "allow_counts": False,
            "strict_add": False,
            "generated": GeneratedConfig(n=8, seed=0, difficulty=1),
            "scorer": "careful",
        }
        kind = quiz_module.SlowQuiz if slow else quiz_module.Quiz
        return kind(quiz_module.QuizConfig(**{**settings, **changes}))

    return build


@pytest.fixture
def quiz_conf(tmp_path: Path, quiz_module: Any) -> Path:
    """A configuration folder of the user's own, with `benchmark/quiz.yaml` and `slow_quiz.yaml`."""
    folder = tmp_path / "own_conf"
    (folder / "benchmark").mkdir(parents=True)
    for name, target in (("quiz", "Quiz"), ("slow_quiz", "SlowQuiz")):
        (folder / "benchmark" / f"{name}.yaml").write_text(
            "defaults: [_items, _self_]\n"
            f"_target_: quiz.{target}\n"
            f"name: {name}\n"
            f"prompts: {QUIZ / 'prompts'}\n"
            "scorer: careful\n"
            "n_train: 2\n"
            "n_heldout: null\n"
        )
    return folder


class Site:
    """A web site: `pages` maps a path to its content, or to a function that answers by itself."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes | Callable[[BaseHTTPRequestHandler], None]] = {}
        self.headers: dict[str, str] = {}
        self.asked: list[str] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append(self.path)
                page = site.pages.get(self.path)
                if page is None:
                    self.send_error(404)
                elif isinstance(page, bytes):
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(page)))
                    for name, value in site.headers.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(page)
                else:
                    page(self)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A web site of this test's own; no proxy is asked for it."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    found = Site()
    thread = threading.Thread(target=found.server.serve_forever, args=(0.01,))
    thread.start()
    yield found
    found.server.shutdown()
    found.server.server_close()
    thread.join()


@pytest.fixture
def closed_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def run_apart() -> Iterator[Callable[..., int]]:
    """Run a job in a process of its own: `run_apart(folder, point, number, words)`, its exit code.

    The process kills itself at a point (`running/killed_run.py`, which also forks it).
    """
    command = [sys.executable, str(TESTS / "running" / "killed_run.py")]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=env, stdin=pipe, stdout=pipe, text=True) as driver:

        def run(folder: Path, point: str, number: int, words: Sequence[str]) -> int:
            asked = {"folder": str(folder), "point": point, "number": number, "words": list(words)}
            driver.stdin.write(json.dumps(asked) + "\n")
            driver.stdin.flush()
            code = int(driver.stdout.readline())
            assert code in (0, -signal.SIGKILL), (folder / "said.txt").read_text()
            return code

        yield run
