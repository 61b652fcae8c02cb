"""Rank correlation: does the credit a role has earned foretell what it is found to be worth?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sero.credit import CreditConfig, CreditState, historical

DECIMALS = 12
"""Values are told apart to this many decimals: means of a few scores carry rounding beyond."""

LEAST = 3
"""Ranks of fewer than three roles say nothing."""


def spearman(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Spearman's ρ in [-1, 1]: the correlation of the ranks, ties sharing their mean rank.

    Returns:
        None for fewer than three pairs, or where one side does not vary.

    Raises:
        ValueError: the lengths differ.
    """
    if len(a) != len(b):
        raise ValueError(f"spearman got {len(a)} and {len(b)} values; pass pairs")
    if len(a) < LEAST:
        return None
    x, y = _ranks(a), _ranks(b)
    x, y = x - x.mean(), y - y.mean()
    norm = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / norm if norm > 0.0 else None


def foresight(
    credit: CreditState, measured: Mapping[str, float], cfg: CreditConfig
) -> float | None:
    """Rank correlation of c_r before a refresh with the φ_r it measured, over the roles it did.

    The EMA is the one that had not seen φ yet; the updated one holds a share μ of it.
    """
    names = list(measured)
    return spearman(
        [historical(credit[name], cfg) for name in names], [measured[name] for name in names]
    )


def _ranks(values: Sequence[float]) -> NDArray[np.float64]:
    rounded = np.round(np.asarray(values, dtype=np.float64), DECIMALS)
    _, place, counts = np.unique(rounded, return_inverse=True, return_counts=True)
    mean_rank = np.cumsum(counts) - (counts - 1) / 2.0
    ranks: NDArray[np.float64] = mean_rank[place]
    return ranks
