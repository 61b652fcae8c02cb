"""One backbone without a run: chosen and checked like a run's, for what only starts its server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from annotated_types import MinLen
from hydra.core.object_type import ObjectType
from omegaconf import DictConfig, OmegaConf

from sero.config.composing import Composer, composer
from sero.config.overrides import check_overrides
from sero.config.parse import Check, checked_fields
from sero.config.sections import Component, PathsConfig
from sero.errors import ConfigError
from sero.inference.execution import ExecConfig

CONFIG_NAME = "serve_backbone"
GROUP = "backbone"


@dataclass(frozen=True, slots=True, kw_only=True)
class BackboneAlone:
    """A backbone, and how its server is to be started.

    Attributes:
        dry_run: show the command and start nothing.
        log: file for what the server writes.
        exec, paths: what backbones' files take values from.
    """

    backbone: Component
    dry_run: bool
    log: str
    exec: ExecConfig
    paths: PathsConfig


PLAIN: Mapping[str, Any] = {
    "dry_run": bool,
    "log": Annotated[str, MinLen(1)],
    "exec": ExecConfig,
    "paths": PathsConfig,
}


def compose_backbone(
    conf_dir: Path, overrides: Sequence[str], *, more_dir: Path | None = None
) -> BackboneAlone:
    """Compose `serve_backbone.yaml` under overrides, every fault of them checked together.

    Args:
        conf_dir: the folder of the configuration.
        overrides: `backbone=NAME` and whatever else.
        more_dir: a further folder of group files, searched first.

    Raises:
        ConfigError: all faults; no backbone chosen; a sweep.
    """
    with composer(conf_dir, CONFIG_NAME, more_dir=more_dir) as composing:
        found = check_overrides(composing, overrides, _checker(composing, overrides))
    if found.multirun:
        raise ConfigError("the command line", ["one backbone at a time; start the script twice"])
    fields, _ = _fields(found.first.config, found.first.choices, (GROUP,))
    assert fields is not None  # checked just before
    return BackboneAlone(**fields)


def _checker(composing: Composer, overrides: Sequence[str]) -> Check:
    asked = any(text.startswith(f"{GROUP}=") for text in overrides)

    def check(cfg: DictConfig, choices: Mapping[str, str]) -> tuple[Any | None, list[str]]:
        if GROUP in choices:
            return _fields(cfg, choices, (GROUP,))
        if asked:  # one that does not exist is reported as that
            return None, []
        names = composing.loader.get_group_options(GROUP, ObjectType.CONFIG)
        listed = ", ".join(sorted(name for name in names if not name.startswith("_")))
        return None, [f"{GROUP}: none chosen; write {GROUP}=NAME, there are {listed}"]

    return check


def _fields(
    cfg: DictConfig, choices: Mapping[str, str], groups: Sequence[str]
) -> tuple[dict[str, Any] | None, list[str]]:
    own = OmegaConf.masked_copy(cfg, [key for key in (*groups, *PLAIN) if key in cfg])
    return checked_fields(own, choices, groups=groups, plain=PLAIN)
