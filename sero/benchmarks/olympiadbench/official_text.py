r"""The string steps of the published OlympiadBench judge: from a response to the texts it compares.

They are kept as they are, with what is plainly wrong: all boxes count, those of a think block
too; `%` is deleted but `\%` is not; a factorial's `!` at the end goes with the full stop.
Everything here takes time linear in the text.
"""

from __future__ import annotations

import re

MAX_CHARS = 1 << 20
"""Boxes inside boxes repeat their text; what they hold in all is not read beyond this."""

_ANSWER = re.compile(r"So the final answer is (.*)")
_BOX = "\\boxed{"
_FORMULA = re.compile(r"\$(.*?)\$")
_REPLACED = (
    ("\\left", ""),
    ("\\right", ""),
    ("∶", ":"),
    ("，", ","),
    ("$", ""),
    ("\\approx", "="),
    ("\\simeq", "="),
    ("\\sim", "="),
    ("^\\prime", "'"),
    ("^{\\prime}", "'"),
    ("^\\circ", ""),
    ("%", ""),
)
_STRIPPED = "\n$,.:;^_=+`!@#$%^&*~，。"
_UPRIGHT = re.compile(r"\\(?:mathrm|mathbf)\{~?([^}]*)\}")
_CHINESE = re.compile(r"[\u4e00-\u9fff]+")


def marked_answer(response: str) -> str:
    """The rest of the line after the last `So the final answer is `, or the whole response."""
    found = _ANSWER.findall(response)
    return str(found[-1]).strip() if found else response


def compared_text(text: str) -> str:
    """The formulas of a text, joined by commas and cleaned.

    Raises:
        ValueError: a box does not close, or boxes repeat more than `MAX_CHARS`.
    """
    return _cleaned(_boxed(text) or _formulas(text))


def items(text: str) -> list[str]:
    r"""The answers in a cleaned text: split at commas outside brackets, `\pm` made two."""
    found: list[str] = []
    for part in _split(_CHINESE.sub("", text)):
        if "\\pm" in part:
            found += [part.replace("\\pm", "+"), part.replace("\\pm", "-")]
        else:
            found.append(part)
    return found


def _boxed(text: str) -> str:
    starts = [match.end() for match in re.finditer(re.escape(_BOX), text)]
    if not starts:
        return ""
    ends = _closing(text)
    found: list[str] = []
    size = 0
    for start in starts:
        if start - 1 not in ends:
            raise ValueError("a box does not close")
        size += ends[start - 1] - start
        if size > MAX_CHARS:
            raise ValueError("too much text in boxes")
        found.append(text[start : ends[start - 1]] + ",")
    return "".join(found)


def _closing(text: str) -> dict[int, int]:
    """Where the brace at a position closes. A stray closing brace closes nothing."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    for match in re.finditer(r"[{}]", text):
        if match[0] == "{":
            opened.append(match.start())
        elif opened:
            ends[opened.pop()] = match.start()
    return ends


def _formulas(text: str) -> str:
    last_line = text.strip().split("\n")[-1]
    found = _FORMULA.findall(last_line)
    return "".join(f"{formula}," for formula in found) if found else text


def _cleaned(text: str) -> str:
    if "\\in " in text:
        text = text.split("\\in ")[1]
    for old, new in _REPLACED:
        text = text.replace(old, new)
    text = text.strip(_STRIPPED)
    last = text.rfind("}") + 1  # no wrapper closes behind it, and looking there is quadratic
    return _UPRIGHT.sub(r"\1", text[:last]) + text[last:]


def _split(text: str) -> list[str]:
    found: list[str] = []
    depth = start = 0
    for match in re.finditer(r"[()\[\],]", text):
        if match[0] in "([":
            depth += 1
        elif match[0] in ")]":
            depth -= 1
        elif depth == 0:
            found.append(text[start : match.start()].strip())
            start = match.end()
    if start < len(text):
        found.append(text[start:].strip())
    return found
