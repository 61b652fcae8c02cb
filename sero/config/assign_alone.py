"""Meta-Debate without a run: its section, and a backbone for each name a roster uses.

The same files, overrides and messages as for a run. `backbone=NAME` and `backbone.KEY=VALUE` are
about the backbone of candidates that name none; a backbone that a candidate names comes as its
file has it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Ge
from hydra.core.object_type import ObjectType
from omegaconf import MISSING, DictConfig, OmegaConf

from sero.assignment.config import RunAssignConfig
from sero.config.composing import Composer, composer
from sero.config.consistency import contradictions
from sero.config.overrides import check_overrides
from sero.config.parse import Check, checked_fields, resolve
from sero.config.sections import COMPONENTS, Component, PathsConfig
from sero.config.sections import PLAIN as RUN_PLAIN
from sero.errors import ConfigError
from sero.inference.execution import ExecConfig

CONFIG_NAME = "assign"
GROUP = "backbone"


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignAlone:
    """Meta-Debate's section and its backbones.

    Attributes:
        seed: names the order in which proposals are shown, and samples.
        exec, paths: what backbones' files take values from.
        backbones: name, or None for the chosen one, to the part.
    """

    assign: RunAssignConfig
    seed: int
    exec: ExecConfig
    paths: PathsConfig
    backbones: Mapping[str | None, Component]


PLAIN: Mapping[str, Any] = {
    "assign": RunAssignConfig,
    "seed": Annotated[int, Ge(0)],
    "exec": ExecConfig,
    "paths": PathsConfig,
}


RUN_ONLY = frozenset({*COMPONENTS, *RUN_PLAIN}) - {GROUP, "experiment", *PLAIN}
"""Keys of a run that nothing here reads; an experiment may set what is read."""
_PART = re.compile(r"\$\{(\w+)[.}]")


def compose_assignment(
    conf_dir: Path,
    overrides: Sequence[str],
    names: Sequence[str | None],
    *,
    more_dir: Path | None = None,
) -> AssignAlone:
    """Compose `assign.yaml` under overrides, every fault of them checked together.

    Args:
        conf_dir: the folder of the configuration.
        overrides: `backbone=NAME`, `assign.mode=argmax` and whatever else.
        names: the backbones wanted; None is the one that the overrides choose.
        more_dir: a further folder of group files, searched first.

    Raises:
        ConfigError: all faults; no backbone chosen where one is wanted; a sweep.
    """
    backbones: dict[str | None, Component] = {}
    refused = {text: fault for text in overrides if (fault := _of_a_run(text)) is not None}
    faults = list(refused.values())
    overrides = [text for text in overrides if text not in refused]
    with composer(conf_dir, CONFIG_NAME, more_dir=more_dir) as composing:
        try:
            fields = _one(composing, overrides, wanted=None in names)
        except ConfigError as error:
            raise ConfigError(error.where, [*faults, *error.faults]) from None
        if None in names:
            backbones[None] = fields[GROUP]
        others = [text for text in overrides if not _is_about_backbone(text)]
        for name in dict.fromkeys(name for name in names if name is not None):
            quoted = name.replace("\\", "\\\\").replace("'", "\\'")
            try:
                found = _one(composing, [*others, f"{GROUP}='{quoted}'"], wanted=True)
            except ConfigError as error:
                faults += error.faults
            else:
                backbones[name] = found[GROUP]
    if faults:
        raise ConfigError("the command line and the roster", list(dict.fromkeys(faults)))
    return AssignAlone(**{key: fields[key] for key in PLAIN}, backbones=backbones)


def _one(composing: Composer, overrides: Sequence[str], *, wanted: bool) -> dict[str, Any]:
    """The typed values of one composition, the backbone's among them where one was chosen."""
    found = check_overrides(composing, overrides, _checker(composing, overrides, wanted=wanted))
    if found.multirun:
        raise ConfigError("the command line", ["one assignment at a time"])
    first = found.first
    fields, _ = _fields(first.config, first.choices, (GROUP,) if GROUP in first.choices else ())
    assert fields is not None  # checked just before
    return fields


def _of_a_run(text: str) -> str | None:
    """Why an override has no place here, None if it has."""
    key = _key(text)
    if key in ("assign.by", "assign.roster"):
        return (
            f"{text}: belongs to a run; here Meta-Debate decides, and the roster is the first "
            "argument"
        )
    part = key.partition(".")[0].partition("@")[0]
    if part in RUN_ONLY:
        return (
            f"{text}: belongs to a run; there is no {part} here. What counts is {GROUP}, "
            f"{', '.join(PLAIN)}"
        )
    return None


def _is_about_backbone(text: str) -> bool:
    key = _key(text)
    return key == GROUP or key.startswith(f"{GROUP}.")


def _key(text: str) -> str:
    return text.lstrip("+~").partition("=")[0]


def _checker(composing: Composer, overrides: Sequence[str], *, wanted: bool) -> Check:
    asked = any(text.startswith(f"{GROUP}=") for text in overrides)

    def check(cfg: DictConfig, choices: Mapping[str, str]) -> tuple[Any | None, list[str]]:
        if GROUP in choices:
            return _fields(cfg, choices, (GROUP,))
        fields, faults = _fields(cfg, choices, ())
        if wanted and not asked:  # one that does not exist is reported as that
            names = composing.loader.get_group_options(GROUP, ObjectType.CONFIG)
            listed = ", ".join(sorted(name for name in names if not name.startswith("_")))
            faults.append(
                f"{GROUP}: none chosen, and a candidate or evaluator names none of its own; write "
                f"{GROUP}=NAME, there are {listed}"
            )
        return fields, faults

    return check


def _fields(
    cfg: DictConfig, choices: Mapping[str, str], groups: Sequence[str]
) -> tuple[dict[str, Any] | None, list[str]]:
    own = OmegaConf.masked_copy(cfg, [key for key in (*groups, *PLAIN) if key in cfg])
    asked = {}
    for path, text in resolve(own)[1].items():
        source = _PART.match(text)
        if source is not None and source[1] in RUN_ONLY:
            OmegaConf.update(own, path, MISSING)
            asked[path] = (
                f"{path}: a run takes it from its {source[1]}; here write "
                f"{GROUP}={choices[GROUP]} {path}=VALUE, for a roster that names no such backbone"
            )
    fields, faults = checked_fields(own, choices, groups=groups, plain=PLAIN, across=contradictions)
    return fields, [asked.get(line.partition(":")[0], line) for line in faults]
