"""One pass through Algorithm 2's body, as a record."""

from __future__ import annotations

from dataclasses import dataclass

from sero.benchmarks.base import Task
from sero.evolution.actions import Operation, TrainPhase
from sero.evolution.contracts import Contract
from sero.evolution.controller import Decision, DecisionView
from sero.evolution.gate import Verdict
from sero.evolution.proposal import Proposal
from sero.evolution.rolling import Scored


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What was seen, chosen, proposed and judged; `contracts` is the candidate's report."""

    task: Task
    phase: TrainPhase
    before: Scored
    view: DecisionView
    decision: Decision
    proposal: Proposal
    contracts: tuple[Contract, ...] | None
    verdict: Verdict

    @property
    def outcome(self) -> str:
        """`committed`, `rejected`, or `unchanged` for a Noop."""
        if self.verdict.committed:
            return "committed"
        return "unchanged" if self.proposal.operation is Operation.NOOP else "rejected"

    @property
    def failure(self) -> str:
        """What the editor is told of a task that scored below 1: no task, no gold."""
        unread = ", no readable answer" if self.before.parsed.answer is None else ""
        return f"{self.task.group}: scored {self.before.value:.2f}{unread}"
