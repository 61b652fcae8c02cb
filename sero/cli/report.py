"""`sero report RUNS...`: the results table over seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sero.cli.output import say

FORMATS = ("text", "md", "tex", "html")
SUFFIXES = (".md", ".tex", ".html")


def show_report(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Run directories, or folders above them.", show_default=False),
    ],
    kind: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="|".join(FORMATS),
            help="How to write it; by default what FILE's ending says, else text.",
            show_default=False,
        ),
    ] = None,
    baseline: Annotated[
        list[str] | None,
        typer.Option(
            help="Row or method the others are compared with; may be given several times. By "
            "default reference, sero or static, whichever there is first.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write to a file.", show_default=False),
    ] = None,
) -> None:
    """Compare methods over seeds.

    Per row the mean held-out score with its 95 % interval, paired differences to a baseline with
    wins and corrected p, calls and tokens, and in simulation regret and harmful roles. Exits with
    1 if a run is failed or unfinished.

    Example: sero report runs/simulator --baseline gated_random --output table.md
    """
    from sero.errors import UserError
    from sero.reporting.formats import Format, render_report
    from sero.reporting.records import find_runs
    from sero.reporting.results import make_report
    from sero.storage import write_atomic

    if kind is None:
        ending = output.suffix if output else ""
        kind = ending.removeprefix(".") if ending in SUFFIXES else "text"
    if kind not in FORMATS:
        raise UserError(f"--format {kind}: no such format; one of {', '.join(FORMATS)}")
    directories = {directory.resolve(): directory for path in runs for directory in find_runs(path)}
    report = make_report(list(directories.values()), baseline or ())
    text = render_report(report, Format(kind))
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_atomic(output, text)
        say(str(output))
    if not report.complete:
        raise typer.Exit(1)
