"""Suitability to an assignment: greedy, argmax, margin, hungarian (method.md §5).

Pure functions of the means M̄ and the variances over evaluators, both of shape (roles, candidates).
A pair without a score (nan) is taken only when nothing else is left. Ties go to the smaller
variance, then to the candidate that holds fewer roles, then to the lower index.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from sero.assignment.scores import DIGITS, Floats, Suitability, comparable


class AssignMode(StrEnum):
    """`assign.mode`: how conflicts over a candidate are settled."""

    GREEDY = "greedy"
    ARGMAX = "argmax"
    MARGIN = "margin"
    HUNGARIAN = "hungarian"


Chosen = dict[int, int]
"""Role to candidate."""

_EQUAL = 1e-7
_NEVER = 1e3
"""Taken off a missing score, which no sum of present ones (at most 5 each) makes up for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """Means and variances as plain numbers that compare; a missing mean is below all others.

    Means and variances over criteria and reviewers are rounded to what cannot be a real difference,
    so that equal ones tie whatever the order of their sums.
    """

    values: list[list[float]]
    variances: list[list[float]]

    @property
    def n_candidates(self) -> int:
        return len(self.values[0])


_Round = Callable[[_Table, list[int], Counter[int]], Chosen]


def assign(found: Suitability, mode: AssignMode) -> tuple[int, ...]:
    """The candidate of each role.

    `argmax` may give one candidate several roles. The other modes give each at most one, and where
    there are more roles than candidates go round again over the roles that are left.

    Args:
        found: means and variances, shape (I, J), J >= 1.
        mode: the rule.
    """
    n_roles = found.means.shape[0]
    means, variances = comparable(found.means), comparable(found.variances)
    table = _Table(
        values=np.where(np.isnan(means), -np.inf, means).tolist(),
        variances=np.where(np.isnan(variances), 0.0, variances).tolist(),
    )
    if mode is AssignMode.ARGMAX:
        return _argmax(table)
    chosen: Chosen = {}
    while len(chosen) < n_roles:
        left = [i for i in range(n_roles) if i not in chosen]
        chosen |= _ROUNDS[mode](table, left, Counter(chosen.values()))
    return tuple(chosen[i] for i in range(n_roles))


def _argmax(table: _Table) -> tuple[int, ...]:
    held: Counter[int] = Counter()
    chosen = []
    for i in range(len(table.values)):
        best = _ranked(table, i, held)[0]
        held[best] += 1
        chosen.append(best)
    return tuple(chosen)


def _greedy(table: _Table, left: list[int], held: Counter[int]) -> Chosen:
    """All pairs by score descending, each role and each candidate once."""
    pairs = [(i, j) for i in left for j in range(table.n_candidates)]
    pairs.sort(key=lambda pair: (*_preference(table, pair[0], pair[1], held), pair))
    chosen: Chosen = {}
    taken: set[int] = set()
    for i, j in pairs:
        if i not in chosen and j not in taken:
            chosen[i] = j
            taken.add(j)
    return chosen


def _margin(table: _Table, left: list[int], held: Counter[int]) -> Chosen:
    """Every role asks its best candidate; one that is wanted twice keeps the larger margin.

    The margin of a role is its score for the candidate over that for the next one it could still
    have; 0 without a next one, for such a role can wait for the next round. The role that loses
    asks its next best, which may start another conflict.
    """
    waiting = {i: _ranked(table, i, held) for i in left}
    holds: Chosen = {}  # candidate to role
    asking = list(left)
    while asking:
        i = asking.pop(0)
        if not waiting[i]:
            continue  # no candidate is left: the next round
        j = waiting[i][0]
        rival = holds.get(j)
        if rival is None:
            holds[j] = i
            continue
        winner, loser = sorted((rival, i), key=lambda r: _claim(table, r, waiting[r]))
        holds[j] = winner
        waiting[loser] = waiting[loser][1:]
        asking.append(loser)
    return {i: j for j, i in holds.items()}


def _claim(table: _Table, role: int, ranked: list[int]) -> tuple[float, float, float, int]:
    """How strongly a role holds on to its first choice; the smallest wins."""
    values = table.values[role]
    best = values[ranked[0]]
    margin = 0.0
    if len(ranked) > 1 and best > -math.inf:
        margin = round(best - values[ranked[1]], DIGITS)
    return (-margin, -best, table.variances[role][ranked[0]], role)


def _hungarian(table: _Table, left: list[int], held: Counter[int]) -> Chosen:
    """The distinct pairs of the largest sum.

    Where several have it, each role in turn gets the candidate it prefers among those that still
    allow the sum.
    """
    values = np.array([table.values[i] for i in left])
    known = np.isfinite(values)
    values[~known] = (values[known].min() if known.any() else 0.0) - _NEVER
    free = list(range(values.shape[1]))
    due = _largest_sum(values)
    chosen: Chosen = {}
    for row, i in enumerate(left):
        later = values[row + 1 :]
        for j in (j for j in _ranked(table, i, held) if j in free):
            others = [other for other in free if other != j]
            rest = _largest_sum(later[:, others])
            if values[row, j] + rest >= due - _EQUAL:
                chosen[i], free, due = j, others, rest
                break
    return chosen


def _largest_sum(values: Floats) -> float:
    """Over sets of min(rows, columns) pairs without a shared row or column; 0 for no pairs."""
    from scipy.optimize import linear_sum_assignment  # not there where vLLM alone is served

    rows, columns = linear_sum_assignment(values, maximize=True)
    return float(values[rows, columns].sum())


_ROUNDS: Mapping[AssignMode, _Round] = {
    AssignMode.GREEDY: _greedy,
    AssignMode.MARGIN: _margin,
    AssignMode.HUNGARIAN: _hungarian,
}


def _ranked(table: _Table, role: int, held: Counter[int]) -> list[int]:
    """Candidates of a role from the best on."""
    return sorted(range(table.n_candidates), key=lambda j: (*_preference(table, role, j, held), j))


def _preference(
    table: _Table, role: int, candidate: int, held: Counter[int]
) -> tuple[float, float, int]:
    """Sorts the better pair first: score, then agreement of the reviewers, then roles held."""
    return (
        -table.values[role][candidate],
        table.variances[role][candidate],
        held[candidate],
    )


def best_overall(means: Floats) -> int:
    """argmax_j mean_i M̄_ij, the candidate a role falls back to; ties by index."""
    counts = np.sum(~np.isnan(means), axis=0)
    totals = np.nansum(means, axis=0)
    overall = np.where(counts > 0, totals / np.maximum(counts, 1), -np.inf)
    return int(np.argmax(comparable(overall)))
