"""Word problems that take one step, made from templates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

LARGEST: Mapping[int, int] = {1: 9, 2: 20, 3: 50, 4: 99, 5: 999}
"""The largest number in a problem, by difficulty; the smallest is 2."""

SMALLEST = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A problem and its answer; `key` names the template and the numbers."""

    key: str
    operation: str
    question: str
    answer: int


_GOLD: Mapping[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
}

TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "add": (
        "Tom has {a} apples. He buys {b} more apples. How many apples does Tom have now?",
        "There are {a} red cups and {b} blue cups on a shelf. How many cups are on the shelf?",
        "Mia reads {a} pages in the morning and {b} pages at night. How many pages does she read?",
        "A bus carries {a} people. At a stop {b} people get on. How many people are on the bus?",
    ),
    "subtract": (
        "Anna has {a} coins. She gives away {b} coins. How many coins does she have left?",
        "A baker makes {a} pies and sells {b} of them. How many pies are left?",
        "There are {a} birds in a tree. Then {b} birds fly away. How many birds are still there?",
        "Leo has {a} eggs and breaks {b} of them. How many whole eggs does Leo have?",
    ),
    "multiply": (
        "There are {a} boxes with {b} pencils in each box. How many pencils are there in all?",
        "A ticket costs {b} dollars. How many dollars do {a} tickets cost?",
        "Nina walks {b} miles every day. How many miles does she walk in {a} days?",
        "A garden has {a} rows with {b} plants in each row. How many plants are in the garden?",
    ),
}


def number_of_problems(difficulty: int) -> int:
    """How many different problems there are."""
    n = LARGEST[difficulty] - SMALLEST + 1
    # a > b, but for a = 2b with b from the smallest number on
    differences = n * (n - 1) // 2 - max(0, LARGEST[difficulty] // 2 - SMALLEST + 1)
    pairs = {"add": n * n, "subtract": differences, "multiply": n * n}
    return sum(pairs[operation] * len(texts) for operation, texts in TEMPLATES.items())


def make_problems(n: int, *, rng: np.random.Generator, difficulty: int) -> list[Problem]:
    """`n` different problems, the operations taking turns while they have any left.

    No answer is one of the numbers in its question, so repeating those never answers it.

    Raises:
        ValueError: there are not that many.
    """
    if n > number_of_problems(difficulty):
        raise ValueError(f"{number_of_problems(difficulty)} problems at most, {n} wanted")
    high = LARGEST[difficulty]
    operations = list(TEMPLATES)
    made: dict[str, Problem] = {}
    turn = 0
    while len(made) < n:
        operation = operations[turn % len(operations)]
        turn += 1
        template = int(rng.integers(len(TEMPLATES[operation])))
        a, b = (int(x) for x in rng.integers(SMALLEST, high, size=2, endpoint=True))
        if operation == "subtract" and a < b:
            a, b = b, a
        answer = _GOLD[operation](a, b)
        key = f"{operation}-{template}-{a}-{b}"
        if key in made or answer in (0, a, b):
            continue
        made[key] = Problem(
            key=key,
            operation=operation,
            question=TEMPLATES[operation][template].format(a=a, b=b),
            answer=answer,
        )
    return list(made.values())
