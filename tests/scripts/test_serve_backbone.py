"""`scripts/serve_backbone.py` as a user calls it, before a stand-in for vLLM that answers /health.

In a process of its own where signals, pipes or its death count, else in this one. The real one is
in `tests/backbones/test_vllm_real.py`.
"""

import asyncio
import contextlib
import os
import runpy
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from sero.backbones.child_server import free_port
from sero.backbones.listing import why_not_serving
from sero.running.serving import _PIECE_BYTES, _passing_on

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "serve_backbone.py"
PATIENCE_S = 120.0

STAND_IN = """
    import http.server, os, subprocess, sys, time
    def main():
        mode, port = os.environ["MODE"], int(sys.argv[sys.argv.index("--port") + 1])
        print("key:", len(os.environ.get("VLLM_API_KEY", "")), "batch:",
              os.environ.get("VLLM_BATCH_INVARIANT"), flush=True)
        child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"])
        with open("pids.new", "w") as f:
            f.write(f"{os.getpid()} {child.pid}")
        os.rename("pids.new", "pids")
        if mode == "fails":
            sys.exit("RuntimeError: operator torchvision::nms does not exist")
        if mode == "hangs":
            time.sleep(600)
        class Health(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                name = os.environ.get("SERVES", "Qwen/Qwen3-8B")
                key = os.environ.get("VLLM_API_KEY")
                refused = key and self.headers["Authorization"] != f"Bearer {key}"
                models = self.path == "/v1/models" and not refused
                self.send_response(200 if models or self.path == "/health" else 404)
                self.end_headers()
                if models:
                    self.wfile.write(f'{{"data": [{{"id": "{name}"}}]}}'.encode())
            def log_message(self, *_):
                pass
        http.server.HTTPServer(("127.0.0.1", port), Health).serve_forever()
    if __name__ == "__main__":
        main()
"""


@pytest.fixture
def site(tmp_path):
    """A folder of packages with the stand-in for vLLM."""
    site = tmp_path / "site"
    package = site / "vllm" / "entrypoints" / "cli"
    package.mkdir(parents=True)
    (package / "main.py").write_text(textwrap.dedent(STAND_IN))
    info = site / "vllm-9.9.9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: vllm\nVersion: 9.9.9\n")
    return site


@pytest.fixture
def start(site, tmp_path):
    """Start the script in an empty folder, vLLM being the stand-in; ended in the end."""
    started = []

    def run(*overrides, mode="serves", **variables):
        process = subprocess.Popen(
            [sys.executable, str(SCRIPT), "backbone=qwen3_8b", *overrides],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": f"{site}:{ROOT}", "MODE": mode, **variables},
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def call(site, tmp_path, monkeypatch, capsys):
    """Call the script in this process, in an empty folder; exit code, output and error output."""
    main = runpy.run_path(str(SCRIPT))["main"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", f"{site}:{ROOT}")

    def run(*overrides, mode="serves", **variables):
        for name, value in {"MODE": mode, **variables}.items():
            monkeypatch.setenv(name, value)
        code = main(["backbone=qwen3_8b", *overrides])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def time_is_up(monkeypatch):
    """Call it with a condition: time to get ready is over once it is true, however long that is."""

    def when(condition):
        clock = SimpleNamespace(monotonic=lambda: time.monotonic() + 1e6 * bool(condition()))
        monkeypatch.setattr("sero.backbones.child_server.time", clock)

    return when


def eventually(condition):
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until, "it never came true"
        time.sleep(0.05)


def running(pid):
    with contextlib.suppress(OSError):
        stat = Path(f"/proc/{pid}/stat").read_text()
        return stat.rpartition(")")[2].split()[0] not in "ZX"
    return False


def servers(tmp_path):
    """The process ids of the server and its child."""
    eventually((tmp_path / "pids").exists)
    return [int(pid) for pid in (tmp_path / "pids").read_text().split()]


def gone(pids):
    return not any(map(running, pids))


def until_ready(process):
    """What it printed up to the line that says how to stop it."""
    lines = []
    while not lines or not lines[-1].startswith("Ctrl-C"):
        line = process.stdout.readline()
        assert line, f"it ended: {process.stderr.read()}"
        lines.append(line.rstrip("\n"))
    return lines


def address():
    return f"backbone.base_url=http://127.0.0.1:{free_port()}/v1"


def test_it_serves_until_interrupted(start, tmp_path):
    url = address()
    process = start(
        *(url, "backbone.api_key_env=MY_KEY", "backbone.serve.batch_invariant=true"),
        MY_KEY="s3cret",
    )
    lines = until_ready(process)
    base = url.partition("=")[2]
    port = base.removesuffix("/v1").rpartition(":")[2]
    command = (
        'VLLM_BATCH_INVARIANT=1 VLLM_API_KEY="$MY_KEY" '
        f"{sys.executable} -m vllm.entrypoints.cli.main serve Qwen/Qwen3-8B --served-model-name "
        f"Qwen/Qwen3-8B --revision main --host 127.0.0.1 --port {port} --max-model-len 32768 "
        "--gpu-memory-utilization 0.9 --dtype auto --seed 0 --enable-prefix-caching "
        "--disable-uvicorn-access-log"
    )
    assert lines[:2] == [f"starting: {command}", "log: cache/serve/qwen3_8b.log"]
    assert lines[2].startswith("ready after ")
    assert lines[2].endswith(f" s: {base} serves Qwen/Qwen3-8B")
    assert lines[3] == f"the same by hand: {command}"
    assert lines[4] == (
        "next: python scripts/train.py experiment=single backbone=qwen3_8b "
        f"backbone.base_url={base} encoder=minilm benchmark=toy"
    )
    pids = servers(tmp_path)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    assert out == "SIGINT: stopping the server\n"
    assert gone(pids)
    assert err == "key: 6 batch: 1\n"  # passed on from the server's log
    assert (tmp_path / "cache" / "serve" / "qwen3_8b.log").read_text() == err
    assert "s3cret" not in "\n".join([*lines, out, err])


def test_its_own_death_ends_the_server(start, tmp_path):
    process = start(address())
    until_ready(process)
    pids = servers(tmp_path)
    process.kill()
    process.communicate()
    eventually(lambda: gone(pids))


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_before_it_is_ready(start, tmp_path, number, code):
    process = start(address(), mode="hangs")
    pids = servers(tmp_path)
    process.send_signal(number)
    out, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == code
    assert out.splitlines()[-1] == f"{signal.Signals(number).name}: stopping the server"
    assert gone(pids)


def test_a_server_that_fails_is_told_with_the_end_of_its_log_and_a_mend(call, tmp_path):
    code, _, err = call(address(), mode="fails")
    assert code == 75
    lines = err.splitlines()
    trouble = "RuntimeError: operator torchvision::nms does not exist"
    assert lines[:2] == ["key: 0 batch: None", trouble]
    assert lines[2] == (
        f"{sys.executable} ended with exit status 1 before it was ready. "
        "The end of cache/serve/qwen3_8b.log:"
    )
    assert lines[3:] == [
        *("  | key: 0 batch: None", f"  | {trouble}"),
        "Perhaps: pip uninstall -y torchvision torchaudio torchcodec.",
    ]
    eventually(lambda: gone(servers(tmp_path)))


def test_a_server_killed_while_it_serves_ends_the_script(start, tmp_path):
    process = start(address())
    until_ready(process)
    pids = servers(tmp_path)
    os.kill(pids[0], signal.SIGKILL)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 75
    assert "was ended by SIGKILL." in err
    assert gone(pids)


def test_one_that_is_never_ready(call, tmp_path, time_is_up):
    time_is_up((tmp_path / "pids").exists)
    code, _, err = call(address(), "backbone.serve.ready_timeout_s=120", mode="hangs")
    assert code == 75
    assert "/health within 120 s and was stopped." in err
    assert gone(servers(tmp_path))


def test_a_taken_port_is_told_before_anything_starts(call, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, out, err = call(f"backbone.base_url=http://127.0.0.1:{port}/v1")
    assert (code, out) == (2, "")
    assert err.startswith(f"127.0.0.1:{port} cannot be listened on: something is running there")
    assert not (tmp_path / "pids").exists()


def test_a_dry_run_only_shows_the_command(call, tmp_path):
    code, out, err = call("dry_run=true", "backbone.serve.tensor_parallel=2")
    assert (code, err) == (0, "")
    assert out.count("\n") == 1
    assert " serve Qwen/Qwen3-8B " in out
    assert " --tensor-parallel-size 2 " in out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["site"]


def test_the_environment_of_the_server_need_not_have_what_a_run_has():
    """README installs there, beside vLLM, only what the script takes."""
    absent = [
        *("datasets", "hydra_plugins.hydra_joblib_launcher", "matplotlib", "pyarrow", "scipy"),
        *("sentence_transformers", "wandb"),
    ]
    code = (
        "import runpy, sys\n"
        f"sys.modules.update(dict.fromkeys({absent!r}))\n"
        "sys.argv[1:] = ['backbone=qwen3_8b', 'dry_run=true']\n"
        f"runpy.run_path({str(ROOT / 'scripts' / 'serve_backbone.py')!r}, run_name='__main__')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert " serve Qwen/Qwen3-8B " in done.stdout


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (("backbone.serve.dtyp=half",), "did you mean 'backbone.serve.dtype'?"),
        (("backbone=scripted",), "backbone=scripted says nothing of a server to start."),
    ],
)
def test_mistakes_end_with_one_paragraph_and_code_2(call, overrides, said):
    code, out, err = call(*overrides)
    assert (code, out) == (2, "")
    assert said in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (".", "log: . is a directory"),
        ("/proc/nope/x.log", "log: /proc/nope/x.log cannot be written: No such file or directory"),
        ("/dev/full", "log: /dev/full is no regular file"),
    ],
)
def test_a_log_that_cannot_be_kept(call, tmp_path, log, said):
    code, out, err = call(address(), f"log={log}")
    assert (code, out) == (74, "")
    assert err.startswith(said)
    assert err.count("\n") == 1
    assert not (tmp_path / "pids").exists()


def test_nobody_reads_what_it_says(start, tmp_path):
    process = start(address())
    process.stdout.readline()
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 128 + signal.SIGPIPE
    assert err in ("", "key: 0 batch: None\n")
    assert not (tmp_path / "pids").exists() or gone(servers(tmp_path))


def test_an_interrupt_while_it_imports(tmp_path):
    late = tmp_path / "sero" / "config"
    late.mkdir(parents=True)
    (tmp_path / "sero" / "__init__.py").write_text("")
    (late / "__init__.py").write_text("")
    (late / "backbone_alone.py").write_text(
        "import time\nprint('importing', flush=True)\ntime.sleep(600)\n"
    )
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), "backbone=qwen3_8b"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert process.stdout.readline() == "importing\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out, err) == (130, "", "")


def test_another_model_at_the_address_is_not_ready(call, tmp_path, monkeypatch, time_is_up):
    doubts = []

    async def told(*args, **named):
        doubts.append(await why_not_serving(*args, **named))
        return doubts[-1]

    monkeypatch.setattr("sero.running.serving.why_not_serving", told)
    time_is_up(lambda: any("Other/Model" in doubt for doubt in doubts))
    code, out, err = call(address(), "backbone.serve.ready_timeout_s=120", SERVES="Other/Model")
    assert code == 75
    assert "ready after" not in out
    assert "/v1/models lists Other/Model and not Qwen/Qwen3-8B: the server there is" in err
    assert gone(servers(tmp_path))


def test_a_long_log_is_passed_on_whole(tmp_path):
    text = "é" * (_PIECE_BYTES + 1)  # a character lies across the end of a piece
    (tmp_path / "log").write_text(f"x{text}")
    heard = []

    async def look():
        async with _passing_on(SimpleNamespace(log=tmp_path / "log", log_start=0), heard.append):
            pass

    asyncio.run(look())
    assert "".join(heard) == f"x{text}"
    assert max(map(len, heard)) <= _PIECE_BYTES
