"""The learned edges of a run: who may hear whom, with what probability, and what is kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sero.reporting.entries import Episode

PHASE = "edges"
"""The phase of an episode that draws a graph and edits nothing."""

HALF = 0.5

Probabilities = Mapping[str, Mapping[str, float]]
"""Of every edge: the role that speaks, then the one that hears it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedEdge:
    """An edge with its probability; a kept one is part of the graph that answers."""

    source: str
    target: str
    probability: float
    kept: bool


def learned_edges(theta: Probabilities, config: Mapping[str, object]) -> tuple[LearnedEdge, ...]:
    """The edges by falling probability, kept above `method.threshold`."""
    at = threshold(config)
    edges = [
        LearnedEdge(source=source, target=target, probability=p, kept=p > at)
        for source, row in theta.items()
        for target, p in row.items()
    ]
    return tuple(sorted(edges, key=lambda e: (-e.probability, e.source, e.target)))


def threshold(config: Mapping[str, object]) -> float:
    """`method.threshold` of a run's configuration; one half where it does not say."""
    section = config.get("method")
    found = section.get("threshold") if isinstance(section, Mapping) else None
    return float(found) if isinstance(found, int | float) else HALF


def latest(episodes: Iterable[Episode]) -> Probabilities:
    """Those of the last gradient step; empty without one."""
    found: Probabilities = {}
    for episode in episodes:
        found = episode.edge_probabilities or found
    return found


def mean_and_likely(theta: Probabilities) -> tuple[float, int, int]:
    """The mean probability, the edges above one half, and how many there are; at least one."""
    values = [p for row in theta.values() for p in row.values()]
    return sum(values) / len(values), sum(p > HALF for p in values), len(values)
