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
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

DIGITS = 9
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
    scores: Floats, own: Sequence[int | None], excluded: ArrayLike = True
) -> tuple[Floats, Flags]:
    """Scores without those that evaluators gave to themselves.

    Where that would leave a candidate of a role a single reviewer, nothing is taken from the role:
    own scores of some candidates alone would favour those.

    Args:
        scores: S, shape (..., I, J, E).
        own: for each evaluator the candidate it is, None for an outsider.
        excluded: whose own scores go. Shape (..., E), or one value for all.

    Returns:
        The scores, and the roles that kept their own scores for want of other reviewers, of shape
        (..., I).
    """
    mine = np.zeros(scores.shape, dtype=bool)
    for e, j in enumerate(own):
        if j is not None:
            mine[..., j, e] = True
    whose = np.broadcast_to(excluded, (*scores.shape[:-3], scores.shape[-1]))
    goes = mine & whose[..., None, None, :] & ~np.isnan(scores)
    others = np.count_nonzero(~np.isnan(scores) & ~goes, axis=-1)
    short: Flags = (goes.any(axis=-1) & (others <= 1)).any(axis=-1)
    return np.where(goes & ~short[..., None, None], np.nan, scores), short


def self_promoters(scores: Floats, own: Sequence[int | None], *, margin: float) -> Flags:
    """Which evaluators favour themselves beyond what the others see (`exclude_self=auto`).

    An evaluator does when its own proposal is strictly its top score in more than half of the
    roles, and its scores for itself exceed the other evaluators' mean for it, on average over the
    roles, by at least `margin`.

    Args:
        scores: S, shape (..., I, J, E).
        own: for each evaluator the candidate it is, None for an outsider.
        margin: `assign.self_margin`, on the scale of the scores.

    Returns:
        Shape (..., E).
    """
    named = np.zeros((*scores.shape[:-3], scores.shape[-1]), dtype=bool)
    for e, j in enumerate(own):
        if j is None:
            continue
        mine = scores[..., j, e]
        rivals = np.delete(scores[..., e], j, axis=-1)
        others = np.delete(scores[..., j, :], e, axis=-1)
        tops = np.count_nonzero(mine > _nanmax(rivals), axis=-1)
        gap = _nanmean(mine - _nanmean(others, -1), -1)
        named[..., e] = (2 * tops > mine.shape[-1]) & (comparable(gap) >= margin)
    return named


def severity_corrected(scores: Floats) -> Floats:
    """S_ije - b_ie of the least-squares fit S_ije = a_ij + b_ie, by alternating means.

    Takes each reviewer's severity in a role out of its scores, so that candidates who were judged
    by different reviewers compare; their mean over e is a_ij. Σ_e b_ie = 0 for each role.

    Args:
        scores: S, shape (I, J, E).

    Raises:
        ValueError: fewer than three candidates; severity and suitability cannot be told apart.
    """
    if scores.shape[1] < 3:
        raise ValueError("severity correction needs at least three candidates")
    ability = _nanmean(scores, 2)
    for _ in range(_SWEEPS):
        severity = np.nan_to_num(_nanmean(scores - ability[:, :, None], 1))
        severity -= severity.mean(axis=1, keepdims=True)
        corrected = scores - severity[:, None, :]
        before, ability = ability, _nanmean(corrected, 2)
        if not np.nanmax(np.abs(ability - before), initial=0.0) > _CLOSE:
            break
    return corrected


def flat_roles(scores: Floats) -> tuple[bool, ...]:
    """Roles whose candidates differ less than the reviewers disagree about them.

    The spread max_j M̄_ij - min_j M̄_ij against the mean over j of the standard deviation over e,
    to which reviewers of unlike severity add unless it was taken out. A role with fewer than two
    scored candidates is not flat: there is nothing to tell apart.
    """
    found = suitability(scores)
    flat = []
    for means, variances in zip(found.means, found.variances, strict=True):
        known = ~np.isnan(means)
        if np.count_nonzero(known) < 2:
            flat.append(False)
            continue
        spread = means[known].max() - means[known].min()
        flat.append(bool(comparable(spread) < comparable(np.sqrt(variances[known]).mean())))
    return tuple(flat)


def comparable(values: ArrayLike) -> Floats:
    """Rounded to what cannot be a real difference, so that equal values are equal."""
    return np.round(np.asarray(values, dtype=float), DIGITS)


def _nanmean(values: Floats, axis: int) -> Floats:
    """The mean of what is there; nan where nothing is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found: Floats = np.nanmean(values, axis=axis)
        return found


def _nanmax(values: Floats) -> Floats:
    """The largest over the last axis of what is there; nan where nothing is."""
    found: Floats = np.fmax.reduce(values, axis=-1, initial=np.nan)
    return found


def plain(values: Floats) -> list[Any]:
    """An array as nested lists for JSON, null for nan."""
    cells = values.astype(object)
    cells[np.isnan(values)] = None
    rows: list[Any] = cells.tolist()
    return rows
