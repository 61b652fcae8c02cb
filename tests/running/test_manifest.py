"""The manifest says what a run was made of, and keeps its history."""

import hashlib
import json
import os
import platform
import socket
import subprocess
from datetime import UTC, datetime, timedelta, timezone
from importlib import metadata
from pathlib import Path

import pytest

import sero
from sero.running import manifest as module
from sero.running.manifest import (
    RunFacts,
    build_manifest,
    config_sha256,
    ended,
    git_state,
    iso_utc,
    package_versions,
)

FACTS = RunFacts(
    pool_sha256="cd" * 32,
    method="sero",
    benchmark="skillworld",
    encoder="skillworld",
    backbone="skillworld-3",
    backbone_revision="w1",
    simulated=True,
    server_version=None,
    data_sha256="ab" * 32,
    data_remarks=("1 item(s) left out: a picture",),
    scorer="partial",
    seeds={"run": 42},
    credit="none",
)
NOON = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)


def git(folder, *arguments):
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True
    )


@pytest.fixture
def checkout(tmp_path):
    """A committed checkout with a package in it."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    return package


def test_a_new_manifest_in_full():
    body = build_manifest(FACTS, {"gate": {"tasks": 1}}, now=NOON)
    assert body["sero"] == sero.__version__
    assert body["python"] == platform.python_version()
    assert body["packages"]["torch"] == metadata.version("torch")
    assert set(body["git"]) == {"commit", "dirty"}
    assert body["backbone"] == {"id": "skillworld-3", "revision": "w1", "server_version": None}
    assert body["benchmark"] == {
        "name": "skillworld",
        "data_sha256": "ab" * 32,
        "remarks": ["1 item(s) left out: a picture"],
    }
    assert {
        k: body[k] for k in ("method", "encoder", "scorer", "simulated", "seeds", "credit")
    } == {
        "method": "sero",
        "encoder": "skillworld",
        "scorer": "partial",
        "simulated": True,
        "seeds": {"run": 42},
        "credit": "none",
    }
    # sha256 of the canonical text, worked from the text itself
    assert body["config_sha256"] == hashlib.sha256(b'{"gate":{"tasks":1}}').hexdigest()
    assert (body["start"], body["end"]) == ("2026-01-31T12:00:00Z", None)
    assert (body["resumed"], body["changes"]) == ([], [])
    assert json.loads(json.dumps(body)) == body


def test_it_names_neither_the_host_nor_a_home_nor_a_secret(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-do-not-tell")
    text = json.dumps(build_manifest(FACTS, {}, now=NOON))
    assert "sk-do-not-tell" not in text
    assert str(Path.home()) not in text
    assert os.getcwd() not in text  # noqa: PTH109
    assert f'"{socket.gethostname()}"' not in text
    assert platform.node() not in body_without_versions(text)


def body_without_versions(text):
    body = json.loads(text)
    return json.dumps({k: v for k, v in body.items() if k not in ("packages", "platform", "git")})


def test_a_resume_keeps_the_start_and_adds_its_time():
    first = build_manifest(FACTS, {}, now=NOON)
    second = build_manifest(FACTS, {}, now=NOON + timedelta(hours=1), previous=ended(first, NOON))
    third = build_manifest(FACTS, {}, now=NOON + timedelta(hours=2), previous=second)
    assert third["start"] == "2026-01-31T12:00:00Z"
    assert third["end"] is None
    assert third["resumed"] == ["2026-01-31T13:00:00Z", "2026-01-31T14:00:00Z"]
    assert third["changes"] == []
    assert ended(third, NOON + timedelta(hours=3))["end"] == "2026-01-31T15:00:00Z"


def test_what_changed_between_processes_is_told(monkeypatch):
    monkeypatch.setattr(module, "package_versions", lambda: {"torch": "2.13.0"})
    monkeypatch.setattr(module, "git_state", lambda source: {"commit": "a1", "dirty": False})
    first = build_manifest(FACTS, {}, now=NOON)
    monkeypatch.setattr(module, "package_versions", lambda: {"torch": "2.14.0"})
    monkeypatch.setattr(module, "git_state", lambda source: {"commit": "a1", "dirty": True})
    second = build_manifest(FACTS, {}, now=NOON + timedelta(hours=1), previous=first)
    assert second["changes"] == [
        "2026-01-31T13:00:00Z packages.torch: 2.13.0 -> 2.14.0",
        "2026-01-31T13:00:00Z git.dirty: False -> True",
    ]
    assert second["packages"] == {"torch": "2.14.0"}


def test_the_configuration_hash_does_not_depend_on_order():
    one = config_sha256({"a": 1, "b": {"c": 0.1, "d": None}})
    assert one == config_sha256({"b": {"d": None, "c": 0.1}, "a": 1})
    assert one != config_sha256({"a": 1, "b": {"c": 0.2, "d": None}})


def test_times_are_utc():
    east = timezone(timedelta(hours=2))
    assert iso_utc(datetime(2026, 1, 31, 1, 0, tzinfo=east)) == "2026-01-30T23:00:00Z"


def test_an_absent_package_has_no_version(monkeypatch):
    monkeypatch.setattr(module, "PACKAGES", ("numpy", "no-such-package-here"))
    assert package_versions() == {
        "numpy": metadata.version("numpy"),
        "no-such-package-here": None,
    }


def test_git_knows_the_commit_and_whether_files_changed(checkout):
    state = git_state(checkout)
    assert len(state["commit"]) == 40
    assert state["dirty"] is False
    (checkout.parent / "untracked.txt").write_text("")
    assert git_state(checkout)["dirty"] is False
    (checkout / "__init__.py").write_text("x = 1\n")
    assert git_state(checkout) == {"commit": state["commit"], "dirty": True}


def test_a_package_that_the_repository_does_not_track_is_not_of_its_commit(checkout):
    installed = checkout.parent / "venv" / "package"
    installed.mkdir(parents=True)
    (installed / "__init__.py").write_text("")
    assert git_state(installed) == {"commit": None, "dirty": None}


def test_without_a_repository_or_without_git_nothing_is_claimed(tmp_path, checkout, monkeypatch):
    outside = {"commit": None, "dirty": None}
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert git_state(tmp_path / "absent") == outside
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_state(checkout) == outside
