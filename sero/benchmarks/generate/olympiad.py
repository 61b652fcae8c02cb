"""Made-up competition problems in OlympiadBench's schema, with exact gold and a verifier.

Each family builds its problems from the solution backwards. The items are seeded, the same on
every machine, all different, and a longer draw begins with the shorter one.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import chain, zip_longest
from typing import Any

from sero.benchmarks.generate import (
    olympiad_algebra,
    olympiad_counting,
    olympiad_expressions,
    olympiad_fields,
    olympiad_geometry,
    olympiad_mechanics,
)
from sero.benchmarks.generate.olympiad_family import Family
from sero.errors import DataError
from sero.seeding import derive_seed

_MAX_TRIES = 2000
_BREAK = "\n"


def families() -> tuple[Family, ...]:
    """Every family, mathematics and physics taking turns as long as there are both."""
    maths = (
        *olympiad_algebra.FAMILIES,
        *olympiad_expressions.FAMILIES,
        *olympiad_counting.FAMILIES,
        *olympiad_geometry.FAMILIES,
    )
    physics = (*olympiad_mechanics.FAMILIES, *olympiad_fields.FAMILIES)
    return tuple(f for f in chain.from_iterable(zip_longest(maths, physics)) if f is not None)


def generate(n: int, *, seed: int, difficulty: int) -> list[dict[str, Any]]:
    """`n` items, spread evenly over the families.

    Raises:
        DataError: more items of a family than it has different ones at this difficulty.
    """
    known = families()
    streams = [random.Random(derive_seed(seed, "olympiad", f.name, difficulty)) for f in known]
    questions: set[str] = set()
    items: list[dict[str, Any]] = []
    for i in range(n):
        family, rng = known[i % len(known)], streams[i % len(known)]
        for _ in range(_MAX_TRIES):
            drawn = family.draw(rng, difficulty)
            text = family.text(drawn.holes)
            if text not in questions:
                break
        else:
            raise DataError(
                f"benchmark.generated: the problems of the family {family.name!r} repeat "
                f"themselves before {n} items are drawn; lower n or raise difficulty"
            )
        questions.add(text)
        # An item with a tolerance for each answer has a type for each as well.
        n_types = len((drawn.error or "").split(","))
        context, _, question = text.rpartition(_BREAK)
        items.append(
            {
                "id": i + 1,
                "subfield": family.subfield,
                "context": context or None,
                "question": question,
                "solution": [],
                "final_answer": [drawn.gold],
                "is_multiple_answer": family.several,
                "unit": family.unit,
                "answer_type": ",".join([family.answer_type] * n_types),
                "error": drawn.error,
            }
        )
    return items


def verify(item: Mapping[str, Any], answer: str) -> bool:
    """Whether an answer to a made-up item is right, found out from its question alone.

    Args:
        item: its question and context are read, and its tolerance; never its gold.
        answer: what would stand in the box.

    Raises:
        ValueError: the question is none of the generator's.
    """
    text = _BREAK.join(part for part in (item["context"], item["question"]) if part)
    tolerance = float((item["error"] or "0").split(",")[0])
    for family in families():
        holes = family.read(text)
        if holes is not None:
            try:
                return family.holds(holes, answer, tolerance)
            except (ValueError, OverflowError, ZeroDivisionError):
                return False  # not an answer of this kind
    raise ValueError(f"no family of problems asks {item['question']!r}")
