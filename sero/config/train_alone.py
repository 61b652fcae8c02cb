"""The jobs of a command line of `scripts/train.py`, composed and typed but not run.

For verbs that look at a run or a sweep before it starts: the same files, overrides and messages.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override

from sero.config.composing import Composer, composer
from sero.config.overrides import WHERE, check_overrides
from sero.config.parse import checked
from sero.config.sections import RunConfig
from sero.config.variant import run_directory
from sero.errors import ConfigError

CONFIG_NAME = "train"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposedJob:
    """One job of a run or sweep.

    Attributes:
        config: the checked configuration.
        method, benchmark: the chosen files, as the run directory names them.
        variant: what differs from the experiment's base: a slug and six hex digits.
        directory: where the job would run.
    """

    config: RunConfig
    method: str
    benchmark: str
    variant: str
    directory: Path

    @property
    def seed(self) -> int:
        return self.config.seed

    @property
    def label(self) -> str:
        """`sero/skillworld/base-a1b2c3/seed_42`."""
        return f"{self.method}/{self.benchmark}/{self.variant}/seed_{self.seed}"


def composed_jobs(
    conf_dir: Path, overrides: Sequence[str], *, more_dir: Path | None = None
) -> tuple[ComposedJob, ...]:
    """Every job that `scripts/train.py` would run under these overrides, in its order.

    Args:
        conf_dir: the folder of the configuration.
        overrides: as on the command line of `scripts/train.py`, sweeps included.
        more_dir: a further folder of group files, searched first (`--config-dir`).

    Raises:
        ConfigError: all faults of the command line, or of any job.
    """
    with composer(conf_dir, CONFIG_NAME, more_dir=more_dir) as composing:
        sweeps = check_overrides(composing, overrides).multirun
        lines = _jobs_of(composing, overrides) if sweeps else [list(overrides)]
        jobs: list[ComposedJob] = []
        faults: list[str] = []
        for line in lines:
            found = composing.compose(line)
            config, wrong = checked(found.config, found.choices)
            if config is None:
                faults += wrong
                continue
            directory = run_directory(found.config, found.choices, composing)
            jobs.append(
                ComposedJob(
                    config=config,
                    method=found.choices["method"],
                    benchmark=found.choices["benchmark"],
                    variant=directory.parents[2].name,
                    directory=directory,
                )
            )
    if faults:
        raise ConfigError(WHERE, list(dict.fromkeys(faults)))
    return tuple(jobs)


def _jobs_of(composing: Composer, overrides: Sequence[str]) -> list[list[str]]:
    """The overrides of each job, as Hydra's sweeper orders and combines them.

    What the experiment sweeps by itself is read, as Hydra reads it, from a composition without the
    swept overrides; the command line replaces its keys.
    """
    given = _read(composing, overrides)
    plain = [override.input_line or "" for override in given if not override.is_sweep_override()]
    own = [f"{key}={values}" for key, values in composing.compose(plain).sweep.items()]
    combined = [*_read(composing, own), *(o for o in given if not o.is_hydra_override())]
    hydras = [override.input_line or "" for override in given if override.is_hydra_override()]
    jobs = itertools.chain.from_iterable(BasicSweeper.split_arguments(combined, None))
    return [[*hydras, *job] for job in jobs]


def _read(composing: Composer, overrides: Sequence[str]) -> list[Override]:
    return OverridesParser.create(config_loader=composing.loader).parse_overrides(list(overrides))
