"""One job of `train.py` in the test's process, composed on files read once; not a test module.

`sero.config.front.launch` checks a command line and lets Hydra compose it again for the job: what
a user does, and most of the time of a small run. This does the same job and nothing else.
"""

import functools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import train
from hydra._internal.hydra import Hydra
from hydra.core.global_hydra import GlobalHydra

from sero.config import Composer, RunConfig, composer, parse_config
from sero.config.variant import resolved_data, run_directory
from sero.errors import SeroError


@functools.cache
def _loaded() -> Hydra:
    with composer(train.CONF, "train"):
        found = GlobalHydra.instance().hydra
    assert found is not None
    return found


@contextmanager
def composing() -> Iterator[Composer]:
    """A composer that remembers the files of every one before it; none is left behind."""
    GlobalHydra.instance().initialize(_loaded())
    try:
        with composer(train.CONF, "train") as found:
            yield found
    finally:
        GlobalHydra.instance().clear()


def configured(*words: str) -> tuple[RunConfig, dict[str, Any], Path]:
    """A job's checked configuration, its resolved one, and its run directory.

    Raises:
        SeroError: a value is wrong.
    """
    with composing() as found:
        composed = found.compose(words)
        config = parse_config(composed.config, composed.choices)
        directory = run_directory(composed.config, composed.choices, found)
        return config, resolved_data(composed.config), directory


def run(*words: str) -> int:
    """One job under these overrides; its exit code, and what is wrong on standard error."""
    try:
        config, resolved, directory = configured(*words)
        return train.job(config, directory, resolved)
    except SeroError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
