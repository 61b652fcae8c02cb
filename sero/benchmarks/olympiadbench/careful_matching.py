"""One-to-one matching, so that the order of several answers does not matter."""

from __future__ import annotations

from collections.abc import Callable


def matched(n: int, fits: Callable[[int, int], bool]) -> bool:
    """Whether golds 0..n-1 can be paired with answers 0..n-1, each pair fitting.

    Greedy pairing would depend on the order where tolerances overlap; this one augments.
    """
    if all(fits(i, i) for i in range(n)):
        return True
    allowed = [[j for j in range(n) if fits(i, j)] for i in range(n)]
    taken_by: dict[int, int] = {}

    def place(i: int, seen: set[int]) -> bool:
        for j in allowed[i]:
            if j not in seen:
                seen.add(j)
                if j not in taken_by or place(taken_by[j], seen):
                    taken_by[j] = i
                    return True
        return False

    return all(place(i, set()) for i in range(n))
