"""The verbs in one command, and the one place where an error becomes a message and an exit code.

Nothing heavy is imported before a verb runs, so that `sero --help` is quick.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence

import typer

from sero.cli import assign, diff, doctor, log, plan, pool, report, score, view
from sero.cli.output import complain, prepare_streams
from sero.errors import SeroError, UserError


def build_app() -> typer.Typer:
    """The Typer application with every verb."""
    app = typer.Typer(
        name="sero",
        help="Inspect role pools and runs, score responses. Training and evaluation are "
        "scripts/train.py and scripts/evaluate.py.",
        no_args_is_help=True,
        add_completion=False,
        # Errors are reported here, in one paragraph; rich markup would read model text as markup.
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.command("log")(log.show_log)
    app.command("diff")(diff.show_diff)
    app.command("view")(view.write_view)
    app.command("report")(report.show_report)
    app.command("score")(score.show_scores)
    app.command("doctor")(doctor.run_doctor)
    app.command("plan")(plan.show_plan)
    app.command("assign")(assign.show_assignment)
    app.add_typer(pool.build_app(), name="pool")
    return app


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a verb; exits 0 on success, 2 on a user's mistake.

    Args:
        arguments: the command line after `sero`; None reads it from the process.

    Raises:
        SystemExit: always.
    """
    prepare_streams()
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    try:
        build_app()(args=None if arguments is None else list(arguments), prog_name="sero")
    except SeroError as error:
        complain(str(error))
        sys.exit(error.exit_code)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        complain(f"{where}{error.strerror or error}")
        sys.exit(UserError.exit_code)
    sys.exit(0)
