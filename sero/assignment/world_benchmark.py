"""The benchmark of the assignment world: which candidate played a role decides its score.

Simulated. A task's score is the mean, over the three roles, of s: the probability with which the
candidate who played the role succeeds in it on this task. No success is drawn, so an assignment
scores what it is worth, and runs agree with `world_table` on the same worlds and tasks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Gt, MinLen

from sero.assignment.players import Truth
from sero.assignment.roster import Candidate
from sero.assignment.scores import Floats
from sero.assignment.world import N_CANDIDATES, N_ROLES, AssignmentWorld, WorldSpec
from sero.assignment.world_text import (
    entry_code,
    read_candidate,
    read_entries,
    read_task,
    world_cards,
    world_task,
    write_entries,
)
from sero.benchmarks.base import Benchmark, Parsed, Score, Split, Task
from sero.errors import DataError
from sero.roles.card import RoleCard
from sero.roles.pool import RolePool
from sero.storage import dumps


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentWorldConfig:
    """`benchmark=assignment_world`.

    Attributes:
        world: the world's key.
        prompts: folder of the host's cards.
        n_train, n_heldout: tasks of the two splits; the held-out ones are the world's first.
        strict_add: Add must improve the score during warm-up too.
    """

    name: str
    world: int
    prompts: Annotated[str, MinLen(1)]
    n_train: Annotated[int, Gt(0)]
    n_heldout: Annotated[int, Gt(0)]
    strict_add: bool


class AssignmentWorldBenchmark:
    """Cases of a ledger in three columns, one for each role."""

    Config: ClassVar[type[AssignmentWorldConfig]] = AssignmentWorldConfig
    simulated: bool = True
    scores_slowly: bool = False

    def __init__(self, cfg: AssignmentWorldConfig) -> None:
        self.cfg = cfg
        self.name = cfg.name
        self.scorer = "success"
        self.output_protocol = world_cards().cards[-1].communication_protocol
        self._spec = WorldSpec(key=cfg.world)
        self._world = AssignmentWorld(self._spec)

    def load(self) -> Split:
        """The two splits; nothing is read from disk."""
        n = self.cfg.n_heldout
        tasks = [self._task(number) for number in range(n + self.cfg.n_train)]
        digest = hashlib.sha256()
        for task in tasks:
            digest.update(dumps([task.id, task.prompt, dict(task.reference)]).encode() + b"\n")
        return Split(
            train=tuple(tasks[n:]), heldout=tuple(tasks[:n]), fingerprint=digest.hexdigest()
        )

    def seed_pool(self) -> RolePool:
        """The three roles."""
        return world_cards()

    def known_texts(self) -> tuple[str, ...]:
        """The cards and a prompt."""
        cards = [
            text
            for card in world_cards()
            for text in (card.name, card.identity_text, card.communication_protocol)
        ]
        return (*cards, world_task(0))

    def parse(self, prompt: str, response: str) -> Parsed:
        """The entry lines in order of their columns; an answer has one for every column."""
        entries = read_entries(response)
        missing = [str(column) for column in range(1, N_ROLES + 1) if column not in entries]
        if missing:
            reason = f"no entry for column {', '.join(missing)}"
            return Parsed(answer=None, text=response, reason=reason)
        kept = {column: entries[column] for column in range(1, N_ROLES + 1)}
        return Parsed(answer=write_entries(kept), text=response)

    def score(self, parsed: Parsed, task: Task) -> Score:
        """Mean over the columns of s of whoever made the entry; an entry of nobody's is worth 0."""
        if parsed.answer is None:
            return Score(value=0.0, reason=parsed.reason or "no answer")
        success: dict[str, float] = task.reference["success"]
        found = [success.get(code, 0.0) for code in read_entries(parsed.answer).values()]
        reason = "probabilities of success: " + ", ".join(f"{s:.3f}" for s in found)
        return Score(value=sum(found) / N_ROLES, reason=reason)

    def success(
        self, prompt: str, cards: Sequence[RoleCard], candidates: Sequence[Candidate]
    ) -> Floats:
        """s of each candidate in each role on a task; 0 for one the world does not know.

        Returns:
            Probabilities. Shape (I, J).
        """
        number, rows = read_task(prompt), {name: i for i, name in enumerate(world_cards().names)}
        found = np.zeros((len(cards), len(candidates)))
        if number is None:
            return found
        skill = self._world.case(number).skill
        for i, card in enumerate(cards):
            for j, candidate in enumerate(candidates):
                known = read_candidate(candidate.prompt)
                if card.name in rows and known is not None:
                    found[i, j] = skill[rows[card.name], known]
        return found

    def task_from_data(self, raw: Mapping[str, Any], where: str = "item") -> Task:
        """The simulated world has no published items."""
        raise DataError(f"{where}: {self.name} is simulated; it has no items from outside to score")

    def _task(self, number: int) -> Task:
        skill = self._world.case(number).skill
        success = {
            entry_code(self._spec, number, i, j): float(skill[i, j])
            for i in range(N_ROLES)
            for j in range(N_CANDIDATES)
        }
        return Task(
            id=f"case-{number}",
            group="ledger",
            prompt=world_task(number),
            reference={"success": success},
        )


def truth_of(benchmark: Benchmark) -> Truth | None:
    """What the benchmark's world knows of candidates; None for any other benchmark."""
    return benchmark.success if isinstance(benchmark, AssignmentWorldBenchmark) else None
