"""What the static page of a run shows, gathered from its records as plain values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sero.credit import PoolState
from sero.errors import UserError
from sero.reporting.assignments import Assignments, gather_assignments
from sero.reporting.charts import Curve, Marks, metric_curve, rolling_mean
from sero.reporting.costs import Costs, sum_costs
from sero.reporting.diagnostics import Diagnostics, diagnose
from sero.reporting.edges import PHASE as EDGES
from sero.reporting.edges import LearnedEdge, latest, learned_edges
from sero.reporting.entries import Episode, Prediction, Status
from sero.reporting.pools import commits, load_state
from sero.reporting.records import RunRecord
from sero.reporting.retrievals import Retrievals
from sero.reporting.rows import Row, read_row
from sero.reporting.run_warnings import RunWarning, run_warnings
from sero.reporting.statistics import Estimate, by_group, paired_difference, score_estimate
from sero.reporting.summary import BASELINE
from sero.roles.card import RoleCard

WINDOW = 24
"""Episodes a rolling mean looks back over; the window of the early stop."""

SMOOTHED = f"mean of {WINDOW}"

FILES = (
    "config.yaml",
    "manifest.json",
    "status.json",
    "result.json",
    "episodes.jsonl",
    "metrics.jsonl",
    "traces.jsonl",
    "predictions.jsonl",
    "assignments.jsonl",
    "pool/seed.yaml",
    "pool/final.yaml",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolLine:
    """A role in the pool before, after, or both; credit is None where it was never measured."""

    card: RoleCard
    change: str
    ema: float | None
    loo: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits:
    """What training did, counted.

    Attributes:
        committed: the episodes that changed the pool.
        reasons: (verdict, reason code, count), most frequent first.
        last: the last episode.
    """

    committed: tuple[Episode, ...]
    counts: Mapping[str, int]
    reasons: tuple[tuple[str, str, int], ...]
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """The seed pool's run beside this one: its mean score, and this run's minus it, paired."""

    mean: float
    difference: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Everything the template reads."""

    run: RunRecord
    status: Status
    overall: Estimate
    failures: int
    baseline: Beside | None
    groups: tuple[tuple[str, Estimate], ...]
    failed: tuple[Prediction, ...]
    outcomes: tuple[tuple[str, int], ...]
    edits: Edits
    edges: tuple[LearnedEdge, ...]
    pool: tuple[PoolLine, ...]
    costs: Costs
    assignments: Assignments
    curves: tuple[Curve, ...]
    marks: Marks
    diagnostics: Diagnostics
    warnings: tuple[RunWarning, ...]
    files: tuple[str, ...]


def gather(row: Row) -> Page:
    """Read a run once; traces, predictions and assignments are streamed.

    Raises:
        UserError: a damaged file.
    """
    run = row.run
    episodes = list(run.episodes())
    failed: dict[str, Prediction] = {}
    outcomes: Counter[str] = Counter()
    for prediction in run.predictions():
        if prediction.id not in row.scored:
            failed[prediction.id] = prediction
        elif prediction.score is not None:
            outcomes[prediction.reason or "–"] += 1
    grouped = by_group(row.scored.values())
    metrics, retrievals = list(run.metrics()), Retrievals()
    costs = sum_costs(retrievals.watch(run.traces()))  # the long file is read once for both
    before, after = pool_states(run.directory)
    diagnostics = diagnose(run, episodes, metrics, retrievals, before=before, after=after)
    assignments = gather_assignments(run.assignments())
    return Page(
        run=run,
        status=run.status,
        overall=row.interval,
        failures=row.failures,
        baseline=beside(row),
        groups=tuple((name, score_estimate({name: grouped[name]})) for name in sorted(grouped)),
        failed=tuple(failed.values()),
        outcomes=_ranked(outcomes),
        edits=_edits(episodes),
        edges=learned_edges(latest(episodes), run.config),
        pool=pool_lines(before, after),
        costs=costs,
        assignments=assignments,
        curves=_curves(episodes, metrics),
        marks=Marks(
            warmup=max((e.episode for e in episodes if e.phase == "warmup"), default=0),
            commits=[e.episode for e in episodes if e.committed],
        ),
        diagnostics=diagnostics,
        warnings=run_warnings(diagnostics, assignments.doubts),
        files=tuple(name for name in FILES if (run.directory / name).is_file()),
    )


def beside(row: Row) -> Beside | None:
    """The finished static run of the same variant, benchmark and seed, if there is one."""
    own = row.run.directory.resolve()
    other = own.parent.parent.parent / BASELINE / own.parent.name / own.name
    if row.run.method == BASELINE or not (other / "result.json").is_file():
        return None
    try:
        static = read_row(other)
    except UserError:
        return None  # a damaged neighbour is its own page's matter
    found = paired_difference(row.scored, static.scored).estimate
    if static.comparable != row.comparable or static.interval.mean is None or found.mean is None:
        return None
    return Beside(mean=static.interval.mean, difference=found)


def pool_states(directory: Path) -> tuple[PoolState | None, PoolState | None]:
    """The seed pool and the latest one; without either, the other stands for it."""
    seed = directory / "pool" / "seed.yaml"
    final = directory / "pool" / "final.yaml"
    if not final.is_file():
        final = next(reversed(commits(directory).values()), seed)
    before = load_state(seed) if seed.is_file() else None
    after = load_state(final) if final.is_file() else before
    return (after if before is None else before), after


def pool_lines(before: PoolState | None, after: PoolState | None) -> tuple[PoolLine, ...]:
    """The roles of the seed pool and of the latest pool: kept, removed, then added ones."""
    if before is None or after is None:
        return ()
    kept = [
        _pool_line(card, after if card.name in after.pool else before, after)
        for card in before.pool
    ]
    added = [
        _pool_line(card, after, after, added=True)
        for card in after.pool
        if card.name not in before.pool
    ]
    return (*kept, *added)


def _pool_line(
    card: RoleCard, state: PoolState, after: PoolState, *, added: bool = False
) -> PoolLine:
    credit = state.credit[card.name]
    change = "added" if added else ("" if card.name in after.pool else "removed")
    known = credit.n_updates > 0
    return PoolLine(
        card=state.pool[card.name],
        change=change,
        ema=credit.ema if known else None,
        loo=credit.loo if known else None,
    )


def _edits(episodes: Sequence[Episode]) -> Edits:
    reasons = Counter(
        (episode.verdict, reason) for episode in episodes for reason in episode.reasons
    )
    ranked = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    return Edits(
        committed=tuple(episode for episode in episodes if episode.committed),
        counts=Counter(episode.verdict for episode in episodes),
        reasons=tuple((verdict, reason, n) for (verdict, reason), n in ranked),
        last=max((episode.episode for episode in episodes), default=0),
    )


def _curves(
    episodes: Sequence[Episode], metrics: Sequence[Mapping[str, object]]
) -> tuple[Curve, ...]:
    """Panels of what the run recorded; an unrecorded metric has no panel."""
    if not episodes:
        return ()
    scored = [(e.episode, e.score_before) for e in episodes if e.score_before is not None]
    sized = [(e.episode, float(e.pool_size)) for e in episodes if e.pool_size is not None]
    edits = [e for e in episodes if e.phase != EDGES]
    acceptance = [float(e.committed) for e in edits]
    found = [
        _smooth(f"score{' before the edit' if edits else ''}, {SMOOTHED}", scored, share=True),
        _smooth(f"reward, {SMOOTHED}", [(e.episode, e.reward) for e in edits]),
        Curve(
            title=f"acceptance, {SMOOTHED}",
            episodes=[e.episode for e in edits],
            values=rolling_mean(acceptance, WINDOW),
            share=True,
        )
        if edits
        else None,
        _counts("pool size, roles", sized),
        metric_curve("operation entropy, nats", metrics, "controller/op_entropy"),
        metric_curve("baseline, reward units", metrics, "controller/baseline"),
        metric_curve("largest family share", metrics, "pool/family_share", share=True),
        metric_curve("credit spread", metrics, "credit/spread"),
        metric_curve("causal effect of messages, TCTE", metrics, "credit/tcte"),
        metric_curve(
            "mean probability of the learnt edges", metrics, "edges/probability", share=True
        ),
        metric_curve("entropy of the learnt edges, nats", metrics, "edges/entropy"),
        metric_curve("learnt edges above the threshold", metrics, "edges/likely"),
    ]
    return tuple(curve for curve in found if curve is not None)


def _smooth(
    title: str, points: Sequence[tuple[int, float]], *, share: bool = False
) -> Curve | None:
    if not points:
        return None
    raw = [y for _, y in points]
    return Curve(
        title=title,
        episodes=[x for x, _ in points],
        values=rolling_mean(raw, WINDOW),
        raw=raw,
        share=share,
    )


def _counts(title: str, points: Sequence[tuple[int, float]]) -> Curve | None:
    if not points:
        return None
    return Curve(
        title=title, episodes=[x for x, _ in points], values=[y for _, y in points], whole=True
    )


def _ranked(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
