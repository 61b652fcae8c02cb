"""Further backbones of a run, each from its own file of `conf/backbone`.

`backbones` maps a name that cards and candidates use to the values that differ from the file of
that name. The files are composed one by one, not as further choices of Hydra's group: a backbone
file chooses the profile of the run it is the backbone of, and a further one must not.

An entry that cannot be made whole gives way to a line that says why, which the check of the
configuration (`sero.config.parse`) tells together with every other fault.
"""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any

from hydra.core.object_type import ObjectType
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf

from sero.validation import did_you_mean

if TYPE_CHECKING:
    from sero.config.composing import Composer

SECTION, GROUP, TARGET = "backbones", "backbone", "_target_"
FILE = "file"
"""Key of a further backbone that names its file, where that is not the backbone's own name."""
FAULT = "_fault_"
"""Key of what is left of an entry that cannot be made whole."""
OWN = "own"
"""What results call the run's own backbone; no further one may be called so."""
_NAME = re.compile(r"[A-Za-z0-9_-]{1,48}")
_OWN_VALUE = re.compile(r"\$\{" + GROUP + r"\.")


def with_named_backbones(cfg: DictConfig, composer: Composer) -> DictConfig:
    """The tree with the whole configuration of every further backbone; complete ones stay."""
    section = cfg.get(SECTION)
    if not isinstance(section, DictConfig) or not section:
        return cfg
    given = OmegaConf.to_container(section, resolve=False)
    assert isinstance(given, dict)
    tree = copy.deepcopy(cfg)
    OmegaConf.set_struct(tree, False)
    tree[SECTION] = {
        str(name): _whole(str(name), values, composer) for name, values in given.items()
    }
    OmegaConf.set_struct(tree, True)
    return tree


def _whole(name: str, values: Any, composer: Composer) -> dict[str, Any]:
    """A backbone's file under its values, or what is wrong with them."""
    if not _NAME.fullmatch(name):
        return {FAULT: "a name has letters, digits, _ and -, 48 at most"}
    if name == OWN:
        return {FAULT: "results call the run's own backbone so; choose another name"}
    values = {} if values is None else values
    if not isinstance(values, dict):
        return {FAULT: f"got {values!r}; write {{}} or {{KEY: VALUE}}"}
    if TARGET in values or FAULT in values:
        return values
    file = str(values.get(FILE) or name)
    names = [
        option
        for option in composer.loader.get_group_options(GROUP, ObjectType.CONFIG)
        if not option.startswith("_")
    ]
    if file not in names:
        there = f"there are {', '.join(sorted(names))}{did_you_mean(file, names)}"
        other = f"{SECTION}.{name}.{FILE} names the file of another name"
        return {FAULT: f"no file conf/{GROUP}/{file}.yaml; {there}. {other}"}
    try:
        found = composer.compose([f"{GROUP}={file}"]).config[GROUP]
    except HydraException as error:
        return {FAULT: str(error).splitlines()[0]}
    base = OmegaConf.to_container(found, resolve=False)
    assert isinstance(base, dict)
    return _merged(_renamed(base, f"{SECTION}.{name}"), {**values, FILE: file})


def _renamed(value: Any, where: str) -> Any:
    """Values that a file takes from its own section, taken from where that stands now."""
    if isinstance(value, dict):
        return {key: _renamed(inner, where) for key, inner in value.items()}
    if isinstance(value, list):
        return [_renamed(inner, where) for inner in value]
    return _OWN_VALUE.sub(f"${{{where}.", value) if isinstance(value, str) else value


def _merged(base: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """The base under further values; an unknown key stays, so that the check can name it."""
    merged = dict(base)
    for key, value in values.items():
        inner = merged.get(key)
        if isinstance(inner, dict) and isinstance(value, dict):
            merged[key] = _merged(inner, value)
        else:
            merged[key] = value
    return merged
