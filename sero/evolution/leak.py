"""Cards must be task-agnostic: what a card must not take over from the task (method.md §4.8)."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_NUMBER = re.compile(r"\d{3,}")
_SENTENCE_END = ".!?:;\n\"'“”([{*#>-"


def leaks(card_text: str, task_text: str, known_texts: Iterable[str]) -> tuple[str, ...]:
    """Proper names and numbers of three or more digits that a card took from the task.

    Args:
        card_text: everything the card says.
        task_text: the task's whole prompt.
        known_texts: the benchmark's seed pool and prompts; what stands there is free to use.

    Returns:
        The leaking words in order of appearance in the card.
    """
    secret = proper_names(task_text) | set(_NUMBER.findall(task_text))
    if not secret:
        return ()
    free: set[str] = set()
    for text in known_texts:
        free |= {word.lower() for word in _WORD.findall(text)} | set(_NUMBER.findall(text))
    said = [match[0] for match in re.finditer(rf"{_WORD.pattern}|{_NUMBER.pattern}", card_text)]
    return tuple(dict.fromkeys(w for w in said if w in secret and w.lower() not in free))


def proper_names(text: str) -> set[str]:
    """Capitalised words that stand inside a sentence and nowhere in lower case.

    A word that only ever begins sentences says nothing about being a name.
    """
    lower = {match[0] for match in _WORD.finditer(text) if match[0][0].islower()}
    names = set()
    for match in _WORD.finditer(text):
        word = match[0]
        if len(word) < 3 or not word[0].isupper() or word.lower() in lower:
            continue
        before = text[: match.start()].rstrip(" \t")
        if before and before[-1] not in _SENTENCE_END:
            names.add(word)
    return names
