"""Numerical questions on generated tables: sums, means, counts, gaps, rates and places.

Everything is computed on exact fractions. Answers are numbers as `figure` writes them, names of
rows, or both in the order the question asks for.
"""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

from sero.benchmarks.generate.table_drafts import (
    LOWEST,
    Draft,
    Templates,
    between,
    clause,
    every_row,
    group_column,
    number,
    ordered,
    perhaps_clause,
    two_rows,
)
from sero.benchmarks.generate.table_frames import (
    Column,
    Frame,
    Kind,
    any_frame,
    decimal_text,
    entity_frame,
)
from sero.benchmarks.generate.table_numbers import Unclear, figure, mean
from sero.benchmarks.generate.table_ranking import MULTI_HOP, RANKING
from sero.benchmarks.generate.table_time import DOMAIN_SPECIFIC, TIME
from sero.benchmarks.generate.table_wordings import ask

AGGREGATION, ARITHMETIC = "Aggregation", "ArithmeticCalculation"
COMPARISON, COUNTING = "Comparison", "Counting"


def total(rng: random.Random, level: int) -> Draft:
    frame = any_frame(rng, level)
    column = number(rng, frame, additive=True)
    where, rows = perhaps_clause(rng, level, frame, not_on=[column])
    question = ask(rng, AGGREGATION, "total", col=column.header, nouns=frame.nouns, where=where)
    return Draft(frame=frame, question=question, answer=figure(column.total(rows)))


def average(rng: random.Random, level: int) -> Draft:
    frame = any_frame(rng, level)
    column = number(rng, frame)
    where, rows = perhaps_clause(rng, level, frame, not_on=[column])
    question = ask(rng, AGGREGATION, "average", col=column.header, nouns=frame.nouns, where=where)
    return Draft(frame=frame, question=question, answer=figure(mean(column.values(rows))))


def average_known(rng: random.Random, level: int) -> Draft:
    """Some rows have no figure, so the divisor is not the number of rows."""
    frame = any_frame(rng, level)
    column = number(rng, frame)
    hidden = tuple(sorted(rng.sample(range(frame.n_rows), rng.randint(1, 1 + level // 2))))
    frame = frame.with_column(replace(column, hidden=hidden))
    rows = [i for i in every_row(frame) if i not in hidden]
    slots = {"noun": frame.noun, "nouns": frame.nouns, "col": column.header}
    question = ask(rng, AGGREGATION, "average_known", **slots)
    return Draft(frame=frame, question=question, answer=figure(mean(column.values(rows))))


def total_of_two(rng: random.Random, level: int) -> Draft:
    frame = any_frame(rng, level, numbers=3)
    column = number(rng, frame, additive=True)
    other = number(rng, frame, additive=True, other_than=[column])
    slots = {"col": column.header, "other": other.header, "nouns": frame.nouns}
    question = ask(rng, AGGREGATION, "total_of_two", **slots)
    rows = every_row(frame)
    return Draft(
        frame=frame,
        question=question,
        answer=figure(column.total(rows) + other.total(rows)),
    )


def spread(rng: random.Random, level: int) -> Draft:
    frame = any_frame(rng, level)
    column = number(rng, frame)
    rows = sorted(every_row(frame), key=lambda i: column.units[i], reverse=True)
    question = ask(rng, ARITHMETIC, "spread", col=column.header, nouns=frame.nouns)
    answer = figure(column.value(rows[0]) - column.value(rows[-1]))
    return Draft(frame=frame, question=question, answer=answer)


def top_sum(rng: random.Random, level: int) -> Draft:
    frame = any_frame(rng, level)
    column = number(rng, frame, additive=True)
    n = rng.randint(2, 2 + level)
    rows = ordered(column.units, every_row(frame))[:n]
    question = ask(rng, ARITHMETIC, "top_sum", n=n, col=column.header, nouns=frame.nouns)
    return Draft(frame=frame, question=question, answer=figure(column.total(rows)))


def ratio(rng: random.Random, level: int) -> Draft:
    frame = any_frame(rng, level)
    column = number(rng, frame, positive=True)
    row, other = two_rows(rng, frame)
    slots = {"col": column.header, "name": frame.labels[row], "name2": frame.labels[other]}
    question = ask(rng, ARITHMETIC, "ratio", **slots)
    answer = figure(Fraction(column.units[row], column.units[other]))
    return Draft(frame=frame, question=question, answer=answer)


def after_change(rng: random.Random, level: int) -> Draft:
    frame = any_frame(rng, level)
    column = number(rng, frame, additive=True, positive=True)
    row = rng.randrange(frame.n_rows)
    verb, sign = rng.choice((("grew", 1), ("fell", -1)))
    n = rng.randint(2, 60)
    slots = {"col": column.header, "name": frame.labels[row], "verb": verb, "n": n}
    question = ask(rng, ARITHMETIC, "after_change", **slots)
    answer = figure(column.value(row) * (100 + sign * n) / 100)
    return Draft(frame=frame, question=question, answer=answer)


def row_sum(rng: random.Random, level: int) -> Draft:
    frame = any_frame(rng, level, numbers=3)
    column = number(rng, frame, additive=True)
    other = number(rng, frame, additive=True, other_than=[column])
    row = rng.randrange(frame.n_rows)
    slots = {"col": column.header, "other": other.header, "name": frame.labels[row]}
    question = ask(rng, ARITHMETIC, "row_sum", **slots)
    answer = figure(column.value(row) + other.value(row))
    return Draft(frame=frame, question=question, answer=answer)


def _higher_and_lower(rng: random.Random, level: int) -> tuple[Frame, Column, int, int]:
    frame = any_frame(rng, level)
    column = number(rng, frame)
    higher, lower = ordered(column.units, two_rows(rng, frame))
    return frame, column, higher, lower


def gap(rng: random.Random, level: int) -> Draft:
    frame, column, higher, lower = _higher_and_lower(rng, level)
    slots = {"col": column.header, "name": frame.labels[higher], "name2": frame.labels[lower]}
    question = ask(rng, COMPARISON, "gap", **slots)
    answer = figure(column.value(higher) - column.value(lower))
    return Draft(frame=frame, question=question, answer=answer)


def higher_of_two(rng: random.Random, level: int) -> Draft:
    frame, column, higher, lower = _higher_and_lower(rng, level)
    first, second = rng.sample((higher, lower), 2)
    slots = {"col": column.header, "name": frame.labels[first], "name2": frame.labels[second]}
    question = ask(rng, COMPARISON, "higher_of_two", **slots)
    by = figure(column.value(higher) - column.value(lower))
    return Draft(frame=frame, question=question, answer=f"{frame.labels[higher]}, {by}")


def group_gap(rng: random.Random, level: int) -> Draft:
    frame = any_frame(rng, level)
    column, groups = number(rng, frame), group_column(rng, frame)
    values = sorted(set(groups.texts))
    if len(values) < 2:
        raise Unclear("one group only")
    first, second = rng.sample(values, 2)
    slots = {"col": column.header, "nouns": frame.nouns, "cat": groups.header}
    question = ask(rng, COMPARISON, "group_gap", value=first, value2=second, **slots)
    means = [
        mean(column.values([i for i, t in enumerate(groups.texts) if t == value]))
        for value in (first, second)
    ]
    return Draft(frame=frame, question=question, answer=figure(abs(means[0] - means[1])))


def above_row(rng: random.Random, level: int) -> Draft:
    """A list of two to four names."""
    frame = any_frame(rng, level)
    column = number(rng, frame)
    row = ordered(column.units, every_row(frame))[rng.randint(2, 4)]
    rows = [i for i in every_row(frame) if column.units[i] > column.units[row]]
    slots = {"nouns": frame.nouns, "col": column.header, "name": frame.labels[row]}
    question = ask(rng, COMPARISON, "above_row", **slots)
    answer = ", ".join(frame.labels[i] for i in rows)
    return Draft(frame=frame, question=question, answer=answer)


def count_where(rng: random.Random, level: int) -> Draft:
    frame = entity_frame(rng, level)
    where, rows = clause(rng, level, frame, least=1)
    question = ask(rng, COUNTING, "count_where", nouns=frame.nouns, where=where)
    return Draft(frame=frame, question=question, answer=str(len(rows)))


def count_between(rng: random.Random, level: int) -> Draft:
    frame = any_frame(rng, level)
    column = number(rng, frame)
    steps = ordered(column.units, every_row(frame), LOWEST)
    first = rng.randint(1, len(steps) - 3)
    last = rng.randint(first + 1, len(steps) - 2)
    edges = [between(column.units[steps[i]], column.units[steps[i + 1]]) for i in (first - 1, last)]
    low, high = (decimal_text(edge, column.places) for edge in edges)
    question = ask(
        rng, COUNTING, "count_between", nouns=frame.nouns, col=column.header, low=low, high=high
    )
    return Draft(frame=frame, question=question, answer=str(last - first + 1))


def count_distinct(rng: random.Random, level: int) -> Draft:
    frame = any_frame(rng, level)
    groups = group_column(rng, frame)
    question = ask(rng, COUNTING, "count_distinct", cat=groups.header, nouns=frame.nouns)
    return Draft(frame=frame, question=question, answer=str(len(set(groups.texts))))


def count_above_average(rng: random.Random, level: int) -> Draft:
    frame = any_frame(rng, level)
    column = number(rng, frame)
    scaled = [units * frame.n_rows - sum(column.units) for units in column.units]
    if 0 in scaled:
        raise Unclear("a row on the average")
    question = ask(rng, COUNTING, "count_above_average", nouns=frame.nouns, col=column.header)
    answer = str(sum(units > 0 for units in scaled))
    # A totals row beside the rows would pull up the average of a hasty reader; that is meant.
    return Draft(frame=frame, question=question, answer=answer)


def count_missing(rng: random.Random, level: int) -> Draft:
    frame = any_frame(rng, level)
    column = rng.choice(frame.of(Kind.AMOUNT, Kind.GAUGE, Kind.YEAR, Kind.DATE))
    hidden = tuple(sorted(rng.sample(range(frame.n_rows), rng.randint(1, 2 + level // 2))))
    frame = frame.with_column(replace(column, hidden=hidden))
    question = ask(rng, COUNTING, "count_missing", nouns=frame.nouns, col=column.header)
    return Draft(frame=frame, question=question, answer=str(len(hidden)), totals=False)


NUMERICAL: Templates = {
    AGGREGATION: (total, average, average_known, total_of_two),
    ARITHMETIC: (spread, top_sum, ratio, after_change, row_sum),
    COMPARISON: (gap, higher_of_two, group_gap, above_row),
    COUNTING: (count_where, count_between, count_distinct, count_above_average, count_missing),
    "Domain-Specific": DOMAIN_SPECIFIC,
    "Multi-hop NumericalReasoing": MULTI_HOP,
    "Ranking": RANKING,
    "Time-basedCalculation": TIME,
}
