import hashlib
import json
from collections import Counter

import pytest

from sero.benchmarks.generate.planning import generate_naturalplan, verify
from sero.benchmarks.naturalplan.prompts import GROUPS, group_of
from sero.benchmarks.naturalplan.trip import total_days

DIFFICULTIES = (1, 2, 3, 4, 5)


def gold_response(item):
    plan = item["golden_plan"]
    return plan if isinstance(plan, str) else "SOLUTION: " + " ".join(plan)


def test_the_kinds_take_turns():
    items = generate_naturalplan(7, seed=0, difficulty=1)
    assert [item["task"] for item in items] == [GROUPS[i % 3] for i in range(7)]
    assert [item["example_id"] for item in items[:2]] == [
        "trip_planning_generated_0",
        "calendar_scheduling_generated_1",
    ]
    assert generate_naturalplan(0, seed=0, difficulty=1) == []


def test_a_longer_list_begins_with_the_shorter_one():
    long = generate_naturalplan(30, seed=3, difficulty=2)
    assert generate_naturalplan(11, seed=3, difficulty=2) == long[:11]
    other = generate_naturalplan(30, seed=4, difficulty=2)
    assert not {i["prompt_0shot"] for i in long} & {i["prompt_0shot"] for i in other}


def test_items_are_pinned_to_the_byte():
    """A change of wording or of a draw changes every figure measured on generated items."""
    found = {}
    for difficulty in DIFFICULTIES:
        items = generate_naturalplan(30, seed=0, difficulty=difficulty)
        found[difficulty] = hashlib.sha256(json.dumps(items).encode()).hexdigest()[:12]
    assert found == {
        1: "d5be7cc24922",
        2: "a2cab6e4a117",
        3: "8444ddf02dc6",
        4: "055966756b24",
        5: "39afc40eab56",
    }


def test_all_prompts_are_different():
    items = generate_naturalplan(3000, seed=0, difficulty=1)
    assert len({item["prompt_0shot"] for item in items}) == 3000


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_items_read_like_the_published_ones(naturalplan, difficulty):
    careful, official = naturalplan(), naturalplan(scorer="official")
    items = generate_naturalplan(60, seed=1, difficulty=difficulty)
    for item in items:
        assert group_of(item["prompt_0shot"]) == item["task"]
        task = careful.task_from_data(item)
        assert group_of(task.prompt) == item["task"]
        if item["task"] == "trip_planning":
            stays = task.reference["durations"]
            assert total_days(task.prompt) == sum(stays) - len(stays) + 1
        for benchmark in (careful, official):
            parsed = benchmark.parse(task.prompt, gold_response(item))
            assert benchmark.score(parsed, task).value == 1.0
        assert verify(item, gold_response(item))
        assert not verify(item, "I do not know.")
        assert json.loads(json.dumps(item)) == item


def test_the_schema_is_the_published_one():
    trip, calendar, meeting = generate_naturalplan(3, seed=0, difficulty=3)
    shared = {"example_id", "task", "prompt_0shot", "golden_plan"}
    texts = {"num_cities", "cities", "durations"}
    assert trip.keys() == shared | texts
    assert {type(trip[name]) for name in texts | {"golden_plan"}} == {str}
    texts = {"num_people", "num_days", "duration"}
    assert calendar.keys() == shared | texts
    assert {type(calendar[name]) for name in texts | {"golden_plan"}} == {str}
    assert calendar["duration"] in ("0.5", "1")
    assert meeting.keys() == shared | {"num_people", "constraints", "dist_matrix"}
    assert type(meeting["num_people"]) is int
    assert {type(step) for step in meeting["golden_plan"]} == {str}
    assert [len(row) for row in meeting["constraints"]] == [2, *[4] * meeting["num_people"]]


@pytest.mark.parametrize(
    ("difficulty", "cities", "people", "days", "friends"),
    [
        (1, {3, 4}, {2, 3}, {1}, {2, 3}),
        (3, {6, 7}, {3, 4, 5}, {2, 3}, {4, 5}),
        (5, {9, 10}, {5, 6, 7}, {4, 5}, {6, 7}),
    ],
)
def test_difficulty_sets_the_size(difficulty, cities, people, days, friends):
    found = Counter()
    for item in generate_naturalplan(90, seed=2, difficulty=difficulty):
        for name in ("num_cities", "num_people", "num_days"):
            if name in item:
                found[item["task"], name, int(item[name])] += 1

    def sizes(task, name):
        return {n for which, field, n in found if (which, field) == (task, name)}

    assert sizes("trip_planning", "num_cities") == cities
    assert sizes("calendar_scheduling", "num_people") == people
    assert sizes("calendar_scheduling", "num_days") == days
    assert sizes("meeting_planning", "num_people") == friends
