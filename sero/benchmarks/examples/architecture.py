"""Architecture: a question with options, and the record of a decision that weighs both sides.

No option is the right one, so nothing here is scored against a gold. The scorer `complete_record`
gives 1 for an answer that holds all parts of the record (one of the options, a verdict, arguments
for and against, a confidence in [0, 1]) and 0 for any other. It says that a debate kept its form,
and nothing of how good the decision is. What the answer says of its own confidence is the metric
`stated_confidence`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sero.benchmarks.base import Parsed, Score, Task
from sero.benchmarks.examples.packaged import PackagedBenchmark, text_faults
from sero.benchmarks.files import raise_faults
from sero.benchmarks.normalise import plain_typography, without_emphasis

RECOMMENDATION, VERDICT, CONFIDENCE = "recommendation", "verdict", "confidence"
FOR, AGAINST = "arguments for", "arguments against"
PARTS = (RECOMMENDATION, VERDICT, FOR, AGAINST, CONFIDENCE)

_LABEL = re.compile(rf"[#\s]{{0,8}}({'|'.join(PARTS)})\s{{0,3}}:", re.IGNORECASE)
_OPTION = re.compile(r"^([A-Z])\) ", re.MULTILINE)
_LETTER = re.compile(r"(?:[Oo]ption\s{1,3})?\(?([A-Z])(?=\s{0,3}(?:[.,;:()\n-]|\Z))")
_SHARE = re.compile(r"(0?\.\d{1,6}|[01](?:\.\d{1,6})?)\.?")
_WORD = re.compile(r"\w{2}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A complete record: the option's letter, and the confidence in [0, 1]."""

    option: str
    confidence: float


class Architecture(PackagedBenchmark):
    """One group for each kind of question."""

    scorer: str = "complete_record"
    fields: ClassVar[tuple[str, ...]] = ("id", "group", "question", "options")

    def task_from_data(self, raw: Mapping[str, Any], where: str = "item") -> Task:
        """A task from `{id, group, question, options: [text, ...]}`; a verdict needs the options.

        Raises:
            DataError: with every fault of the item.
        """
        options = raw.get("options")
        if not isinstance(options, list) or not 2 <= len(options) <= 26:
            raise_faults(where, [f"options: got {options!r:.60}; a list of 2 to 26 is wanted"])
        assert isinstance(options, list)
        named = {f"options[{i}]": option for i, option in enumerate(options)}
        raise_faults(where, text_faults(named, list(named)))
        listed = [
            f"{chr(ord('A') + i)}) {' '.join(text.split())}" for i, text in enumerate(options)
        ]
        return Task(
            id=str(raw.get("id", where)),
            group=str(raw.get("group", "decision")),
            prompt=self.prompt_of(
                question=str(raw.get("question", "")).strip(), options="\n".join(listed)
            ),
            reference={},
        )

    def read(self, prompt: str, response: str) -> Parsed:
        """The letter of the recommended option, if the record around it is complete."""
        record, missing = read_record(prompt, response)
        if record is None:
            return Parsed(answer=None, text=response, reason=missing)
        return Parsed(answer=record.option, text=response)

    def score(self, parsed: Parsed, task: Task) -> Score:
        """1 for a complete record, whatever it recommends; 0 for any other text."""
        record, missing = read_record(task.prompt, parsed.text)
        if parsed.answer is None or record is None:
            return Score(value=0.0, reason=parsed.reason or missing)
        return Score(
            value=1.0,
            reason=f"a complete record for option {record.option}",
            metrics={"stated_confidence": record.confidence},
        )


def read_record(prompt: str, response: str) -> tuple[Record | None, str]:
    """The record behind the last `Recommendation:` that begins a line, or None and what it lacks.

    Total. The parts may stand in any order, each once; one that only repeats the prompt is missing.

    Args:
        prompt: the task's, with the options and the form of the record.
    """
    asked, _ = _parts(prompt)
    parts, doubled = _parts(response)
    letter = _LETTER.match(parts.get(RECOMMENDATION, ""))
    share = _SHARE.fullmatch(parts.get(CONFIDENCE, "").partition("\n")[0].strip())
    missing = [
        name
        for name in (VERDICT, FOR, AGAINST)
        if not _WORD.search(parts.get(name, "")) or parts[name] == asked.get(name)
    ]
    if letter is None or letter[1] not in _OPTION.findall(prompt):
        missing.insert(0, RECOMMENDATION)
    if share is None or float(share[1]) > 1:
        missing.append(CONFIDENCE)
    faults = [f"{name}: missing or not as asked" for name in missing]
    faults += [f"{name}: stands there twice" for name in doubled]
    if letter is None or share is None or faults:
        return None, "; ".join(faults)
    return Record(option=letter[1], confidence=float(share[1])), ""


def _parts(text: str) -> tuple[dict[str, str], list[str]]:
    """The last record of a text, by label, and the labels that stand in it twice."""
    lines: dict[str, list[str]] = {}
    doubled: list[str] = []
    label = None
    for line in without_emphasis(plain_typography(text)).split("\n"):
        found = _LABEL.match(line)
        if found is None:
            if label is not None:
                lines[label].append(line)
            continue
        label = found[1].lower()
        if label == RECOMMENDATION:
            lines, doubled = {}, []  # a later record replaces what was said before
        elif label in lines and label not in doubled:
            doubled.append(label)
        lines[label] = [line[found.end() :]]
    return {name: "\n".join(said).strip() for name, said in lines.items()}, doubled
