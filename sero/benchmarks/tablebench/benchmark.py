"""The TableBench benchmark: items to tasks, and the two scorers.

`official` repeats the published verdicts on the raw response. `careful` is right where the
published code is plainly wrong: it drops think blocks, takes the last marker, keeps points,
signs and separators while it compares numbers, and reads lists and tolerances as the benchmark's
own description has them. It stays as strict on words: a name, a phrase or a unit that is not the
gold's is wrong. Neither gives partial credit, but for ROUGE-L, which is the metric of sentences.

The published golds hold errors that their authors know of; none is corrected here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from sero.benchmarks import hub
from sero.benchmarks.base import Parsed, Score, Task
from sero.benchmarks.files import raise_faults
from sero.benchmarks.generate.tables import generate_tablebench
from sero.benchmarks.item_benchmark import ItemBenchmark, ItemsConfig, Row
from sero.benchmarks.tablebench import items
from sero.benchmarks.tablebench.careful_match import (
    EXACT,
    WITHIN_TENTH,
    canonical,
    list_recall,
    matches,
    sentence_score,
)
from sero.benchmarks.tablebench.careful_reading import final_answer
from sero.benchmarks.tablebench.official import normalised, read_official, score_official
from sero.benchmarks.tablebench.prompts import table_text, task_prompt
from sero.benchmarks.tablebench.subtypes import (
    SUBTYPES,
    VISUALIZATION,
    Metric,
    published_counts,
)
from sero.errors import DataError

_NO_ANSWER = "no line 'Final Answer: ...' in the response"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableBenchConfig(ItemsConfig):
    """The `benchmark` section of TableBench.

    Attributes:
        scorer: `careful` or `official`.
    """

    scorer: Literal["careful", "official"]


class TableBench(ItemBenchmark):
    """Fact checking, numerical reasoning and data analysis over one table an item."""

    Config: ClassVar[type[TableBenchConfig]] = TableBenchConfig
    published: ClassVar[Mapping[str, int]] = published_counts()
    fields: ClassVar[tuple[str, ...]] = items.FIELDS

    def __init__(self, config: TableBenchConfig) -> None:
        super().__init__(config)
        self.scorer: str = config.scorer

    def left_out(self, raw: Mapping[str, Any]) -> str:
        """The visual items want a chart drawn by code, which no text answer is."""
        return "they ask for a chart" if raw.get("qtype") == VISUALIZATION else ""

    def task_from_data(self, raw: Mapping[str, Any], where: str = "item") -> Task:
        """One task, called after its id and subtype, since an id may stand under two of them.

        Raises:
            DataError: with every fault of the item.
        """
        item = items.read_item(raw, where)
        table = item.table
        prompt = task_prompt(
            self.config.prompts,
            item.qsubtype,
            table=table_text(table.columns, table.data) if table else "",
            question=item.question or "",
        )
        return Task(
            id=f"{item.id or where}/{item.qsubtype}",
            group=item.qtype,
            subgroup=item.qsubtype,
            prompt=prompt,
            reference={"answer": item.answer},
        )

    def tasks_of(
        self, rows: Iterable[Row], *, where: str
    ) -> tuple[dict[str, Task], tuple[str, ...]]:
        """Tasks that can be asked: a verdict alone would need no question, but a run does."""
        listed = items.once_each(rows)
        faults = [
            f"{place}: {fault}"
            for place, raw in listed
            if not self.left_out(raw)
            for fault in items.incomplete(raw)
        ]
        try:
            found = super().tasks_of(listed, where=where)
        except DataError as error:
            raise_faults(where, [*faults, *error.faults])
            raise
        raise_faults(where, faults)
        return found

    def kept(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """An item as the current release has it: the same data whatever file they came from."""
        return super().kept(raw) if self.left_out(raw) else items.plain_item(raw)

    def generate(self, n: int, *, seed: int, difficulty: int) -> Sequence[Mapping[str, Any]]:
        """Tables with questions of every subtype in turn."""
        return generate_tablebench(n, seed=seed, difficulty=difficulty)

    def read_source(self, path: Path) -> list[Row]:
        """The items of a published file or of the folder it lies in."""
        return items.read_source(path)

    def fetch(self, revision: str | None = None) -> tuple[list[Row], str]:
        return hub.fetch_rows(hub.TABLEBENCH, self.read_source, revision)

    def parse(self, prompt: str, response: str) -> Parsed:
        """Read a response; the official `text` is raw, the careful one without think blocks."""
        if self.scorer != "official":
            return super().parse(prompt, response)
        answer = normalised(read_official(response)) or None
        return Parsed(answer=answer, text=response, reason="" if answer else _NO_ANSWER)

    def read(self, prompt: str, response: str) -> Parsed:
        answer = final_answer(response)
        if answer is None:
            return Parsed(answer=None, text=response, reason=_NO_ANSWER)
        return Parsed(answer=canonical(answer), text=response)

    def score(self, parsed: Parsed, task: Task) -> Score:
        """The subtype's metric. Lists also carry `list_recall`, which is not the score."""
        gold, metric = task.reference["answer"], SUBTYPES[task.subgroup].metric
        if self.scorer == "official":
            value = score_official(gold, read_official(parsed.text), metric)
            return Score(value=value, reason=_reason(value, metric, parsed.answer, gold))
        answer = None if parsed.answer is None else final_answer(parsed.text)
        if answer is None:
            return Score(value=0.0, reason=parsed.reason or _NO_ANSWER)
        if metric is Metric.ROUGE_L:
            value = sentence_score(gold, answer)
            return Score(value=value, reason=_reason(value, metric, answer, gold))
        agrees = EXACT if metric is Metric.EM else WITHIN_TENTH
        value = float(matches(gold, answer, agrees))
        recall = list_recall(gold, answer, agrees)
        return Score(
            value=value,
            reason=_reason(value, metric, answer, gold),
            metrics={} if recall is None else {"list_recall": recall},
        )


def _reason(value: float, metric: Metric, answer: str | None, gold: str) -> str:
    if value == 1.0:
        return "the gold's words in their order" if metric is Metric.ROUGE_L else "the gold answer"
    shown = "no answer" if answer is None else f"got {answer[:200]!r}"
    return f"{metric} {value:.3g}: {shown}; gold is {gold[:200]!r}"
