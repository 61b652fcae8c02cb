"""The assignment world: known skills, and reviewers who see them through severity and noise.

Simulated, pure, numpy only (method.md §8.6). Three roles, four candidates who are also the
evaluators, three criteria, whole scores from 1 to 5. On task t candidate j succeeds in role i with
probability

    s_tij = clip(BASE + ability_j + fit_ij + ξ_tij, LOWEST, HIGHEST)

and evaluator e scores its proposal on criterion c with

    clip(round(1 + 4 s_tij + severity_e + ε_tijec + bonus_e [e = j]), 1, 5)

Severity (sd .5), noise (sd .8) and the self-bonus (1) are published. BASE, the three standard
deviations, the two bounds and the factor 4 are not: they were fitted, as round numbers, to four
published means over 10 worlds of 400 tasks: random and mean uniform .492, best uniform .566,
argmax .712, oracle .722. Every other figure of this world is an outcome.

Source: method.md §8.6.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sero.assignment.roster import MAX_SCORE, MIN_SCORE
from sero.assignment.rules import AssignMode, assign
from sero.assignment.scores import (
    Floats,
    Suitability,
    self_promoters,
    severity_corrected,
    suitability,
    without_own,
)
from sero.seeding import rng_for

N_ROLES, N_CANDIDATES, N_CRITERIA = 3, 4, 3

BASE = 0.49
ABILITY_SD = 0.05
FIT_SD = 0.1
TASK_SD = 0.2
LOWEST, HIGHEST = 0.02, 0.98

OWN = tuple(range(N_CANDIDATES))
"""Evaluator e is candidate e."""

Chosen = NDArray[np.int64]
"""The candidate of each role, for each task. Shape (T, I)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldSpec:
    """A world and its reviewers.

    Attributes:
        key: of its random streams.
        severity_sd: of each evaluator's leaning, on the scale of the scores.
        noise_sd: of a single score; infinite makes scores pure noise.
        bonus: what each evaluator adds to its own scores.
    """

    key: int
    severity_sd: float = 0.5
    noise_sd: float = 0.8
    bonus: tuple[float, ...] = field(default=(1.0,) * N_CANDIDATES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One task of a world, or several.

    Attributes:
        skill: s, the probability of success. Shape (I, J), of several tasks (T, I, J).
        grades: whole scores from 1 to 5. Shape (I, J, E, C), of several tasks (T, I, J, E, C).
    """

    skill: Floats
    grades: Floats


class AssignmentWorld:
    """Draws tasks; every task is a function of the world's key and the task's number."""

    def __init__(self, spec: WorldSpec) -> None:
        self.spec = spec
        drawn = rng_for(spec.key, "assignment", "world")
        self._ability = drawn.normal(0.0, ABILITY_SD, (1, N_CANDIDATES))
        self._fit = drawn.normal(0.0, FIT_SD, (N_ROLES, N_CANDIDATES))
        self._severity = drawn.normal(0.0, spec.severity_sd, N_CANDIDATES)

    def case(self, number: int) -> Case:
        """The task of a number."""
        return self.judged(*_draws(self.spec.key, number))

    def judged(self, noise: Floats, jitter: Floats) -> Case:
        """The tasks of some draws: ξ of shape (..., I, J) and ε / sd of shape (..., I, J, E, C)."""
        spec = self.spec
        skill = np.clip(BASE + self._ability + self._fit + noise, LOWEST, HIGHEST)
        leaning = self._severity + np.diag(spec.bonus)  # (J, E)
        seen = MIN_SCORE + (MAX_SCORE - MIN_SCORE) * skill[..., None] + leaning
        if math.isinf(spec.noise_sd):
            # every score is on one of the two ends, whatever is behind it
            raw = np.where(jitter > 0, float(MAX_SCORE), float(MIN_SCORE))
        else:
            raw = seen[..., None] + spec.noise_sd * jitter
        return Case(skill=skill, grades=np.clip(np.rint(raw), MIN_SCORE, MAX_SCORE))


def _draws(key: int, number: int) -> tuple[Floats, Floats]:
    """What one task draws; reviewers who lean otherwise judge the same draws."""
    drawn = rng_for(key, "assignment", "task", number)
    noise = drawn.normal(0.0, TASK_SD, (N_ROLES, N_CANDIDATES))
    return noise, drawn.normal(0.0, 1.0, (N_ROLES, N_CANDIDATES, N_CANDIDATES, N_CRITERIA))


@lru_cache(maxsize=16)
def _first_draws(key: int, n_tasks: int) -> tuple[Floats, Floats]:
    noise, jitter = zip(*(_draws(key, number) for number in range(n_tasks)), strict=True)
    return np.stack(noise), np.stack(jitter)


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """Many tasks of one world.

    Attributes:
        skill: s. Shape (T, I, J).
        scores: S, the mean over criteria. Shape (T, I, J, E).
    """

    skill: Floats
    scores: Floats

    @property
    def random(self) -> float:
        """Expected success of a random assignment, which is also the mean over uniform ones."""
        return float(self.skill.mean())

    @property
    def uniform(self) -> Floats:
        """Success of one candidate in every role. Shape (J,)."""
        found: Floats = self.skill.mean(axis=(0, 1))
        return found

    @property
    def oracle(self) -> float:
        """Success of the truly best candidate of each role on each task."""
        return float(self.skill.max(axis=2).mean())

    def success(self, chosen: Chosen) -> float:
        """Mean over tasks and roles of the chosen candidates' s."""
        return float(np.take_along_axis(self.skill, chosen[..., None], axis=2).mean())


@lru_cache(maxsize=64)
def play(spec: WorldSpec, n_tasks: int) -> Played:
    """The first tasks of a world, scored."""
    cases = AssignmentWorld(spec).judged(*_first_draws(spec.key, n_tasks))
    return Played(skill=cases.skill, scores=cases.grades.mean(axis=-1))


Judge = Callable[[Floats], Suitability]
"""Scores of shape (N, J, E) to means and variances of shape (N, J)."""


def assigned(played: Played, mode: AssignMode, judge: Judge = suitability) -> Chosen:
    """The rule on every task, by the functions of `rules` and `scores`."""
    n_tasks, n_roles, n_candidates, n_evaluators = played.scores.shape
    # no judge looks from one role to another, so all tasks are judged at once
    found = judge(played.scores.reshape(n_tasks * n_roles, n_candidates, n_evaluators))
    means = found.means.reshape(n_tasks, n_roles, n_candidates)
    variances = found.variances.reshape(n_tasks, n_roles, n_candidates)
    return np.array(
        [assign(Suitability(means=means[t], variances=variances[t]), mode) for t in range(n_tasks)],
        dtype=np.int64,
    )


def excluding(scores: Floats) -> Suitability:
    """Means over the other reviewers (`exclude_self=true`)."""
    return suitability(_others(scores))


def excluding_corrected(scores: Floats) -> Suitability:
    """The same with each reviewer's severity taken out."""
    return suitability(severity_corrected(_others(scores)))


def _others(scores: Floats) -> Floats:
    return without_own(scores, OWN)[0]


def assigned_auto(played: Played, mode: AssignMode, *, margin: float) -> tuple[Chosen, Floats]:
    """The rule under `exclude_self=auto`, decided on each task by itself.

    Returns:
        The candidates, and the share of tasks on which each evaluator was found to favour itself.
    """
    named = self_promoters(played.scores, OWN, margin=margin)
    kept, _ = without_own(played.scores, OWN, named)
    return assigned(replace(played, scores=kept), mode), named.mean(axis=0, dtype=float)
