"""Every kind of fault of a public fault-injecting server is named, with its mend."""

import json
import os
import subprocess
import sys
from pathlib import Path

import aiohttp
import pytest

from sero.doctor import Level

ROOT = Path(__file__).resolve().parents[2]
MOCK = Path(os.environ.get("SERO_SHARED", ROOT.parent / "shared")) / "bench" / "mock_openai.py"
WARN, FAIL = Level.WARN, Level.FAIL


@pytest.fixture(scope="module")
def mock_url():
    if not MOCK.exists():
        pytest.skip(f"no {MOCK}; set SERO_SHARED to the folder that holds bench/")
    command = [sys.executable, str(MOCK), "--port", "0", "--max-seconds", "300"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield json.loads(process.stdout.readline())["base_url"]
    process.terminate()
    process.wait(10)
    process.stdout.close()


@pytest.fixture
async def configured(mock_url):
    """`await configured(kind, **more)`: every completion from now on has this fault."""
    async with aiohttp.ClientSession() as session:
        root = mock_url.removesuffix("/v1")

        async def set_fault(kind, **more):
            await session.post(f"{root}/reset")
            faults = [{"kind": kind, "count": -1, **more}]
            await session.post(f"{root}/configure", json={"faults": faults})
            return {
                "base_url": mock_url,
                "model": "mock",
                "schema_style": "none",
                "context_tokens": 4096,
            }

        yield set_fault


async def test_without_a_fault_all_is_ok(configured, examined):
    found = await examined(await configured("ok"))
    assert {f.name for f in found.values() if f.level in (WARN, FAIL)} == set()


async def test_a_schema_that_is_ignored_is_named(configured, examined):
    found = await examined(await configured("ok") | {"schema_style": "json_schema"})
    assert found["schema"].mend == "backbone.schema_style=none"


@pytest.mark.parametrize(
    ("fault", "name", "level", "mend"),
    [
        ({"kind": "status", "status": 500}, "completion", FAIL, "look at the server's log"),
        ({"kind": "status", "status": 401}, "completion", FAIL, "backbone.api_key_env=NAME"),
        ({"kind": "rate_limit", "retry_after": 3600}, "completion", FAIL, "backbone.concurrency="),
        ({"kind": "context_overflow"}, "completion", FAIL, "backbone.context_tokens=N"),
        ({"kind": "html"}, "completion", FAIL, "behind the proxy"),
        ({"kind": "hang"}, "completion", FAIL, "--deadline SECONDS"),
        ({"kind": "slow", "ms": 5000}, "completion", FAIL, "--deadline SECONDS"),
        ({"kind": "drop"}, "completion", FAIL, "look at the server's log"),
        ({"kind": "cut"}, "completion", FAIL, "look at the server's log"),
        ({"kind": "bad_json"}, "completion", FAIL, "backbone.base_url=URL"),
        ({"kind": "no_choices"}, "completion", FAIL, "backbone.base_url=URL"),
        ({"kind": "empty"}, "content", FAIL, "chat template"),
        ({"kind": "null"}, "content", FAIL, "chat template"),
        ({"kind": "length"}, "finish", WARN, "exec.max_tokens="),
        ({"kind": "think"}, "thinking", WARN, "enable_thinking=false"),
        ({"kind": "open_think"}, "thinking", FAIL, "enable_thinking=false"),
        ({"kind": "no_usage"}, "usage", WARN, "budget.calls"),
    ],
    ids=lambda value: value["kind"] if isinstance(value, dict) else "",
)
async def test_a_fault_is_named_with_its_mend(configured, examined, fault, name, level, mend):
    # an answer takes milliseconds; two kinds never come, or come too late
    deadline_s = 0.5 if fault["kind"] in ("hang", "slow") else 20.0
    found = await examined(await configured(**fault), deadline_s=deadline_s)
    assert found[name].level is level
    assert mend in found[name].mend
    also = {"finish"} if fault["kind"] == "open_think" else set()
    assert {f.name for f in found.values() if f.level in (WARN, FAIL)} == {name} | also
