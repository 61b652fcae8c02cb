r"""Answers modulo a number: `3 \pmod 7` and `n \equiv 10 \pmod 7` say the same."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sero.benchmarks.olympiadbench.careful_text import tidy

_CONGRUENCE = re.compile(
    r"\A(?:([^=]{1,40}?)\\equiv ?)?([^,;]+?) ?\(? ?"
    r"(?:\\pmod|\\text ?\{ ?mod(?:ulo)? ?\}|\bmod(?:ulo)?\b) ?"
    r"(?:\{ ?([^{}]{1,60}?) ?\}|([^{}()]{1,60}?)) ?\)?\Z"
)
_INTEGER = re.compile(r"-?\d{1,500}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Congruence:
    label: str
    residue: str
    modulus: str


def same_congruence(gold: str, answer: str) -> bool | None:
    """Whether two plain texts name the same residue class; None for a gold that names none."""
    wanted = _read(gold)
    if wanted is None:
        return None
    given = _read(answer)
    if given is None or given.modulus != wanted.modulus:
        return False
    if given.label and wanted.label and given.label != wanted.label:
        return False
    numbers = wanted.residue, given.residue, wanted.modulus
    if all(map(_INTEGER.match, numbers)) and int(wanted.modulus):
        return (int(wanted.residue) - int(given.residue)) % int(wanted.modulus) == 0
    return wanted.residue == given.residue


def _read(text: str) -> _Congruence | None:
    match = _CONGRUENCE.match(text)
    if match is None or "\\not" in text:
        return None
    return _Congruence(
        label=tidy(match[1] or ""),
        residue=tidy(match[2]),
        modulus=tidy(match[3] or match[4]),
    )
