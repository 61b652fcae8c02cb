"""Text of unknown origin made safe to print, and numbers made short."""

from __future__ import annotations

import unicodedata

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def printable(text: str, *, limit: int | None = None, keep_lines: bool = False) -> str:
    """Text with every character escaped that could steer a terminal or hide from a reader.

    Control and format characters (escape sequences, bidirectional overrides, zero-width marks),
    lone surrogates and line separators become Python escapes; everything visible stays.

    Args:
        limit: longest result in characters, an ellipsis included; None does not cut.
        keep_lines: leave line feeds and tabs as they are.
    """
    if limit is not None and len(text) > limit:
        text = text[: max(0, limit - 1)] + "…"
    return "".join(_shown(char, keep_lines) for char in text)


def _shown(char: str, keep_lines: bool) -> str:
    if keep_lines and char in "\n\t":
        return char
    if unicodedata.category(char) in _HIDDEN:
        return char.encode("unicode_escape").decode("ascii")
    return char


def compact(count: int) -> str:
    """A count in at most five characters' worth of digits: `812`, `45.1k`, `1.23M`."""
    for size, unit in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if count >= size:
            value = count / size
            return f"{value:.2f}{unit}" if value < 10 else f"{value:.1f}{unit}"
    return str(count)


def signed(value: float | None) -> str:
    """A difference with its sign, three decimals, zero with a plus; a dash for none."""
    return "–" if value is None else f"{value:+z.3f}"


def score(value: float | None) -> str:
    """A score with three decimals; a dash for none."""
    return "–" if value is None else f"{value:.3f}"
