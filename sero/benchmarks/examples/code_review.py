"""Code review: patches with planted faults, each known by its line and its kind.

The scorer `planted_f1` is F1 over pairs (line, kind): 2 · hits / (reported + planted), where a hit
is a reported pair that was planted. So a fault reported beside its line, under another kind, or
where there is none costs as much as one that was missed. A patch without faults scores 1 for a
review that reports none, else 0. The score says whether planted faults are found; of what else a
review is worth, such as its advice, it says nothing.

A review is read from behind its last line that begins with `Findings:`. There stands `none`, or one
line for each finding, `- 12: off-by-one`. A line that begins with a hyphen and is no finding makes
the review unreadable; any other line that is none ends the list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from sero.benchmarks.base import Parsed, Score, Task
from sero.benchmarks.examples.packaged import PackagedBenchmark, text_faults
from sero.benchmarks.files import raise_faults
from sero.benchmarks.normalise import plain_typography, without_emphasis
from sero.benchmarks.prompt_files import ANSWER_FORMAT
from sero.errors import CardError
from sero.roles.load import load_yaml
from sero.validation import did_you_mean

Finding = tuple[int, str]
"""Line, counted from 1, and kind."""

GROUPS = ("clean", "one-fault", "several-faults")
"""By the number of planted faults."""
NONE = "none"
MAX_FINDINGS = 40
"""A review that reports more is unreadable."""

_MARKER = re.compile(r"[#\s]{0,8}findings\s{0,3}:", re.IGNORECASE)
_FINDING = re.compile(
    r"(?:[-+]\s{0,4})?(?:line\s{1,3})?(?P<line>[1-9]\d{0,3})(?:\s{0,3}[:,.)|-]\s{0,3}|\s{1,3})"
    r"(?P<kind>[a-z]+(?:[-_ ][a-z]+){0,3})\s{0,3}(?:[:,.;(|-].*)?$",
    re.IGNORECASE,
)
_MAX_LINE = 300


class CodeReview(PackagedBenchmark):
    """Groups `clean`, `one-fault` and `several-faults`."""

    scorer: str = "planted_f1"
    fields: ClassVar[tuple[str, ...]] = ("id", "summary", "patch", "faults")

    def task_from_data(self, raw: Mapping[str, Any], where: str = "item") -> Task:
        """A task from `{id, summary, patch, faults: [{at, kind}, ...]}`.

        `at` is a piece of the faulty line that stands on no other line. A verdict needs patch and
        faults alone.

        Raises:
            DataError: with every fault of the item.
        """
        wrong = text_faults(raw, ["patch"])
        lines = str(raw.get("patch", "")).rstrip().split("\n")
        planted, more = _planted(raw.get("faults"), lines, self.kinds)
        raise_faults(where, [*wrong, *more])
        return Task(
            id=str(raw.get("id", where)),
            group=GROUPS[min(len(planted), len(GROUPS) - 1)],
            prompt=self.prompt_of(
                summary=str(raw.get("summary", "")).strip(),
                patch="\n".join(f"{number:>3} | {line}" for number, line in enumerate(lines, 1)),
                kinds="\n".join(f"- {kind}: {what}" for kind, what in self.kinds.items()),
            ),
            reference={"faults": [list(one) for one in planted]},
        )

    @cached_property
    def kinds(self) -> Mapping[str, str]:
        """The kinds of faults there are, each with what it means.

        Raises:
            CardError: the answer format has none.
        """
        where = f"{self.config.prompts}/{ANSWER_FORMAT}.yaml"
        raw = load_yaml(where)
        found = raw.get("kinds") if isinstance(raw, Mapping) else None
        if not isinstance(found, Mapping) or not all(isinstance(v, str) for v in found.values()):
            raise CardError(where, ["kinds: missing; a text for each kind of fault is wanted"])
        return found

    def read(self, prompt: str, response: str) -> Parsed:
        """The findings in their order on the page, as `12 off-by-one; 30 secret`, or `none`."""
        found, reason = read_findings(response)
        if found is None:
            return Parsed(answer=None, text=response, reason=reason)
        spelt = "; ".join(f"{line} {kind}" for line, kind in sorted(found))
        return Parsed(answer=spelt or NONE, text=response)

    def score(self, parsed: Parsed, task: Task) -> Score:
        """F1 over (line, kind), and how many were missed and falsely reported."""
        found, _ = read_findings(parsed.text)
        if parsed.answer is None or found is None:
            return Score(value=0.0, reason=parsed.reason)
        planted = {(int(line), str(kind)) for line, kind in task.reference["faults"]}
        hits = len(found & planted)
        size = len(found) + len(planted)
        return Score(
            value=2 * hits / size if size else 1.0,
            reason=f"{hits} of {len(planted)} found, {len(found) - hits} false",
            metrics={
                "missed": float(len(planted) - hits),
                "false_alarms": float(len(found) - hits),
            },
        )


def read_findings(response: str) -> tuple[frozenset[Finding] | None, str]:
    """The findings of a review, or None and why there is no list that can be read. Total."""
    lines = without_emphasis(plain_typography(response)).split("\n")
    starts = [i for i, line in enumerate(lines) if _MARKER.match(line[:_MAX_LINE])]
    if not starts:
        return None, "no line begins with 'Findings:'"
    behind = [lines[starts[-1]].partition(":")[2], *lines[starts[-1] + 1 :]]
    found: set[Finding] = set()
    none = False
    for number, line in enumerate(behind):
        text = line[:_MAX_LINE].strip()
        if not text:
            continue
        if text.strip("-+. ").lower() == NONE:
            none = True
            continue
        finding = _FINDING.match(text)
        if finding is None:
            if number == 0 or text.startswith("-"):
                return None, f"'{text:.40}' is no finding"
            break
        found.add((int(finding["line"]), re.sub("[_ ]", "-", finding["kind"].lower())))
        if len(found) > MAX_FINDINGS:
            return None, f"more than {MAX_FINDINGS} findings"
    if none and found:
        return None, "says none and reports findings"
    if not none and not found:
        return None, "nothing behind 'Findings:'"
    return frozenset(found), ""


def _planted(
    raw: Any, lines: Sequence[str], kinds: Mapping[str, str]
) -> tuple[list[Finding], list[str]]:
    """The planted faults of an item, and what is wrong with their records."""
    if not isinstance(raw, list):
        return [], [f"faults: got {raw!r:.60}; a list is wanted, empty for a clean patch"]
    planted: list[Finding] = []
    wrong = []
    for i, one in enumerate(raw):
        at, kind = (one.get("at"), one.get("kind")) if isinstance(one, Mapping) else (None, None)
        places = [n for n, line in enumerate(lines, 1) if isinstance(at, str) and at in line]
        if len(places) != 1:
            wrong.append(f"faults[{i}].at: on {len(places)} lines of the patch; 1 is wanted")
        if not isinstance(kind, str) or kind not in kinds:
            wrong.append(
                f"faults[{i}].kind: got {kind!r:.60}{did_you_mean(str(kind), list(kinds))}"
            )
        elif len(places) == 1:
            planted.append((places[0], kind))
    if len(set(planted)) < len(planted):
        wrong.append("faults: one of them stands there twice")
    return planted, wrong
