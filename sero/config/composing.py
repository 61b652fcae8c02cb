"""Composition by Hydra, inside a Hydra job or outside one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hydra
from hydra import version
from hydra._internal.hydra import Hydra
from hydra._internal.utils import create_config_search_path
from hydra.core.config_loader import ConfigLoader
from hydra.core.config_search_path import SearchPathQuery
from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig, OmegaConf

from sero.config.named_backbones import with_named_backbones

HYDRA_VERSION = "1.3"


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
    """Composes one primary file, `train` or `evaluate`, under overrides.

    Attributes:
        config_name: the primary file, without its suffix.
    """

    config_name: str
    _known: dict[tuple[str, ...], Composed] = field(default_factory=dict, repr=False)

    def compose(self, overrides: Sequence[str] = ()) -> Composed:
        """Compose under `overrides`; the same ones are composed once. Leave the result as it is.

        Raises:
            HydraException, OmegaConfBaseException: what Hydra objects to.
        """
        known = self._known.get(tuple(overrides))
        if known is None:
            known = self._known[tuple(overrides)] = self._compose(overrides)
        return known

    def _compose(self, overrides: Sequence[str]) -> Composed:
        whole = hydra.compose(self.config_name, list(overrides), return_hydra_config=True)
        node = whole.hydra
        config = OmegaConf.masked_copy(whole, [str(key) for key in whole if key != "hydra"])
        OmegaConf.set_struct(config, True)  # the copy of a closed tree is open
        mode = node.mode
        return Composed(
            config=with_named_backbones(config, self),
            choices=own_choices(node.runtime.choices),
            sweep={str(k): str(v) for k, v in (node.sweeper.get("params") or {}).items()},
            multirun=mode is not None and mode.name == "MULTIRUN",
        )

    @property
    def loader(self) -> ConfigLoader:
        return GlobalHydra.instance().config_loader()


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
