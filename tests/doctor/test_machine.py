"""Checks of the machine: folders, tracker, encoder, scorers, versions; none hangs."""

import asyncio
import dataclasses
import shutil
import time

import pytest

from sero.benchmarks import bounded as scorers
from sero.config import Component, LoggerConfig
from sero.doctor import Level
from sero.doctor.bounding import bounded, in_thread
from sero.doctor.disk import GIB, check_folder
from sero.doctor.encoder import check_encoder
from sero.doctor.finding import ok
from sero.doctor.machine import check_scorers, check_versions
from sero.doctor.tracker import check_tracker
from sero.encoders import (
    HashingConfig,
    HashingEncoder,
    SentenceTransformerConfig,
    SentenceTransformerEncoder,
)
from sero.errors import SeroError

OK, WARN, FAIL = Level.OK, Level.WARN, Level.FAIL
LOGGER = LoggerConfig(
    kind="wandb", project="sero", mode="offline", entity=None, group=None, tags=()
)
TRAINED = SentenceTransformerConfig(
    model="a/b",
    revision=None,
    device=None,
    max_tokens=0,
    trust_remote_code=False,
    dtype="float32",
)


async def test_a_folder_with_room_is_ok_and_nothing_is_left_in_it(tmp_path):
    found = await check_folder("paths.cache", str(tmp_path / "cache"), database=True)
    assert found.level is OK
    assert "writable, SQLite in WAL mode" in found.said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("free", "level"), [(3 * GIB, OK), (GIB, WARN), (GIB // 20, FAIL)])
async def test_little_room_is_said(tmp_path, monkeypatch, free, level):
    usage = shutil.disk_usage(tmp_path)._replace(free=free)
    monkeypatch.setattr("sero.doctor.disk.shutil.disk_usage", lambda path: usage)
    found = await check_folder("paths.runs", str(tmp_path), database=False)
    assert (found.level, found.figures["free_bytes"]) == (level, free)
    assert ("paths.runs=DIR" in found.mend) is (level is not OK)


async def test_a_folder_that_cannot_be_written_fails(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("sero.doctor.disk._journal_mode", refuse)
    found = await check_folder("paths.cache", str(tmp_path), database=True)
    assert (found.level, found.mend) == (FAIL, "paths.cache=DIR on another disk")
    assert "Permission denied" in found.said


async def test_a_disk_without_a_write_ahead_log_is_a_warning(tmp_path, monkeypatch):
    monkeypatch.setattr("sero.doctor.disk._journal_mode", lambda folder: "delete")
    found = await check_folder("paths.cache", str(tmp_path), database=True)
    assert (found.level, found.mend) == (WARN, "paths.cache=DIR on a local disk")


@pytest.mark.parametrize(
    ("changes", "key", "level", "mend"),
    [
        ({"kind": "none"}, False, OK, ""),
        ({}, False, OK, ""),
        ({"mode": "disabled"}, False, OK, ""),
        ({"mode": "online"}, True, OK, ""),
        ({"mode": "online"}, False, FAIL, "wandb login, or logger.mode=offline"),
    ],
)
async def test_the_trackers_mode(monkeypatch, changes, key, level, mend):
    monkeypatch.delenv("WANDB_MODE", raising=False)
    monkeypatch.setattr("sero.doctor.tracker._has_key", lambda: key)
    found = await check_tracker(dataclasses.replace(LOGGER, **changes))
    assert (found.level, found.mend) == (level, mend)


async def test_an_empty_mode_in_the_environment_stops_wandb(monkeypatch):
    monkeypatch.setenv("WANDB_MODE", "")
    found = await check_tracker(LOGGER)
    assert (found.level, found.mend) == (FAIL, "unset WANDB_MODE")


async def test_a_key_of_wandb_is_looked_for_where_it_is_kept(monkeypatch, tmp_path):
    monkeypatch.delenv("WANDB_MODE", raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("WANDB_API_KEY", "WANDB_IDENTITY_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    online = dataclasses.replace(LOGGER, mode="online")
    assert (await check_tracker(online)).level is FAIL
    key = "0123456789" * 4
    monkeypatch.setenv("WANDB_API_KEY", key)
    found = await check_tracker(online)
    assert found.level is OK
    assert key not in repr(found)


async def test_a_cheap_encoder_is_tried():
    part = Component(choice="hashing", target=HashingEncoder, config=HashingConfig(dim=64))
    found = await check_encoder(part, deep=False)
    assert (found.level, found.said) == (OK, "hashing-64: 64 numbers a text")


@pytest.mark.parametrize(
    ("model", "offline", "level", "mend"),
    [
        ("package:json", "0", OK, ""),
        ("package:no_such_package", "0", FAIL, "encoder=hashing"),
        ("package:no_such.package", "0", FAIL, "encoder=hashing"),
        ("package:", "0", FAIL, "encoder=hashing"),
        ("{folder}", "0", OK, ""),
        ("nobody/no-such-model", "0", WARN, "hf download nobody/no-such-model"),
        ("nobody/no-such-model", "1", FAIL, "encoder.model=FOLDER"),
        ("not a name", "1", FAIL, "encoder.model=FOLDER"),
    ],
)
async def test_a_trained_encoder_is_looked_for(tmp_path, monkeypatch, model, offline, level, mend):
    monkeypatch.setenv("HF_HUB_OFFLINE", offline)
    config = dataclasses.replace(TRAINED, model=model.format(folder=tmp_path))
    part = Component(choice="own", target=SentenceTransformerEncoder, config=config)
    found = await check_encoder(part, deep=False)
    assert found.level is level
    assert mend in found.mend


async def test_an_encoder_that_cannot_be_loaded_or_is_none_fails():
    class Broken(HashingEncoder):
        def __init__(self, cfg):
            raise RuntimeError("no kernel\nimage")

    class Long(HashingEncoder):
        def encode(self, text):
            return 2.0 * super().encode(text)

    for target, said in ((Broken, "cannot be loaded: no kernel image"), (Long, "norm 2.000")):
        part = Component(choice="own", target=target, config=HashingConfig(dim=64))
        found = await check_encoder(part, deep=True)
        assert found.level is FAIL
        assert said in found.said


async def test_a_scorers_process_starts_and_ends():
    found = await check_scorers()
    assert found.level is OK
    assert all(supervisor.process is None for supervisor in scorers._WORKERS.pool.supervisors)


async def test_a_scorer_that_cannot_start_fails(monkeypatch):
    def refuse(*_, **__):
        raise SeroError("no process for scoring can be started: it ended while starting")

    monkeypatch.setattr("sero.doctor.machine.bounded.call", refuse)
    found = await check_scorers()
    assert (found.level, found.said) == (
        FAIL,
        "no process for scoring can be started: it ended while starting",
    )


def test_versions_are_told(monkeypatch):
    assert "python 3." in check_versions().said
    monkeypatch.setattr("sero.doctor.machine.PACKAGES", ("no-such-package",))
    assert check_versions().level is FAIL


async def test_a_check_that_hangs_is_given_up():
    started = time.monotonic()

    async def hang():
        await in_thread(lambda: time.sleep(3.0))
        return ok("x", "late")

    found = await bounded("x", 0.1, hang(), mend="look")
    assert (found.level, found.said, found.mend) == (FAIL, "no result within 0.1 s", "look")
    assert time.monotonic() - started < 2.5


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SeroError("one\n  two"), "one two"),
        (PermissionError(13, "Permission denied", "/x"), "/x: Permission denied"),
    ],
)
async def test_a_check_that_raises_is_a_finding(error, said):
    async def stumble():
        raise error

    found = await bounded("x", 5.0, stumble(), mend="look")
    assert (found.level, found.said) == (FAIL, said)


async def test_work_in_a_thread_returns_and_raises():
    assert await in_thread(lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        await in_thread(lambda: 1 / 0)


def test_a_thread_that_is_left_does_not_hold_up_the_end():
    async def leave():
        async with asyncio.timeout(0.05):
            await in_thread(lambda: time.sleep(5.0))

    started = time.monotonic()
    with pytest.raises(TimeoutError):
        asyncio.run(leave())
    assert time.monotonic() - started < 4.0
