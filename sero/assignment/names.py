"""Names that a candidate may have: they are typed on a command line and read in tables."""

from __future__ import annotations

import re
import unicodedata

import yaml

RESERVED = ("meta_debate", "random", "oracle")
"""Values of `assign.by` beside names; `sero.assignment.players.roster_for_run` keeps them free."""

_WORDS = frozenset({"null", "nil", "none", "true", "false", "yes", "no", "on", "off", "???"})
"""What YAML or Hydra, in one spelling or another, takes for something that is no text."""

_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_STEERING = frozenset({"Cc", "Zl", "Zp"})
_UNSEEN_KINDS = frozenset({"Cf", "Zs"})
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | {
    chr(code)
    for first, last in ((0xFE00, 0xFE0F), (0xE0100, 0xE01EF))
    for code in range(first, last + 1)
}
"""Letters, marks and symbols without a shape: joiners, fillers, variation selectors."""

_CALL = re.compile(r"\w+\(.*\)")


def escaped(text: str) -> str:
    """The text for a message: what does not show or steers a terminal as Python escapes."""
    return "".join(
        char
        if char.isprintable() and char not in _UNSEEN
        else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


def same_name(name: str) -> str:
    """The name as names are compared: composed (NFC), so that equal looks are one name."""
    return unicodedata.normalize("NFC", name)


def name_fault(name: str) -> str | None:
    """Why nobody can be called so, and what to do; None if one can."""
    kinds = {unicodedata.category(char) for char in name}
    if kinds & _STEERING or _BIDI & set(name):
        return "control characters, line or direction marks are in it; take them out"
    if all(unicodedata.category(char) in _UNSEEN_KINDS or char in _UNSEEN for char in name):
        return "nothing of it shows; use letters"
    if "," in name:
        return "assign.by takes a comma for the end of a name; choose one without"
    folded = name.casefold()
    if folded in RESERVED and name not in RESERVED:
        return f"too like assign.by={folded}; choose another one"
    if folded in _WORDS or not _is_plain_text(name):
        return "YAML or assign.by reads it as something other than a name; choose another one"
    return None


def _is_plain_text(name: str) -> bool:
    """Unquoted it is a text to YAML and Hydra: no number, list, interpolation or sweep."""
    if "${" in name or _CALL.fullmatch(name) or _is_number(name):
        return False
    try:
        return bool(yaml.safe_load(name) == name)
    except (yaml.YAMLError, ValueError):  # the latter of a date that is none
        return False


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True
