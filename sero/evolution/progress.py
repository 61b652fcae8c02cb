"""Where a training run stands: everything the next episode depends on but the controller."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import Any

from sero.credit import CreditState, PoolState, RoleCredit
from sero.evolution.actions import Operation, TrainPhase
from sero.evolution.step import Step
from sero.inference.trace import Cost
from sero.roles.load import card_to_data, pool_from_data


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The committed state and the history that later episodes read.

    Attributes:
        state: (P, C).
        episode: episodes done; the next one is `episode + 1`.
        commits: episodes that changed the pool.
        changed: one flag per main-phase episode, True where the pool changed (early stop).
        failures: recent tasks that scored below 1, for the editor's prompt, oldest first.
        removed: names recently removed, for the editor's prompt, oldest first.
        cost: logical cost so far.
        finished: training is over.
    """

    state: PoolState
    episode: int = 0
    commits: int = 0
    changed: tuple[bool, ...] = ()
    failures: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    cost: Cost = field(default_factory=Cost)
    finished: bool = False

    def after(self, step: Step, state: PoolState, cost: Cost, *, keep: int) -> Progress:
        """The progress one episode later; the histories keep their last `keep` entries."""
        failures, removed = self.failures, self.removed
        if step.before.value < 1.0:
            failures = (*failures, step.failure)
        if step.verdict.committed and step.proposal.operation is Operation.REMOVE:
            removed = (*removed, step.proposal.target or "")
        in_main = step.phase is TrainPhase.MAIN
        return replace(
            self,
            state=state,
            episode=self.episode + 1,
            commits=self.commits + step.verdict.committed,
            changed=(*self.changed, step.verdict.committed) if in_main else self.changed,
            failures=failures[max(0, len(failures) - keep) :],
            removed=removed[max(0, len(removed) - keep) :],
            cost=self.cost + cost,
        )


def progress_to_data(progress: Progress) -> dict[str, Any]:
    """Plain types only, exact; what a checkpoint holds."""
    state = progress.state
    return {
        "roles": [card_to_data(card) for card in state.pool],
        "credit": {name: asdict(credit) for name, credit in state.credit.roles.items()},
        "episode": progress.episode,
        "commits": progress.commits,
        "changed": list(progress.changed),
        "failures": list(progress.failures),
        "removed": list(progress.removed),
        "cost": progress.cost.to_data(),
        "finished": progress.finished,
    }


def progress_from_data(data: Mapping[str, Any], *, max_prompt_chars: int) -> Progress:
    """The inverse of `progress_to_data`.

    Raises:
        CardError: the checkpoint's cards are no valid pool.
    """
    pool = pool_from_data(data["roles"], where="checkpoint", max_prompt_chars=max_prompt_chars)
    credit = {name: RoleCredit(**block) for name, block in data["credit"].items()}
    return Progress(
        state=PoolState(pool, CreditState(MappingProxyType(credit))),
        episode=data["episode"],
        commits=data["commits"],
        changed=tuple(data["changed"]),
        failures=tuple(data["failures"]),
        removed=tuple(data["removed"]),
        cost=Cost.from_data(data["cost"]),
        finished=data["finished"],
    )
