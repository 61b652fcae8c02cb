"""A number that is not known yet, between its bounds: logical calls before they are made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A number that lies between `low` and `high`, both included."""

    low: int
    high: int

    @property
    def exact(self) -> bool:
        return self.low == self.high

    def __add__(self, other: Span) -> Span:
        return Span(self.low + other.low, self.high + other.high)

    def __mul__(self, factor: int) -> Span:
        return Span(self.low * factor, self.high * factor)


ZERO = Span(0, 0)


def exactly(n: int) -> Span:
    return Span(n, n)


def covering(spans: Iterable[Span]) -> Span:
    """The narrowest span that holds all of them; 0 of none."""
    found = list(spans)
    if not found:
        return ZERO
    return Span(min(span.low for span in found), max(span.high for span in found))
