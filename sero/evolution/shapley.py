"""Shapley values of a team: exact, and from random orders (method.md §2, Credit).

Pure maths on a table of worths v(S), one number per coalition S of players. A caller to whom v is
dear fills the table while it walks along `scan`, which names the coalitions an order needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from math import comb

import numpy as np

Coalition = frozenset[str]
Worths = Mapping[Coalition, float]

MAX_EXACT = 10
"""Players of an exact value at most: 2^10 coalitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """φ per player, and the standard error of the estimators that have one."""

    phi: dict[str, float]
    stderr: dict[str, float] = field(default_factory=dict)


def exact_shapley(worths: Worths, players: Sequence[str]) -> dict[str, float]:
    """φ_i = Σ_{S ⊆ N\\i} |S|! (n-|S|-1)! / n! [v(S + i) - v(S)].

    Args:
        worths: v of every coalition of the players, the empty one included.
        players: N, at most ten.

    Raises:
        ValueError: more than ten players.
        KeyError: a coalition the table lacks.

    Source: Shapley 1953.
    """
    n = len(players)
    if n > MAX_EXACT:
        raise ValueError(f"exact_shapley got {n} players; it takes at most {MAX_EXACT}")
    phi = {}
    for player in players:
        others = [name for name in players if name != player]
        total = 0.0
        for size in range(n):
            weight = 1.0 / (n * comb(n - 1, size))
            for chosen in combinations(others, size):
                without = frozenset(chosen)
                total += weight * (worths[without | {player}] - worths[without])
        phi[player] = total
    return phi


def draw_orders(
    players: Sequence[str], n_orders: int, *, antithetic: bool, rng: np.random.Generator
) -> list[tuple[str, ...]]:
    """Uniform orders of the players; with `antithetic` each is followed by its reverse.

    Raises:
        ValueError: an odd number of antithetic orders.
    """
    if antithetic and n_orders % 2:
        raise ValueError(f"draw_orders got {n_orders} antithetic orders; they come in pairs")
    orders: list[tuple[str, ...]] = []
    while len(orders) < n_orders:
        order = tuple(players[i] for i in rng.permutation(len(players)))
        orders += [order, order[::-1]] if antithetic else [order]
    return orders


def scan(order: Sequence[str], worths: Worths, *, tol: float) -> Iterator[Coalition]:
    """The prefixes of an order whose worth its marginals need, the empty one first.

    The scan ends once |v(N) - v(prefix)| < tol; with tol = 0 it goes to the end. The table must
    hold v(N) from the start, and v(prefix) by the time the next prefix is asked for.

    Source: Ghorbani and Zou 2019, truncated Monte Carlo.
    """
    whole = worths[frozenset(order)]
    prefix: Coalition = frozenset()
    yield prefix
    for player in order:
        if abs(whole - worths[prefix]) < tol:
            return
        prefix |= {player}
        yield prefix


def marginals(order: Sequence[str], worths: Worths, *, tol: float) -> dict[str, float]:
    """v(prefix + i) - v(prefix) of every player i along an order; 0 behind the scan's end."""
    reached = [worths[prefix] for prefix in scan(order, worths, tol=tol)]
    gains = [after - before for before, after in pairwise(reached)]
    gains += [0.0] * (len(order) - len(gains))
    return dict(zip(order, gains, strict=True))


def permutation_shapley(
    worths: Worths,
    players: Sequence[str],
    orders: Sequence[Sequence[str]],
    *,
    antithetic: bool,
    tol: float = 0.0,
) -> Estimate:
    """φ_i as the mean marginal over orders; unbiased with tol = 0, variance σ_i² / m.

    Args:
        worths: v of every coalition the scans visit.
        orders: m orders, as `draw_orders` gives them.
        antithetic: orders 2k and 2k + 1 are each other's reverse. A pair is one sample then.
        tol: truncation of the scans.

    Returns:
        φ and its standard error (ddof = 1) over orders, or over pairs; no standard error from a
        single sample. The bias of a truncation is not part of it.

    Source: Castro et al. 2009.
    """
    rows = [marginals(order, worths, tol=tol) for order in orders]
    samples = np.array([[row[player] for player in players] for row in rows])
    if antithetic:
        samples = (samples[0::2] + samples[1::2]) / 2.0
    phi = dict(zip(players, samples.mean(axis=0).tolist(), strict=True))
    if len(samples) < 2:
        return Estimate(phi=phi)
    errors = samples.std(axis=0, ddof=1) / len(samples) ** 0.5
    return Estimate(phi=phi, stderr=dict(zip(players, errors.tolist(), strict=True)))
