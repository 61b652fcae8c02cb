"""Every check a run or sweep needs, one after the other, each part of it looked at once."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Awaitable, Iterable, Sequence
from typing import TypeVar

from sero.config import Component, RunConfig
from sero.doctor.bounding import bounded
from sero.doctor.data import Data, check_data
from sero.doctor.disk import check_folder
from sero.doctor.encoder import check_encoder
from sero.doctor.finding import Finding, skipped
from sero.doctor.flips import Scoring
from sero.doctor.machine import check_scorers, check_versions
from sero.doctor.options import Options
from sero.doctor.panel import check_roles, seats
from sero.doctor.server import Patient, check_backbone
from sero.doctor.tracker import check_tracker

T = TypeVar("T")

LOADING_S = 600.0
"""What reading data or loading a model may take."""


async def examine(configs: Sequence[RunConfig], options: Options) -> AsyncIterator[Finding]:
    """Findings on the machine, the data and every live model of some jobs, as they come.

    Args:
        configs: of the jobs; at least one.
        options: how thoroughly to look.
    """
    yield check_versions()
    for key, path, database in _folders(configs):
        yield await _one(key, options.deadline_s, check_folder(key, path, database=database))
    for logger in _distinct(config.logger for config in configs):
        yield await _one("tracker", options.deadline_s, check_tracker(logger))
    loaded: list[tuple[Component, Data]] = []
    for part in _distinct(config.benchmark for config in configs):
        data = await _data(part)
        loaded.append((part, data))
        yield dataclasses.replace(data.finding, subject=f"benchmark={part.choice}")
    for part in _distinct(config.encoder for config in configs):
        found = await _one("encoder", LOADING_S, check_encoder(part, deep=options.deep))
        yield dataclasses.replace(found, subject=f"encoder={part.choice}")
    if any(data.benchmark is not None and data.benchmark.scores_slowly for _, data in loaded):
        yield await _one("scorers", LOADING_S, check_scorers())
    else:
        yield skipped("scorers", "no benchmark here scores in a process of its own")
    for found in check_roles(configs, loaded):
        yield found
    for seat in seats(configs, loaded):
        patient = Patient(config=seat.config, scoring=_scoring(seat.data))
        async for finding in check_backbone(patient, options):
            yield seat.about(finding)


async def _one(name: str, seconds: float, check: Awaitable[Finding]) -> Finding:
    return await bounded(name, seconds, check, mend="run it again, or look at the machine's log")


async def _data(part: Component) -> Data:
    """A benchmark's data, or none after the deadline."""
    loading = asyncio.ensure_future(check_data(part))

    async def finding() -> Finding:
        return (await loading).finding

    found = await _one("data", LOADING_S, finding())
    done = loading.done() and not loading.cancelled() and loading.exception() is None
    return loading.result() if done else Data(benchmark=None, split=None, finding=found)


def _folders(configs: Sequence[RunConfig]) -> list[tuple[str, str, bool]]:
    """Key, path and whether databases live there, of every folder that is written."""
    named = (
        item
        for config in configs
        for item in (
            ("paths.runs", config.paths.runs, False),
            ("paths.cache", config.paths.cache, True),
        )
    )
    return list(dict.fromkeys(named))


def _distinct(parts: Iterable[T]) -> list[T]:
    """Each part once, in order; they hold mappings, so they have no hash."""
    found: list[T] = []
    for part in parts:
        if part not in found:
            found.append(part)
    return found


def _scoring(data: Data) -> Scoring | None:
    """Training tasks of a real benchmark, which a live model can be asked."""
    if data.benchmark is None or data.split is None or data.benchmark.simulated:
        return None
    return Scoring(benchmark=data.benchmark, tasks=data.split.train)
