"""What a benchmark is: tasks, a split, a parser that never sees gold, and a scorer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from sero.roles.pool import RolePool

TIMED_OUT = "scorer_timed_out"
"""Name of the metric, 1.0, of an item whose scorer was stopped at its deadline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One item x.

    Attributes:
        id: unique in the benchmark.
        group: g, the group it is reported under.
        prompt: the whole text a model sees, answer format included.
        reference: gold and whatever a scorer needs; no prompt and no parser ever reads it.
        subgroup: a finer kind inside the group; splits are stratified by it as well.
    """

    id: str
    group: str
    prompt: str
    reference: Mapping[str, Any]
    subgroup: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Training and held-out tasks, disjoint by id.

    Attributes:
        fingerprint: sha256 of the data the split was made from.
        remarks: what a reader of its figures should know: items left out, defective golds kept.
    """

    train: tuple[Task, ...]
    heldout: tuple[Task, ...]
    fingerprint: str
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A response read without knowing the gold.

    Attributes:
        answer: the canonical answer; None when no answer could be read.
        text: the response the scorer may look into, think block removed.
        reason: why there is no answer, or an empty string.
    """

    answer: str | None
    text: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A verdict in [0, 1], its reason, and further named metrics that are not the score.

    A scorer that was stopped at its deadline scores 0 and says so by the metric `TIMED_OUT`.
    """

    value: float
    reason: str
    metrics: Mapping[str, float] = field(default_factory=dict)


class Benchmark(Protocol):
    """A benchmark. `load` may read files; the rest is pure and total: any text, no exception.

    Attributes:
        name: as in paths and tables.
        scorer: name of the scoring rule, part of every result.
        simulated: its scores come from a simulated world.
        output_protocol: the answer format the terminal role must own (output contract).
        scores_slowly: a verdict may take seconds, so it is reached beside the event loop.
    """

    name: str
    scorer: str
    simulated: bool
    output_protocol: str
    scores_slowly: bool

    def load(self) -> Split:
        """Read and split the data.

        Raises:
            DataError: missing, damaged or of another size than announced.
        """
        ...

    def seed_pool(self) -> RolePool: ...

    def known_texts(self) -> tuple[str, ...]:
        """Texts whose proper names and numbers an editor's card may use (leak check)."""
        ...

    def parse(self, prompt: str, response: str) -> Parsed:
        """Read a response to a task's prompt. A format check is `parse(...).answer is not None`."""
        ...

    def score(self, parsed: Parsed, task: Task) -> Score: ...

    def task_from_data(self, raw: Mapping[str, Any], where: str = "item") -> Task:
        """A task from one published item as plain data (`sero score`).

        Only what a verdict needs has to be there; a missing question gives a prompt without one.

        Raises:
            DataError: with every fault of the item.
        """
        ...
