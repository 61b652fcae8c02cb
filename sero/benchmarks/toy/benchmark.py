"""The toy benchmark: three kinds of short questions that are always made, never read from data.

Its scorer `exact` has no shades: the answer that was read is the gold, or the item is wrong. What
counts as an answer is in `reading.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from sero.benchmarks import prompt_files
from sero.benchmarks.base import Parsed, Score, Task
from sero.benchmarks.item_benchmark import ItemBenchmark, ItemsConfig
from sero.benchmarks.splits import equal_shares
from sero.benchmarks.toy import sentences
from sero.benchmarks.toy.capitals import facts
from sero.benchmarks.toy.problems import make_problems, number_of_problems
from sero.benchmarks.toy.reading import (
    NEGATIVE,
    POSITIVE,
    Phrase,
    Reader,
    Reading,
    answer_phrase,
    read_capital,
    read_number,
    read_sentiment,
)
from sero.errors import DataError
from sero.seeding import rng_for

CAPITALS, SENTIMENT, ARITHMETIC = "capitals", "sentiment", "arithmetic"

Item = dict[str, str]
_READERS: Mapping[str, Reader] = {
    CAPITALS: read_capital,
    SENTIMENT: read_sentiment,
    ARITHMETIC: read_number,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToyConfig(ItemsConfig):
    """The `benchmark` section of the toy benchmark.

    Attributes:
        source: always `generated`; `generated.difficulty` sets the size of the sums' numbers.
    """

    source: Literal["generated"]


class Toy(ItemBenchmark):
    """Groups `capitals`, `sentiment` and `arithmetic`."""

    Config: ClassVar[type[ToyConfig]] = ToyConfig
    has_published_items: ClassVar[bool] = False

    def generate(self, n: int, *, seed: int, difficulty: int) -> list[Item]:
        """Different items, as many of each kind as there are, up to an equal share.

        Raises:
            DataError: there are not `n` of them.
        """
        sizes = {
            CAPITALS: len(facts()),
            SENTIMENT: len(sentences.POSITIVE) + len(sentences.NEGATIVE),
            ARITHMETIC: number_of_problems(difficulty),
        }
        if n > sum(sizes.values()):
            raise DataError(
                f"benchmark.generated.n: got {n}; at difficulty {difficulty} there are "
                f"{sum(sizes.values())} items"
            )
        shares = equal_shares(n, sizes)
        return [
            item for kind, make in _MAKERS.items() for item in make(shares[kind], seed, difficulty)
        ]

    def task_from_data(self, raw: Mapping[str, Any], where: str = "item") -> Task:
        """A task from `{id, kind, question, answer}`; a verdict needs only kind and answer.

        Raises:
            DataError: a missing or impossible field.
        """
        kind, gold = raw.get("kind"), raw.get("answer")
        faults = []
        if not isinstance(kind, str) or kind not in _READERS:
            faults.append(f"kind: got {kind!r}; one of {', '.join(_READERS)} is wanted")
        if not isinstance(gold, str):
            faults.append(f"answer: got {gold!r}; a text is wanted")
        if not faults and _gold(str(kind), str(gold)).answer is None:
            faults.append(f"answer: {gold!r} cannot be the answer to an item of {kind}")
        if faults:
            raise DataError(f"{where}: {'; '.join(faults)}", faults)
        return Task(
            id=str(raw.get("id", where)),
            group=str(kind),
            prompt=f"{raw.get('question', '')}\n{self._form(str(kind))}",
            reference={"answer": gold},
            subgroup=str(raw.get("subkind", "")),
        )

    def read(self, prompt: str, response: str) -> Parsed:
        """The answer by the rules of the kind that the prompt's last line names."""
        kind = next((kind for kind in _READERS if prompt.endswith(self._form(kind))), None)
        if kind is None:
            return Parsed(answer=None, text=response, reason="the prompt is of no known kind")
        reading = _READERS[kind](answer_phrase(response, self._form(kind)))
        return Parsed(answer=reading.answer, text=response, reason=reading.reason)

    def score(self, parsed: Parsed, task: Task) -> Score:
        """1 for the gold and nothing else, 0 otherwise."""
        gold = _gold(task.group, task.reference["answer"]).answer
        if parsed.answer is None:
            return Score(value=0.0, reason=parsed.reason)
        if parsed.answer == gold:
            return Score(value=1.0, reason="")
        return Score(value=0.0, reason=f"answered {parsed.answer}, not {gold}")

    def _form(self, kind: str) -> str:
        """The line that asks for the answer's form, different for each kind."""
        return prompt_files.text(self.config.prompts, prompt_files.ANSWER_FORMAT, kind)


def _gold(kind: str, answer: str) -> Reading:
    return _READERS[kind](Phrase(text=answer, marked=True))


def _capitals(n: int, seed: int, difficulty: int) -> list[Item]:
    rng = rng_for(seed, "toy", CAPITALS)
    countries = list(facts())
    return [
        {
            "id": f"{CAPITALS}-{country.removeprefix('the ').lower().replace(' ', '-')}",
            "kind": CAPITALS,
            "question": f"What is the capital of {country}?",
            "answer": facts()[country],
        }
        for country in (countries[int(i)] for i in rng.permutation(len(countries))[:n])
    ]


def _reviews(n: int, seed: int, difficulty: int) -> list[Item]:
    """As many for as against; the ids do not tell which."""
    rng = rng_for(seed, "toy", SENTIMENT)
    classes = {POSITIVE: sentences.POSITIVE, NEGATIVE: sentences.NEGATIVE}
    shares = equal_shares(n, {tone: len(texts) for tone, texts in classes.items()})
    numbers = {text: i for i, text in enumerate((*sentences.POSITIVE, *sentences.NEGATIVE))}
    return [
        {
            "id": f"{SENTIMENT}-{numbers[text]}",
            "kind": SENTIMENT,
            "subkind": tone,
            "question": f"Review: {text}",
            "answer": tone,
        }
        for tone, texts in classes.items()
        for text in (texts[int(i)] for i in rng.permutation(len(texts))[: shares[tone]])
    ]


def _problems(n: int, seed: int, difficulty: int) -> list[Item]:
    rng = rng_for(seed, "toy", ARITHMETIC)
    return [
        {
            "id": f"{ARITHMETIC}-{problem.key}",
            "kind": ARITHMETIC,
            "subkind": problem.operation,
            "question": problem.question,
            "answer": str(problem.answer),
        }
        for problem in make_problems(n, rng=rng, difficulty=difficulty)
    ]


_MAKERS: Mapping[str, Callable[[int, int, int], Sequence[Item]]] = {
    CAPITALS: _capitals,
    SENTIMENT: _reviews,
    ARITHMETIC: _problems,
}
