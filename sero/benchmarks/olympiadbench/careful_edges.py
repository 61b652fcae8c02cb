r"""The end of an answer: sentence marks and blanks go, but no LaTeX command is cut in half.

`\,` ends in a comma and `\ ` in a blank, yet each is one blank. Linear in the text.
"""

from __future__ import annotations

import re

_LATEX_BLANKS = ",;:!> \t\n"
_NAMED_BLANK = re.compile(r"\\(?:q?quad|enspace|thinspace|medspace|thickspace|hfill)\Z")
_LONGEST_NAME = 11


def without_end_marks(text: str, marks: str = "") -> str:
    r"""The text without blanks, LaTeX blanks, line breaks and the given marks at its end.

    A mark behind a backslash is part of a command: `\,` goes whole, `\_` stays.
    """
    end = len(text)
    while end:
        last = text[end - 1]
        command = end - 1
        while command and text[command - 1] == "\\":
            command -= 1
        escaped = (end - 1 - command) % 2 == 1
        if last == "\\":
            end = command  # line breaks, or what is left of a cut control space
        elif escaped and last in _LATEX_BLANKS:
            end = command
        elif not escaped and (last.isspace() or last == "~" or last in marks):
            end -= 1
        elif named := _NAMED_BLANK.search(text, max(0, end - _LONGEST_NAME), end):
            end = named.start()
        else:
            break
    return text[:end]
