"""manifest.json: what a run was made of, so that its figures can be traced and checked.

Holds no secret, no host name and no path of the machine.
"""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

import sero

PACKAGES = (
    "torch",
    "numpy",
    "sentence-transformers",
    "transformers",
    "hydra-core",
    "omegaconf",
    "pydantic",
    "aiohttp",
    "datasets",
    "sympy",
    "mpmath",
    "wandb",
)
"""Packages whose version can change a figure, or how a run is read."""

GIT_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What only the assembled run knows.

    Attributes:
        method, benchmark, encoder: their names.
        backbone: the model's id as requests carry it.
        backbone_revision: weights revision, or world version; None when unknown.
        simulated: the answers come from a simulated world.
        server_version: what the model server says it is; None when unknown.
        data_sha256: sha256 of the benchmark's data.
        data_remarks: items left out, defective golds kept.
        pool_sha256: sha256 of the pool the run starts from, credit included.
        scorer: name of the scoring rule.
        seeds: every seed by what it is for, `run` among them.
        credit: where the credit of the pool at the start came from: `none` for a seed pool,
            `stored` for a pool saved with credit, `zeros` for one without.
        backbones: model and revision of further backbones, by the names that cards know them by.
    """

    method: str
    benchmark: str
    encoder: str
    backbone: str
    backbone_revision: str | None
    simulated: bool
    server_version: str | None
    data_sha256: str
    data_remarks: tuple[str, ...]
    pool_sha256: str
    scorer: str
    seeds: Mapping[str, int]
    credit: Literal["none", "stored", "zeros"]
    backbones: Mapping[str, tuple[str, str | None]] = field(default_factory=dict)


def build_manifest(
    facts: RunFacts,
    comparable: Mapping[str, Any],
    *,
    now: datetime,
    previous: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The manifest of a run that starts, or goes on, at `now`.

    A manifest that is there already keeps its start; `resumed` gains the time, and `changes` a
    line for everything that is no longer as it was (a package, the commit, the server).

    Args:
        facts: what the run is.
        comparable: the configuration without what cannot change a result.
        now: an aware time.
        previous: the manifest of an earlier process of the same run.
    """
    time = iso_utc(now)
    body: dict[str, Any] = {
        "sero": sero.__version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.release()} {platform.machine()}",
        "packages": package_versions(),
        "git": git_state(Path(sero.__file__).resolve().parent),
        "method": facts.method,
        "backbone": {
            "id": facts.backbone,
            "revision": facts.backbone_revision,
            "server_version": facts.server_version,
        },
        **(
            {"backbones": {n: {"id": m, "revision": r} for n, (m, r) in facts.backbones.items()}}
            if facts.backbones
            else {}
        ),
        "simulated": facts.simulated,
        "encoder": facts.encoder,
        "benchmark": {
            "name": facts.benchmark,
            "data_sha256": facts.data_sha256,
            "remarks": list(facts.data_remarks),
        },
        "pool_sha256": facts.pool_sha256,
        "scorer": facts.scorer,
        "seeds": dict(facts.seeds),
        "credit": facts.credit,
        "config_sha256": config_sha256(comparable),
    }
    if previous is None:
        return {**body, "start": time, "end": None, "resumed": [], "changes": []}
    changes = [
        f"{time} {key}: {old} -> {new}"
        for key, old, new in _differences({k: previous.get(k) for k in body}, body)
    ]
    return {
        **body,
        "start": previous["start"],
        "end": None,
        "resumed": [*previous["resumed"], time],
        "changes": [*previous["changes"], *changes],
    }


def ended(manifest: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """The manifest of a run whose process ends at `now`."""
    return {**manifest, "end": iso_utc(now)}


def iso_utc(moment: datetime) -> str:
    """An aware time as `2026-01-31T12:00:00Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def config_sha256(comparable: Mapping[str, Any]) -> str:
    """sha256 of canonical JSON: keys sorted, so that their order in a file does not count."""
    text = json.dumps(comparable, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def package_versions() -> dict[str, str | None]:
    """Installed versions of `PACKAGES`; None for one that is absent. Imports none of them."""
    return {name: _version(name) for name in PACKAGES}


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def git_state(source: Path) -> dict[str, str | bool | None]:
    """Commit and dirty flag of the checkout that `source` is part of; None outside one."""
    commit = _git(source, "rev-parse", "HEAD")
    # A package installed inside somebody's own repository is not part of that repository.
    own = _git(source, "ls-files", "--error-unmatch", "__init__.py") if commit else None
    if own is None:
        return {"commit": None, "dirty": None}
    changed = _git(source, "status", "--porcelain", "--untracked-files=no")
    return {"commit": commit, "dirty": None if changed is None else changed != ""}


def _git(folder: Path, *arguments: str) -> str | None:
    """Standard output of a git command; None if git is absent, fails or hangs."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            timeout=GIT_TIMEOUT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _differences(
    old: Mapping[str, Any], new: Mapping[str, Any], prefix: str = ""
) -> list[tuple[str, Any, Any]]:
    """`(key path, old, new)` for every leaf that differs."""
    found: list[tuple[str, Any, Any]] = []
    for key in dict.fromkeys((*old, *new)):
        before, after = old.get(key), new.get(key)
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            found += _differences(before, after, f"{prefix}{key}.")
        elif before != after:
            found.append((f"{prefix}{key}", before, after))
    return found
