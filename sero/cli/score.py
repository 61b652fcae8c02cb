"""`sero score`: scores of responses that came from elsewhere."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from sero.benchmarks.base import Benchmark

STDIN = Path("-")


def show_scores(
    responses: Annotated[
        Path,
        typer.Argument(
            metavar="IN.jsonl",
            help="One object a line with item, the published fields of an item, and response, the "
            "raw text; other keys are ignored. - reads standard input.",
            show_default=False,
        ),
    ],
    benchmark: Annotated[
        str,
        typer.Option(metavar="NAME", help="A file of conf/benchmark/.", show_default=False),
    ],
    scorer: Annotated[
        str | None,
        typer.Option(
            metavar="careful|official",
            help="careful is right where the published code is plainly wrong, official repeats "
            "its verdicts. By default what the benchmark's file says.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the lines to a file as well.", show_default=False),
    ] = None,
    conf: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="A further configuration folder, with your own benchmark/NAME.yaml in it.",
            show_default=False,
        ),
    ] = None,
    workers: Annotated[
        int, typer.Option(min=1, help="Responses scored at once where the scorer is slow.")
    ] = 2,
) -> None:
    """Score responses that came from elsewhere.

    One JSON object a line, in order and as soon as it is there: index (among the lines that are
    not blank, from 0), score, parsed and reason; timed_out where the scorer was stopped, which
    scores 0. Lines that cannot be scored are left out, listed at the end, and make the exit code
    2. The mean goes to standard error.

    Example: sero score --benchmark naturalplan --scorer official IN.jsonl
    """
    from sero.benchmarks.files import raise_faults
    from sero.benchmarks.scoring import verdicts

    judging = build_benchmark(benchmark, scorer, conf)
    scores: list[float] = []
    timed_out = 0
    faults: list[str] = []
    with _lines(responses) as lines, _writing(out, responses) as write:
        several = workers if judging.scores_slowly else 1
        for verdict in verdicts(judging, lines, workers=several):
            faults += verdict.faults
            if verdict.score is not None:
                scores.append(verdict.score)
                timed_out += verdict.timed_out
                write(verdict.record())
    mean = f", mean {sum(scores) / len(scores):.4f}" if scores else ""
    summary = f"{len(scores)} scored{mean}, {timed_out} timed out"
    typer.echo(f"{judging.name}, scorer {judging.scorer}: {summary}", err=True)
    if not scores and not faults:
        faults.append("no lines in it")
    raise_faults("standard input" if responses == STDIN else responses, faults)


def build_benchmark(name: str, scorer: str | None, conf: Path | None = None) -> Benchmark:
    """The benchmark that `benchmark/<name>.yaml` describes; its data are not read.

    Args:
        scorer: None takes the file's.
        conf: a further configuration folder.

    Raises:
        UserError: no such file, a fault in it, another scorer than it offers, a simulation.
    """
    import dataclasses

    from sero.cli.checkout import conf_dir
    from sero.config.benchmark_alone import choices_of, compose_benchmark
    from sero.errors import UserError
    from sero.validation import did_you_mean

    if conf is not None and not conf.is_dir():
        raise UserError(f"--conf {conf}: no such folder")
    quoted = name.replace("\\", "\\\\").replace("'", "\\'")
    part = compose_benchmark(conf_dir(), [f"benchmark='{quoted}'"], more_dir=conf).benchmark
    offered = choices_of(part, "scorer")
    config = part.config
    if scorer is not None and scorer in offered:
        config = dataclasses.replace(config, scorer=scorer)
    judging: Benchmark = part.target(config)
    if judging.simulated:
        raise UserError(f"{name} is simulated: it has no published items to score responses to")
    if scorer is not None and scorer not in (offered or (judging.scorer,)):
        listed = ", ".join(offered or (judging.scorer,))
        hint = did_you_mean(scorer, offered)
        raise UserError(f"--scorer {scorer}: {name} offers {listed}{hint}")
    return judging


@contextlib.contextmanager
def _lines(path: Path) -> Iterator[IO[bytes]]:
    if path == STDIN:
        # A reader of its own, never closed: at an interrupt a thread still waits in it.
        yield io.BufferedReader(io.FileIO(sys.stdin.fileno(), closefd=False))
    else:
        with path.open("rb") as stream:
            yield stream


@contextlib.contextmanager
def _writing(out: Path | None, source: Path) -> Iterator[Callable[[dict[str, Any]], None]]:
    """A function that writes a record to standard output and to the file, if any.

    ASCII only: what a model wrote neither meets a terminal nor depends on its encoding.
    """
    from sero.errors import UserError
    from sero.storage import naming_the_directory

    if out is None:
        yield lambda record: typer.echo(json.dumps(record))
        return
    if out.exists() and source != STDIN and out.samefile(source):
        raise UserError(f"--out {out}: the file that is read")
    with out.open("wb", buffering=0) as file:

        def write(record: dict[str, Any]) -> None:
            line = json.dumps(record)
            with naming_the_directory(out):
                file.write(f"{line}\n".encode("ascii"))
            typer.echo(line)

        yield write
