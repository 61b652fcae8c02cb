"""`sero view RUN`: the static page of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sero.cli.output import say


def write_view(
    run: Annotated[Path, typer.Argument(help="A run directory.", show_default=False)],
) -> None:
    """Write report.html and print its path.

    One self-contained page with scores, curves, edits, pools and costs.

    Example: sero view runs/quickstart/base/sero/skillworld/seed_42
    """
    from sero.reporting.html import write_report

    say(str(write_report(run)))
