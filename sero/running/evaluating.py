"""The evaluation of a run: predictions by item, resumable, failed items retried alone."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sero.benchmarks.base import Task
from sero.errors import StorageError
from sero.evaluation import Evaluated, evaluate
from sero.inference.trace import CallKind, Cost
from sero.running.build import Workshop
from sero.running.directory import RunDirectory
from sero.running.progress import Progress
from sero.storage import JsonLines, dumps, read_lines, whole_length, write_atomic

DECIDING = (CallKind.CRITERIA, CallKind.PROPOSAL, CallKind.REVIEW)
"""Calls that decide who plays which role."""

FLUSH_ITEMS = 64
FLUSH_S = 1.0


def item_lines_length(path: Path, trained: int, items: int) -> int:
    """Bytes of traces.jsonl or assignments.jsonl to keep: training's, and those of `items` items.

    They become durable before the predictions they belong to, so there are never fewer.
    """
    if not path.exists() or items == 0:
        return trained
    keep = trained
    with path.open("rb") as file:
        file.seek(trained)
        for _, line in zip(range(items), file, strict=False):
            if not line.endswith(b"\n"):
                break
            keep += len(line)
    return keep


def predicted(path: Path) -> list[str]:
    """Ids of the items predictions.jsonl holds, in order."""
    return [row["id"] for row in read_lines(path)] if path.exists() else []


async def evaluate_run(
    shop: Workshop,
    directory: RunDirectory,
    traces: JsonLines | None,
    assignments: JsonLines | None,
    progress: Progress,
    *,
    run_seed: int,
    concurrency: int,
    check_budget: Callable[[Cost], None],
) -> None:
    """Predict every held-out item that has no line yet.

    Replies are committed first, then traces and assignments, then predictions, in batches: after a
    kill the file is a prefix of the split, and the run goes on behind it.

    Raises:
        BackboneError: the machine failed for everybody; what was predicted is kept.
        BudgetSpent: a budget is used up; what was predicted is kept.
        StorageError: predictions.jsonl does not fit the split.
    """
    tasks = shop.split.heldout
    path = directory.predictions
    done = predicted(path)
    if done != [task.id for task in tasks[: len(done)]]:
        raise StorageError(
            f"{path} does not begin with the held-out items of this split; something else wrote "
            "it. Restore it, or move the run directory away."
        )
    spent = sum((Cost.from_data(row) for row in read_lines(path)), start=Cost()) if done else Cost()
    lines = JsonLines(path, keep=whole_length(path))
    batch: list[Evaluated] = []
    flushed = time.monotonic()

    def flush() -> None:
        nonlocal flushed
        # Taken out first: lines that a full disk refused must not be appended again on the way out.
        ready = batch.copy()
        batch.clear()
        shop.backbone.commit()
        for one in ready:
            trace, assignment = parted(_trace(one))
            if traces is not None:
                traces.append(trace)
            if assignments is not None:
                assignments.append(assignment)
        for journal in (traces, assignments):
            if journal is not None:
                journal.sync()
        for one in ready:
            lines.append(one.prediction.to_data())
        lines.sync()
        flushed = time.monotonic()

    progress.start(len(tasks), "evaluate", done=len(done))
    try:
        open_items = tasks[len(done) :]
        left = len(open_items)
        if left:
            check_budget(spent)
        # Closed at once on every way out, so that no item goes on asking behind an error.
        async with contextlib.aclosing(
            evaluate(
                shop.method,
                open_items,
                shop.benchmark,
                run_seed=run_seed,
                concurrency=concurrency,
                check_alive=shop.check_alive,
            )
        ) as evaluated:
            async for one in evaluated:
                batch.append(one)
                spent = spent + one.prediction.cost
                progress.advance(_shown(one))
                if len(batch) >= FLUSH_ITEMS or time.monotonic() - flushed > FLUSH_S:
                    flush()
                left -= 1
                if left:
                    check_budget(spent)
    finally:
        try:
            flush()
        finally:
            lines.close()
            progress.close()


async def retry_failed(
    shop: Workshop, directory: RunDirectory, *, run_seed: int, concurrency: int
) -> None:
    """Answer the failed items again and replace their lines, those in predictions.jsonl last.

    Raises:
        BackboneError: the machine failed for everybody; the old lines stand.
    """
    rows: list[dict[str, Any]] = list(read_lines(directory.predictions))
    again = {row["id"] for row in rows if row["failure"] is not None}
    if not again:
        return
    tasks: Sequence[Task] = [task for task in shop.split.heldout if task.id in again]
    fresh: dict[str, Evaluated] = {}
    async with contextlib.aclosing(
        evaluate(
            shop.method,
            tasks,
            shop.benchmark,
            run_seed=run_seed,
            concurrency=concurrency,
            check_alive=shop.check_alive,
        )
    ) as evaluated:
        async for one in evaluated:
            fresh[one.prediction.id] = one
    shop.backbone.commit()
    lines = {name: parted(_trace(one)) for name, one in fresh.items()}
    _replace(directory.traces, "item", {name: trace for name, (trace, _) in lines.items()})
    if directory.assignments.exists():
        _replace(directory.assignments, "item", {name: line for name, (_, line) in lines.items()})
    predictions = {name: one.prediction.to_data() for name, one in fresh.items()}
    _replace(directory.predictions, "id", predictions)


def _replace(path: Path, key: str, fresh: Mapping[str, dict[str, Any]]) -> None:
    """Put records in the place of those of the same items; all others stay as they are.

    No training task is a held-out one, so training's records are never taken for them.
    """
    text = "".join(dumps(fresh.get(row[key], row)) + "\n" for row in read_lines(path))
    write_atomic(path, text)


def parted(trace: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A line of traces.jsonl without the assignment, and the line of assignments.jsonl.

    Every rollout has one there; where it failed, or nothing was assigned, `assignment` is null.
    What was said to decide it is written there alone; its cost stays in both.
    """
    rollout = trace.get("rollout")
    found = rollout.get("assignment") if rollout else None
    where = {key: trace.get(key) for key in ("episode", "phase", "item")}
    if rollout and "assignment" in rollout:
        rest = {key: value for key, value in rollout.items() if key != "assignment"}
        said = [_without_text(m) if m["kind"] in DECIDING else m for m in rollout["messages"]]
        trace = {**trace, "rollout": {**rest, "messages": said}}
    return trace, {**where, **(found or {"assignment": None})}


def _without_text(message: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in message.items() if key != "text"}


def _trace(one: Evaluated) -> dict[str, Any]:
    prediction = one.prediction
    return {
        "episode": None,
        "phase": "eval",
        "item": prediction.id,
        "score": prediction.score,
        "rollout": None if one.rollout is None else one.rollout.to_data(),
    }


def _shown(one: Evaluated) -> str:
    score = one.prediction.score
    return "item failed" if score is None else f"item score {score:.2f}"
