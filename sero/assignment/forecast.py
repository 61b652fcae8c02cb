"""What an assignment costs before it starts, against the debate it is for, and what would save.

Logical calls: I criteria (roles whose criteria are given need none) + I J proposals + I E reviews,
or I J E with one call per proposal. At most: every attempt at criteria refused but the last, every
role described anew as often as allowed.
"""

from __future__ import annotations

from dataclasses import dataclass

from sero.assignment.config import AssignConfig
from sero.assignment.hearing import skips_own_reviews
from sero.assignment.roster import Roster


@dataclass(frozen=True, slots=True, kw_only=True)
class Saving:
    """A way to spend less: what to do, and the calls it takes off each task."""

    how: str
    calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """Logical calls of one assignment; `host_calls` of the debate that follows it.

    Attributes:
        criteria, proposals, reviews: what every assignment takes.
        own_reviews_saved: reviews of one's own proposal that are never asked for.
        repairs: further calls if everything that can be repeated is.
        savings: what would make it cheaper.
    """

    criteria: int
    proposals: int
    reviews: int
    own_reviews_saved: int
    repairs: int
    host_calls: int
    savings: tuple[Saving, ...]

    @property
    def calls(self) -> int:
        """Of an assignment in which nothing has to be repeated."""
        return self.criteria + self.proposals + self.reviews

    @property
    def most_calls(self) -> int:
        """The bound."""
        return self.calls + self.repairs

    @property
    def over_host(self) -> float:
        """Calls of the assignment over those of the debate."""
        return self.calls / self.host_calls


def forecast(roster: Roster, cfg: AssignConfig, *, host_calls: int) -> Forecast:
    """Logical calls per task, before any is made.

    Args:
        host_calls: of the debate the roles are for, per task, at least 1.
    """
    n_roles, n_candidates = len(roster.roles), len(roster.candidates)
    if n_candidates == 1:
        return Forecast(
            criteria=0,
            proposals=0,
            reviews=0,
            own_reviews_saved=0,
            repairs=0,
            host_calls=host_calls,
            savings=(),
        )
    written = sum(not role.criteria for role in roster.roles)
    asked, saved = _reviews_per_role(roster, cfg)
    anew = cfg.max_revisions * n_roles * (cfg.criteria_attempts + n_candidates + asked)
    return Forecast(
        criteria=written,
        proposals=n_roles * n_candidates,
        reviews=n_roles * asked,
        own_reviews_saved=n_roles * saved,
        repairs=written * (cfg.criteria_attempts - 1) + anew,
        host_calls=host_calls,
        savings=_savings(roster, cfg, asked),
    )


def _reviews_per_role(roster: Roster, cfg: AssignConfig) -> tuple[int, int]:
    """Review calls per role, and those that are saved because nobody is asked about itself."""
    if cfg.review == "joint":
        return len(roster.evaluators), 0
    own = sum(j is not None for j in roster.own) if skips_own_reviews(roster, cfg) else 0
    return len(roster.candidates) * len(roster.evaluators) - own, own


def _savings(roster: Roster, cfg: AssignConfig, asked: int) -> tuple[Saving, ...]:
    n_roles, n_candidates = len(roster.roles), len(roster.candidates)
    found = []
    if cfg.review == "single" and asked > len(roster.evaluators):
        found.append(
            Saving(
                how="assign.review=joint: one call per role and evaluator",
                calls=n_roles * (asked - len(roster.evaluators)),
            )
        )
    if n_candidates > 2:
        # a candidate who also judges takes its reviews along
        judges = tuple(e for e in roster.evaluators if e.name != roster.candidates[-1].name)
        if len(judges) > 1:
            fewer = Roster(roles=roster.roles, candidates=roster.candidates[:-1], evaluators=judges)
            less = asked - _reviews_per_role(fewer, cfg)[0]
            found.append(Saving(how="one candidate fewer", calls=n_roles * (1 + less)))
    if len(roster.evaluators) > 2:
        two = Roster(
            roles=roster.roles, candidates=roster.candidates, evaluators=roster.evaluators[:2]
        )
        less = asked - _reviews_per_role(two, cfg)[0]
        if less:
            found.append(
                Saving(how="two evaluators (evaluators: in the file)", calls=n_roles * less)
            )
    unwritten = sum(not role.criteria for role in roster.roles)
    if unwritten:
        found.append(Saving(how="criteria given with the roles", calls=unwritten))
    found.append(
        Saving(
            how=(
                f"a cheaper model for the {n_roles * n_candidates} proposals, with the strong one "
                "under evaluators: the same calls for less"
            ),
            calls=0,
        )
    )
    return tuple(found)
