"""Hard maths: problems with a short exact answer, judged as OlympiadBench's careful scorer judges.

The final answer alone is scored, 0 or 1. No text is evaluated as code; formulas are compared in a
process that ends at a deadline.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from sero.benchmarks.base import Parsed, Score, Task
from sero.benchmarks.examples.packaged import PackagedBenchmark, text_faults
from sero.benchmarks.files import raise_faults
from sero.benchmarks.olympiadbench.answer_text import canonical, extract
from sero.benchmarks.olympiadbench.careful_judge import careful_score

TYPES = ("Numerical", "Expression")


class HardMath(PackagedBenchmark):
    """One group for each field of mathematics."""

    scorer: str = "careful"
    scores_slowly: bool = True
    fields: ClassVar[tuple[str, ...]] = ("id", "group", "question", "answer", "answer_type")

    def task_from_data(self, raw: Mapping[str, Any], where: str = "item") -> Task:
        """A task from `{id, group, question, answer, answer_type}`; a verdict needs the last two.

        Raises:
            DataError: with every fault of the item.
        """
        faults = text_faults(raw, ["answer"])
        kind = raw.get("answer_type")
        if kind not in TYPES:
            faults.append(f"answer_type: got {kind!r:.60}; accepted are {', '.join(TYPES)}")
        raise_faults(where, faults)
        return Task(
            id=str(raw.get("id", where)),
            group=str(raw.get("group", "maths")),
            prompt=self.prompt_of(question=str(raw.get("question", "")).strip()),
            reference={"answer": raw["answer"], "answer_type": kind},
        )

    def read(self, prompt: str, response: str) -> Parsed:
        """The answer in its canonical form, for votes and for the share that converged."""
        candidate, reason = extract(response)
        answer = None if candidate is None else canonical(candidate)
        return Parsed(answer=answer, text=response, reason=reason)

    def score(self, parsed: Parsed, task: Task) -> Score:
        """0 or 1; a judge stopped at its deadline says so in the metrics."""
        candidate, reason = extract(parsed.text)
        if candidate is None:
            return Score(value=0.0, reason=parsed.reason or reason)
        gold = task.reference
        return careful_score(candidate, gold["answer"], gold["answer_type"], None, None, False)
