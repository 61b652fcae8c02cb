"""`sero log RUN`: one line per training episode, with its verdict and the reasons."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sero.cli.output import say

if TYPE_CHECKING:
    from sero.reporting.entries import Episode

HEADER = f"{'episode':>7}  {'phase':6}  {'action':6}  {'verdict':9}  {'before':>6}  {'after':>6}  "
HEADER += f"{'R':>6}  {'pool':>4}  what and why"


def show_log(
    run: Annotated[Path, typer.Argument(help="A run directory.", show_default=False)],
    commits_only: Annotated[
        bool, typer.Option("--commits-only", help="Only episodes that changed the pool.")
    ] = False,
    last: Annotated[
        int | None, typer.Option("--last", min=1, help="Only the last N of them.", metavar="N")
    ] = None,
    details: Annotated[
        bool, typer.Option("--details", help="Each reason as a sentence, below its line.")
    ] = False,
) -> None:
    """List the episodes: edit, verdict and reasons.

    One line each, with the scores before and after; a star marks a leave-one-out refresh.

    Example: sero log runs/quickstart/base/sero/skillworld/seed_42 --commits-only
    """
    from sero.reporting.records import read_run

    record = read_run(run)
    verdicts: Counter[str] = Counter()
    chosen = _counted(record.episodes(), verdicts)
    if commits_only:
        chosen = (episode for episode in chosen if episode.committed)
    if last is not None:
        chosen = iter(deque(chosen, maxlen=last))
    first = True
    for episode in chosen:
        if first:
            say(HEADER)
            first = False
        say(line_of(episode))
        if details:
            for sentence in episode.details:
                say(f"{'':11}{sentence}")
    if verdicts:
        parts = ", ".join(
            f"{verdicts[name]} {name}" for name in ("committed", "rejected", "unchanged")
        )
        say(f"{verdicts.total()} episodes: {parts}; state {record.status.state}")
    else:
        say(f"no training episodes in {run}; state {record.status.state}")


def line_of(episode: Episode) -> str:
    """One episode on one line; a star marks a leave-one-out refresh after it."""
    from sero.reporting.text import score, signed

    mark = "*" if episode.loo is not None else " "
    size = "–" if episode.pool_size is None else str(episode.pool_size)
    return (
        f"{episode.episode:>6}{mark}  {episode.phase:6}  {episode.action:6}  {episode.verdict:9}  "
        f"{score(episode.score_before):>6}  {score(episode.score_after):>6}  "
        f"{signed(episode.reward):>6}  {size:>4}  {_what_and_why(episode)}"
    ).rstrip()


def _what_and_why(episode: Episode) -> str:
    parts = []
    match episode.action:
        case "add":
            parts.append(f"+{episode.role or '(no card)'}")
            if episode.target:
                parts.append(f"from {episode.target}")
        case "remove":
            parts.append(f"-{episode.target or '?'}")
    if episode.gate_delta is not None:
        from sero.reporting.text import signed

        parts.append(f"gate {signed(episode.gate_delta)}")
    if episode.reasons:
        parts.append(f"[{', '.join(episode.reasons)}]")
    if episode.contracts is not None and episode.contracts.broken:
        parts.append(f"broken: {', '.join(episode.contracts.broken)}")
    return " ".join(parts)


def _counted(episodes: Iterable[Episode], verdicts: Counter[str]) -> Iterator[Episode]:
    for episode in episodes:
        verdicts[episode.verdict] += 1
        yield episode
