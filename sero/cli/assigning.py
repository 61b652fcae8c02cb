"""From a checked configuration to an assignment: panel, call cache, record."""

from __future__ import annotations

import asyncio
import hashlib
from functools import partial
from pathlib import Path

from sero.assignment.meta_debate import assign_roles
from sero.assignment.record import Assignment
from sero.assignment.roster import Roster, Seat
from sero.backbones.base import CallContext, Phase
from sero.backbones.cached import CachedBackbone
from sero.backbones.settling import settled
from sero.config.assign_alone import AssignAlone
from sero.config.seats import part_of
from sero.errors import UserError
from sero.storage import JsonLines


def assignment_of(task: str, roster: Roster, config: AssignAlone) -> tuple[Assignment, int]:
    """Assign, through the call cache; the assignment, and how many requests were sent.

    Raises:
        UserError: a backbone cannot be used, or takes no request options.
        BackboneError: the machine failed; the replies so far are in the cache.
    """
    digest = hashlib.sha256(task.encode("utf-8", "replace")).hexdigest()
    call = CallContext(
        run_seed=config.seed, phase=Phase.EVAL, episode=None, item=f"task-{digest[:12]}"
    )
    return asyncio.run(_assign(task, roster, config, call))


async def _assign(
    task: str, roster: Roster, config: AssignAlone, call: CallContext
) -> tuple[Assignment, int]:
    panel: dict[Seat, CachedBackbone] = {}
    try:
        # a single candidate is never asked, so no model is loaded for it
        for seat in roster.seats if len(roster.candidates) > 1 else ():
            inner = part_of(seat, config.backbones).build()
            panel[seat] = CachedBackbone(inner, Path(config.paths.cache) / "completions.sqlite")
        ask = partial(assign_roles, task, roster, panel, config.assign, call=call)
        assignment = await settled(ask, lambda: sum(one.commit() for one in panel.values()))
        return assignment, sum(one.stats.requests for one in panel.values())
    finally:
        for one in panel.values():
            await one.close()


def read_task(task: str | None, file: Path | None, own: str | None) -> str:
    """The task's text: from the command line, a file, or the roster.

    Raises:
        UserError: two of the first, none at all, or an empty one.
    """
    if task is not None and file is not None:
        raise UserError("--task and --task-file: give one of them")
    text = task or own
    if file is not None:
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise UserError(f"--task-file {file}: not a text in UTF-8: {error.reason}") from None
    if text is None or not text.strip():
        raise UserError("no task: give --task TEXT or --task-file FILE, or 'task:' in the roster")
    return text.strip()


def write_record(path: Path, assignment: Assignment, task: str) -> None:
    """Append the assignment to a JSONL file.

    Raises:
        StorageError: the disk refused.
    """
    lines = JsonLines(path)
    try:
        lines.append({"task": task, **assignment.to_data()})
        lines.sync()
    finally:
        lines.close()
