"""What a training run was like, post hoc from its records (method.md §4.10)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from sero.credit import PoolState
from sero.evolution.actions import Operation
from sero.evolution.ranks import spearman
from sero.evolution.sections import EarlyStopConfig
from sero.reporting.edges import PHASE as EDGES
from sero.reporting.entries import Episode
from sero.reporting.records import RunRecord
from sero.reporting.retrievals import Retrievals, unseen_newcomers
from sero.roles.pool import RolePool
from sero.skillworld.oracle import harmful_count
from sero.skillworld.world import MIN_DIM, SCENARIOS, WorldSpec

PARTS = 4
"""A run is shown by quarters; warnings look at the last one."""

LEARNED = "sero"
"""The method whose controller learns, even in a run too short for a gradient step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """How many edits of one operation were proposed in a phase, and how many were committed."""

    phase: str
    action: str
    proposed: int
    committed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A stretch of episodes; a mean is None where nothing was recorded.

    Attributes:
        reward, reward_sd: mean and population standard deviation of R.
        entropy: mean entropy of the operation head, nats.
        baseline: b at its end.
        pool_size: |P| at its end.
        family_share: largest share of one family at its end.
        zero_std: share of gradient steps whose rewards were all equal.
        at_p_max: share of episodes that ended with the pool full.
    """

    first: int
    last: int
    reward: float
    reward_sd: float
    acceptance: float
    entropy: float | None
    baseline: float | None
    pool_size: int | None
    family_share: float | None
    zero_std: float | None
    at_p_max: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostics:
    """The figures of a training run that tell whether to believe its result.

    Attributes:
        episodes, main_changed: episodes done; one flag per main-phase episode.
        parts: quarters of the run. `whole` is all of it.
        actions: operations of the last quarter.
        learns: a controller is trained; `gradient_steps` of them are on record.
        n_operations: operations the head chooses from, 0 if the configuration does not say.
        p_max: places of the pool, None if nothing is edited or the configuration does not say.
        early_stop: the rule's section, None if it is not known.
        planned: episodes of a run without early stop, None if not known.
        unseen: committed newcomers with the episodes they stayed without being in any team.
        credit_rank: Spearman of c with the latest φ in the last pool.
        foresight: the same per refresh, with c as it was before it.
        harmful: harmful roles of the seed and the last pool; None outside the simulated world.
        seeds: seeds of this method and variant on disk; None if the place does not tell.
    """

    episodes: int
    main_changed: tuple[bool, ...]
    acceptance: tuple[Acceptance, ...]
    reasons: tuple[tuple[str, int], ...]
    parts: tuple[Part, ...]
    whole: Part | None
    actions: Mapping[str, int]
    learns: bool
    gradient_steps: int
    n_operations: int
    p_max: int | None
    early_stop: EarlyStopConfig | None
    planned: int | None
    n_train: int
    unseen: Mapping[str, int]
    credit_rank: float | None
    foresight: tuple[float, ...]
    harmful: tuple[int, int] | None
    seeds: int | None


def diagnose(
    run: RunRecord,
    episodes: Sequence[Episode],
    metrics: Sequence[Mapping[str, object]],
    retrievals: Retrievals,
    *,
    before: PoolState | None,
    after: PoolState | None,
) -> Diagnostics:
    """The diagnostics of a run, finished or not; empty but valid without any episode.

    Args:
        retrievals: filled from the run's traces.
        before, after: the seed pool and the latest one, with their credit.
    """
    edits = any(e.action in tuple(Operation) for e in episodes)
    p_max = _integer(_section(run.config, "pool").get("p_max")) if edits else None
    steps = [point for point in metrics if _number(point.get("controller/loss")) is not None]
    by_episode = {point.get("episode"): point for point in metrics}
    quarters = [list(part) for part in np.array_split(np.arange(len(episodes)), PARTS) if len(part)]
    parts = [_part([episodes[i] for i in part], by_episode, p_max) for part in quarters]
    last = [episodes[i] for i in quarters[-1]] if quarters else []
    main = [e for e in episodes if e.phase == "main"]
    operations = _section(run.config, "policy").get("operations")
    n_train = sum(e.epoch == episodes[0].epoch for e in episodes) if episodes else 0
    return Diagnostics(
        episodes=len(episodes),
        main_changed=tuple(e.committed for e in main),
        acceptance=_acceptance(episodes),
        reasons=_ranked(Counter(code for e in episodes for code in e.reasons)),
        parts=tuple(parts),
        whole=_part(episodes, by_episode, p_max) if episodes else None,
        actions=Counter(e.action for e in last),
        learns=bool(steps) or (bool(episodes) and run.method == LEARNED),
        gradient_steps=len(steps),
        n_operations=len(operations) if isinstance(operations, list) else 0,
        p_max=p_max,
        early_stop=_early_stop(run.config),
        planned=_planned(run.config, n_train),
        n_train=n_train,
        unseen=unseen_newcomers(episodes, retrievals),
        credit_rank=_credit_rank(after),
        foresight=tuple(
            value
            for point in metrics
            if (value := _number(point.get("credit/ema_loo_rank"))) is not None
        ),
        harmful=_harmful_ends(run, before, after) if episodes else None,
        seeds=_seeds(run),
    )


def harmful_roles(run: RunRecord, pool: RolePool) -> int | None:
    """Harmful roles of a pool, by the simulated world the run lived in; None outside of one."""
    world = _section(run.config, "benchmark")
    key, dim = _integer(world.get("world")), _integer(world.get("dim"))
    scenario = next((name for name in SCENARIOS if name == world.get("scenario")), None)
    if not run.simulated or scenario is None or key is None or dim is None or dim < MIN_DIM:
        return None
    return harmful_count(pool, WorldSpec(key=key, scenario=scenario, dim=dim))


def _part(
    episodes: Sequence[Episode],
    by_episode: Mapping[object, Mapping[str, object]],
    p_max: int | None,
) -> Part:
    points = [by_episode.get(e.episode, {}) for e in episodes]
    sizes = [e.pool_size for e in episodes if e.pool_size is not None]
    rewards = [e.reward for e in episodes]
    return Part(
        first=episodes[0].episode,
        last=episodes[-1].episode,
        reward=float(np.mean(rewards)),
        reward_sd=float(np.std(rewards)),
        acceptance=float(np.mean([e.committed for e in episodes])),
        entropy=_mean(_values(points, "controller/op_entropy")),
        baseline=_last(_values(points, "controller/baseline")),
        pool_size=sizes[-1] if sizes else None,
        family_share=_last(_values(points, "pool/family_share")),
        zero_std=_mean(_values(points, "controller/frac_zero_std")),
        at_p_max=_mean([float(size >= p_max) for size in sizes]) if p_max is not None else None,
    )


def _acceptance(episodes: Sequence[Episode]) -> tuple[Acceptance, ...]:
    """By phase and operation, both in order of appearance of the phase, then by name.

    Drawing a graph to learn its edges proposes nothing.
    """
    episodes = [e for e in episodes if e.phase != EDGES]
    proposed = Counter((e.phase, e.action) for e in episodes)
    committed = Counter((e.phase, e.action) for e in episodes if e.committed)
    phases = list(dict.fromkeys(e.phase for e in episodes))
    ordered = sorted(proposed, key=lambda pair: (phases.index(pair[0]), pair[1]))
    return tuple(
        Acceptance(
            phase=phase,
            action=action,
            proposed=proposed[phase, action],
            committed=committed[phase, action],
        )
        for phase, action in ordered
    )


def _credit_rank(state: PoolState | None) -> float | None:
    """Spearman of c with the latest φ over the roles that have been measured."""
    if state is None:
        return None
    credit = [state.credit[name] for name in state.pool.names]
    measured = [known for known in credit if known.n_updates]
    return spearman([known.ema for known in measured], [known.loo for known in measured])


def _harmful_ends(
    run: RunRecord, before: PoolState | None, after: PoolState | None
) -> tuple[int, int] | None:
    if before is None or after is None:
        return None
    first, last = harmful_roles(run, before.pool), harmful_roles(run, after.pool)
    return None if first is None or last is None else (first, last)


def _seeds(run: RunRecord) -> int | None:
    """Seeds of this method and variant beside the run, itself included."""
    place = run.directory.resolve()
    if not place.name.startswith("seed_"):
        return None
    return sum(path.is_dir() for path in place.parent.glob("seed_*"))


def _early_stop(config: Mapping[str, Any]) -> EarlyStopConfig | None:
    try:
        return TypeAdapter(EarlyStopConfig).validate_python(_section(config, "early_stop"))
    except ValidationError:
        return None  # a run of another version; what it did not say is not guessed


def _planned(config: Mapping[str, Any], n_train: int) -> int | None:
    train = _section(config, "train")
    epochs = [_integer(train.get(key)) for key in ("warmup_epochs", "main_epochs")]
    if any(n is None for n in epochs):
        return None
    return n_train * sum(n for n in epochs if n is not None)


def _section(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = config.get(name)
    return found if isinstance(found, Mapping) else {}


def _values(points: Iterable[Mapping[str, object]], name: str) -> list[float]:
    found = (_number(point.get(name)) for point in points)
    return [value for value in found if value is not None]


def _number(value: object) -> float | None:
    if isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    return None


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _last(values: Sequence[float]) -> float | None:
    return values[-1] if values else None


def _ranked(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
