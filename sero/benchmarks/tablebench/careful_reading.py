"""Find the final answer in a response: what stands behind the last marker.

The marker is read in any letter case, dressed in Markdown, with a full-width colon and with or
without a blank behind it. Without one there is no answer, however plain the response. The subject
of a sentence (`the final answer: 7 follows from ...`) is a marker only where there is no other.
"""

from __future__ import annotations

import re

from sero.benchmarks.normalise import plain_typography

_MARKER = re.compile(
    r"(?<![A-Za-z0-9])final[ \t]++answers?+[ \t]*+[*_`]*+[ \t]*+:[*_`]*+", re.IGNORECASE
)
_LABEL = "Final Answer"
_LINE_DRESS = " \t*_`#>\"'-•.:|0123456789"
_MOST_DRESS = 20
_LONGEST_SENTENCE = 500
_PREDICATE = re.compile(
    r" (?:is|are|was|were|follows?|comes?|came|seems?|looks?|has|have|would|could|should|must|can"
    r"|cannot|may|might|will|because|since)\b"
)
_NOTHING = " \t*_`#>"
_WRAPPERS = ("boxed", "text", "textbf", "mathrm", "mathbf")
_LATEX_BLANK = re.compile(r"\\(?:[,;:! ]|q?quad(?![A-Za-z])|\Z)")
_LATEX_ESCAPE = re.compile(r"\\([%$&#_{}])")
_BULLETS = ("- ", "* ", "• ")
_MAX_NESTING = 4


def final_answer(response: str) -> str | None:
    """The answer as written, or None without a marker or behind an empty one.

    It is the rest of the marker's line; if that is empty, the paragraph that follows. A marker
    with nothing behind it gives way to the one before it.

    Args:
        response: think blocks removed.
    """
    shown = plain_typography(response)
    end = len(shown)
    for marker in reversed(_markers(shown)):
        found = _behind(shown[marker.end() : end])
        if found:
            return _unwrapped(found)
        end = marker.start()
    return None


def _markers(shown: str) -> list[re.Match[str]]:
    """The markers that count: all but the subjects of sentences, else all."""
    markers = list(_MARKER.finditer(shown))
    return [m for m in markers if not _is_subject(shown, m)] or markers


def _is_subject(shown: str, marker: re.Match[str]) -> bool:
    if marker[0].startswith(_LABEL) or _begins_line(shown, marker):
        return False
    line = shown[marker.end() : marker.end() + _LONGEST_SENTENCE].partition("\n")[0]
    return _PREDICATE.search(line) is not None


def _begins_line(shown: str, marker: re.Match[str]) -> bool:
    before = shown[max(0, marker.start() - _MOST_DRESS) : marker.start()]
    line = before.rpartition("\n")[2]
    return len(line) < _MOST_DRESS and not line.strip(_LINE_DRESS)


def _behind(text: str) -> str:
    """The rest of the marker's line, else the paragraph below it; its bullets are list parts."""
    line, _, below = text.partition("\n")
    if line.strip(_NOTHING):
        return line.strip()
    paragraph: list[str] = []
    for row in below.split("\n"):
        if row.strip(_NOTHING):
            paragraph.append(row.strip())
        elif paragraph:
            break
    if paragraph and all(row.startswith(_BULLETS) for row in paragraph):
        return ", ".join(row[2:].strip() for row in paragraph)
    return " ".join(paragraph)


def _unwrapped(answer: str) -> str:
    r"""The content of `\boxed{...}` and the like around the whole answer, escapes undone."""
    answer = _LATEX_BLANK.sub(" ", answer)
    for _ in range(_MAX_NESTING):
        inner = answer.strip(" $.")
        command = next((w for w in _WRAPPERS if inner.startswith(f"\\{w}{{")), None)
        if command is None or not inner.endswith("}"):
            break
        answer = inner[len(command) + 2 : -1]
    return _LATEX_ESCAPE.sub(r"\1", answer.replace("{,}", ",")).strip()
