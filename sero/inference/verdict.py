"""Verdicts: the first line by which a role decides something, read by one rule everywhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Verdict:
    """One of the accepted words, in lower case, and what the reply says behind it."""

    word: str
    rest: str


def first_verdict(reply: str, words: Sequence[str]) -> Verdict | None:
    """`VERDICT: <word>` at the start of the first line that is not blank; None if it is not there.

    Markdown around it and the case of letters do not matter; any other word is no verdict.
    """
    text = reply.lstrip()
    lines = text.splitlines()
    found = _pattern(tuple(words)).match(lines[0]) if lines else None
    if found is None:
        return None
    return Verdict(found[1].lower(), text[found.end() :].lstrip("*_`.,:; \t").strip())


@cache
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    either = "|".join(map(re.escape, words))
    return re.compile(
        rf"[\s*_`#>]{{0,16}}VERDICT[\s*_`]{{0,8}}:[\s*_`]{{0,8}}({either})\b", re.IGNORECASE
    )
