"""`sero assign FILE`: Meta-Debate by itself, on one task."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sero.cli.output import announce, say


def show_assignment(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.yaml",
            help="Roles, candidates, and optionally evaluators and a task.",
            show_default=False,
        ),
    ],
    overrides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[OVERRIDES]...",
            help="As for scripts/train.py: backbone=NAME, assign.mode=argmax, seed=1.",
            show_default=False,
        ),
    ] = None,
    task: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The task.", show_default=False)
    ] = None,
    task_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A file with the task's text.", show_default=False),
    ] = None,
    scores: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Apply the rules to these scores instead of asking anybody: a row per role, a "
            "number (or one per evaluator) per candidate.",
            show_default=False,
        ),
    ] = None,
    forecast: Annotated[
        bool, typer.Option("--forecast", help="Say what it would cost and ask nobody.")
    ] = False,
    host_calls: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Logical calls per task of the debate that the roles are for; by default one "
            "per role.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Append the record to a JSONL file.", show_default=False),
    ] = None,
    conf: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A further configuration folder.", show_default=False),
    ] = None,
) -> None:
    """Decide who plays which role on a task.

    Every candidate proposes for every role, every evaluator scores the proposals; prints the
    score matrix, the assignment with its reasons, and its cost against the debate's. Replies go
    through the call cache, so the same command again asks nobody.

    Example: sero assign roster.yaml --task "Review this patch: ..." backbone=local
    """
    from sero.assignment.forecast import forecast as foresee
    from sero.assignment.load import load_roster, load_scores
    from sero.cli.assign_tables import announcement, assignment_text, decision_text, forecast_text
    from sero.cli.assigning import assignment_of, read_task, write_record
    from sero.cli.checkout import conf_dir
    from sero.config.assign_alone import compose_assignment
    from sero.errors import UserError

    if conf is not None and not conf.is_dir():
        raise UserError(f"--conf {conf}: no such folder")
    found = load_roster(file)
    roster = found.roster
    names = [] if forecast or scores else [seat.backbone for seat in roster.seats]
    config = compose_assignment(conf_dir(), overrides or [], names, more_dir=conf)
    ahead = foresee(roster, config.assign, host_calls=host_calls or len(roster.roles))
    if scores is not None:
        typer.echo(decision_text(load_scores(scores, roster), roster, config.assign))
    elif forecast:
        typer.echo(forecast_text(ahead, roster))
    else:
        text = read_task(task, task_file, found.task)
        if ahead.calls:
            announce(announcement(ahead))
        assignment, requests = assignment_of(text, roster, config)
        typer.echo(assignment_text(assignment, ahead, requests))
        if out is not None:
            write_record(out, assignment, text)
            say(f"record appended to {out}")
