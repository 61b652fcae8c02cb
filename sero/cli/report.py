"""`sero report RUNS...`: the results table of several runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def show_report(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Run directories, or folders above them.", show_default=False),
    ],
) -> None:
    """Print the results table of runs.

    Held-out scores with 95 % intervals, paired differences, failures, calls and tokens.

    Example: sero report runs/quickstart
    """
    from rich.console import Console

    from sero.reporting.records import find_runs
    from sero.reporting.summary import print_summary

    found = dict.fromkeys(directory for path in runs for directory in find_runs(path))
    print_summary(list(found), Console(markup=False, highlight=False, emoji=False))
