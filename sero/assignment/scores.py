"""Peer scores S_ije to suitability M̄_ij: means, self-exclusion, severity, flatness.

Arrays are indexed (role i, candidate j, evaluator e); nan marks a score that was dropped.
Source: Zhang et al., "Dynamic Role Assignment for Multi-Agent Debate" (2026), arXiv:2601.17152.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_SWEEPS = 200
_CLOSE = 1e-10


@dataclass(frozen=True, slots=True, kw_only=True)
class Suitability:
    """What the reviews say of every pair.

    Attributes:
        means: M̄_ij, the mean over evaluators; nan where nobody's score is left. Shape (I, J).
        variances: over the evaluators, 0 where one is left. Shape (I, J).
    """

    means: Floats
    variances: Floats


def suitability(scores: Floats) -> Suitability:
    """M̄_ij = mean_e S_ije and the population variance over e, missing scores left out.

    Args:
        scores: S, shape (I, J, E).
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a pair without any score stays nan
        return Suitability(means=np.nanmean(scores, axis=2), variances=np.nanvar(scores, axis=2))


def without_own(
    scores: Floats, own: Sequence[int | None], excluded: Sequence[bool] | None = None
) -> tuple[Floats, bool]:
    """Scores without those that evaluators gave to themselves.

    Where that would leave a pair a single reviewer, nothing is taken from it.

    Args:
        scores: S, shape (I, J, E).
        own: for each evaluator the candidate it is, None for an outsider.
        excluded: whose own scores go; None means everybody's.

    Returns:
        The scores, and whether any pair kept its own score for want of other reviewers.
    """
    kept = scores.copy()
    short = False
    for e, j in enumerate(own):
        if j is None or (excluded is not None and not excluded[e]):
            continue
        mine = scores[:, j, e]
        others = np.count_nonzero(~np.isnan(np.delete(scores[:, j], e, axis=1)), axis=1)
        scored = ~np.isnan(mine)
        short |= bool((scored & (others <= 1)).any())
        kept[:, j, e] = np.where(scored & (others > 1), np.nan, mine)
    return kept, short


def self_promoters(scores: Floats, own: Sequence[int | None], *, margin: float) -> tuple[bool, ...]:
    """Which evaluators favour themselves beyond what the others see (`exclude_self=auto`).

    An evaluator does when its own proposal is strictly its top score in more than half of the
    roles, and its scores for itself exceed the other evaluators' mean for it, on average over the
    roles, by at least `margin`.

    Args:
        scores: S, shape (I, J, E).
        own: for each evaluator the candidate it is, None for an outsider.
        margin: `assign.self_margin`, on the scale of the scores.
    """
    return tuple(
        j is not None
        and _favours(
            scores[:, j, e],
            np.delete(scores[:, :, e], j, axis=1),
            np.delete(scores[:, j], e, axis=1),
            margin,
        )
        for e, j in enumerate(own)
    )


def _favours(mine: Floats, rivals: Floats, others: Floats, margin: float) -> bool:
    """One evaluator's scores for itself (I,), for its rivals (I, J-1), and the others' (I, E-1)."""
    tops, gaps = 0, []
    for own, row, seen in zip(mine, rivals, others, strict=True):
        if np.isnan(own):
            continue
        row, seen = row[~np.isnan(row)], seen[~np.isnan(seen)]
        tops += bool(row.size and (own > row).all())
        if seen.size:
            gaps.append(own - seen.mean())
    return 2 * tops > len(mine) and bool(gaps) and float(np.mean(gaps)) >= margin


def severity_corrected(scores: Floats) -> Floats:
    """a_ij of the least-squares fit S_ije = a_ij + b_ie, by alternating means.

    Takes each reviewer's severity in a role out of its scores, so that candidates who were judged
    by different reviewers compare. Σ_e b_ie = 0 for each role. Shape (I, J); nan without a score.

    Args:
        scores: S, shape (I, J, E).

    Raises:
        ValueError: fewer than three candidates; severity and suitability cannot be told apart.
    """
    if scores.shape[1] < 3:
        raise ValueError("severity correction needs at least three candidates")
    severity = np.zeros((scores.shape[0], scores.shape[2]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        ability: Floats = np.nanmean(scores, axis=2)
        for _ in range(_SWEEPS):
            severity = np.nan_to_num(np.nanmean(scores - ability[:, :, None], axis=1))
            severity -= severity.mean(axis=1, keepdims=True)
            before, ability = ability, np.nanmean(scores - severity[:, None, :], axis=2)
            if not np.nanmax(np.abs(ability - before), initial=0.0) > _CLOSE:
                break
    return ability


def flat_roles(scores: Floats) -> tuple[bool, ...]:
    """Roles whose candidates differ less than the reviewers disagree about them: noise.

    The spread max_j M̄_ij - min_j M̄_ij against the mean over j of the standard deviation over e.
    A role with fewer than two scored candidates is not flat: there is nothing to tell apart.
    """
    found = suitability(scores)
    flat = []
    for means, variances in zip(found.means, found.variances, strict=True):
        known = ~np.isnan(means)
        if np.count_nonzero(known) < 2:
            flat.append(False)
            continue
        spread = float(means[known].max() - means[known].min())
        flat.append(spread < float(np.sqrt(variances[known]).mean()))
    return tuple(flat)


def plain(values: Floats) -> list[Any]:
    """An array as nested lists for JSON, null for nan."""
    cells = values.astype(object)
    cells[np.isnan(values)] = None
    rows: list[Any] = cells.tolist()
    return rows
