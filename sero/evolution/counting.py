"""Logical calls of a training run, from the pool it starts with and the rules of its edits.

An episode's edit is not known beforehand, so every pool that edits can lead to is kept, by how many
roles of each type it has. Doing nothing is always possible, so these sets only grow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from sero.backbones.base import Phase
from sero.evolution.actions import TrainPhase
from sero.evolution.refresh_counting import refresh_calls
from sero.inference.counting import Makeup, rollout_calls
from sero.inference.operator import InferenceConfig
from sero.inference.span import ZERO, Span, covering
from sero.roles.card import RoleType
from sero.roles.pool import RolePool


@dataclass(frozen=True, slots=True, kw_only=True)
class EditRules:
    """What edits can do to a pool.

    Attributes:
        adds, removes: the operation exists (`policy.operations`).
        removes_in_warmup: Remove is not kept for the main phase.
        addable: types a new card may have.
        p_max: roles from which on nothing is added.
        smallest: roles a removal leaves at least.
        kept: roles of each type that no removal can touch.
        kept_at_first: the same while no card has been added, when nobody can take over a family.
        one_terminal: a pool without exactly one aggregator is refused.
    """

    adds: bool
    removes: bool
    removes_in_warmup: bool
    addable: tuple[RoleType, ...]
    p_max: int
    smallest: int
    kept: Makeup
    kept_at_first: Makeup
    one_terminal: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How a training run goes, apart from what edits do.

    Attributes:
        warmup, main: episodes of both phases.
        least: episodes after which it may end at the earliest.
        n_train: training tasks.
        attempts: calls of an Add, at most.
        judged: a candidate is run (s⁺).
        gate_pairs: pairs of further rollouts the gate asks for, per candidate.
    """

    warmup: int
    main: int
    least: int
    n_train: int
    attempts: int
    judged: bool
    gate_pairs: int


class Reached(NamedTuple):
    """A pool that edits can lead to, and whether a card was added on the way."""

    makeup: Makeup
    added: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """The calls of training by phase, and the pools it may end with."""

    calls: Mapping[Phase, Span]
    pools: frozenset[Makeup]


def kept_by_families(pool: RolePool, kept: Makeup) -> Makeup:
    """Roles of each type that stay because the last of a family does, while nothing was added.

    Args:
        kept: those that stay for other reasons.
    """
    sizes = Counter(card.capability_family for card in pool)
    counts = []
    for role_type in RoleType:
        cards = [card for card in pool.of_type(role_type) if not card.protected]
        inside = Counter(card.capability_family for card in cards)
        free = sum(min(n, sizes[family] - 1) for family, n in inside.items())
        counts.append(max(kept[role_type.stage], len(pool.of_type(role_type)) - free))
    return Makeup(*counts)


def gate_pairs(tasks: int, repeats: int, n_train: int) -> int:
    """(old, new) pairs beside the task's own, as `ScoreGate` asks for them."""
    others = min(tasks - 1, n_train - 1)
    return repeats * others + repeats - 1


@lru_cache(maxsize=256)
def training_calls(
    start: Makeup, rules: EditRules, course: Course, cfg: InferenceConfig
) -> Trained:
    """The spans of every phase of Algorithm 2.

    Their lower ends are those of a run that stops at its first chance, after `course.least`
    episodes, and whose candidates are all refused before they are run.
    """
    walk = _Walk(rules, course, cfg)
    walk.reach({Reached(start, False)})
    total = dict.fromkeys((Phase.PRE, Phase.EDIT, Phase.POST, Phase.GATE, Phase.LOO), ZERO)
    every = cfg.credit.loo_every
    for episode in range(1, course.warmup + course.main + 1):
        spans = walk.episode(TrainPhase.WARMUP if episode <= course.warmup else TrainPhase.MAIN)
        if every and episode % every == 0:
            spans[Phase.LOO] = walk.refresh()
        for name, span in spans.items():
            certain = span.low if episode <= course.least else 0
            total[name] += Span(certain, span.high)
    return Trained(calls=total, pools=frozenset(pool.makeup for pool in walk.pools))


class _Walk:
    """The pools reached so far, and what one episode may ask for from any of them.

    The bounds are kept up to date as pools come in, since there may be thousands of them.
    """

    def __init__(self, rules: EditRules, course: Course, cfg: InferenceConfig) -> None:
        self._rules, self._course, self._cfg = rules, course, cfg
        self._phase = TrainPhase.WARMUP
        self._fresh: set[Reached] = set()
        self._rollouts: dict[Makeup, Span] = {}
        self._refresh: Span | None = None
        self._asks = False
        self._pre = ZERO
        self._post = self._gate = 0
        self.pools: set[Reached] = set()

    def reach(self, pools: set[Reached]) -> None:
        """Take in pools whose edits are still to be looked at."""
        self._fresh = pools - self.pools
        if self._fresh:
            self._refresh = None
            spans = [self._rollout(pool.makeup) for pool in self._fresh]
            self._pre = covering([*spans, self._pre] if self.pools else spans)
        self.pools |= self._fresh

    def episode(self, phase: TrainPhase) -> dict[Phase, Span]:
        """The calls of an episode from any of the pools, its refresh left out; takes its edits."""
        if phase is not self._phase:
            self._phase, self._fresh = phase, set(self.pools)
        pre, news = self._pre, set()
        for old in self._fresh:
            self._asks = self._asks or old.makeup.size < self._rules.p_max
            before = self._rollout(old.makeup).high
            for new in _edited(old, phase, self._rules):
                news.add(new)
                after = self._rollout(new.makeup).high
                self._post = max(self._post, after)
                self._gate = max(self._gate, self._course.gate_pairs * (before + after))
        self.reach(news)
        attempts = self._course.attempts if self._asks and self._rules.adds else 0
        return {
            Phase.PRE: pre,
            Phase.EDIT: Span(0, attempts),
            Phase.POST: Span(0, self._post if self._course.judged else 0),
            Phase.GATE: Span(0, self._gate if self._course.judged else 0),
        }

    def refresh(self) -> Span:
        """A refresh that is due; none takes place in a pool that is too small."""
        if self._refresh is None:
            smallest = self._cfg.credit.loo_min_pool
            makeups = {pool.makeup for pool in self.pools}
            large = [makeup for makeup in makeups if makeup.size >= smallest]
            tasks = min(self._cfg.credit.loo_tasks, self._course.n_train)
            found = covering(refresh_calls(makeup, self._cfg) * tasks for makeup in large)
            self._refresh = found if len(large) == len(makeups) else Span(0, found.high)
        return self._refresh

    def _rollout(self, makeup: Makeup) -> Span:
        span = self._rollouts.get(makeup)
        if span is None:
            span = self._rollouts[makeup] = rollout_calls(makeup, self._cfg)
        return span


def _edited(pool: Reached, phase: TrainPhase, rules: EditRules) -> Iterator[Reached]:
    """The candidates that may be run or committed."""
    makeup = pool.makeup
    if rules.adds and makeup.size < rules.p_max:
        for role_type in rules.addable:
            new = makeup.changed(role_type, 1)
            if _terminal_fits(new, rules):
                yield Reached(new, True)
    allowed = phase is TrainPhase.MAIN or rules.removes_in_warmup
    if rules.removes and allowed and makeup.size > rules.smallest:
        kept = rules.kept if pool.added else rules.kept_at_first
        for role_type in RoleType:
            new = makeup.changed(role_type, -1)
            if new[role_type.stage] >= kept[role_type.stage] and _terminal_fits(new, rules):
                yield Reached(new, pool.added)


def _terminal_fits(makeup: Makeup, rules: EditRules) -> bool:
    return not rules.one_terminal or makeup.aggregators == 1
