"""Composition by Hydra, inside a Hydra job or outside one."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hydra
from hydra import version
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.hydra import Hydra
from hydra._internal.utils import create_config_search_path
from hydra.core.config_search_path import SearchPathQuery
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf

from sero.config.named_backbones import with_named_backbones

HYDRA_VERSION = "1.3"

KEPT = 32
"""Compositions that are remembered of either kind; a sweep may have any number of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """A composed tree.

    Attributes:
        config: the tree without Hydra's own node.
        choices: group to chosen file, Hydra's own groups left out.
        sweep: what the tree sweeps by itself (`hydra.sweeper.params`), key to values.
        multirun: the tree asks for a sweep.
    """

    config: DictConfig
    choices: dict[str, str]
    sweep: dict[str, str]
    multirun: bool


@dataclass(frozen=True, slots=True)
class Composer:
    """Composes one primary file, such as `train` or `evaluate`, under overrides.

    Attributes:
        config_name: the primary file, without its suffix.
    """

    config_name: str
    _known: dict[tuple[str, ...], Composed] = field(default_factory=dict, repr=False)

    def compose(self, overrides: Sequence[str] = ()) -> Composed:
        """Compose under `overrides`; files are composed once. Leave the result as it is.

        No file of a tree depends on a value in it. So the files' tree, with the values set on a
        copy of it as Hydra sets them, is what Hydra composes, in a tenth of the time.

        Raises:
            HydraException, OmegaConfBaseException: what Hydra objects to.
        """
        known = self._known.get(tuple(overrides))
        if known is None:
            known = self._known[tuple(overrides)] = self._compose(overrides)
            _drop_the_oldest(self._known)
        return known

    def _compose(self, overrides: Sequence[str]) -> Composed:
        parsed = OverridesParser.create(config_loader=self.loader).parse_overrides(list(overrides))
        values = [override for override in parsed if self._sets_a_value(override)]
        files = [override.input_line or "" for override in parsed if override not in values]
        if any(map(_needs_the_whole, parsed)):
            files, values = list(overrides), []
        tree = self._files(files)
        if tree is None:
            tree, values = _without_hydra(self._whole(overrides)), []
        config = copy.deepcopy(tree.config)
        ConfigLoaderImpl._apply_overrides_to_config(values, config)
        return dataclasses.replace(tree, config=with_named_backbones(config, self))

    def _files(self, overrides: Sequence[str]) -> Composed | None:
        """The tree of the chosen files, or None where its sweep is taken from its values."""
        known = _known_files(self.loader, self.config_name)
        if tuple(overrides) not in known:
            whole = self._whole(overrides)
            own = OmegaConf.to_yaml(OmegaConf.masked_copy(whole.hydra, ["mode", "sweeper"]))
            known[tuple(overrides)] = None if "${" in own else _without_hydra(whole)
            _drop_the_oldest(known)
        return known[tuple(overrides)]

    def _whole(self, overrides: Sequence[str]) -> DictConfig:
        return hydra.compose(self.config_name, list(overrides), return_hydra_config=True)

    def _sets_a_value(self, override: Override) -> bool:
        """Whether Hydra sets an override on the composed tree, outside its own node."""
        key = override.key_or_group
        if key == "hydra" or override.is_hydra_override():
            return False
        return isinstance(override.value(), dict) or not self.loader.repository.group_exists(key)

    @property
    def loader(self) -> ConfigLoaderImpl:
        found = GlobalHydra.instance().config_loader()
        assert isinstance(found, ConfigLoaderImpl)
        return found


@functools.lru_cache(maxsize=4)
def _known_files(
    loader: ConfigLoaderImpl, config_name: str
) -> dict[tuple[str, ...], Composed | None]:
    """The files' trees composed so far, by overrides; shared by the jobs of one process."""
    return {}


def _needs_the_whole(override: Override) -> bool:
    """Whether an override is an error, adds folders to look in, or reads Hydra's own node."""
    looks_elsewhere = override.key_or_group == "hydra.searchpath"
    reads_hydra = "${hydra" in (override.input_line or "")
    return override.is_sweep_override() or looks_elsewhere or reads_hydra


def _drop_the_oldest(known: dict[tuple[str, ...], Any]) -> None:
    if len(known) > KEPT:
        del known[next(iter(known))]


def _without_hydra(whole: DictConfig) -> Composed:
    node = whole.hydra
    config = OmegaConf.masked_copy(whole, [str(key) for key in whole if key != "hydra"])
    OmegaConf.set_struct(config, True)  # the copy of a closed tree is open
    mode = node.mode
    return Composed(
        config=config,
        choices=own_choices(node.runtime.choices),
        sweep={str(k): str(v) for k, v in (node.sweeper.get("params") or {}).items()},
        multirun=mode is not None and mode.name == "MULTIRUN",
    )


def own_choices(choices: Mapping[str, Any]) -> dict[str, str]:
    """The choices of Sero's groups among all that Hydra recorded; a group without one is absent."""
    return {
        str(group): str(choice)
        for group, choice in choices.items()
        if choice is not None and not str(group).startswith("hydra/")
    }


@contextlib.contextmanager
def composer(
    conf_dir: Path, config_name: str, *, more_dir: Path | None = None
) -> Iterator[Composer]:
    """A composer over `conf_dir`; inside a Hydra job over that job's own search path.

    Args:
        conf_dir: the folder of the primary file.
        config_name: the primary file, without its suffix.
        more_dir: a further folder of group files (`--config-dir`).
    """
    if GlobalHydra.instance().is_initialized():
        yield Composer(config_name)
        return
    version.setbase(HYDRA_VERSION)
    search = create_config_search_path(str(conf_dir.resolve()))
    if more_dir is not None:
        folder = f"file://{more_dir.resolve()}"
        search.prepend("command-line", folder, SearchPathQuery(provider="schema"))
    Hydra.create_main_hydra2(task_name="sero", config_search_path=search)
    try:
        yield Composer(config_name)
    finally:
        GlobalHydra.instance().clear()
