r"""Boxes of a response: one pass over the text, so that thousands of open braces cost nothing.

A box that is empty or never closes is no box, and neither is prose that mentions `\boxed`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sero.benchmarks.olympiadbench.careful_edges import without_end_marks

_EVENT = re.compile(r"\\(?:boxed|fbox|framebox)(?![A-Za-z])\s*(\{?)|\\.|[{}]", re.DOTALL)
_BARE = re.compile(r"(?:boxed|fbox|framebox)\s*([-+]?\d[\d.,]*\d|[-+]?\d|[A-Za-z](?![A-Za-z]))")


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A closed box: where it stands, command and braces included, and what is in it."""

    start: int
    end: int
    content: str


def find_boxes(text: str) -> tuple[list[Box], list[int]]:
    """The outermost closed boxes with something in them, and where other boxes begin.

    The others are empty ones and those that never close.
    """
    closed: list[tuple[int, int, int, int]] = []  # start, inside, its end, end
    stack: list[tuple[int, int] | None] = []
    for event in _EVENT.finditer(text):
        if event[0] == "{":
            stack.append(None)
        elif event[0] == "}":
            opened = stack.pop() if stack else None
            if opened is not None:
                # Inner boxes close first, so an outer one follows what it holds.
                while closed and closed[-1][0] > opened[0]:
                    closed.pop()
                closed.append((*opened, event.start(), event.end()))
        elif event[1]:
            stack.append((event.start(), event.end()))
        elif event[1] is not None:
            bare = _BARE.match(text, event.start() + 1)
            if bare:
                closed.append((event.start(), bare.start(1), bare.end(), bare.end()))
    boxes: list[Box] = []
    spoilt = [opened[0] for opened in stack if opened is not None]
    for start, inside, inside_end, end in closed:
        content = without_end_marks(text[inside:inside_end]).lstrip()
        if content.strip("{} .,$"):
            boxes.append(Box(start=start, end=end, content=content))
        else:
            spoilt.append(start)
    return boxes, sorted(spoilt)
