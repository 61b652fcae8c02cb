r"""The answer in a response, and its canonical spelling for votes: string work only, and total.

Where an answer is looked for, in this order:

1. behind the last marker sentence `So the final answer is` (letter case does not count): the boxes
   that follow it, else the text of its line, or of the next line when nothing stands on its own;
2. behind the last `Final answer:`, `Answer:`, `The answer is`, when it comes after the last box;
3. the last box, with the boxes that only commas, `and` or `or` separate from it;
4. behind the last phrase of 2;
5. a display formula at the end, the `$...$` parts of the last line, or a last line that is
   nothing but a formula.

Several boxes are several answers. A box that is empty or never closes holds no answer, and prose
that mentions `\boxed` is prose. A unit directly behind a box stays with its answer: `4 (km)`.
"""

from __future__ import annotations

import itertools
import re

from sero.benchmarks.normalise import plain_typography
from sero.benchmarks.olympiadbench.careful_boxes import Box, find_boxes
from sero.benchmarks.olympiadbench.careful_edges import without_end_marks
from sero.benchmarks.olympiadbench.careful_text import AND, THOUSANDS, plain, split, tidy
from sero.benchmarks.olympiadbench.careful_units import read_unit

MAX_LENGTH = 4000
"""A longer text is no answer; the longest published ones have some hundred characters."""

MAX_PARTS = 200
"""More parts than any list of answers has."""

_MARKER = re.compile(r"\bso,?\s+the\s+final\s+answers?\s+(?:is|are)\b", re.IGNORECASE)
_PHRASE = re.compile(
    r"(?:\bfinal\s+answers?\s*:|\banswers?\s*:|\b(?:final\s+|correct\s+)?answers?\s+(?:is|are)\b)",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(
    r"(?:[\s,;$&~]|\\[()\[\],;:!> ]|\\q?quad(?![a-z])|\\text\{\s*(?:and|or)\s*\}|\band\b|\bor\b)*"
)
_STEP = re.compile(r"[^.\n]{0,40}")
_OR = re.compile(r"\bor\b")
_BEHIND_BOX = re.compile(r"(?:\$\$?|\\[)\]]|[ ~]|\\[,;: ])*((?:\\[,;]|[^.,;\n]){1,50})")
_DOLLARS = re.compile(r"(?<!\\)\$\$?([^$\n]+)\$\$?")
_DISPLAY = re.compile(r"(?:\\\[|(?<!\\)\$\$)")
_SENTENCE_END = re.compile(r"\.(?=\s|$)")
_REASON = re.compile(r",? (?:because|since|as|which)\b")
_POWER = re.compile(r"(?<=[\w)}\]])\*\*(?=[\w({\\-])")
_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3,}")
_NAME_WORDS = "sin cos tan cot sec csc log exp sqrt arcsin arccos arctan max min gcd"
_NAMES = frozenset(_NAME_WORDS.split())
_DIGIT = re.compile(r"[\d\\=]|^[A-Za-z]$")
_NAMED_NUMBER = re.compile(r"\A[A-Za-z]=(?=(?:[^A-Za-z\\=]|\\(?:frac|sqrt|pi)(?![A-Za-z]))+\Z)")
_SLASH = re.compile(r"(?<![^-])(\d+)/(\d+)\Z")
_STRAY = " \t\n:,;*_`"


def extract(response: str) -> tuple[str | None, str]:
    """(the candidate answer, empty) of a response without think blocks, or (None, why)."""
    text = (
        _POWER.sub("^", plain_typography(response).replace("。", "."))
        .replace("**", "")
        .replace("__", "")
    )
    boxes, spoilt = find_boxes(text)
    marker = _last(_MARKER, text)
    if marker is not None:
        return _checked(*_behind(text, marker, boxes, spoilt, to_line_end=True))
    phrase = _last(_PHRASE, text)
    if phrase is not None and (not boxes or phrase >= boxes[-1].end):
        found, reason = _behind(text, phrase, [], spoilt, to_line_end=False)
        if found is not None or not boxes:
            return _checked(found, reason)
    if boxes:
        return _checked(_join(text, _last_group(text, boxes)), "")
    if spoilt:
        return None, "the only box is empty or never closes"
    return _checked(*_at_the_end(text))


def canonical(answer: str) -> str:
    """One spelling of an answer, for votes: several answers sorted, units left out. Total.

    No symbolic work: `2/4` and `0.5` remain two answers.
    """
    parts, _ = split(plain(merge_sure_thousands(answer)), {",", ";", AND})
    spelt = sorted(tidy(_without_unit(part)) for part in parts if part)
    if len(spelt) == 1:
        spelt = [_NAMED_NUMBER.sub("", spelt[0])]
    return ", ".join(_SLASH.sub(r"\\frac{\1}{\2}", part) for part in spelt)


def merge_sure_thousands(text: str) -> str:
    """`1,000,000` without commas where a group such as `000` cannot be an answer of its own."""
    return THOUSANDS.sub(
        lambda m: m[0].replace(",", "") if ",0" in m[0] and len(m[0]) < 60 else m[0], text
    )


def _without_unit(part: str) -> str:
    for opening in ("(", "\\text"):
        at = part.rfind(opening)
        if opening == "(" and part[at - 1 : at] != " ":
            continue
        if at > 0 and "%" not in part[at:] and "°" not in part[at:] and read_unit(part[at:]):
            return part[:at].rstrip()
    return part


def _last(pattern: re.Pattern[str], text: str) -> int | None:
    """Where the last match ends."""
    ends = [match.end() for match in pattern.finditer(text)]
    return ends[-1] if ends else None


def _checked(found: str | None, reason: str) -> tuple[str | None, str]:
    if found is None:
        return None, reason
    found = without_end_marks(found, _STRAY).lstrip(_STRAY)
    if not found.strip("$ .{}()[]\\"):
        return None, "the answer is empty"
    if len(found) > MAX_LENGTH:
        return None, f"{len(found)} characters are no answer"
    return found, ""


def _behind(
    text: str, start: int, boxes: list[Box], spoilt: list[int], *, to_line_end: bool
) -> tuple[str | None, str]:
    """What stands behind a marker sentence or a phrase that ends at `start`."""
    start += len(text[start:]) - len(text[start:].lstrip(_STRAY))
    end = text.find("\n", start)
    line = text[start:] if end < 0 else text[start:end]
    following = [box for box in boxes if box.start >= start]
    # A line that says something and holds no box is the answer, whatever boxes come later.
    near = (
        not without_end_marks(line).strip("$ \\[(")
        or line.rstrip().endswith(":")
        or "boxed" in line
    )
    if following and (near or following[0].start < start + len(line)):
        return _join(text, _first_group(text, following)), ""
    if any(start <= at < start + len(line) for at in spoilt):
        return None, "the box is empty or never closes"
    rest = text[start:]
    display = _display(rest)
    if display is not None:
        return display, ""
    if not to_line_end:
        line = line[: _sentence_end(line)]
    formulas = _formulas(line)
    line = _REASON.split(line, maxsplit=1)[0]
    return (formulas or without_end_marks(line, ".").lstrip() or None), "nothing behind the marker"


def _sentence_end(text: str) -> int:
    match = _SENTENCE_END.search(text)
    return len(text) if match is None else match.start()


def _display(text: str) -> str | None:
    """The display formula with which a text begins."""
    for opening, closing in (("\\[", "\\]"), ("$$", "$$")):
        if text.startswith(opening):
            end = text.find(closing, 2)
            return without_end_marks(text[2 : len(text) if end < 0 else end]).lstrip()
    return None


def _formulas(line: str) -> str | None:
    """The dollar formulas of a line, each with the unit behind it."""
    matches = itertools.islice(_DOLLARS.finditer(line), MAX_PARTS)
    found = [
        without_end_marks(match[1]).lstrip() + _unit_behind(line, match.end()) for match in matches
    ]
    return ", ".join(found) or None


def _unit_behind(text: str, end: int) -> str:
    """` (unit)` when a unit and nothing else stands between `end` and the next stop."""
    match = _BEHIND_BOX.match(text, end)
    if match is None or read_unit(match[1]) is None:
        return ""
    return f" ({without_end_marks(match[1]).strip(' $()')})"


def _join(text: str, boxes: list[Box]) -> str:
    joined = ""
    for i, box in enumerate(boxes):
        if i:
            gap = text[boxes[i - 1].end : box.start]
            joined += " \\text{ or } " if _OR.search(gap) else ", "
        joined += box.content + _unit_behind(text, box.end)
    return joined


def _first_group(text: str, boxes: list[Box]) -> list[Box]:
    """The first box, and those behind it in the same sentence."""
    group = boxes[:1]
    for box in boxes[1:MAX_PARTS]:
        gap = text[group[-1].end : box.start]
        if not (_SEPARATOR.fullmatch(gap) or _STEP.fullmatch(gap)):
            break
        group.append(box)
    return group


def _last_group(text: str, boxes: list[Box]) -> list[Box]:
    """The last box, and those in front of it that it only continues."""
    group = boxes[-1:]
    for box in boxes[-2 : -MAX_PARTS - 1 : -1]:
        gap = text[box.end : group[0].start]
        unit = _BEHIND_BOX.match(gap) if len(gap) < 80 else None
        if unit is not None and read_unit(unit[1]) is not None:
            gap = gap[unit.end() :]
        if len(gap) > 80 or not _SEPARATOR.fullmatch(gap):
            break
        group.insert(0, box)
    return group


def _at_the_end(text: str) -> tuple[str | None, str]:
    text = text.rstrip()
    bare = without_end_marks(text, ".,;")
    for opening, closing in (("\\[", "\\]"), ("$$", "$$")):
        if bare.endswith(closing):
            start = bare.rfind(opening, 0, len(bare) - 2)
            if start >= 0:
                return without_end_marks(bare[start + 2 : -2]).lstrip(), ""
    line = text[text.rfind("\n") + 1 :].strip()
    formulas = _last_formulas(line)
    if formulas is not None:
        return formulas, ""
    words = [word for word in _WORD.findall(line) if word.lower() not in _NAMES]
    if line and len(line) <= 200 and not words and _DIGIT.search(line):
        return line, ""
    return None, "no answer in the response"


def _last_formulas(line: str) -> str | None:
    """The last dollar formula of a line, with those that only commas and words join to it."""
    matches = list(_DOLLARS.finditer(line))
    if not matches:
        return None
    first = len(matches) - 1
    while first and _SEPARATOR.fullmatch(line[matches[first - 1].end() : matches[first].start()]):
        first -= 1
    return _formulas(line[matches[first].start() :])
