"""A benchmark of a user's own, as small as one can be: two kinds of questions in a JSONL file."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from sero.benchmarks import prompt_files
from sero.benchmarks.base import TIMED_OUT, Parsed, Score, Task
from sero.benchmarks.files import raise_faults
from sero.benchmarks.item_benchmark import ItemBenchmark, ItemsConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizConfig(ItemsConfig):
    scorer: Literal["careful", "official"]


class Quiz(ItemBenchmark):
    """An item is `{id, kind, level, question, answer, picture, stored}`."""

    Config: ClassVar[type[Any]] = QuizConfig
    published: ClassVar[Mapping[str, int]] = {"sums": 4, "words": 2}
    fields: ClassVar[tuple[str, ...]] = ("id", "kind", "level", "question", "answer")
    defects: ClassVar[Mapping[str, str]] = {"w1": "the gold is misspelt"}

    def __init__(self, config: QuizConfig) -> None:
        super().__init__(config)
        self.scorer = config.scorer

    def task_from_data(self, raw: Mapping[str, Any], where: str = "item") -> Task:
        faults = [f"{key}: missing" for key in ("kind", "answer") if key not in raw]
        raise_faults(where, faults)
        form = prompt_files.text(self.config.prompts, prompt_files.ANSWER_FORMAT, "all")
        return Task(
            id=str(raw.get("id", where)),
            group=raw["kind"],
            subgroup=raw.get("level", ""),
            prompt=f"{raw.get('question', '')}\n{form}",
            reference={"answer": raw["answer"]},
        )

    def read(self, prompt: str, response: str) -> Parsed:
        _, marker, answer = response.rpartition("Answer:")
        if not marker:
            return Parsed(answer=None, text=response, reason="no line 'Answer:'")
        return Parsed(answer=answer.strip(), text=response)

    def score(self, parsed: Parsed, task: Task) -> Score:
        if parsed.answer is None:
            return Score(value=0.0, reason=parsed.reason)
        given, gold = parsed.answer, task.reference["answer"]
        if self.scorer == "careful":
            given, gold = given.casefold(), gold.casefold()
        return Score(value=float(given == gold), reason=f"gold is {gold}")

    def left_out(self, raw: Mapping[str, Any]) -> str:
        return "they need a picture" if raw.get("picture") else ""

    def generate(self, n: int, *, seed: int, difficulty: int) -> Sequence[Mapping[str, Any]]:
        draw = random.Random(seed)
        sums = [(draw.randrange(10**difficulty), i) for i in range(n)]
        return [
            {"id": f"g{i}", "kind": "sums", "question": f"{a} + {i}?", "answer": str(a + i)}
            for a, i in sums
        ]


class SlowQuiz(Quiz):
    """Takes as long as the response says (`0.2 s`), and gives up on one that says `forever`."""

    scores_slowly = True

    def score(self, parsed: Parsed, task: Task) -> Score:
        first = parsed.text.partition(" ")[0]
        if first == "forever":
            return Score(value=0.0, reason="stopped", metrics={TIMED_OUT: 1.0})
        time.sleep(float(first))
        return super().score(parsed, task)
