"""`sero diff RUN A B`: what changed in the pool between two episodes, field by field."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sero.cli.output import say


def show_diff(
    run: Annotated[Path, typer.Argument(help="A run directory.", show_default=False)],
    before: Annotated[
        str, typer.Argument(metavar="A", help="An episode; 0 or seed; final.", show_default=False)
    ],
    after: Annotated[
        str, typer.Argument(metavar="B", help="An episode; 0 or seed; final.", show_default=False)
    ],
) -> None:
    """Show what changed in the pool from A to B.

    Compares the pool after episode A with the pool after episode B. Lines start with + (role
    added), - (role removed) or ~ (field changed, credit included).

    Example: sero diff runs/quickstart/base/sero/skillworld/seed_42 0 final
    """
    from sero.reporting.pools import describe_difference, last_episode, load_state, pool_file
    from sero.reporting.records import read_run

    record = read_run(run)
    last = last_episode(record.episodes())
    files = [pool_file(run, point, last_episode=last) for point in (before, after)]
    old, new = (load_state(file) for file in files)
    for point, file, state in zip((before, after), files, (old, new), strict=True):
        say(f"{point}: {file.name}, {len(state.pool)} roles, pool {state.pool.hash}")
    for line in describe_difference(old, new) or ["no difference"]:
        say(line)
