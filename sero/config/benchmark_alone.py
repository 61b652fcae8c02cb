"""One benchmark without a run: chosen and checked like a run's, for what only handles its data.

The same files, overrides and messages as for a run. Keys that a benchmark's file sets in other
sections (`repair.always`) belong to runs and are left out.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Ge, MinLen
from hydra.core.object_type import ObjectType
from omegaconf import DictConfig, OmegaConf

from sero.config.composing import Composer, composer
from sero.config.overrides import check_overrides
from sero.config.parse import Check, checked_fields
from sero.config.sections import Component
from sero.errors import ConfigError

CONFIG_NAME = "prepare_data"
GROUP = "benchmark"


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPathsConfig:
    """The `paths` section, as far as data are concerned."""

    data: Annotated[str, MinLen(1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkAlone:
    """A benchmark, and how its data are to be prepared.

    Attributes:
        source: `hub`, or the path of a local copy.
        revision: of the public source; None is the pinned one.
        overwrite: replace a prepared file of other content.
        paths, seed: what benchmarks' files take values from.
    """

    benchmark: Component
    source: str
    revision: str | None
    overwrite: bool
    seed: int
    paths: DataPathsConfig


PLAIN: Mapping[str, Any] = {
    "source": Annotated[str, MinLen(1)],
    "revision": Annotated[str, MinLen(1)] | None,
    "overwrite": bool,
    "seed": Annotated[int, Ge(0)],
    "paths": DataPathsConfig,
}


def compose_benchmark(
    conf_dir: Path, overrides: Sequence[str], *, more_dir: Path | None = None
) -> BenchmarkAlone:
    """Compose `prepare_data.yaml` under overrides, every fault of them checked together.

    Args:
        conf_dir: the folder of the configuration.
        overrides: `benchmark=NAME` and whatever else.
        more_dir: a further folder of group files, searched first.

    Raises:
        ConfigError: all faults; no benchmark chosen; a sweep.
    """
    with composer(conf_dir, CONFIG_NAME, more_dir=more_dir) as composing:
        found = check_overrides(composing, overrides, _checker(composing, overrides))
    if found.multirun:
        raise ConfigError("the command line", ["one benchmark and one source at a time"])
    fields, _ = _fields(found.first.config, found.first.choices, (GROUP,))
    assert fields is not None  # checked just before
    return BenchmarkAlone(**fields)


def run_overrides(overrides: Sequence[str]) -> list[str]:
    """Those of the overrides that a run on the prepared data takes as well."""
    own = ("source", "revision", "overwrite")
    return [text for text in overrides if text.partition("=")[0] not in own]


def choices_of(part: Component, key: str) -> tuple[str, ...]:
    """The values a key of a part may take where its type lists them (`Literal`), else none."""
    return typing.get_args(typing.get_type_hints(part.target.Config).get(key))


def _checker(composing: Composer, overrides: Sequence[str]) -> Check:
    asked = any(text.startswith(f"{GROUP}=") for text in overrides)

    def check(cfg: DictConfig, choices: Mapping[str, str]) -> tuple[Any | None, list[str]]:
        if GROUP in choices:
            return _fields(cfg, choices, (GROUP,))
        _, faults = _fields(cfg, choices, ())
        if not asked:  # one that does not exist is reported as that
            names = composing.loader.get_group_options(GROUP, ObjectType.CONFIG)
            listed = ", ".join(sorted(name for name in names if not name.startswith("_")))
            faults.append(f"{GROUP}: none chosen; write {GROUP}=NAME, there are {listed}")
        return None, faults

    return check


def _fields(
    cfg: DictConfig, choices: Mapping[str, str], groups: Sequence[str]
) -> tuple[dict[str, Any] | None, list[str]]:
    own = OmegaConf.masked_copy(cfg, [key for key in (*groups, *PLAIN) if key in cfg])
    return checked_fields(own, choices, groups=groups, plain=PLAIN)
