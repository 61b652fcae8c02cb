"""A server as a child process: readiness, failures with their log, and nobody left behind."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import aiohttp
import pytest

from sero.backbones.child_server import ChildServer, free_port, port_is_taken
from sero.errors import ServerNotReady

PATIENCE_S = 30.0

SERVER = """
    import http.server, os, signal, subprocess, sys, time
    port, family = int(sys.argv[1]), sys.argv[2]
    if "stubborn" in sys.argv:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"])
    with open(family + ".new", "w") as f:
        f.write(f"{os.getpid()} {child.pid}")
    os.rename(family + ".new", family)
    class Health(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(503 if "ill" in sys.argv else 200)
            self.end_headers()
            self.wfile.write(os.environ.get("GREETING", "").encode())
        def log_message(self, *_):
            pass
    print("\\x1b[32mINFO\\x1b[0m listening", flush=True)
    http.server.HTTPServer(("127.0.0.1", port), Health).serve_forever()
"""


@pytest.fixture
def serve(tmp_path):
    """Makes a server of a script; all are stopped in the end."""
    made = []

    def make(script=SERVER, *extra, ready_timeout_s=PATIENCE_S, **settings):
        path = tmp_path / "server.py"
        path.write_text(textwrap.dedent(script))
        port = free_port()
        server = ChildServer(
            [sys.executable, "-S", str(path), str(port), str(tmp_path / "family"), *extra],
            health_url=f"http://127.0.0.1:{port}/health",
            log=tmp_path / "logs" / "server.log",
            ready_timeout_s=ready_timeout_s,
            **settings,
        )
        made.append(server)
        return server

    yield make
    for server in made:
        server.stop()


def family(tmp_path: Path) -> list[int]:
    """The process ids of the server and of the child it started."""
    path = tmp_path / "family"
    eventually(path.exists)
    return [int(pid) for pid in path.read_text().split()]


def running(pid: int) -> bool:
    """A process that is more than an entry nobody has waited for."""
    with contextlib.suppress(OSError):
        stat = Path(f"/proc/{pid}/stat").read_text()
        return stat.rpartition(")")[2].split()[0] not in "ZX"
    return False


def eventually(condition) -> None:
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until, "it never came true"
        time.sleep(0.02)


def all_gone(pids) -> bool:
    return not any(map(running, pids))


async def test_it_is_ready_when_healthy_and_gone_after_stop(serve, tmp_path):
    server = serve(env={"GREETING": "hello"})
    assert not server.alive
    server.start()
    await server.wait_ready()
    async with aiohttp.ClientSession() as session, session.get(server.health_url) as answer:
        assert await answer.text() == "hello"
    pids = family(tmp_path)
    server.start()  # a second start changes nothing
    assert family(tmp_path) == pids
    assert server.alive
    assert all(map(running, pids))
    assert server.exit_status is None

    server.stop()
    assert not server.alive
    assert server.exit_status == 128 + signal.SIGTERM
    eventually(lambda: all_gone(pids))
    server.stop()


async def test_it_can_be_started_again_and_its_log_goes_on(serve, tmp_path):
    server = serve()
    for _ in range(2):
        server.start()
        await server.wait_ready()
        assert server.tail() == ["INFO listening"]  # of this start alone, without colours
        server.stop()
    assert (tmp_path / "logs" / "server.log").read_text().count("listening") == 2


async def test_one_that_ends_early_says_why(serve, tmp_path):
    lines = "for i in range(50): print('line', i)\nraise SystemExit(3)"
    server = serve(lines)
    server.start()
    with pytest.raises(ServerNotReady) as caught:
        await server.wait_ready()
    message = str(caught.value).splitlines()
    log = tmp_path / "logs" / "server.log"
    head = f"{sys.executable} ended with exit status 3 before it was ready. The end of {log}:"
    assert message == [head, *(f"  | line {i}" for i in range(20, 50))]
    assert caught.value.exit_code == 75
    assert not server.alive


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("import os; os.kill(os.getpid(), 11)", "was ended by SIGSEGV before it was ready. It wr"),
        ("raise SystemExit(0)", "ended with exit status 0 before it was ready. It wrote nothing"),
    ],
)
async def test_how_it_ended_is_named(serve, script, said):
    server = serve(script)
    server.start()
    with pytest.raises(ServerNotReady, match=said):
        await server.wait_ready()


async def test_a_program_that_does_not_exist(tmp_path):
    server = ChildServer(
        ["no-such-program"],
        health_url="http://127.0.0.1:9/",
        log=tmp_path / "log",
        ready_timeout_s=PATIENCE_S,
    )
    with pytest.raises(ServerNotReady, match="was never started"):
        await server.wait_ready()
    server.start()
    with pytest.raises(ServerNotReady, match="status 127") as caught:
        await server.wait_ready()
    assert "no-such-program cannot be started: No such file or directory" in str(caught.value)


async def test_one_that_never_gets_healthy_is_stopped(serve, tmp_path):
    server = serve(SERVER, "ill", ready_timeout_s=1.5)
    server.start()
    pids = family(tmp_path)
    with pytest.raises(ServerNotReady, match=r"not healthy at http\S+/health within 1\.5 s"):
        await server.wait_ready()
    assert not server.alive
    eventually(lambda: all_gone(pids))


async def test_the_health_of_another_server_on_the_port_does_not_count(serve):
    other = serve()
    other.start()
    await other.wait_ready()
    server = ChildServer(
        [sys.executable, "-c", "raise SystemExit('address in use')"],
        health_url=other.health_url,
        log=other.log.with_name("second.log"),
        ready_timeout_s=PATIENCE_S,
    )
    server.start()
    eventually(lambda: not server.alive)
    with pytest.raises(ServerNotReady, match="address in use"):
        await server.wait_ready()


def test_one_that_ignores_the_request_to_end_is_killed(serve, tmp_path):
    server = serve(SERVER, "stubborn", stop_grace_s=0.3)
    server.start()
    pids = family(tmp_path)
    server.stop()
    assert server.exit_status == 128 + signal.SIGKILL
    eventually(lambda: all_gone(pids))


def test_a_killed_server_takes_its_children_along(serve, tmp_path):
    server = serve()
    server.start()
    pids = family(tmp_path)
    os.kill(pids[0], signal.SIGKILL)
    eventually(lambda: not server.alive)
    assert server.exit_status == 128 + signal.SIGKILL
    assert str(server.lost()).startswith(f"{sys.executable} was ended by SIGKILL. ")
    eventually(lambda: all_gone(pids))


OWNER = """
    import os, sys, time
    from pathlib import Path
    from sero.backbones.child_server import ChildServer
    server = ChildServer(
        sys.argv[2:], health_url="http://127.0.0.1:9/", log=Path(sys.argv[1]), ready_timeout_s=9
    )
    server.start()
    if FORKS and os.fork() == 0:
        time.sleep(60)  # holds a copy of every file of its parent
    if ENDS:
        while not os.path.exists(sys.argv[-1]):
            time.sleep(0.02)
        sys.exit()
    time.sleep(60)
"""


@pytest.mark.parametrize("forks", [False, True])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, None])
def test_it_dies_with_the_process_that_started_it(serve, tmp_path, number, forks):
    server = serve()
    script = textwrap.dedent(OWNER.replace("FORKS", str(forks)).replace("ENDS", str(not number)))
    owner = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "log"), *server.argv],
        start_new_session=True,
    )
    try:
        pids = family(tmp_path)
        if number:
            owner.send_signal(number)
        owner.wait(PATIENCE_S)
        eventually(lambda: all_gone(pids))
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(owner.pid, signal.SIGKILL)
        owner.wait(PATIENCE_S)


def test_a_killed_guard_takes_the_command_along(serve, tmp_path):
    server = serve()
    server.start()
    command, child = family(tmp_path)
    guard = int(Path(f"/proc/{command}/stat").read_text().rpartition(")")[2].split()[1])
    assert guard != os.getpid()
    os.kill(guard, signal.SIGKILL)
    try:
        eventually(lambda: all_gone([command]))
        assert not server.alive
    finally:
        os.kill(child, signal.SIGKILL)  # nobody is left who knows of it


def test_ports():
    port = free_port()
    assert not port_is_taken("127.0.0.1", port)

    async def with_listener() -> bool:
        listener = await asyncio.start_server(lambda *_: None, "127.0.0.1", port)
        async with listener:
            return port_is_taken("127.0.0.1", port)

    assert asyncio.run(with_listener())
    assert not port_is_taken("127.0.0.1", port)


async def test_a_doubt_puts_readiness_off(serve):
    asked = []

    async def doubt(session, seconds):
        asked.append(seconds)
        return "It lists other and not tiny." if len(asked) < 3 else ""

    server = serve(doubt=doubt)
    server.start()
    await server.wait_ready()
    assert len(asked) == 3
    assert all(0 < seconds <= 5.0 for seconds in asked)


async def test_a_doubt_that_stays_is_told(serve):
    async def doubt(session, seconds):
        return "It lists other and not tiny."

    server = serve(ready_timeout_s=1.5, doubt=doubt)
    server.start()
    with pytest.raises(
        ServerNotReady, match=r"was stopped\. It lists other and not tiny\. The end"
    ):
        await server.wait_ready()
    assert not server.alive
