"""Where a run lives: its directory says what ran, and jobs of a sweep never share one."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from sero.config.composing import Composer
from sero.config.named_backbones import FILE
from sero.volatile import FURTHER_BACKBONE, VOLATILE, comparable

PLACED = ("experiment", "method", "benchmark")
"""Groups whose choice has a part of the path to itself."""

FIRST = ("row", "assign.by")
"""Keys that a slug begins with."""

MAX_SLUG_CHARS = 60
_UNSAFE = re.compile(r"[^A-Za-z0-9._+-]+")
"""No `=` and no comma either: a run directory is given on the command line (`from_pool=RUN`),
where Hydra would read them."""


def run_directory(cfg: DictConfig, choices: Mapping[str, str], composer: Composer) -> Path:
    """`<paths.runs>/<experiment>/<variant>/<method>/<benchmark>/seed_<seed>`.

    Args:
        cfg: the job's tree.
        choices: group to chosen file, of the job.
        composer: composes the experiment's base to compare with.
    """
    parts = [*str(cfg.experiment).split("/"), variant(cfg, choices, composer)]
    parts += [choices["method"], choices["benchmark"], f"seed_{cfg.seed}"]
    return Path(cfg.paths.runs).joinpath(*map(_safe, parts))


def variant(cfg: DictConfig, choices: Mapping[str, str], composer: Composer) -> str:
    """A readable slug, and six hex digits over the values that differ from the base.

    The base is the experiment with the job's method and benchmark and no other override. Values
    are compared as they are written, so what follows from the seed by interpolation is equal.
    An evaluation without training is a variant of its own.
    """
    placed = [f"{group}={choices[group]}" for group in PLACED if group in choices]
    base = composer.compose(placed)
    pairs = _differences(base.config, cfg)
    chosen = {
        group: choice
        for group, choice in choices.items()
        if group not in (*PLACED, *VOLATILE) and base.choices.get(group) != choice
    }
    # Beside the choices only those values are worth reading that do not follow from them.
    near = base if not chosen else composer.compose([*placed, *_settings(chosen)])
    named = _files_named({**chosen, **_differences(near.config, cfg)})
    # The row comes first, and who decides its roles: a long slug still says which one it is.
    keys = sorted(named, key=lambda key: (key not in FIRST, key != FIRST[0], key))
    words = [f"{key}-{_shown(named[key])}" for key in keys]
    if "from_pool" in cfg:
        words.insert(0, "evaluate")
        pairs = {**pairs, "evaluate": True}
    slug = _safe("+".join(words))[:MAX_SLUG_CHARS].rstrip("-.+_") or "base"
    digest = hashlib.sha256(json.dumps(sorted(pairs.items()), default=str).encode()).hexdigest()
    return f"{slug}-{digest[:6]}"


def resolved_data(cfg: DictConfig) -> dict[str, Any]:
    """The tree as plain data with every interpolation resolved; what `config.yaml` holds."""
    data = OmegaConf.to_container(cfg, resolve=True, throw_on_missing=True)
    assert isinstance(data, dict)
    return {str(key): value for key, value in data.items()}


def describe_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """`gate.tasks: 1 -> 8` for every value that differs, in key order."""
    before, after = _flat(old), _flat(new)
    return [
        f"{key}: {_written(before, key)} -> {_written(after, key)}"
        for key in sorted({**before, **after})
        if _written(before, key) != _written(after, key)
    ]


def _differences(base: DictConfig, cfg: DictConfig) -> dict[str, Any]:
    """Key to value where `cfg` differs from `base`, in key order."""
    before, after = (_flat(comparable(_unresolved(tree))) for tree in (base, cfg))
    return {
        key: after[key]
        for key in sorted(after)
        if key != "seed" and _written(before, key) != _written(after, key)
    }


def _files_named(differences: Mapping[str, Any]) -> dict[str, Any]:
    """The differences with one word, its file, for a further backbone that the base lacks."""
    files = {
        key.removesuffix(f".{FILE}"): value
        for key, value in differences.items()
        if FURTHER_BACKBONE.sub("", key) == FILE
    }
    rest = {
        key: value
        for key, value in differences.items()
        if key.rpartition(".")[0] not in files
        and not any(key.startswith(f"{name}.") for name in files)
    }
    return {**rest, **files}


def _unresolved(cfg: DictConfig) -> dict[str, Any]:
    data = OmegaConf.to_container(cfg, resolve=False)
    assert isinstance(data, dict)
    return {str(key): value for key, value in data.items()}


def _flat(data: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """Dotted key to value; an empty mapping is a value."""
    flat: dict[str, Any] = {}
    for key, value in data.items():
        where = f"{path}{key}"
        if isinstance(value, dict) and value:
            flat.update(_flat(value, f"{where}."))
        else:
            flat[where] = value
    return flat


def _written(flat: Mapping[str, Any], key: str) -> str:
    return json.dumps(flat[key], default=str) if key in flat else "(absent)"


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ".".join(map(_shown, value))
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _settings(choices: Mapping[str, str]) -> list[str]:
    return [f"{group}={choice}" for group, choice in sorted(choices.items())]


def _safe(name: str) -> str:
    """A name that is one ordinary path part on any file system."""
    return _UNSAFE.sub("-", name).strip("-").lstrip(".") or "-"
