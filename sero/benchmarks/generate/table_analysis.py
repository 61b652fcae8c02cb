"""Data-analysis questions on generated tables: impact, correlation, trend and statistics.

What is to be found is planted well inside its class, and the gold is computed from the cells, so
a rounding in the table never turns a verdict.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from sero.benchmarks.generate.table_drafts import (
    Draft,
    Templates,
    clause,
    every_row,
    number,
    perhaps_clause,
)
from sero.benchmarks.generate.table_frames import (
    Column,
    Frame,
    any_frame,
    entity_frame,
    yearly_frame,
)
from sero.benchmarks.generate.table_numbers import (
    Unclear,
    figure,
    mean,
    median,
    root_figure,
    root_places,
    variance,
)
from sero.benchmarks.generate.table_planted import (
    bounded_correlation,
    correlated,
    line,
    zigzag,
)
from sero.benchmarks.generate.table_sentences import ANOMALY, CAUSAL, DESCRIPTIVE
from sero.benchmarks.generate.table_wordings import (
    DEVIATIONS,
    FALLING,
    NEGATIVE_IMPACT,
    NO_CORRELATION,
    NO_IMPACT,
    NO_TREND,
    POSITIVE_IMPACT,
    RISING,
    STRONG,
    WEAK,
    ask,
)

IMPACT, CORRELATION = "ImpactAnalysis", "CorrelationAnalysis"
TREND, STATISTICS = "TrendForecasting", "StatisticalAnalysis"
MARGIN = 0.03
"""How far a coefficient keeps from the limit of its class."""


def factors(rng: random.Random, level: int) -> Draft:
    """None, one or two of three factors go with the target; the others do not."""
    frame = entity_frame(rng, level, numbers=4, free=True)
    target, *others = rng.sample(frame.numbers, 4)
    n_real = rng.choice((0, 1, 1, 2))
    real = rng.sample(range(3), n_real)
    for i, column in enumerate(others):
        sign = rng.choice((-1, 1))
        r = rng.uniform(0.88, 0.97) if i in real else rng.uniform(0.0, 0.15)
        made = correlated(rng, column, target.units, sign * r, every_row(frame))
        bounds = (0.85, 1.0) if i in real else (0.0, 0.2)
        bounded_correlation(made.units, target.units, *bounds)
        frame = frame.with_column(made)
    a, b, c = (column.header for column in others)
    question = ask(rng, IMPACT, "factors", a=a, b=b, c=c, col=target.header)
    found = [column.header for i, column in enumerate(others) if i in real]
    return Draft(frame=frame, question=question, answer=", ".join(found) or NO_IMPACT, totals=False)


def direction(rng: random.Random, level: int) -> Draft:
    frame = entity_frame(rng, level, free=True)
    column, target = rng.sample(frame.numbers, 2)
    r, low, high, answer = rng.choice(
        (
            (0.93, 0.85, 1.0, POSITIVE_IMPACT),
            (-0.93, 0.85, 1.0, NEGATIVE_IMPACT),
            (0.05, 0.0, 0.2, NO_IMPACT),
        )
    )
    made = correlated(rng, target, column.units, r, every_row(frame))
    bounded_correlation(column.units, made.units, low, high)
    slots = {"a": column.header, "col": target.header, "nouns": frame.nouns}
    question = ask(rng, IMPACT, "direction", **slots)
    return Draft(frame=frame.with_column(made), question=question, answer=answer, totals=False)


def correlation(rng: random.Random, level: int) -> Draft:
    """Over all rows, or from difficulty 3 on over those that meet a condition."""
    frame = entity_frame(rng, level, free=True)
    a, target = rng.sample(frame.numbers, 2)
    if level >= 3 and rng.random() < 0.5:
        where, rows = clause(rng, level, frame, not_on=[a, target], least=5)
    else:
        where, rows = "", every_row(frame)
    frame, answer = _correlated(rng, frame, a, target, rows)
    slots = {"a": a.header, "col": target.header, "nouns": frame.nouns, "where": where}
    question = ask(rng, CORRELATION, "correlation", **slots)
    return Draft(frame=frame, question=question, answer=answer, totals=False)


def correlation_without(rng: random.Random, level: int) -> Draft:
    """Over all rows but one, whose values are not planted."""
    frame = entity_frame(rng, level, free=True)
    a, target = rng.sample(frame.numbers, 2)
    out = rng.randrange(frame.n_rows)
    rows = [i for i in every_row(frame) if i != out]
    frame, answer = _correlated(rng, frame, a, target, rows)
    slots = {"a": a.header, "col": target.header, "nouns": frame.nouns}
    question = ask(rng, CORRELATION, "correlation_without", name=frame.labels[out], **slots)
    return Draft(frame=frame, question=question, answer=answer, totals=False)


def _correlated(
    rng: random.Random, frame: Frame, a: Column, target: Column, rows: Sequence[int]
) -> tuple[Frame, str]:
    """Plant a correlation of any class over some rows; the frame and the answer."""
    size, low, high = rng.choice(((0.2, 0.1, WEAK), (0.5, WEAK, STRONG), (0.88, STRONG, 1.0)))
    r = rng.choice((-1, 1)) * (size + rng.uniform(-0.08, 0.08))
    made = correlated(rng, target, a.units, r, rows)
    squared, negative = bounded_correlation(
        [a.units[i] for i in rows],
        [made.units[i] for i in rows],
        low if high == WEAK else low + MARGIN,
        high if low == STRONG else high - MARGIN,
    )
    sign = "negative" if negative else "positive"
    phrases = {WEAK: NO_CORRELATION, STRONG: f"Weak {sign} correlation"}
    phrase = phrases.get(high, f"Strong {sign} correlation")
    return frame.with_column(made), f"{phrase}, {root_places(squared, negative=negative)}"


def _lined(rng: random.Random, level: int) -> tuple[Frame, Column, Fraction]:
    """A yearly table with a column on a line, and its change per year."""
    frame = yearly_frame(rng, level)
    years = frame.key.units
    column = line(rng, number(rng, frame, positive=True), years)
    slope = (column.value(1) - column.value(0)) / (years[1] - years[0])
    return frame.with_column(column), column, slope


def _later(rng: random.Random, frame: Frame, n: int) -> list[int]:
    """Some years behind the table, each a quarter to a half of its span after the one before."""
    table = frame.key.units
    step = max(1, (max(table) - min(table)) // 4)
    years = [max(table)]
    for _ in range(n):
        years.append(years[-1] + rng.randint(step, 2 * step))
    return years[1:]


def _ahead(column: Column, frame: Frame, slope: Fraction, years: Sequence[int]) -> list[Fraction]:
    """The line's values in the latest year and in some later ones.

    Raises:
        Unclear: two of them in a row within an eighth, so that a tolerance of a tenth would take
            one for the other, or a value that is close to zero beside the others.
    """
    table = frame.key.units
    start = column.value(0)
    values = [start + slope * (year - table[0]) for year in (max(table), *years)]
    if min(values) * 5 < max(column.values(every_row(frame))):
        raise Unclear("a forecast close to zero")
    if any(abs(a - b) * 8 < max(a, b) for a, b in pairwise(values)):
        raise Unclear("forecasts too close to each other")
    return values


def forecast(rng: random.Random, level: int) -> Draft:
    frame, column, slope = _lined(rng, level)
    years = _later(rng, frame, 1)
    question = ask(rng, TREND, "forecast", col=column.header, y1=years[0])
    answer = figure(_ahead(column, frame, slope, years)[1])
    return Draft(frame=frame, question=question, answer=answer, totals=False)


def forecast_two(rng: random.Random, level: int) -> Draft:
    frame, column, slope = _lined(rng, level)
    years = _later(rng, frame, 2)
    question = ask(rng, TREND, "forecast_two", col=column.header, y1=years[0], y2=years[1])
    answer = ", ".join(figure(value) for value in _ahead(column, frame, slope, years)[1:])
    return Draft(frame=frame, question=question, answer=answer, totals=False)


def forecast_rise(rng: random.Random, level: int) -> Draft:
    frame, column, slope = _lined(rng, level)
    years = _later(rng, frame, 1)
    question = ask(rng, TREND, "forecast_rise", col=column.header, y1=years[0])
    last, then = _ahead(column, frame, slope, years)
    return Draft(frame=frame, question=question, answer=figure(then - last), totals=False)


def tendency(rng: random.Random, level: int) -> Draft:
    if rng.random() < 0.7:
        frame, column, slope = _lined(rng, level)
        answer = RISING if slope > 0 else FALLING
    else:
        frame = yearly_frame(rng, level)
        column = zigzag(rng, number(rng, frame, positive=True), frame.key.units)
        frame, answer = frame.with_column(column), NO_TREND
    question = ask(rng, TREND, "tendency", col=column.header)
    return Draft(frame=frame, question=question, answer=answer, totals=False)


def _measured(rng: random.Random, level: int, kind: str) -> tuple[Frame, list[Fraction], str, bool]:
    """A frame, some values of a column, the question about them, and whether of a sample."""
    frame = any_frame(rng, level)
    column = number(rng, frame)
    where, rows = perhaps_clause(rng, level, frame, not_on=[column], least=4)
    divisor = rng.choice(sorted(DEVIATIONS))
    slots = {"col": column.header, "nouns": frame.nouns, "where": where}
    question = ask(rng, STATISTICS, kind, deviation=DEVIATIONS[divisor], **slots)
    return frame, column.values(rows), question, divisor == "sample"


def deviation(rng: random.Random, level: int) -> Draft:
    frame, values, question, sample = _measured(rng, level, "deviation")
    answer = root_figure(variance(values, sample=sample))
    return Draft(frame=frame, question=question, answer=answer)


def mean_and_deviation(rng: random.Random, level: int) -> Draft:
    frame, values, question, sample = _measured(rng, level, "mean_and_deviation")
    answer = _two(figure(mean(values)), root_figure(variance(values, sample=sample)))
    return Draft(frame=frame, question=question, answer=answer)


def median_and_range(rng: random.Random, level: int) -> Draft:
    frame, values, question, _ = _measured(rng, level, "median_and_range")
    answer = _two(figure(median(values)), figure(max(values) - min(values)))
    return Draft(frame=frame, question=question, answer=answer)


def _two(first: str, second: str) -> str:
    """Two figures as one answer.

    Raises:
        Unclear: a tolerance of a tenth could take one for the other, or means nothing.
    """
    a, b = Fraction(first), Fraction(second)
    if abs(a) < 1 or abs(a - b) * 8 < max(abs(a), abs(b)):
        raise Unclear("close to zero, or to each other")
    return f"{first}, {second}"


def wider_column(rng: random.Random, level: int) -> Draft:
    frame = any_frame(rng, level, numbers=3)
    column = number(rng, frame)
    other = number(rng, frame, other_than=[column])
    divisor = rng.choice(sorted(DEVIATIONS))
    spreads = {
        c.header: variance(c.values(every_row(frame)), sample=divisor == "sample")
        for c in (column, other)
    }
    wider = max(spreads, key=lambda header: spreads[header])
    if spreads[column.header] == spreads[other.header]:
        raise Unclear("a tie")
    slots = {"col": column.header, "other": other.header, "deviation": DEVIATIONS[divisor]}
    question = ask(rng, STATISTICS, "wider_column", **slots)
    answer = f"{wider}, {root_figure(spreads[wider])}"
    return Draft(frame=frame, question=question, answer=answer)


ANALYSIS: Templates = {
    IMPACT: (factors, direction),
    CORRELATION: (correlation, correlation_without),
    TREND: (forecast, forecast_two, forecast_rise, tendency),
    STATISTICS: (deviation, mean_and_deviation, median_and_range, wider_column),
    "AnomalyDetection": ANOMALY,
    "CausalAnalysis": CAUSAL,
    "DescriptiveAnalysis": DESCRIPTIVE,
}
