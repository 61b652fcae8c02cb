"""Data-analysis questions whose gold is one sentence: anomalies, causes, descriptions."""

from __future__ import annotations

import random
from collections.abc import Sequence

from sero.benchmarks.generate import table_wordings as wordings
from sero.benchmarks.generate.table_drafts import (
    HIGHEST,
    LOWEST,
    Draft,
    Template,
    every_row,
    group_column,
    number,
    the_extreme,
)
from sero.benchmarks.generate.table_frames import Frame, Kind, any_frame, entity_frame
from sero.benchmarks.generate.table_numbers import Unclear, root_places
from sero.benchmarks.generate.table_planted import (
    bounded_correlation,
    correlated,
    far_off,
    narrow,
)
from sero.benchmarks.generate.table_wordings import ask

ODD, CAUSES, DESCRIBE = "AnomalyDetection", "CausalAnalysis", "DescriptiveAnalysis"


def joined(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _narrow_frame(rng: random.Random, level: int) -> Frame:
    frame = entity_frame(rng, level, free=True)
    for column in frame.numbers:
        if min(column.units) < 0:
            raise Unclear("a column with negative values")
        frame = frame.with_column(narrow(rng, column))
    return frame


def odd_values(rng: random.Random, level: int) -> Draft:
    """None to three values far off, in different columns."""
    frame = _narrow_frame(rng, level)
    n = min(rng.choice((0, 1, 1, 2, 2, 3)), len(frame.numbers))
    found: dict[tuple[int, str], str] = {}
    for column in rng.sample(frame.numbers, n):
        row = rng.randrange(frame.n_rows)
        changed, side = far_off(rng, column, row)
        frame = frame.with_column(changed)
        found[row, column.header] = side
    question = ask(rng, ODD, "odd_values")
    return Draft(
        frame=frame,
        question=question,
        answer=_anomalies(frame, found),
        totals=False,
        whole=tuple(header for _, header in found),
    )


def odd_in_column(rng: random.Random, level: int) -> Draft:
    """None, one or two values far off in the column asked about."""
    frame = _narrow_frame(rng, level)
    column = number(rng, frame)
    found: dict[tuple[int, str], str] = {}
    for row in rng.sample(range(frame.n_rows), rng.choice((0, 1, 1, 2))):
        column, side = far_off(rng, column, row)
        found[row, column.header] = side
    frame = frame.with_column(column)
    slots = {"noun": frame.noun, "nouns": frame.nouns, "col": column.header}
    question = ask(rng, ODD, "odd_in_column", **slots)
    return Draft(frame=frame, question=question, answer=_anomalies(frame, found), totals=False)


def _anomalies(frame: Frame, found: dict[tuple[int, str], str]) -> str:
    """The sentence on the anomalies, by rows from top to bottom, then by columns."""
    items = [
        wordings.ANOMALY.format(
            col=column.header,
            value=column.shown(row),
            name=frame.labels[row],
            side=found[row, column.header],
        )
        for row in every_row(frame)
        for column in frame.numbers
        if (row, column.header) in found
    ]
    if not items:
        return wordings.NO_ANOMALY
    if len(items) == 1:
        return wordings.ONE_ANOMALY.format(items=items[0])
    count = wordings.COUNT_WORDS[len(items)]
    return wordings.ANOMALIES.format(count=count, items=joined(items))


def cause(rng: random.Random, level: int) -> Draft:
    frame = entity_frame(rng, level, free=True)
    column, target = rng.sample(frame.numbers, 2)
    r, low, high, sentence = rng.choice(
        (
            (0.9, 0.8, 1.0, wordings.CAUSE_UP),
            (-0.9, 0.8, 1.0, wordings.CAUSE_DOWN),
            (0.15, 0.1, 0.2, wordings.NO_CAUSE),
            (-0.15, 0.1, 0.2, wordings.NO_CAUSE),
        )
    )
    r += rng.uniform(-0.04, 0.04)
    made = correlated(rng, target, column.units, r, every_row(frame))
    squared, negative = bounded_correlation(column.units, made.units, low, high)
    slots = {"a": column.header, "col": target.header}
    question = ask(rng, CAUSES, "cause", nouns=frame.nouns, **slots)
    answer = sentence.format(r=root_places(squared, negative=negative), **slots)
    return Draft(frame=frame.with_column(made), question=question, answer=answer, totals=False)


def stronger_cause(rng: random.Random, level: int) -> Draft:
    frame = entity_frame(rng, level, numbers=3, free=True)
    strong, faint, target = rng.sample(frame.numbers, 3)
    coefficients = []
    for column, size, low, high in ((strong, 0.9, 0.8, 1.0), (faint, 0.2, 0.1, 0.3)):
        r = rng.choice((-1, 1)) * (size + rng.uniform(-0.05, 0.05))
        made = correlated(rng, column, target.units, r, every_row(frame))
        squared, negative = bounded_correlation(made.units, target.units, low, high)
        coefficients.append(root_places(squared, negative=negative))
        frame = frame.with_column(made)
    a, b = rng.sample((strong.header, faint.header), 2)
    question = ask(rng, CAUSES, "stronger_cause", a=a, b=b, col=target.header)
    answer = wordings.STRONGER_CAUSE.format(
        strong=strong.header,
        faint=faint.header,
        col=target.header,
        r=coefficients[0],
        s=coefficients[1],
    )
    return Draft(frame=frame, question=question, answer=answer, totals=False)


def _headers(frame: Frame) -> str:
    return joined(
        [c.header for c in frame.columns if c is not frame.key and c.kind is not Kind.ENTRY]
    )


def describe_rows(rng: random.Random, level: int) -> Draft:
    frame = any_frame(rng, level)
    column = number(rng, frame)
    high, low = (the_extreme(column.units, every_row(frame), word) for word in (HIGHEST, LOWEST))
    question = ask(rng, DESCRIBE, "describe_rows", col=column.header, nouns=frame.nouns)
    answer = wordings.ROWS_SENTENCE.format(
        n=frame.n_rows,
        nouns=frame.nouns,
        headers=_headers(frame),
        high=frame.labels[high],
        low=frame.labels[low],
        col=column.header,
        top=column.shown(high),
        bottom=column.shown(low),
    )
    return Draft(frame=frame, question=question, answer=answer)


def describe_groups(rng: random.Random, level: int) -> Draft:
    """Groups stand by size, largest first; equal sizes by their first row."""
    frame = any_frame(rng, level)
    groups = group_column(rng, frame)
    names = sorted(dict.fromkeys(groups.texts), key=groups.texts.count, reverse=True)
    if len(names) < 2:
        raise Unclear("one group only")
    question = ask(rng, DESCRIBE, "describe_groups", cat=groups.header, nouns=frame.nouns)
    answer = wordings.GROUPS_SENTENCE.format(
        n=frame.n_rows,
        nouns=frame.nouns,
        headers=_headers(frame),
        cat=groups.header,
        groups=joined([f"{groups.texts.count(name)} '{name}'" for name in names]),
    )
    return Draft(frame=frame, question=question, answer=answer)


ANOMALY: tuple[Template, ...] = (odd_values, odd_in_column)
CAUSAL: tuple[Template, ...] = (cause, stronger_cause)
DESCRIPTIVE: tuple[Template, ...] = (describe_rows, describe_groups)
