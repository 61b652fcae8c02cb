"""Numerical questions on rates of a trade and on time: growth, spans, ages, days.

A rate is defined in the question by the two columns it divides, so no outside knowledge decides.
"""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise

from sero.benchmarks.generate.table_drafts import (
    Draft,
    Template,
    every_row,
    extreme,
    number,
    perhaps_clause,
    two_rows,
)
from sero.benchmarks.generate.table_frames import (
    Column,
    Frame,
    Kind,
    entity_frame,
    yearly_frame,
)
from sero.benchmarks.generate.table_numbers import Unclear, figure, mean
from sero.benchmarks.generate.table_wordings import PER_CENT, ask
from sero.benchmarks.generate.table_words import Rate

RATES, TIMES = "Domain-Specific", "Time-basedCalculation"


def _rated(rng: random.Random, level: int) -> tuple[Frame, Rate, dict[str, str]]:
    make = entity_frame if rng.random() < 0.75 else yearly_frame
    frame = make(rng, level, rated=True)
    rate = rng.choice(frame.rates)
    slots = {
        "noun": frame.noun,
        "nouns": frame.nouns,
        "trade": frame.trade,
        "rate": rate.name,
        "top": rate.top,
        "bottom": rate.bottom,
        "scale": PER_CENT if rate.percent else "",
    }
    return frame, rate, slots


def rate_of_row(rng: random.Random, level: int) -> Draft:
    frame, rate, slots = _rated(rng, level)
    row = rng.randrange(frame.n_rows)
    question = ask(rng, RATES, "rate_of_row", name=frame.labels[row], **slots)
    value = frame[rate.top].value(row) / frame[rate.bottom].value(row)
    answer = figure(100 * value) + "%" if rate.percent else figure(value)
    return Draft(frame=frame, question=question, answer=answer)


def rate_extreme(rng: random.Random, level: int) -> Draft:
    frame, rate, slots = _rated(rng, level)
    pairs = zip(frame[rate.top].units, frame[rate.bottom].units, strict=True)
    word, row = extreme(rng, [Fraction(top, bottom) for top, bottom in pairs], every_row(frame))
    question = ask(rng, RATES, "rate_extreme", extreme=word, **slots)
    return Draft(frame=frame, question=question, answer=frame.labels[row])


def rate_pooled(rng: random.Random, level: int) -> Draft:
    frame, rate, slots = _rated(rng, level)
    question = ask(rng, RATES, "rate_pooled", **slots)
    rows = every_row(frame)
    value = frame[rate.top].total(rows) / frame[rate.bottom].total(rows)
    answer = figure(100 * value) + "%" if rate.percent else figure(value)
    return Draft(frame=frame, question=question, answer=answer)


def _two_years(
    rng: random.Random, level: int
) -> tuple[Frame, Column, tuple[int, int], dict[str, str]]:
    """A yearly table, a positive column, and two rows, the earlier first."""
    frame = yearly_frame(rng, level)
    column = number(rng, frame, positive=True)
    first, last = sorted(two_rows(rng, frame), key=lambda i: frame.key.units[i])
    slots = {"col": column.header, "y1": frame.labels[first], "y2": frame.labels[last]}
    return frame, column, (first, last), slots


def growth(rng: random.Random, level: int) -> Draft:
    frame, column, (first, last), slots = _two_years(rng, level)
    if column.units[first] == column.units[last]:
        raise Unclear("no growth")
    question = ask(rng, RATES, "growth", trade=frame.trade, **slots)
    grown = 100 * (Fraction(column.units[last], column.units[first]) - 1)
    return Draft(frame=frame, question=question, answer=figure(grown) + "%")


def index(rng: random.Random, level: int) -> Draft:
    frame, column, (first, last), slots = _two_years(rng, level)
    question = ask(rng, RATES, "index", trade=frame.trade, **slots)
    answer = figure(Fraction(100 * column.units[last], column.units[first]))
    return Draft(frame=frame, question=question, answer=answer)


def yearly_change(rng: random.Random, level: int) -> Draft:
    frame, column, (first, last), slots = _two_years(rng, level)
    question = ask(rng, TIMES, "yearly_change", **slots)
    years = frame.key.units[last] - frame.key.units[first]
    answer = figure((column.value(last) - column.value(first)) / years)
    return Draft(frame=frame, question=question, answer=answer)


def strongest_rise(rng: random.Random, level: int) -> Draft:
    frame = yearly_frame(rng, level)
    column = number(rng, frame)
    in_time = sorted(every_row(frame), key=lambda i: frame.key.units[i])
    steps = [(column.units[row] - column.units[before], row) for before, row in pairwise(in_time)]
    steps.sort(reverse=True)
    if steps[0][0] <= 0 or steps[0][0] == steps[1][0]:
        raise Unclear("no strongest rise")
    slots = {"noun": frame.noun, "nouns": frame.nouns, "col": column.header}
    question = ask(rng, TIMES, "strongest_rise", **slots)
    return Draft(frame=frame, question=question, answer=frame.labels[steps[0][1]])


def average_of_span(rng: random.Random, level: int) -> Draft:
    frame, column, (first, last), slots = _two_years(rng, level)
    years = frame.key.units
    rows = [i for i in every_row(frame) if years[first] <= years[i] <= years[last]]
    if not 2 < len(rows) < frame.n_rows:
        raise Unclear("too short a span, or the whole table")
    question = ask(rng, TIMES, "average_of_span", **slots)
    return Draft(frame=frame, question=question, answer=figure(mean(column.values(rows))))


def _since(frame: Frame) -> Column:
    return frame.of(Kind.YEAR)[0]


def years_apart(rng: random.Random, level: int) -> Draft:
    frame = entity_frame(rng, level)
    column = _since(frame)
    row, other = two_rows(rng, frame)
    years = abs(column.units[row] - column.units[other])
    if not years:
        raise Unclear("the same year")
    slots = {"col": column.header, "name": frame.labels[row], "name2": frame.labels[other]}
    question = ask(rng, TIMES, "years_apart", **slots)
    return Draft(frame=frame, question=question, answer=str(years))


def average_age(rng: random.Random, level: int) -> Draft:
    frame = entity_frame(rng, level)
    column = _since(frame)
    where, rows = perhaps_clause(rng, level, frame, not_on=[column])
    year = rng.randint(2016, 2030)
    slots = {"col": column.header, "nouns": frame.nouns, "where": where, "y1": year}
    question = ask(rng, TIMES, "average_age", **slots)
    answer = figure(year - mean(column.values(rows)))
    return Draft(frame=frame, question=question, answer=answer)


def days_apart(rng: random.Random, level: int) -> Draft:
    frame = entity_frame(rng, level, dated=True)
    column = frame.of(Kind.DATE)[0]
    row, other = two_rows(rng, frame)
    days = abs(column.units[row] - column.units[other])
    if not days:
        raise Unclear("the same day")
    slots = {"col": column.header, "name": frame.labels[row], "name2": frame.labels[other]}
    question = ask(rng, TIMES, "days_apart", **slots)
    return Draft(frame=frame, question=question, answer=str(days))


DOMAIN_SPECIFIC: tuple[Template, ...] = (rate_of_row, rate_extreme, rate_pooled, growth, index)
TIME: tuple[Template, ...] = (
    yearly_change,
    strongest_rise,
    average_of_span,
    years_apart,
    average_age,
    days_apart,
)
