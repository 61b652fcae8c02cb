"""The benchmark's data: there, unchanged since they were prepared, and large enough."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sero.benchmarks.base import Benchmark, Split
from sero.benchmarks.item_benchmark import GENERATED, ItemBenchmark
from sero.benchmarks.prepared import manifest_path
from sero.config import Component
from sero.doctor.bounding import in_thread, one_line
from sero.doctor.finding import Finding, fail, ok, warn
from sero.errors import UserError
from sero.storage import read_json

SHOWN = 12
"""Digits of a fingerprint that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """A benchmark with its tasks; None where they cannot be loaded."""

    benchmark: Benchmark | None
    split: Split | None
    finding: Finding


async def check_data(part: Component) -> Data:
    """Load a benchmark as a run would."""
    try:
        benchmark: Benchmark = part.build()
    except UserError as error:
        return Data(benchmark=None, split=None, finding=_broken(part, error, None))
    try:
        split = await in_thread(benchmark.load)
    except UserError as error:
        return Data(benchmark=benchmark, split=None, finding=_broken(part, error, benchmark))
    return Data(benchmark=benchmark, split=split, finding=_loaded(benchmark, split))


def _loaded(benchmark: Benchmark, split: Split) -> Finding:
    said = (
        f"{len(split.train)} training and {len(split.heldout)} held-out tasks, "
        f"fingerprint {split.fingerprint[:SHOWN]}"
    )
    path = _file_of(benchmark)
    if path is None:
        return ok("data", f"{said}, made here")
    manifest = manifest_path(path)
    prepare = f"python scripts/prepare_data.py benchmark={benchmark.name}"
    if not manifest.exists():
        return warn("data", f"{path}: {said}; no manifest says where they are from", prepare)
    written = read_json(manifest).get("fingerprint")
    if written != split.fingerprint:
        return fail(
            "data",
            f"{path}: fingerprint {split.fingerprint[:SHOWN]}, and its manifest says "
            f"{str(written)[:SHOWN]}",
            f"{prepare} overwrite=true",
        )
    return ok("data", f"{path}: {said}, as its manifest says")


def _broken(part: Component, error: UserError, benchmark: Benchmark | None) -> Finding:
    """Why the data cannot be loaded; a file can be prepared, other faults say what to do."""
    said, _, rest = str(error).partition("\n")
    path = None if benchmark is None else _file_of(benchmark)
    if path is None:
        return fail("data", one_line(str(error)), f"mend benchmark={part.choice} as it says")
    prepare = f"python scripts/prepare_data.py benchmark={part.choice}"
    if not path.exists():
        return fail(
            "data", f"{path}: no such file", f"{prepare}; else benchmark.source={GENERATED}"
        )
    return fail("data", one_line(f"{said} {rest}"), f"{prepare} overwrite=true")


def _file_of(benchmark: Benchmark) -> Path | None:
    """The prepared file a benchmark reads; None for one that makes its tasks."""
    if not isinstance(benchmark, ItemBenchmark) or not benchmark.has_published_items:
        return None
    if benchmark.config.source == GENERATED:
        return None
    return Path(benchmark.config.source).expanduser()
