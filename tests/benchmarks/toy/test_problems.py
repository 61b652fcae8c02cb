"""The word problems against a reading of their own text."""

import re

import pytest

from sero.benchmarks.toy.problems import LARGEST, TEMPLATES, make_problems, number_of_problems
from sero.seeding import rng_for


@pytest.mark.parametrize("difficulty", [1, 2, 3, 4, 5])
def test_the_answer_follows_from_the_numbers_in_the_text(difficulty):
    problems = make_problems(60, rng=rng_for(3, "t"), difficulty=difficulty)
    assert len({p.question for p in problems}) == 60
    for problem in problems:
        x, y = (int(n) for n in re.findall(r"\d+", problem.question))
        assert 2 <= min(x, y) <= max(x, y) <= LARGEST[difficulty]
        expected = {"add": x + y, "subtract": x - y, "multiply": x * y}[problem.operation]
        assert problem.answer == expected
        assert problem.answer > 0
        assert problem.answer not in (x, y)


def test_operations_take_turns():
    problems = make_problems(30, rng=rng_for(0, "t"), difficulty=3)
    counts = [sum(p.operation == operation for p in problems) for operation in TEMPLATES]
    assert min(counts) >= 8


@pytest.mark.parametrize("difficulty", [1, 2])
def test_all_problems_can_be_had_and_no_more(difficulty):
    """Counted by a slow loop over all pairs of numbers."""
    numbers = range(2, LARGEST[difficulty] + 1)
    pairs = [(a, b) for a in numbers for b in numbers]
    differences = [(a, b) for a, b in pairs if a > b and a - b != b]
    templates = {operation: len(texts) for operation, texts in TEMPLATES.items()}
    expected = (templates["add"] + templates["multiply"]) * len(pairs)
    expected += templates["subtract"] * len(differences)
    assert number_of_problems(difficulty) == expected
    if difficulty == 1:
        made = make_problems(expected, rng=rng_for(0, "t"), difficulty=1)
        assert len({p.key for p in made}) == expected
    with pytest.raises(ValueError, match="at most"):
        make_problems(expected + 1, rng=rng_for(0, "t"), difficulty=difficulty)
