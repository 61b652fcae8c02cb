"""Cards must be task-agnostic: what a card must not take over from the task (method.md §4.8)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"\d{3,}")
_TOKEN = re.compile(rf"{_WORD.pattern}|{_NUMBER.pattern}")
_SENTENCE_END = ".!?:;\n\"'“”‘([{*#>-"
_JOINTS = ("'", "’", "-")
MIN_NAME_CHARS = 3


def leaks(card_text: str, task_text: str, known_texts: Iterable[str]) -> tuple[str, ...]:
    """Proper names and numbers of three or more digits that a card took from the task.

    A name is recognised with any ending the card hangs on it (`Anna's`, `Anna-led`) and in
    capitals; a word in lower case is no name.

    Args:
        card_text: everything the card says.
        task_text: the task's whole prompt.
        known_texts: the benchmark's seed pool and prompts; what stands there is free to use.

    Returns:
        The leaking words in order of appearance in the card.
    """
    task = _normal(task_text)
    secret = {name.casefold() for name in proper_names(task)} | set(_NUMBER.findall(task))
    if not secret:
        return ()
    for text in known_texts:
        secret -= {token.casefold() for token in _TOKEN.findall(_normal(text))}
    said = [token for token in _TOKEN.findall(_normal(card_text)) if not token[0].islower()]
    return tuple(dict.fromkeys(token for token in said if token.casefold() in secret))


def proper_names(text: str) -> set[str]:
    """Capitalised words that stand inside a sentence and nowhere in lower case.

    A word that only ever begins sentences says nothing about being a name. The parts of a
    hyphenated word count one by one.
    """
    words = list(_WORD.finditer(text))
    lower = {match[0] for match in words if match[0][0].islower()}
    names, end = set(), 0
    for match in words:
        word, between = match[0], text[end : match.start()]
        gap = between.strip(" \t")
        joined = between in _JOINTS and end > 0
        begins = gap[-1] in _SENTENCE_END if gap else end == 0
        end = match.end()
        if len(word) < MIN_NAME_CHARS or not word[0].isupper() or word.lower() in lower:
            continue
        if joined or not begins:
            names.add(word)
    return names


def _normal(text: str) -> str:
    """One spelling for texts that look the same: composed accents, plain digits."""
    return unicodedata.normalize("NFKC", text)
