"""`scripts/prepare_data.py` without its command line: from published items to a prepared file.

Only items that are part of the benchmark are written, cut to its fields, in the order of their
ids; so a prepared file depends on nothing but the data.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sero.benchmarks.base import Task
from sero.benchmarks.files import raise_faults
from sero.benchmarks.item_benchmark import GENERATED, ItemBenchmark, Row
from sero.benchmarks.prepared import manifest_path, write_prepared
from sero.errors import DataError
from sero.storage import dumps

HUB = "hub"
"""The `source` that is fetched; any other is a path."""

MAX_REMARKS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """A prepared file.

    Attributes:
        description: what its manifest says.
        written: false where the same content was there.
    """

    path: Path
    description: Mapping[str, Any]
    written: bool


def nothing_to_prepare(benchmark: object) -> str:
    """Why a benchmark has no data to prepare; empty for one that has."""
    name = getattr(benchmark, "name", type(benchmark).__name__)
    if not isinstance(benchmark, ItemBenchmark):
        return f"{name} brings its own tasks; there is nothing to prepare"
    if not benchmark.has_published_items:
        return f"{name} makes its own items; there is nothing to prepare"
    if benchmark.config.source == GENERATED:
        return f"benchmark.source={GENERATED} reads no data; there is nothing to prepare"
    return ""


def prepare(
    benchmark: ItemBenchmark,
    source: str = HUB,
    *,
    revision: str | None = None,
    overwrite: bool = False,
) -> Preparation:
    """Get a benchmark's items, check them, and write them where it reads them.

    Args:
        source: `hub`, or the path of a local copy of the published data.
        revision: of the public source; None is the pinned one.
        overwrite: replace a prepared file of other content.

    Raises:
        DataError: no items, damaged ones with every fault, other counts than published (unless
            `benchmark.allow_counts`), or a prepared file of other content.
        StorageError: the disk refused.
    """
    target = Path(benchmark.config.source).expanduser()
    if target.is_dir():
        raise DataError(
            f"benchmark.source={target}: a folder; it names the prepared file. The data to be "
            f"prepared are named by source={target}"
        )
    rows, origin, read_at = _rows(benchmark, source, target, revision)
    tasks, remarks = benchmark.tasks_of(rows, where=origin)
    if not benchmark.config.allow_counts:
        benchmark.check_counts(tasks, where=origin)
    description = {
        "benchmark": benchmark.config.name,
        "source": origin,
        "revision": read_at,
        "items": len(tasks),
        "groups": _counts(task.group for task in tasks.values()),
        "subgroups": _counts(f"{t.group}/{t.subgroup}" for t in tasks.values() if t.subgroup),
        "left_out": _counts(why for _, raw in rows if (why := benchmark.left_out(raw))),
        "remarks": list(remarks),
        "fingerprint": benchmark.fingerprint(rows),
    }
    kept = _kept(benchmark, rows, tasks, origin)
    described, written = write_prepared(target, kept, description, overwrite=overwrite)
    return Preparation(path=target, description=described, written=written)


def report(done: Preparation) -> list[str]:
    """What was prepared, a line each."""
    found = done.description
    revision = f" at {found['revision']}" if found["revision"] else ""
    counts = {**found["groups"], **{f"  {name}": n for name, n in found["subgroups"].items()}}
    width = max(map(len, counts))
    remarks = found["remarks"]
    more = [f"... and {len(remarks) - MAX_REMARKS} more"] if len(remarks) > MAX_REMARKS else []
    state = "" if done.written else "unchanged: "
    return [
        f"{found['benchmark']}: {found['items']} items from {found['source']}{revision}",
        *(f"  {name:{width}}  {n:>5}" for name, n in counts.items()),
        *(f"  {remark}" for remark in [*remarks[:MAX_REMARKS], *more]),
        f"  {state}{done.path}, described in {manifest_path(done.path).name}",
        f"  sha256 {found['sha256']}",
    ]


def _rows(
    benchmark: ItemBenchmark, source: str, target: Path, revision: str | None
) -> tuple[list[Row], str, str | None]:
    """The items, where they come from, and the revision that was read."""
    if source == HUB:
        try:
            rows, label = benchmark.fetch(revision)
        except DataError as error:
            command = f"python scripts/prepare_data.py benchmark={benchmark.config.name}"
            raise DataError(
                f"{error}\nFrom a local copy of the data: {command} source=PATH", error.faults
            ) from None
        origin, _, read_at = label.partition("@")
        return rows, origin, read_at or None
    if revision is not None:
        raise DataError(f"revision={revision}: a local copy has none; leave out source or revision")
    path = Path(source).expanduser()
    if target.exists() and path.exists() and path.samefile(target):
        raise DataError(f"source={path}: the prepared file itself")
    return benchmark.read_source(path), str(path), None


def _kept(
    benchmark: ItemBenchmark, rows: Sequence[Row], tasks: Mapping[str, Task], where: str
) -> list[dict[str, Any]]:
    """The items by id, cut to the benchmark's fields; what is read back must give the same tasks.

    Raises:
        DataError: the kept fields are not the whole item, or no JSON.
    """
    kept: dict[str, dict[str, Any]] = {}
    faults: list[str] = []
    for place, raw in rows:
        if benchmark.left_out(raw):
            continue
        item_id = benchmark.task_from_data(raw, place).id
        item = kept[item_id] = benchmark.kept(raw)
        try:
            again = json.loads(dumps(item).encode())
            same = benchmark.task_from_data(again, "an item without an id") == tasks[item_id]
        except (ValueError, TypeError) as error:
            faults.append(f"{place}: no JSON that could be written: {error}")
        except DataError as error:
            faults += [f"{place}, as kept: {fault}" for fault in error.faults]
        else:
            if not same:
                faults.append(f"{place}: has no id, or not all of it is among the fields to keep")
    raise_faults(where, faults)
    return [kept[item_id] for item_id in sorted(kept)]


def _counts(names: Iterable[str]) -> dict[str, int]:
    found = Counter(names)
    return {name: found[name] for name in sorted(found)}
