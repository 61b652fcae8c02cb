"""`sero log RUN`: one line per training episode, with its verdict and the reasons."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sero.cli.output import say

if TYPE_CHECKING:
    from sero.reporting.edges import Probabilities
    from sero.reporting.entries import Episode

HEADER = f"{'episode':>7}  {'phase':6}  {'action':6}  {'verdict':9}  {'before':>6}  {'after':>6}  "
HEADER += f"{'R':>6}  {'pool':>4}  what and why"
EDGES_HEADER = f"{'episode':>7}  {'phase':6}  {'action':6}  {'score':>6}  gradient step"


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

    One line each, with the scores before and after; a star marks a leave-one-out refresh. Where
    edges are learned: the score of each graph drawn, the gradient steps, and the edges kept.

    Example: sero log runs/quickstart/base/sero/skillworld/seed_42 --commits-only
    """
    from sero.reporting.records import read_run

    record = read_run(run)
    seen = _Seen()
    chosen = seen.each(record.episodes())
    if commits_only:
        chosen = (episode for episode in chosen if episode.committed)
    if last is not None:
        chosen = iter(deque(chosen, maxlen=last))
    first = True
    for episode in chosen:
        if first:
            say(EDGES_HEADER if is_graph(episode) else HEADER)
            first = False
        say(line_of(episode))
        if details:
            for sentence in episode.details:
                say(f"{'':11}{sentence}")
    verdicts = seen.verdicts
    parts = [f"{verdicts[name]} {name}" for name in ("committed", "rejected", "unchanged")]
    if seen.graphs:
        parts = [f"{seen.graphs} graphs drawn", f"{seen.steps} gradient steps"]
    if verdicts:
        say(f"{verdicts.total()} episodes: {', '.join(parts)}; state {record.status.state}")
    else:
        say(f"no training episodes in {run}; state {record.status.state}")
    if seen.theta:
        say(_kept(seen.theta, record.config))


def line_of(episode: Episode) -> str:
    """One episode on one line; a star marks a leave-one-out refresh after it."""
    from sero.reporting.text import score, signed

    if is_graph(episode):
        return (
            f"{episode.episode:>6}   {episode.phase:6}  {episode.action:6}  "
            f"{score(episode.score_before):>6}  {_step(episode)}"
        ).rstrip()
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


def is_graph(episode: Episode) -> bool:
    """The episode drew a graph to learn its edges: nothing was edited, there is no verdict."""
    from sero.reporting.edges import PHASE

    return episode.phase == PHASE


def _step(episode: Episode) -> str:
    from sero.reporting.edges import mean_and_likely

    if not episode.edge_probabilities:
        return ""
    mean, likely, n = mean_and_likely(episode.edge_probabilities)
    return f"mean probability {mean:.3f}, {likely} of {n} edges above .5"


def _kept(theta: Probabilities, config: Mapping[str, object]) -> str:
    from sero.reporting.edges import learned_edges, threshold

    kept = [e for e in learned_edges(theta, config) if e.kept]
    listed = ", ".join(f"{e.source} → {e.target} {e.probability:.3f}" for e in kept) or "none"
    return f"edges kept, probability above {threshold(config):g}: {listed}"


class _Seen:
    """What went by, whatever of it is shown."""

    def __init__(self) -> None:
        self.verdicts: Counter[str] = Counter()
        self.graphs = self.steps = 0
        self.theta: Probabilities = {}

    def each(self, episodes: Iterable[Episode]) -> Iterator[Episode]:
        for episode in episodes:
            self.verdicts[episode.verdict] += 1
            self.graphs += is_graph(episode)
            if episode.edge_probabilities:
                self.steps += 1
                self.theta = episode.edge_probabilities
            yield episode
