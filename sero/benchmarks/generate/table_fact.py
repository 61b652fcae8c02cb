"""Fact-checking questions on generated tables: what stands where, and claims true or false.

A claim is drawn to be true or false first and then made so. Answers are a cell's text, a row's
name, `Yes` or `No`.
"""

from __future__ import annotations

import random
from itertools import permutations

from sero.benchmarks.generate.table_drafts import (
    HIGHEST,
    LOWEST,
    Draft,
    Templates,
    clause,
    every_row,
    extreme,
    group_column,
    number,
    the_extreme,
    two_rows,
)
from sero.benchmarks.generate.table_frames import Column, Frame, Kind, any_frame, entity_frame
from sero.benchmarks.generate.table_numbers import Unclear
from sero.benchmarks.generate.table_wordings import ask

MATCH, HOPS = "MatchBased", "Multi-hop FactChecking"


def _verdict(holds: bool) -> str:
    return "Yes" if holds else "No"


def row_of_value(rng: random.Random, level: int) -> Draft:
    frame = any_frame(rng, level)
    column = rng.choice(frame.of(Kind.AMOUNT, Kind.GAUGE, Kind.YEAR))
    row = rng.randrange(frame.n_rows)
    if column.units.count(column.units[row]) > 1:
        raise Unclear("a tie")
    slots = {"noun": frame.noun, "col": column.header, "value": column.shown(row)}
    question = ask(rng, MATCH, "row_of_value", **slots)
    return Draft(frame=frame, question=question, answer=frame.labels[row])


def cell_of_row(rng: random.Random, level: int) -> Draft:
    frame = any_frame(rng, level)
    column = rng.choice(frame.of(Kind.AMOUNT, Kind.GAUGE, Kind.YEAR, Kind.GROUP, Kind.GROUP))
    row = rng.randrange(frame.n_rows)
    question = ask(rng, MATCH, "cell_of_row", col=column.header, name=frame.labels[row])
    return Draft(frame=frame, question=question, answer=column.shown(row))


def claim_value(rng: random.Random, level: int) -> Draft:
    """A false claim gives a row the value of another row."""
    frame = any_frame(rng, level)
    column = number(rng, frame)
    row, other = two_rows(rng, frame)
    holds = rng.random() < 0.5
    if column.units[row] == column.units[other]:
        raise Unclear("a tie")
    value = column.shown(row if holds else other)
    slots = {"name": frame.labels[row], "col": column.header, "value": value}
    question = ask(rng, MATCH, "claim_value", **slots)
    return Draft(frame=frame, question=question, answer=_verdict(holds))


def extreme_row(rng: random.Random, level: int) -> Draft:
    frame = any_frame(rng, level)
    column = number(rng, frame)
    word, row = extreme(rng, column.units, every_row(frame))
    slots = {"noun": frame.noun, "nouns": frame.nouns, "extreme": word, "col": column.header}
    question = ask(rng, MATCH, "extreme_row", **slots)
    return Draft(frame=frame, question=question, answer=frame.labels[row])


def claim_extreme(rng: random.Random, level: int) -> Draft:
    """A false claim names one of the three runners-up."""
    frame = any_frame(rng, level)
    column = number(rng, frame)
    word, row = extreme(rng, column.units, every_row(frame))
    holds = rng.random() < 0.5
    if not holds:
        by_value = sorted(every_row(frame), key=lambda i: column.units[i], reverse=word == HIGHEST)
        row = rng.choice(by_value[1:4])
    slots = {"noun": frame.noun, "name": frame.labels[row], "extreme": word, "col": column.header}
    question = ask(rng, MATCH, "claim_extreme", **slots)
    return Draft(frame=frame, question=question, answer=_verdict(holds))


def _extreme_with_group(
    rng: random.Random, level: int
) -> tuple[Frame, int, Column, dict[str, str]]:
    frame = any_frame(rng, level)
    column, groups = number(rng, frame), group_column(rng, frame)
    word, row = extreme(rng, column.units, every_row(frame))
    if len(set(groups.texts)) == 1:
        raise Unclear("one group only")
    slots = {"noun": frame.noun, "cat": groups.header, "extreme": word, "col": column.header}
    return frame, row, groups, slots


def category_of_extreme(rng: random.Random, level: int) -> Draft:
    frame, row, groups, slots = _extreme_with_group(rng, level)
    question = ask(rng, HOPS, "category_of_extreme", **slots)
    return Draft(frame=frame, question=question, answer=groups.texts[row])


def row_and_category(rng: random.Random, level: int) -> Draft:
    frame, row, groups, slots = _extreme_with_group(rng, level)
    question = ask(rng, HOPS, "row_and_category", **slots)
    return Draft(frame=frame, question=question, answer=f"{frame.labels[row]}, {groups.texts[row]}")


def extreme_in_group(rng: random.Random, level: int) -> Draft:
    frame = any_frame(rng, level)
    column = number(rng, frame)
    where, rows = clause(rng, level, frame, not_on=[column])
    word, row = extreme(rng, column.units, rows)
    slots = {"noun": frame.noun, "nouns": frame.nouns, "extreme": word, "col": column.header}
    question = ask(rng, HOPS, "extreme_in_group", where=where, **slots)
    return Draft(frame=frame, question=question, answer=frame.labels[row])


def claim_same_row(rng: random.Random, level: int) -> Draft:
    frame = any_frame(rng, level, numbers=3)
    holds = rng.random() < 0.5
    rows = every_row(frame)
    tops = [
        (column.header, word, the_extreme(column.units, rows, word))
        for column in rng.sample(frame.numbers, 3)
        for word in (HIGHEST, LOWEST)
    ]
    pairs = [(a, b) for a, b in permutations(tops, 2) if a[0] != b[0] and (a[2] == b[2]) == holds]
    if not pairs:
        raise Unclear("no such pair of extremes")
    (column, word, _), (other, word2, _) = rng.choice(pairs)
    slots = {"extreme": word, "col": column, "extreme2": word2, "other": other}
    question = ask(rng, HOPS, "claim_same_row", noun=frame.noun, **slots)
    return Draft(frame=frame, question=question, answer=_verdict(holds))


def claim_count(rng: random.Random, level: int) -> Draft:
    """A false claim is off by one."""
    frame = entity_frame(rng, level)
    where, rows = clause(rng, level, frame, least=1)
    holds = rng.random() < 0.5
    n = len(rows) if holds else len(rows) + rng.choice((-1, 1))
    if n < 2:
        raise Unclear("a count below two")
    question = ask(rng, HOPS, "claim_count", n=n, nouns=frame.nouns, where=where)
    return Draft(frame=frame, question=question, answer=_verdict(holds))


FACT: Templates = {
    MATCH: (row_of_value, cell_of_row, claim_value, extreme_row, claim_extreme),
    HOPS: (
        category_of_extreme,
        extreme_in_group,
        row_and_category,
        claim_same_row,
        claim_count,
    ),
}
