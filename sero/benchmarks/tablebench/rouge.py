"""ROUGE-L of one pair of texts, equal to rouge-score's default: lower case, no stemming.

The length of the longest common subsequence is found with one bit vector for the gold, so that
an answer of any length is read in one pass.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(r"[a-z0-9]+")


def tokens(text: str) -> list[str]:
    """Runs of ASCII letters and digits, in lower case."""
    return _TOKEN.findall(text.lower())


def rouge_l(gold: str, answer: str) -> float:
    """F-measure of the longest common subsequence of tokens, in [0, 1].

        P = LCS / |answer|,  R = LCS / |gold|,  F = 2 P R / (P + R)

    0 where a side has no token.

    Source: Lin (2004).
    """
    wanted, found = tokens(gold), tokens(answer)
    common = _common_subsequence(wanted, found)
    if not common:
        return 0.0
    precision, recall = common / len(found), common / len(wanted)
    return 2 * precision * recall / (precision + recall)


def _common_subsequence(wanted: list[str], found: list[str]) -> int:
    """Length of the longest common subsequence.

    Bit i of `gaps` is set while the best subsequences of the first i + 1 and of the first i
    wanted tokens are equally long (Hyyrö 2004).
    """
    places: dict[str, int] = {}
    for i, token in enumerate(wanted):
        places[token] = places.get(token, 0) | 1 << i
    full = (1 << len(wanted)) - 1
    gaps = full
    for token in found:
        here = gaps & places.get(token, 0)
        gaps = ((gaps + here) | (gaps - here)) & full
    return len(wanted) - gaps.bit_count()
