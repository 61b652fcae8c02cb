"""Answer normalisation shared by parse, vote and score: what a reader would not call different."""

from __future__ import annotations

import re
import unicodedata

_THINK_TAG = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)

_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_BLANKS = (
    "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
)
_INVISIBLE = (
    *(0x00AD, 0x061C, 0x180E, 0xFEFF),
    *(*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)),
)
_PLAIN = str.maketrans(
    {
        **dict.fromkeys(_DASHES, "-"),
        **dict.fromkeys(_BLANKS, " "),
        **dict.fromkeys("\u2018\u2019\u201b\u02bc\uff07", "'"),
        **dict.fromkeys("\u201c\u201d\u201f\uff02", '"'),
        **dict.fromkeys(map(chr, _INVISIBLE)),
        "\uff1a": ":",
        "\uff0c": ",",
        "\r": None,
    }
)
_EMPHASIS = str.maketrans("", "", "*`")


def strip_think(text: str) -> str | None:
    """The response without its closed think blocks; None when the last one never closes.

    A closing tag without an opening one ends a block that the chat template opened, so
    everything before it goes. A tag inside a block is text of the block.
    """
    kept: list[str] = []
    start = 0
    inside = False
    for tag in _THINK_TAG.finditer(text):
        if tag[1]:
            if not inside:
                kept.clear()
            inside = False
            start = tag.end()
        elif not inside:
            kept.append(text[start : tag.start()])
            inside = True
    if inside:
        return None
    return "".join((*kept, text[start:])).strip()


def plain_typography(text: str) -> str:
    """ASCII dashes, quotes, colons and blanks; invisible characters and carriage returns gone."""
    return text.translate(_PLAIN)


def without_emphasis(text: str) -> str:
    """The text without Markdown's asterisks and backticks."""
    return text.translate(_EMPHASIS)


def name_key(name: str) -> str:
    """A proper name for comparison: plain typography, accents dropped, blanks squeezed.

    Letter case counts.
    """
    folded = unicodedata.normalize("NFD", plain_typography(name))
    return " ".join("".join(c for c in folded if not unicodedata.combining(c)).split())
