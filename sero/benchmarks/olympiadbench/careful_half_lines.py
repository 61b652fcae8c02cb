r"""The real numbers of one sign, with or without zero: `\mathbb{R}^+`, `\mathbb{R}_{\le 0}`."""

from __future__ import annotations

import re

from sero.benchmarks.olympiadbench.careful_sets import (
    ABOVE,
    BELOW,
    LINE,
    End,
    RealSet,
    interval,
)
from sero.benchmarks.olympiadbench.careful_terms import Unreadable, integer

_POSITIVE = re.compile(r"(?:\^|_) ?\{? ?(?:\+|> ?0) ?\}?\Z")
_NOT_NEGATIVE = re.compile(r"(?:\^|_) ?\{? ?\\ge ?0 ?\}?\Z")
_NEGATIVE = re.compile(r"(?:\^|_) ?\{? ?(?:-|< ?0) ?\}?\Z")
_NOT_POSITIVE = re.compile(r"(?:\^|_) ?\{? ?\\le ?0 ?\}?\Z")


def half_line(suffix: str) -> RealSet:
    r"""The part of the real numbers behind the sign for all of them: `^+`, `_{\le 0}`.

    Raises:
        Unreadable: the suffix names none.
    """
    zero = End(value=integer(0).value, term=integer(0))
    if not suffix:
        return LINE
    if _POSITIVE.match(suffix):
        return interval(zero, False, ABOVE, False)
    if _NOT_NEGATIVE.match(suffix):
        return interval(zero, True, ABOVE, False)
    if _NEGATIVE.match(suffix):
        return interval(BELOW, False, zero, False)
    if _NOT_POSITIVE.match(suffix):
        return interval(BELOW, False, zero, True)
    raise Unreadable("no set of real numbers")
