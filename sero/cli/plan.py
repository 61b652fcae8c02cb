"""`sero plan OVERRIDES...`: what a run or a sweep will ask for, before it starts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from sero.cli.output import complain


def show_plan(
    overrides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[OVERRIDES]...",
            help="As for scripts/train.py, sweeps included.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object instead of the table.")
    ] = False,
    completion_tokens: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Mean completion to assume.", show_default=False),
    ] = None,
    latency: Annotated[
        tuple[float, float] | None,
        typer.Option(
            metavar="LEAST MOST", help="Seconds of one call to assume.", show_default=False
        ),
    ] = None,
    tokens_per_second: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            metavar="N",
            help="Completion tokens the server gives over all calls; time follows from it.",
            show_default=False,
        ),
    ] = None,
    conf: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A further configuration folder.", show_default=False),
    ] = None,
) -> None:
    """Say what a run or a sweep will ask for.

    Logical calls per phase, exact for methods without training or repair, else least and most;
    ranges of tokens, time and price under the assumptions named below the table. Nobody is asked
    and no model is loaded. Exit code 2 when the least exceeds the budget; a warning when only the
    most does.

    Example: sero plan experiment=main benchmark=naturalplan
    """
    from sero.cli.checkout import conf_dir
    from sero.errors import UserError
    from sero.planning.assumed import Assumed
    from sero.planning.shown import plan_data, plan_tables
    from sero.planning.sweep import plan_sweep
    from sero.reporting.formats import text_table

    if conf is not None and not conf.is_dir():
        raise UserError(f"--conf {conf}: no such folder")
    if latency is not None and not 0 < latency[0] <= latency[1]:
        raise UserError(
            f"--latency {latency[0]:g} {latency[1]:g}: give the least and the most, above 0"
        )
    assumed = Assumed(
        completion_tokens=completion_tokens,
        latency_s=latency,
        tokens_per_second=tokens_per_second,
    )
    plan = plan_sweep(conf_dir(), overrides or [], assumed, more_dir=conf)
    if as_json:
        typer.echo(json.dumps(plan_data(plan), indent=2))
    else:
        typer.echo("\n\n".join(map(text_table, plan_tables(plan))))
    for line in plan.findings.doubtful:
        typer.echo(f"warning: {line}", err=True)
    if plan.findings.impossible:
        for line in plan.findings.impossible:
            complain(line)
        raise UserError("the least this takes is over the budget; raise it, or plan less")
