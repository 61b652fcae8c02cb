"""Composition by Hydra, inside a Hydra job or outside one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hydra
from hydra.core.config_loader import ConfigLoader
from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig, OmegaConf

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
        always: overrides every composition starts from.
    """

    config_name: str
    always: tuple[str, ...] = ()

    def compose(self, overrides: Sequence[str] = ()) -> Composed:
        """Compose under `overrides`.

        Raises:
            HydraException, OmegaConfBaseException: what Hydra objects to.
        """
        whole = hydra.compose(
            self.config_name, [*self.always, *overrides], return_hydra_config=True
        )
        node = whole.hydra
        config = OmegaConf.masked_copy(whole, [str(key) for key in whole if key != "hydra"])
        mode = node.mode
        return Composed(
            config=config,
            choices=own_choices(node.runtime.choices),
            sweep={str(k): str(v) for k, v in (node.sweeper.get("params") or {}).items()},
            multirun=mode is not None and mode.name == "MULTIRUN",
        )

    @property
    def loader(self) -> ConfigLoader:
        return GlobalHydra.instance().config_loader()


def own_choices(choices: Mapping[str, Any]) -> dict[str, str]:
    """The choices of Sero's groups among all that Hydra recorded."""
    return {
        str(group): str(choice)
        for group, choice in choices.items()
        if not str(group).startswith("hydra/")
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
    always = () if more_dir is None else (f"hydra.searchpath=['file://{more_dir.resolve()}']",)
    if GlobalHydra.instance().is_initialized():
        yield Composer(config_name)
        return
    with hydra.initialize_config_dir(
        str(conf_dir.resolve()), job_name="sero", version_base=HYDRA_VERSION
    ):
        yield Composer(config_name, always)
