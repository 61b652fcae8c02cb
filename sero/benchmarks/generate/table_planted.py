"""Columns planted for analysis questions: a wanted correlation, a line, values far off.

Floats serve to draw a column only: additions, products and square roots, which every platform
rounds alike, and `fsum`. What counts afterwards is the column of fractions.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from sero.benchmarks.generate.table_frames import Column
from sero.benchmarks.generate.table_numbers import Unclear, squared_correlation


def correlated(
    rng: random.Random, column: Column, base: Sequence[int], r: float, rows: Sequence[int]
) -> Column:
    """`column` with new values in its old range that correlate with `base` by about `r`.

    Args:
        rows: where the correlation is to hold; the other rows keep their values.

    Raises:
        Unclear: fewer than four rows, or a constant base.
    """
    if len(rows) < 4:
        raise Unclear("too few rows to correlate")
    x = _standard([float(base[i]) for i in rows])
    noise = _standard([rng.random() for _ in rows])
    along = math.fsum(a * b for a, b in zip(x, noise, strict=True)) / len(rows)
    rest = _standard([b - along * a for a, b in zip(x, noise, strict=True)])
    mixed = [r * a + math.sqrt(1 - r * r) * b for a, b in zip(x, rest, strict=True)]
    low, high = min(column.units), max(column.units)
    lowest, highest = min(mixed), max(mixed)
    units = list(column.units)
    for i, z in zip(rows, mixed, strict=True):
        units[i] = round(low + (high - low) * (z - lowest) / (highest - lowest))
    return replace(column, units=tuple(units))


def _standard(values: Sequence[float]) -> list[float]:
    """The values with mean 0 and mean square 1."""
    centre = math.fsum(values) / len(values)
    scale = math.sqrt(math.fsum((v - centre) ** 2 for v in values) / len(values))
    if scale < 1e-9:
        raise Unclear("a constant column")
    return [(v - centre) / scale for v in values]


def bounded_correlation(
    a: Sequence[int], b: Sequence[int], low: float, high: float
) -> tuple[Fraction, bool]:
    """r² and whether r is negative, refused unless low <= |r| <= high.

    Raises:
        Unclear: outside these bounds, or undefined.
    """
    squared, negative = squared_correlation(a, b)
    if not low * low <= squared <= high * high:
        raise Unclear("another correlation than planted")
    return squared, negative


def line(rng: random.Random, column: Column, years: Sequence[int]) -> Column:
    """`column` with positive values on a rising or falling line over the years.

    It changes by a quarter to three fifths of its first value over the whole span.
    """
    first, last = min(years), max(years)
    start = max(column.units)
    slope = max(1, start * rng.randint(25, 60) // 100 // (last - first))
    if rng.random() < 0.5:
        slope = -slope
    units = tuple(start + slope * (year - first) for year in years)
    if min(units) * 3 < start:
        raise Unclear("a line that falls too low")
    return replace(column, units=units)


def zigzag(rng: random.Random, column: Column, years: Sequence[int]) -> Column:
    """`column` with values that go up and down by turns, without any trend.

    Raises:
        Unclear: the draw shows a trend all the same, |r| with the years above 0.15.
    """
    middle = max(column.units)
    sizes = [rng.randint(8, 25) * (1 if i % 2 else -1) for i in range(len(years))]
    units = tuple(middle * (100 + size) // 100 for size in sizes)
    bounded_correlation(units, years, 0.0, 0.15)
    return replace(column, units=units)


def narrow(rng: random.Random, column: Column) -> Column:
    """`column` with values within a quarter of a middle one, so that none stands out.

    Raises:
        Unclear: its values are too small for that.
    """
    middle = max(column.units)
    if middle < 20:
        raise Unclear("too small for a narrow spread")
    return replace(column, units=tuple(middle * rng.randint(75, 125) // 100 for _ in column.units))


def far_off(rng: random.Random, column: Column, row: int) -> tuple[Column, str]:
    """A narrow `column` with one value eight to twenty times too high or too low, and which."""
    units = list(column.units)
    factor = rng.randint(8, 20)
    high = rng.random() < 0.6 and not column.suffix
    units[row] = units[row] * factor if high else units[row] // factor
    return replace(column, units=tuple(units)), "high" if high else "low"
