"""Numerical questions on generated tables that rank rows, or need a row found first."""

from __future__ import annotations

import random

from sero.benchmarks.generate.table_drafts import (
    HIGHEST,
    LOWEST,
    Draft,
    Template,
    clause,
    every_row,
    extreme,
    group_column,
    number,
    ordered,
    perhaps_clause,
    the_extreme,
)
from sero.benchmarks.generate.table_frames import any_frame
from sero.benchmarks.generate.table_numbers import Unclear, figure, mean
from sero.benchmarks.generate.table_wordings import ask

HOPS, RANKS = "Multi-hop NumericalReasoing", "Ranking"


def other_of_extreme(rng: random.Random, level: int) -> Draft:
    frame = any_frame(rng, level, numbers=3)
    column = number(rng, frame)
    other = number(rng, frame, other_than=[column])
    where, rows = perhaps_clause(rng, level, frame, not_on=[column, other])
    word, row = extreme(rng, column.units, rows)
    slots = {"col": column.header, "other": other.header, "extreme": word, "where": where}
    question = ask(rng, HOPS, "other_of_extreme", noun=frame.noun, nouns=frame.nouns, **slots)
    return Draft(frame=frame, question=question, answer=other.shown(row))


def share_of_total(rng: random.Random, level: int) -> Draft:
    frame = any_frame(rng, level)
    column = number(rng, frame, additive=True, positive=True)
    where, rows = clause(rng, level, frame, not_on=[column], least=1)
    question = ask(rng, HOPS, "share_of_total", col=column.header, nouns=frame.nouns, where=where)
    share = column.total(rows) / column.total(every_row(frame))
    return Draft(frame=frame, question=question, answer=figure(100 * share) + "%")


def average_of_top(rng: random.Random, level: int) -> Draft:
    frame = any_frame(rng, level, numbers=3)
    column = number(rng, frame)
    other = number(rng, frame, other_than=[column])
    n = rng.randint(2, 2 + level)
    rows = ordered(column.units, every_row(frame))[:n]
    slots = {"n": n, "col": column.header, "other": other.header, "nouns": frame.nouns}
    question = ask(rng, HOPS, "average_of_top", **slots)
    return Draft(frame=frame, question=question, answer=figure(mean(other.values(rows))))


def needed_to_reach(rng: random.Random, level: int) -> Draft:
    frame = any_frame(rng, level, numbers=3)
    column = number(rng, frame, additive=True)
    other = number(rng, frame, other_than=[column])
    word, goal = extreme(rng, other.units, every_row(frame))
    below = [i for i in every_row(frame) if column.units[i] < column.units[goal]]
    if not below:
        raise Unclear("nobody has to rise")
    row = rng.choice(below)
    slots = {"col": column.header, "other": other.header, "name": frame.labels[row]}
    question = ask(rng, HOPS, "needed_to_reach", noun=frame.noun, extreme=word, **slots)
    answer = figure(column.value(goal) - column.value(row))
    return Draft(frame=frame, question=question, answer=answer)


def nth(rng: random.Random, level: int) -> Draft:
    frame = any_frame(rng, level)
    column = number(rng, frame)
    n = rng.randint(2, frame.n_rows - 1)
    row = ordered(column.units, every_row(frame))[n - 1]
    slots = {"noun": frame.noun, "nouns": frame.nouns, "col": column.header, "n": n}
    question = ask(rng, RANKS, "nth", **slots)
    return Draft(frame=frame, question=question, answer=frame.labels[row])


def place_of(rng: random.Random, level: int) -> Draft:
    frame = any_frame(rng, level)
    column = number(rng, frame)
    n = rng.randrange(frame.n_rows)
    name = frame.labels[ordered(column.units, every_row(frame))[n]]
    question = ask(rng, RANKS, "place_of", col=column.header, name=name, nouns=frame.nouns)
    return Draft(frame=frame, question=question, answer=str(n + 1))


def first_three(rng: random.Random, level: int) -> Draft:
    frame = any_frame(rng, level)
    column = number(rng, frame)
    word = rng.choice((HIGHEST, LOWEST))
    rows = ordered(column.units, every_row(frame), word)[:3]
    slots = {"nouns": frame.nouns, "extreme": word, "col": column.header}
    question = ask(rng, RANKS, "first_three", **slots)
    answer = ", ".join(frame.labels[i] for i in rows)
    return Draft(frame=frame, question=question, answer=answer)


def group_extreme(rng: random.Random, level: int) -> Draft:
    frame = any_frame(rng, level)
    column, groups = number(rng, frame, additive=True), group_column(rng, frame)
    names = sorted(set(groups.texts))
    if len(names) < 2:
        raise Unclear("one group only")
    totals = [
        column.total([i for i in every_row(frame) if groups.texts[i] == name]) for name in names
    ]
    word = rng.choice((HIGHEST, LOWEST))
    best = the_extreme(totals, range(len(names)), word)
    slots = {"cat": groups.header, "extreme": word, "col": column.header}
    question = ask(rng, RANKS, "group_extreme", **slots)
    return Draft(frame=frame, question=question, answer=names[best])


MULTI_HOP: tuple[Template, ...] = (
    other_of_extreme,
    share_of_total,
    average_of_top,
    needed_to_reach,
)
RANKING: tuple[Template, ...] = (nth, place_of, first_three, group_extreme)
