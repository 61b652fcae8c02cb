"""What an assignment leaves behind: the record, its cost, its line of `assignments.jsonl`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sero.assignment.decision import Decision, Names
from sero.assignment.hearing import Hearing
from sero.assignment.roster import MAX_SCORE, MIN_SCORE, Roster
from sero.inference.trace import Cost, RoleMessage, cost_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """The outcome of Meta-Debate on one task.

    Attributes:
        item: the task's id.
        chosen: for each role the index of its candidate.
        decision: scores, means, rule and reasons; None where a single candidate left no choice.
        hearings: the last one of each role; none where nobody was asked.
        superseded: hearings of roles before they were described anew.
        rewriting: calls that asked for a new description, whether or not it could be used.
        simulated: somebody on the panel answers from a simulated world.
        warnings: everything a reader should know, the decision's included.
    """

    item: str
    roster: Roster
    chosen: tuple[int, ...]
    decision: Decision | None
    hearings: tuple[Hearing, ...]
    superseded: tuple[Hearing, ...]
    rewriting: tuple[RoleMessage, ...]
    simulated: bool
    warnings: tuple[str, ...]

    @property
    def names(self) -> Names:
        return names_of(self.roster)

    @property
    def by_role(self) -> dict[str, str]:
        """Role to candidate, by name."""
        names = self.names
        return {r: names.candidates[j] for r, j in zip(names.roles, self.chosen, strict=True)}

    @property
    def suitability(self) -> dict[str, float]:
        """Role to M̄ of its candidate on [0, 1], (M̄ - 1) / 4; roles without a score are absent.

        Taking severity out may carry a mean past 1 or 5; it counts as the bound then.
        """
        if self.decision is None:
            return {}
        means = self.decision.found.means[range(len(self.chosen)), self.chosen]
        scaled = np.clip((means - MIN_SCORE) / (MAX_SCORE - MIN_SCORE), 0.0, 1.0)
        of_role = zip(self.names.roles, scaled, strict=True)
        return {role: float(value) for role, value in of_role if not np.isnan(value)}

    @property
    def messages(self) -> tuple[RoleMessage, ...]:
        """Every logical call, in the order they are counted.

        The criteria of a revised role came with its new description, so that call stands in
        `rewriting` alone.
        """
        held = (message for one in (*self.superseded, *self.hearings) for message in one.messages)
        return (*held, *self.rewriting)

    @property
    def cost(self) -> Cost:
        """Logical calls and tokens, cache hits included."""
        return cost_of(self.messages)

    @property
    def cost_by_backbone(self) -> dict[str | None, Cost]:
        """The same for each backbone, by the keys of the roster's seats."""
        return {
            seat.key: cost_of(m for m in self.messages if m.backbone == seat.key)
            for seat in self.roster.seats
        }

    @property
    def dropped(self) -> int:
        """Scores that were asked for and could not be read."""
        return sum(hearing.dropped for hearing in (*self.superseded, *self.hearings))

    def to_data(self) -> dict[str, Any]:
        """One line of `assignments.jsonl`; equal runs write equal lines."""
        names, cost = self.names, self.cost
        decided = (
            {"rule": "single_candidate", "assignment": self.by_role}
            if self.decision is None
            else self.decision.to_data(names)
        )
        return {
            "item": self.item,
            "simulated": self.simulated,
            "roles": list(names.roles),
            "candidates": [asdict(candidate) for candidate in self.roster.candidates],
            "evaluators": [asdict(evaluator) for evaluator in self.roster.evaluators],
            **decided,
            "warnings": list(self.warnings),
            "dropped": self.dropped,
            "calls": cost.calls,
            "prompt_tokens": cost.prompt_tokens,
            "completion_tokens": cost.completion_tokens,
            "hearings": [hearing.to_data() for hearing in self.hearings],
            "superseded": [hearing.to_data() for hearing in self.superseded],
            "messages": [_plain(message) for message in self.messages],
        }


def names_of(roster: Roster) -> Names:
    """The names behind the axes of a roster's score table."""
    return Names(
        roles=tuple(role.name for role in roster.roles),
        candidates=tuple(candidate.name for candidate in roster.candidates),
        evaluators=tuple(evaluator.name for evaluator in roster.evaluators),
    )


_VARYING = ("cached", "latency_s", "retries", "replaced")


def _plain(message: RoleMessage) -> dict[str, Any]:
    """A call without what differs between equal runs; a proposal's text stands in its hearing."""
    data = {key: value for key, value in asdict(message).items() if key not in _VARYING}
    if message.kind == "proposal":
        del data["text"]
    return data
