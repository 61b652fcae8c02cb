"""From a command line to jobs: check everything, let Hydra run the jobs, sum up at the end."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import secrets
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import hydra
from hydra._internal.utils import get_args_parser
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from sero.benchmarks.item_benchmark import ItemBenchmark
from sero.config.composing import HYDRA_VERSION, composer, own_choices
from sero.config.ledger import LEDGER, Ledger, settle_in_worker, stopping_jobs
from sero.config.named_backbones import with_named_backbones
from sero.config.overrides import check_overrides
from sero.config.parse import checked, parse_config
from sero.config.sections import RunConfig
from sero.config.variant import resolved_data, run_directory
from sero.errors import RunConflict, SeroError, StorageError
from sero.storage import read_json, writable

log = logging.getLogger(__name__)

MOST_SINGLE_RUNS = 6
"""Runs of a sweep that are shown one by one; more are summed up over their seeds."""

LISTED = 50
"""Most runs that are named one by one where `budget.runs` left them."""

FILE_WIDTH = 110
"""Columns of the table where standard output is no terminal."""

SEVERITY = (0, 75, 2, 74, 1)
"""Exit codes from good to bad; a code above 128 (stopped by a signal) is worse than all."""


class Job(Protocol):
    """Does one run and returns its exit code; 128 plus the signal's number when it was stopped."""

    def __call__(self, config: RunConfig, directory: Path, resolved: dict[str, Any]) -> int: ...


def launch(conf_dir: Path, config_name: str, job: Job, argv: Sequence[str] | None = None) -> int:
    """Run a script: its overrides checked together, its jobs run, one table over all of them.

    Args:
        conf_dir: the folder of the configuration.
        config_name: the primary file, without its suffix.
        job: does one run.
        argv: the command line, the script's name first; None takes this process's.

    Returns:
        The worst exit code of the jobs; 2 when the configuration has faults.
    """
    argv = list(sys.argv if argv is None else argv)
    args = get_args_parser().parse_args(argv[1:])
    _log_to_stderr()
    if args.help or args.hydra_help or args.shell_completion:
        return _hydra(conf_dir, config_name, job, argv)
    folder = Path(args.config_path).resolve() if args.config_path else conf_dir
    more = Path(args.config_dir) if args.config_dir else None
    try:
        with composer(folder, args.config_name or config_name, more_dir=more) as composing:
            check = checked if args.cfg or args.info else _startable
            line = check_overrides(composing, args.overrides, check)
    except SeroError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    if args.cfg or args.info:
        return _hydra(conf_dir, config_name, job, argv)
    runs = Path(line.first.config.paths.runs).resolve()
    ledger = Ledger(runs / ".sweeps" / f"{os.getpid()}-{secrets.token_hex(4)}.jsonl")
    try:
        writable(runs)
    except StorageError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    flags = _flags(argv[1:], args)
    if line.multirun and not (args.run or args.multirun):
        flags.append("--multirun")
    with _reporting_to(ledger.path):
        with stopping_jobs(ledger):
            code = _hydra(conf_dir, config_name, job, [argv[0], *flags, *args.overrides])
        return _sum_up(ledger, code)


def _startable(cfg: DictConfig, choices: Mapping[str, str]) -> tuple[RunConfig | None, list[str]]:
    """A RunConfig, or every fault; data that are not there count, since every job would end so."""
    config, faults = checked(cfg, choices)
    if config is not None and issubclass(config.benchmark.target, ItemBenchmark):
        missing = config.benchmark.target.missing_data(config.benchmark.config)
        if missing:
            return None, [f"benchmark.source: {missing}".replace("\n", "\n    ")]
    return config, faults


def run_one(cfg: DictConfig, conf_dir: Path, config_name: str, job: Job) -> None:
    """One job, in whatever process it runs; a failure is reported and the next job goes on."""
    ledger = Ledger(Path(os.environ[LEDGER]))
    if ledger.stopped:
        return  # an interrupt ends the sweep
    _log_to_stderr()  # this may be another process than the script's
    settle_in_worker(ledger)
    ledger.started()
    directory: Path | None = None
    try:
        choices = own_choices(HydraConfig.get().runtime.choices)
        with composer(conf_dir, HydraConfig.get().job.config_name or config_name) as composing:
            cfg = with_named_backbones(cfg, composing)
            config = parse_config(cfg, choices)
            directory = run_directory(cfg, choices, composing)
        if not _finished(directory) and not ledger.admits(config.budget.runs):
            ledger.left(directory)
            return
        code = job(config, directory, resolved_data(cfg))
    except SeroError as error:
        sys.stderr.write(f"{error}\n")
        code = error.exit_code
        if isinstance(error, RunConflict):
            directory = None  # what it holds is not this job's
    except KeyboardInterrupt:
        code = 130
    except Exception:
        # The outermost frame of a job: a mistake in one must not end the others.
        log.exception("%s: the job failed", directory or "before its run directory was known")
        code = 1
    ledger.ended(directory, code)


def worst(codes: Sequence[int]) -> int:
    """The exit code that says most about what went wrong."""

    def severity(code: int) -> int:
        if code > 128:
            return len(SEVERITY) + 1
        return SEVERITY.index(code) if code in SEVERITY else len(SEVERITY)

    return max(codes, key=severity, default=0)


def _hydra(conf_dir: Path, config_name: str, job: Job, argv: list[str]) -> int:
    """Hydra's own front end over `argv`; 0, or the code it ends with."""

    def task(cfg: DictConfig) -> None:
        run_one(cfg, conf_dir, config_name, job)

    start = hydra.main(
        version_base=HYDRA_VERSION, config_path=str(conf_dir.resolve()), config_name=config_name
    )(task)
    ours, sys.argv = sys.argv, argv
    try:
        start()
    except KeyboardInterrupt:
        return 130
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.argv = ours
    return 0


def _sum_up(ledger: Ledger, code: int) -> int:
    """Print the table over a sweep's runs and return the worst code."""
    reports, left = ledger.reports(), ledger.left_over()
    ledger.close()
    with contextlib.suppress(OSError):
        ledger.path.parent.rmdir()  # another sweep may still use it
    # Their own codes first: they know which signal it was.
    result = worst([*(reported for _, reported in reports), code])
    directories = list(dict.fromkeys(d for d, _ in reports if d is not None and d.exists()))
    if directories and result <= 128:
        try:
            _print_table(directories)
        except SeroError as error:
            sys.stderr.write(f"{error}\n")
            result = worst([result, error.exit_code])
    if left:
        sys.stdout.write(_left_over(left))
    return result


def _left_over(directories: Sequence[Path]) -> str:
    """The runs that `budget.runs` left, by name as far as they fit on a screen."""
    more = len(directories) - LISTED
    lines = [
        f"{len(directories)} run(s) not started, budget.runs is used up; the same command goes on:",
        *(f"  {directory}" for directory in directories[:LISTED]),
        *([f"  and {more} more"] if more > 0 else []),
    ]
    return "\n".join(lines) + "\n"


def _finished(directory: Path) -> bool:
    """Whether the run in a directory is over, so that nothing is started in it."""
    status = directory / "status.json"
    try:
        return status.exists() and dict(read_json(status)).get("state") == "completed"
    except (OSError, ValueError, TypeError):
        return False  # whatever is wrong with it, the run itself will say


def _print_table(directories: Sequence[Path]) -> None:
    """Each run of a small sweep; the rows over seeds of a large one."""
    if len(directories) > MOST_SINGLE_RUNS:
        from sero.reporting.formats import Format, render_report
        from sero.reporting.results import make_report

        sys.stdout.write(render_report(make_report(directories), Format.TEXT))
        return
    from rich.console import Console

    from sero.reporting.summary import print_summary

    # Into a file or a pipe the table is written at its full width.
    print_summary(directories, Console(width=None if sys.stdout.isatty() else FILE_WIDTH))


@contextlib.contextmanager
def _reporting_to(ledger: Path) -> Iterator[None]:
    before = os.environ.get(LEDGER)
    os.environ[LEDGER] = str(ledger)
    try:
        yield
    finally:
        os.environ.pop(LEDGER)
        if before is not None:
            os.environ[LEDGER] = before


def _flags(argv: Sequence[str], args: argparse.Namespace) -> list[str]:
    """The command line without its overrides."""
    overrides = list(args.overrides)
    flags = []
    for word in argv:
        if word in overrides:
            overrides.remove(word)
        else:
            flags.append(word)
    return flags


def _log_to_stderr() -> None:
    """Notes of Sero from INFO, of libraries from WARNING, on standard error."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
    logging.getLogger("sero").setLevel(logging.INFO)
