"""Warnings a user needs about a training run, each with what to do (method.md §4.10, §8.2)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from sero.evolution.early_stop import first_test, should_stop
from sero.reporting.diagnostics import Diagnostics
from sero.reporting.doubts import Doubts
from sero.reporting.text import printable

COLLAPSED_ENTROPY = 0.10
"""Share of the largest possible operation entropy below which a policy counts as collapsed."""

COLLAPSED_SHARE = 0.95
"""Share of one operation above which it does."""

COLLAPSED_LEAST = 20
"""Operations from which their shares say anything; three alike are no collapse."""

FULL_SHARE = 0.5
UNSEEN_EPISODES = 40
FEW_STEPS = 50
DEGENERATE_SHARE = 0.5
NAMES = 5
"""Most role names one line lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWarning:
    """A stable code, what was found, and what to do about it."""

    code: str
    found: str
    advice: str

    @property
    def line(self) -> str:
        """All of it on one line, safe to print."""
        return printable(f"{self.found} {self.advice}")


def run_warnings(d: Diagnostics, doubts: Doubts | None = None) -> tuple[RunWarning, ...]:
    """What of a run should make its reader careful.

    Args:
        d: of its training; says nothing without any episode.
        doubts: of the assignments of its evaluation.
    """
    assigning = tuple(_assigning(doubts or Doubts()))
    if not d.episodes:
        return assigning
    return assigning + tuple(
        one
        for check in (
            _collapsed,
            _stopped_at_once,
            _full,
            _unseen,
            _few_steps,
            _degenerate,
            _one_seed,
        )
        for one in check(d)
    )


def full_from_the_start(n_roles: int, p_max: int) -> RunWarning | None:
    """The seed pool leaves Add no place; known before the first call."""
    if n_roles < p_max:
        return None
    return RunWarning(
        code="no_free_places",
        found=f"The seed pool has {n_roles} roles and pool.p_max is {p_max}: Add is illegal until "
        "a Remove is committed, and through all of the warm-up.",
        advice=f"Set pool.p_max to {n_roles + 4} or more; four free places keep training moving.",
    )


def _assigning(doubts: Doubts) -> Iterator[RunWarning]:
    for doubt in doubts.found:
        yield RunWarning(
            code=doubt.code, found=f"Assigning roles: {doubt.found}.", advice=doubt.advice
        )


def _collapsed(d: Diagnostics) -> Iterator[RunWarning]:
    if not d.learns or not d.parts:
        return
    advice = (
        "Raise reinforce.beta or lower reinforce.lr; if the score had stopped rising before, Noop "
        "is simply best there, and a gated search gains more from method=gated_random."
    )
    entropy, action = d.parts[-1].entropy, max(d.actions, key=lambda name: d.actions[name])
    proposed = sum(d.actions.values())
    share = d.actions[action] / proposed
    largest = math.log(d.n_operations) if d.n_operations > 1 else None
    if entropy is not None and largest is not None and entropy < COLLAPSED_ENTROPY * largest:
        found = f"operation entropy {entropy:.3f} nats of at most {largest:.2f}"
    elif share > COLLAPSED_SHARE and proposed >= COLLAPSED_LEAST:
        found = f"{share:.0%} of the operations are {action}"
    else:
        return
    yield RunWarning(
        code="policy_collapsed",
        found=f"The policy has collapsed: in the last quarter {found}.",
        advice=advice,
    )


def _stopped_at_once(d: Diagnostics) -> Iterator[RunWarning]:
    cfg, changed = d.early_stop, d.main_changed
    if cfg is None or d.planned is None or d.episodes >= d.planned:
        return
    if len(changed) != first_test(cfg, d.n_train) or not should_stop(changed, cfg, d.n_train):
        return
    yield RunWarning(
        code="early_stop_at_once",
        found=f"Early stop fired at its first test: {d.episodes} of {d.planned} episodes, "
        f"{d.gradient_steps} gradient steps.",
        advice="At usual acceptance rates it nearly always does. Set early_stop.enabled=false to "
        "train on, and always for studies of the controller.",
    )


def _full(d: Diagnostics) -> Iterator[RunWarning]:
    share = d.whole.at_p_max if d.whole else None
    if share is None or share <= FULL_SHARE or d.p_max is None:
        return
    yield RunWarning(
        code="no_free_places",
        found=f"The pool was full (pool.p_max = {d.p_max}) after {share:.0%} of the episodes, so "
        "only Remove and Noop were legal.",
        advice="Raise pool.p_max to at least four above the seed pool; gate.warmup=strict keeps "
        "neutral cards from filling it.",
    )


def _unseen(d: Diagnostics) -> Iterator[RunWarning]:
    names = [name for name, stayed in d.unseen.items() if stayed >= UNSEEN_EPISODES]
    if not names:
        return
    listed = ", ".join(printable(name, limit=40) for name in names[:NAMES])
    more = f" and {len(names) - NAMES} more" if len(names) > NAMES else ""
    yield RunWarning(
        code="newcomers_unseen",
        found=f"{len(names)} added role(s) were in no team for {UNSEEN_EPISODES} episodes or more: "
        f"{listed}{more}.",
        advice="They cannot earn credit. Use retrieval.credit_mode=raw and "
        "retrieval.family_cover=distinct, or more retrieval.spec_slots.",
    )


def _few_steps(d: Diagnostics) -> Iterator[RunWarning]:
    if not d.learns or d.gradient_steps >= FEW_STEPS:
        return
    yield RunWarning(
        code="few_gradient_steps",
        found=f"Only {d.gradient_steps} gradient steps: the controller is hardly trained, whatever "
        "the score.",
        advice="The operation head needs some 300 episodes and the target head 600 to 1200: raise "
        "train.main_epochs, and compare with method=gated_random before crediting the policy.",
    )


def _degenerate(d: Diagnostics) -> Iterator[RunWarning]:
    share = d.whole.zero_std if d.whole else None
    if not d.learns or share is None or share <= DEGENERATE_SHARE:
        return
    yield RunWarning(
        code="degenerate_batches",
        found=f"{share:.0%} of the batches had equal rewards throughout; only the entropy term "
        "acted on them.",
        advice="Use a larger train.batch, or a scorer with partial credit.",
    )


def _one_seed(d: Diagnostics) -> Iterator[RunWarning]:
    if d.seeds != 1:
        return
    yield RunWarning(
        code="one_seed",
        found="No other seed of this method and variant stands beside this run.",
        advice="Compare methods over several seeds (seed=42,43,44), at least ten in simulation: "
        "three are known to mislead.",
    )
