"""The machine itself: versions, and the processes scorers run in."""

from __future__ import annotations

import operator
import platform
from importlib import metadata

import sero
from sero.benchmarks import bounded
from sero.doctor.bounding import in_thread, one_line
from sero.doctor.finding import Finding, fail, ok
from sero.errors import SeroError

PACKAGES = ("torch", "numpy", "sentence-transformers", "aiohttp", "wandb")


def check_versions() -> Finding:
    """What is installed; nothing heavy is imported for it."""
    named = {"sero": sero.__version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            named[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            return fail("versions", f"{package} is not installed", "pip install -e .")
    return ok("versions", ", ".join(f"{name} {version}" for name, version in named.items()))


async def check_scorers() -> Finding:
    """Whether a process for scoring starts and answers."""

    def score() -> Finding:
        try:
            outcome = bounded.call(operator.add, 1, 1)
        except SeroError as error:
            return _no_process(str(error))
        finally:
            bounded.close()
        if outcome.value != 2:
            return _no_process(outcome.failure)
        return ok("scorers", "a process for scoring starts, answers and ends")

    return await in_thread(score)


def _no_process(why: str) -> Finding:
    return fail(
        "scorers", one_line(why), "free memory and processes (ulimit -u), then run doctor again"
    )
