"""What the gate commits when scores are noisy: exact chances, without simulation.

The gate of `gate.py` compares the mean of n = tasks · repeats score differences with 0. Assumed:

- an answer's score is 0 or 1, and is the opposite of what its pool deserves with probability ε,
  independently of every other answer, before the edit and after it;
- so two answers to one task from one pool differ in score with the flip rate f = 2ε(1 - ε) ≤ 1/2;
- an edit with a true effect δ > 0 turns a share δ of the tasks from wrong to right and no other
  task; δ < 0 turns a share |δ| from right to wrong. Tasks are drawn independently, and all repeats
  of one task share whether it was turned.

One difference of a task that was not turned is then +1 or -1 with f/2 each; of a task turned to
right it is +1 with (1 - ε)², -1 with ε². The law of the sum is a T-fold convolution, over tasks, of
mixtures of K-fold convolutions, over repeats.

The chances are those of one judged edit. Two things the assumptions leave out: flips gathered on
few tasks make repeats of one task less informative than they appear here, and answers kept in a
call cache repeat one and the same flip in later episodes. For scores between 0 and 1 they are a
guide.

Two consequences. Without an effect the law is symmetric, so P(mean > 0) = (1 - P(mean = 0)) / 2,
and P(mean = 0) falls with n: more tasks or repeats *raise* the chance that the strict rule commits
an edit without effect, from f/2 towards 1/2, and the other rule never goes below 1/2. What they buy
is power to see a gain and, once n|δ| outgrows the noise, fewer commits of edits that really lose.
And at equal cost further tasks see more than repeats, which look at the same task again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Law = NDArray[np.float64]
"""Chances of the sums -n, …, n. Shape (2n + 1,)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chances:
    """How likely an edit is committed under each of the two rules.

    Attributes:
        strict: P(mean > 0), the main phase, and warm-up under `gate.warmup=strict`.
        nonharmful: P(mean ≥ 0), warm-up under `gate.warmup=nonharmful`.
    """

    strict: float
    nonharmful: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One choice of `gate.tasks` and `gate.repeats`, and what it commits.

    Attributes:
        no_effect, gain, loss: chances of an edit with effect 0, δ and -δ.
    """

    tasks: int
    repeats: int
    no_effect: Chances
    gain: Chances
    loss: Chances

    @property
    def extra_rollouts(self) -> int:
        """Rollouts per judged edit beyond those of one task once: a pair per further difference."""
        return 2 * (self.tasks * self.repeats - 1)

    @property
    def overrides(self) -> str:
        return f"gate.tasks={self.tasks} gate.repeats={self.repeats}"


def error_rate(flips: float) -> float:
    """ε of 2ε(1 - ε) = f, the smaller root: (1 - √(1 - 2f)) / 2.

    Args:
        flips: f, in [0, 1/2]; scores of 0 and 1 cannot differ more often than that.

    Raises:
        ValueError: outside this range.
    """
    if not 0.0 <= flips <= 0.5:
        raise ValueError(f"a flip rate of independent 0/1 scores lies in [0, 1/2], got {flips}")
    return float((1.0 - np.sqrt(1.0 - 2.0 * flips)) / 2.0)


def sum_law(flips: float, *, tasks: int, repeats: int, effect: float = 0.0) -> Law:
    """The law of the sum of the gate's differences, post minus pre.

    Args:
        flips: f, the share of score pairs from one pool that differ, in [0, 1/2].
        tasks: T ≥ 1, `gate.tasks`.
        repeats: K ≥ 1, `gate.repeats`.
        effect: δ in [-1, 1], the edit's true change of the mean score.

    Returns:
        Chances of -TK, …, TK. Shape (2TK + 1,).

    Raises:
        ValueError: an argument out of its range.
    """
    if tasks < 1 or repeats < 1:
        raise ValueError(f"tasks and repeats are at least 1, got {tasks} and {repeats}")
    if not -1.0 <= effect <= 1.0:
        raise ValueError(f"an effect on a mean of scores lies in [-1, 1], got {effect}")
    error = error_rate(flips)
    plain = np.array([flips / 2.0, 1.0 - flips, flips / 2.0])
    turned = np.array([error**2, flips, (1.0 - error) ** 2])
    if effect < 0.0:
        turned = turned[::-1]
    share = abs(effect)
    task = (1.0 - share) * _times(plain, repeats) + share * _times(turned, repeats)
    return _times(task, tasks)


def chances(flips: float, *, tasks: int, repeats: int, effect: float = 0.0) -> Chances:
    """How likely the gate commits an edit; arguments as in `sum_law`."""
    law = sum_law(flips, tasks=tasks, repeats=repeats, effect=effect)
    middle = tasks * repeats
    above = float(law[middle + 1 :].sum())
    return Chances(strict=above, nonharmful=above + float(law[middle]))


def settings(
    flips: float, effect: float, *, tasks: Sequence[int], repeats: Sequence[int]
) -> tuple[Setting, ...]:
    """Every pair of `gate.tasks` and `gate.repeats`, from the cheapest; equal costs by repeats.

    Args:
        flips: f in [0, 1/2].
        effect: δ in [0, 1], the size of the gain and of the loss that are looked at.
        tasks, repeats: the values to combine.
    """
    pairs = sorted(((t, k) for t in tasks for k in repeats), key=lambda p: (p[0] * p[1], p[1]))
    return tuple(
        Setting(
            tasks=t,
            repeats=k,
            no_effect=chances(flips, tasks=t, repeats=k),
            gain=chances(flips, tasks=t, repeats=k, effect=effect),
            loss=chances(flips, tasks=t, repeats=k, effect=-effect),
        )
        for t, k in pairs
    )


def cheapest(
    found: Sequence[Setting], level: float, wrong: Callable[[Setting], float]
) -> Setting | None:
    """The first setting whose chance to commit a wrong edit is at most `level`; None if none is.

    Args:
        found: from the cheapest on, as `settings` gives them.
        level: the highest chance that is accepted.
        wrong: which chance is meant.
    """
    return next((setting for setting in found if wrong(setting) <= level), None)


def _times(law: Law, n: int) -> Law:
    """The n-fold convolution of a law with itself."""
    return functools.reduce(np.convolve, [law] * n)
