"""Texts of others put before a judge: between marks, and cut alike where they are too long.

The texts are other models' and are not trusted: each stands between two lines with a mark that
occurs in none of them, so no text can end its place, begin another or continue the prompt.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from sero.inference.layout import TRIMMED
from sero.storage import dumps

NO_TEXT = "(no text)"


def mark_for(texts: Sequence[str]) -> str:
    """A mark that none of the texts contains; a function of the texts, so that prompts repeat."""
    mark = ""
    while not mark or any(mark in text for text in texts):
        mark = hashlib.sha256(dumps([*texts, mark]).encode("utf-8", "replace")).hexdigest()[:12]
    return mark


def fitted(
    texts: Sequence[str], filled: Callable[[Sequence[str]], str], max_chars: int | None
) -> tuple[str, int]:
    """The prompt that `filled` makes of the texts, and how many of them were cut to make it fit.

    Where it would be longer than `max_chars` the longest texts are cut to one common length, so
    that none is shown more of than another that needed it too; the rest of the prompt never is.
    """
    prompt = filled(texts)
    if max_chars is None or len(prompt) <= max_chars:
        return prompt, 0
    length = common_length([len(text) for text in texts], len(prompt) - max_chars)
    cut = [text if len(text) <= length else _cut(text, length) for text in texts]
    return filled(cut), sum(len(text) > length for text in texts)


def common_length(lengths: Sequence[int], excess: int) -> int:
    """The largest length to cut to so that at least `excess` characters go; 0 if none does."""
    ordered = sorted(lengths, reverse=True)
    for n in range(1, len(ordered) + 1):
        nxt = ordered[n] if n < len(ordered) else 0
        saved = sum(ordered[:n]) - n * nxt
        if saved >= excess:
            return nxt + (saved - excess) // n
    return 0


def _cut(text: str, length: int) -> str:
    keep = length - len(TRIMMED) - 1
    return f"{text[:keep]}\n{TRIMMED}" if keep > 0 else TRIMMED
