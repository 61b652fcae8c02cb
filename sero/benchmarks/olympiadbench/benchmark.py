"""The OlympiadBench benchmark: text-only English open-ended problems, and two judges of answers.

`official` gives the raw response to a copy of the published judge, whose crashes are 0. `careful`
drops think blocks, takes the answer out of the text once and compares it by its type; it is right
where the published judge is plainly wrong. Both may do symbolic work, in processes that end at a
deadline. Neither gives partial credit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from sero.benchmarks import hub
from sero.benchmarks.base import Parsed, Score, Task
from sero.benchmarks.files import raise_faults
from sero.benchmarks.item_benchmark import ItemBenchmark, ItemsConfig, Row
from sero.benchmarks.olympiadbench import items, sources
from sero.benchmarks.olympiadbench.answer_text import canonical, extract
from sero.benchmarks.olympiadbench.careful_judge import careful_score
from sero.benchmarks.olympiadbench.official_judge import official_score
from sero.benchmarks.olympiadbench.prompts import task_prompt
from sero.errors import DataError


@dataclass(frozen=True, slots=True, kw_only=True)
class OlympiadBenchConfig(ItemsConfig):
    """The `benchmark` section of OlympiadBench."""

    scorer: Literal["careful", "official"]


class OlympiadBench(ItemBenchmark):
    """Mathematics and physics problems with a short final answer, one group each."""

    Config: ClassVar[type[Any]] = OlympiadBenchConfig
    scores_slowly = True
    published: ClassVar[Mapping[str, int]] = items.COUNTS
    fields: ClassVar[tuple[str, ...]] = items.FIELDS
    defects: ClassVar[Mapping[str, str]] = {
        "maths-1965": "the gold is a sentence; the official judge refuses even the gold itself",
        "maths-1970": "the gold unites an interval and a single point, but is typed as an interval",
        "maths-2045": "the gold has a stray letter in front of its interval",
        "maths-2349": "the gold has unbalanced dollars; the official judge refuses even the gold",
    }

    def __init__(self, config: OlympiadBenchConfig) -> None:
        super().__init__(config)
        self.scorer = config.scorer

    def task_from_data(self, raw: Mapping[str, Any], where: str = "item") -> Task:
        """A task from one item in either layout; only gold and answer type have to be there.

        Its id is made of the subset and the item's own id, for the ids of the subsets may overlap.

        Raises:
            DataError: with every fault of the item.
        """
        item, faults = items.read_item(raw)
        raise_faults(where, faults)
        assert item is not None
        group = items.group_of(raw) or items.MATHS
        return Task(
            id=f"{group}-{where if item.id is None else item.id}",
            group=group,
            subgroup=item.subfield or "",
            prompt=task_prompt(self.config.prompts, group, item),
            reference={
                "final_answer": list(item.final_answer),
                "answer_type": ",".join(item.answer_type),
                "is_multiple_answer": bool(item.is_multiple_answer),
                "unit": item.unit,
                "error": item.error,
            },
        )

    def tasks_of(
        self, rows: Iterable[Row], *, where: str
    ) -> tuple[dict[str, Task], tuple[str, ...]]:
        """As every benchmark's; beside what a verdict needs, an item here needs what is asked.

        Raises:
            DataError: with every fault of every item.
        """
        rows = list(rows)
        faults = [
            f"{place}: {fault}"
            for place, raw in rows
            if not self.left_out(raw)
            for fault in items.asking_faults(raw)
        ]
        try:
            tasks, remarks = super().tasks_of(rows, where=where)
        except DataError as error:
            raise_faults(where, [*faults, *error.faults])
            raise
        raise_faults(where, faults)
        found = Counter(task.group for task in tasks.values())
        published = [
            f"{group}: {raw} items published, {items.COUNTS[group]} by the text-only guard"
            for group, raw in items.RAW_COUNTS.items()
            if found[group] == items.COUNTS[group]
        ]
        return tasks, (*published, *remarks)

    def left_out(self, raw: Mapping[str, Any]) -> str:
        return items.left_out(raw)

    def kept(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """The item in one spelling, so that both layouts give one prepared file."""
        return items.canonical(raw)

    def read_source(self, path: Path) -> list[Row]:
        """See `sources.read_rows`."""
        return sources.read_rows(path)

    def fetch(self, revision: str | None = None) -> tuple[list[Row], str]:
        return hub.fetch_rows(hub.OLYMPIADBENCH, self.read_source, revision)

    def generate(self, n: int, *, seed: int, difficulty: int) -> Sequence[Mapping[str, Any]]:
        """Made-up problems of every answer type, with exact gold."""
        from sero.benchmarks.generate.olympiad import generate

        return generate(n, seed=seed, difficulty=difficulty)

    def parse(self, prompt: str, response: str) -> Parsed:
        """Read a response; the answer for votes is the same under both scorers.

        The official judge gets the response raw, think blocks and all.
        """
        parsed = super().parse(prompt, response)
        if self.scorer == "official":
            return Parsed(answer=parsed.answer, text=response, reason=parsed.reason)
        return parsed

    def read(self, prompt: str, response: str) -> Parsed:
        """The answer in its canonical form, for votes; the text keeps it as written."""
        candidate, reason = extract(response)
        answer = None if candidate is None else canonical(candidate)
        return Parsed(answer=answer, text=response, reason=reason)

    def score(self, parsed: Parsed, task: Task) -> Score:
        """0 or 1; a judge stopped at its deadline says so in the metrics."""
        gold = task.reference
        if self.scorer == "official":
            return official_score(
                parsed.text, gold["final_answer"][0], gold["answer_type"], gold["error"]
            )
        candidate, reason = extract(parsed.text)
        if candidate is None:
            return Score(value=0.0, reason=parsed.reason or reason)
        return careful_score(
            candidate,
            gold["final_answer"],
            gold["answer_type"],
            gold["error"],
            gold["unit"],
            gold["is_multiple_answer"],
        )
