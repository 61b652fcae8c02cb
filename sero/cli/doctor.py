"""`sero doctor`: is everything there that a run needs, before it starts."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sero.cli.output import say

if TYPE_CHECKING:
    from sero.config import RunConfig
    from sero.doctor import Finding, Options

FAILED = 1
"""Exit code when a check failed."""


def run_doctor(
    overrides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KEY=VALUE]...",
            help="The overrides that scripts/train.py would get; of a sweep every model, "
            "benchmark and encoder is looked at.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object on standard output, for machines.")
    ] = False,
    probes: Annotated[
        int,
        typer.Option(
            min=0,
            max=256,
            help="Requests that are asked alone and in a crowd, to count flips; 0 leaves that out. "
            "At most 8 + 4 calls for each are sent, twice that if all have to be repeated.",
        ),
    ] = 8,
    tokens: Annotated[
        int, typer.Option(min=1, help="Bound on the answers to the probes; longer ones flip more.")
    ] = 64,
    deadline: Annotated[
        float,
        typer.Option(
            min=0.1,
            metavar="SECONDS",
            help="Of each call and of each quick check; loading data or a model has ten minutes.",
        ),
    ] = 60.0,
    deep: Annotated[
        bool,
        typer.Option("--deep", help="Also load the encoder, and send a prompt of full length."),
    ] = False,
    false_commit: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=0.5,
            help="Highest chance that the gate may commit an edit without effect; where answers "
            "flip, the gate's settings are looked for by it.",
        ),
    ] = 0.05,
    effect: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="Gain and loss of the score in the gate's table."),
    ] = 0.1,
    conf: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="A further configuration folder of your own.", show_default=False
        ),
    ] = None,
) -> None:
    """Check all that a run would use.

    The machine, the data, the encoder and the live model: one line for each check, ok, warn, fail
    or skipped, and below it the command or key that mends it. Exits 0 when nothing failed, 1 when
    a check failed, 2 for faults in the overrides. Calls go past the call cache; nothing secret is
    printed, and nothing is sent to W&B.

    Example: sero doctor experiment=main backbone=qwen3_8b
    """
    from sero.cli.checkout import conf_dir
    from sero.config.train_alone import composed_jobs
    from sero.doctor import Options

    jobs = composed_jobs(conf_dir(), overrides or (), more_dir=conf)
    options = Options(
        probes=probes,
        tokens=tokens,
        deadline_s=deadline,
        deep=deep,
        false_commit=false_commit,
        effect=effect,
    )
    logging.getLogger("sero").setLevel(logging.ERROR)  # its notes are findings here
    findings = asyncio.run(_collect([job.config for job in jobs], options, quiet=as_json))
    counts = Counter(str(finding.level) for finding in findings)
    if as_json:
        record = {
            "ok": not counts["fail"],
            "counts": dict(counts),
            "findings": [dataclasses.asdict(finding) for finding in findings],
        }
        typer.echo(json.dumps(record))
    else:
        say(", ".join(f"{counts[level]} {level}" for level in ("ok", "warn", "fail", "skipped")))
    if counts["fail"]:
        raise typer.Exit(FAILED)


async def _collect(configs: Sequence[RunConfig], options: Options, *, quiet: bool) -> list[Finding]:
    """All findings; unless quiet, each is shown as soon as it is there."""
    from sero.doctor import examine

    found: list[Finding] = []
    async for finding in examine(configs, options):
        if not quiet:
            _show(finding, before=found[-1] if found else None)
        found.append(finding)
    return found


def _show(finding: Finding, before: Finding | None) -> None:
    if finding.subject and (before is None or before.subject != finding.subject):
        say(finding.subject)
    indent = "  " if finding.subject else ""
    say(f"{indent}{finding.level:<8}{finding.name:<14}{finding.said}")
    for line in finding.details:
        say(f"{indent}{'':22}{line}")
    if finding.mend:
        say(f"{indent}{'':22}mend: {finding.mend}")
