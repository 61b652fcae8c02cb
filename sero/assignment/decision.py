"""From scores to an assignment with its reasons: pure, no call, the same whoever scored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sero.assignment.config import AssignConfig
from sero.assignment.rules import AssignMode, assign, best_overall
from sero.assignment.scores import (
    Floats,
    Suitability,
    comparable,
    flat_roles,
    plain,
    self_promoters,
    severity_corrected,
    suitability,
    without_own,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Who the rows, columns and layers of a score table are."""

    roles: tuple[str, ...]
    candidates: tuple[str, ...]
    evaluators: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """An assignment and everything it rests on.

    Attributes:
        scores: S as given, nan for a missing score. Shape (I, J, E).
        found: M̄ and the variances, after exclusion and correction. Shape (I, J) each.
        excluded: evaluators whose scores for themselves were left out.
        corrected: severity was taken out of the means.
        flat: roles whose candidates differ less than their reviewers disagree.
        low: roles without a mean above `min_score`; they got the candidate best over all roles.
        mode: the rule.
        chosen: the candidate of each role.
        margins: M̄ of the chosen less the best other mean; None where one of them is missing.
        reasons: a sentence per role.
        warnings: what a reader should know before trusting the result.
    """

    scores: Floats
    found: Suitability
    excluded: tuple[int, ...]
    corrected: bool
    flat: tuple[bool, ...]
    low: tuple[bool, ...]
    mode: AssignMode
    chosen: tuple[int, ...]
    margins: tuple[float | None, ...]
    reasons: tuple[str, ...]
    warnings: tuple[str, ...]

    def to_data(self, names: Names) -> dict[str, Any]:
        """Plain data for `assignments.jsonl`."""
        of_role = zip(names.roles, self.chosen, strict=True)
        return {
            "rule": str(self.mode),
            "assignment": {role: names.candidates[j] for role, j in of_role},
            "reasons": list(self.reasons),
            "margins": list(self.margins),
            "scores": plain(self.scores),
            "means": plain(self.found.means),
            "variances": plain(self.found.variances),
            "self_excluded": [names.evaluators[e] for e in self.excluded],
            "severity_corrected": self.corrected,
            "flat": _named(names.roles, self.flat),
            "fallback": _named(names.roles, self.low),
        }


def decide(
    scores: Floats,
    own: Sequence[int | None],
    names: Names,
    cfg: AssignConfig,
    *,
    own_unasked: bool = False,
) -> Decision:
    """Exclude, correct, average, assign.

    Roles without a mean above `assign.min_score` take no part in the rule: they get the candidate
    with the best mean over all roles, who may hold another role as well.

    Args:
        scores: S_ije from 1 to 5, nan for a missing one. Shape (I, J, E), none of them 0.
        own: for each evaluator the candidate it is, None for an outsider.
        own_unasked: nobody was asked about its own proposal (`hearing.skips_own_reviews`).
    """
    warnings: list[str] = []
    kept, excluded = _excluded(scores, own, names, cfg, warnings, own_unasked=own_unasked)
    corrected = cfg.severity_correction and scores.shape[1] >= 3
    judged = severity_corrected(kept) if corrected else kept
    found = suitability(judged)
    if cfg.severity_correction and not corrected:
        warnings.append(
            f"severity_correction needs three candidates; there are {scores.shape[1]}, so it was "
            "left out"
        )
    warnings += _few_reviewers(kept, names)
    flat = flat_roles(judged)
    if any(flat):
        warnings.append(_flat_line(_named(names.roles, flat), scores.shape, corrected=corrected))
    low = tuple(not _best(row) > cfg.min_score for row in found.means)
    chosen = assigned(found, low, cfg.mode)
    warnings += _cautions(found, low, chosen, names, cfg)
    return Decision(
        scores=scores,
        found=found,
        excluded=excluded,
        corrected=corrected,
        flat=flat,
        low=low,
        mode=cfg.mode,
        chosen=chosen,
        margins=tuple(_margin(row, j) for row, j in zip(found.means, chosen, strict=True)),
        reasons=tuple(_reason(found, chosen, i, low[i], names, cfg) for i in range(len(chosen))),
        warnings=tuple(warnings),
    )


def _excluded(
    scores: Floats,
    own: Sequence[int | None],
    names: Names,
    cfg: AssignConfig,
    warnings: list[str],
    *,
    own_unasked: bool,
) -> tuple[Floats, tuple[int, ...]]:
    """The scores without the own ones that `assign.exclude_self` takes out, and whose they were."""
    if cfg.exclude_self is False:
        return scores, ()
    if cfg.exclude_self == "auto":
        whose = self_promoters(scores, own, margin=cfg.self_margin)
        warnings += [f"'{names.evaluators[e]}' favours itself" for e in np.flatnonzero(whose)]
        kept, short = without_own(scores, own, whose)
    else:
        kept, short = without_own(scores, own)
    if any(short):
        warnings.append(
            f"excluding self would leave a single reviewer in {_listed(_named(names.roles, short))}"
            ", so all scores for oneself were kept there"
        )
    out = np.isnan(kept) & ~np.isnan(scores)
    excluded = (
        e for e, j in enumerate(own) if out[..., e].any() or (own_unasked and j is not None)
    )
    return kept, tuple(excluded)


def _few_reviewers(kept: Floats, names: Names) -> list[str]:
    """Roles with a mean that no panel stands behind, though there is one."""
    if len(names.evaluators) < 2:
        return []
    counts = np.count_nonzero(~np.isnan(kept), axis=2)
    few = _named(names.roles, counts.any(axis=1) & (counts < 2).any(axis=1))
    line = f"fewer than two reviewers' scores are left for a candidate of {_listed(few)}"
    return [line] if few else []


def _flat_line(roles: Sequence[str], shape: tuple[int, ...], *, corrected: bool) -> str:
    line = f"the scores for {_listed(roles)} differ less than the reviewers do"
    if corrected:
        return f"{line}, their severity taken out: noise"
    line += ": noise, or reviewers of unlike severity"
    if shape[1] >= 3:
        line += "; assign.severity_correction=true tells them apart"
    return line


def assigned(found: Suitability, low: Sequence[bool], mode: AssignMode) -> tuple[int, ...]:
    """The rule over the roles that have a mean above the threshold, the best overall elsewhere."""
    judged = [i for i, is_low in enumerate(low) if not is_low]
    chosen = [best_overall(found.means)] * len(low)
    if judged:
        part = Suitability(means=found.means[judged], variances=found.variances[judged])
        for i, j in zip(judged, assign(part, mode), strict=True):
            chosen[i] = j
    return tuple(chosen)


def _cautions(
    found: Suitability,
    low: Sequence[bool],
    chosen: Sequence[int],
    names: Names,
    cfg: AssignConfig,
) -> list[str]:
    n_roles, n_candidates = found.means.shape
    lines = []
    if np.isnan(found.means).all():
        lines.append("no score could be read at all: the assignment is arbitrary")
    elif any(low):
        lines.append(
            f"no mean above {cfg.min_score:g} for {_listed(_named(names.roles, low))}: best overall"
        )
    n_judged = n_roles - sum(low)
    if n_judged > n_candidates > 1 and cfg.mode is not AssignMode.ARGMAX:
        lines.append(
            f"{n_judged} roles for {n_candidates} candidates: {cfg.mode} went round again over "
            "the roles that were left"
        )
    if n_roles > 1 and n_candidates > 1 and len(set(chosen)) == 1:
        lines.append(f"'{names.candidates[chosen[0]]}' takes every role")
    return lines


def _reason(
    found: Suitability,
    chosen: Sequence[int],
    role: int,
    is_low: bool,
    names: Names,
    cfg: AssignConfig,
) -> str:
    """Why the role has its candidate, as far as the means say it."""
    means = comparable(found.means[role])
    j = chosen[role]
    if is_low and np.isnan(means).all():
        return "no score of the role could be read; the best over all roles takes it"
    if is_low:
        return (
            f"best mean {_best(means):.2f}, not above {cfg.min_score:g}; the best over all roles "
            "takes it"
        )
    if np.isnan(means[j]):
        return "no score, and nobody else was left"
    better = [int(k) for k in np.flatnonzero(means > means[j])]
    ties = [int(k) for k in np.flatnonzero(means == means[j]) if k != j]
    others = np.delete(means, j)
    if better:
        passed = (
            f"'{names.candidates[k]}' ({means[k]:.2f}){_where(k, chosen, names)}" for k in better
        )
        text = f"mean {means[j]:.2f}, behind {'; '.join(passed)}"
    elif ties:
        text = f"mean {means[j]:.2f}"
    elif np.isnan(others).all():
        text = f"mean {means[j]:.2f}, the only one"
    else:
        text = f"highest mean {means[j]:.2f}, {means[j] - np.nanmax(others):.2f} above the next"
    if ties:
        tied = _listed([f"'{names.candidates[k]}'" for k in ties])
        variances = comparable(found.variances[role])
        by = (
            "by the smaller variance"
            if variances[j] < variances[ties].min()
            else "by roles held, other roles' claims or the order of the list"
        )
        text += f", tied with {tied} and settled {by}"
    return text


def _where(candidate: int, chosen: Sequence[int], names: Names) -> str:
    roles = [f"'{names.roles[i]}'" for i, j in enumerate(chosen) if j == candidate]
    return f", who plays {_listed(roles)}" if roles else ", left out"


def _margin(means: Floats, chosen: int) -> float | None:
    others = np.delete(means, chosen)
    if np.isnan(means[chosen]) or np.isnan(others).all():
        return None
    return float(comparable(means[chosen] - np.nanmax(others)))


def _best(means: Floats) -> float:
    """The largest mean, rounded as the rules round; nan where there is none."""
    return float("nan") if np.isnan(means).all() else float(comparable(np.nanmax(means)))


def _named(names: Sequence[str], picked: Iterable[bool]) -> list[str]:
    return [name for name, is_picked in zip(names, picked, strict=True) if is_picked]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
