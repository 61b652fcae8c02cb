"""One diary is worked by hand: Ann and Ben, half an hour on Monday or Tuesday.

Monday: Ann 9:00-12:00, Ben 12:30-17:00, so 12:00-12:30 is left. Tuesday: Ann 9:00-16:00, Ben away
after 16:30, so 16:00-16:30 is left as well.
"""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sero.benchmarks.generate.calendar import WEEKDAYS, Limit, calendar_item, verify

HAND = {
    "prompt_0shot": (
        "TASK: You need to schedule a meeting for Ann and Ben for half an hour between the work "
        "hours of 9:00 to 17:00 on either Monday or Tuesday.\n\nTheir diaries:\nAnn is busy on "
        "Monday during 9:00 to 12:00, Tuesday during 9:00 to 10:00, 10:00 to 16:00;\nBen has "
        "appointments on Monday during 12:30 to 17:00;\n\nBen cannot make it on Tuesday after "
        "16:30. Name a time at which everybody can come.\nSOLUTION: "
    )
}
EARLIEST = {
    "prompt_0shot": HAND["prompt_0shot"].replace(
        "\nSOLUTION", " If more than one time is possible, the earliest is wanted.\nSOLUTION"
    )
}

ITEMS = st.builds(
    lambda seed, difficulty: calendar_item(random.Random(seed), difficulty=difficulty),
    st.integers(0, 10**6),
    st.integers(1, 5),
)


def slot(day, start, end):
    """Times in minutes after midnight."""
    return f"{day}, {start // 60}:{start % 60:02} - {end // 60}:{end % 60:02}"


@pytest.mark.parametrize(
    ("response", "valid", "earliest"),
    [
        ("Here is the proposed time: Monday, 12:00 - 12:30", True, True),
        ("Tuesday, 16:00 - 16:30", True, False),
        ("Monday, 12:00 - 13:00", False, False),  # too long
        ("Monday, 11:30 - 12:00", False, False),  # Ann is busy
        ("Monday, 12:15 - 12:45", False, False),  # Ben is busy
        ("Tuesday, 16:30 - 17:00", False, False),  # Ben is away
        ("Tuesday, 17:00 - 17:30", False, False),  # after work
        ("Monday, 8:30 - 9:00", False, False),  # before work
        ("Wednesday, 12:00 - 12:30", False, False),  # not an allowed day
        ("no time", False, False),
    ],
)
def test_the_verifier_reads_the_prompt(response, valid, earliest):
    assert verify(HAND, response) is valid
    assert verify(EARLIEST, response) is earliest


def test_another_prompt_is_refused():
    with pytest.raises(ValueError, match="states no meeting"):
        verify({"prompt_0shot": "When?"}, "Monday, 9:00 - 9:30")
    missing = HAND["prompt_0shot"].replace("Ben has", "He has")
    with pytest.raises(ValueError, match="no diary of Ben"):
        verify({"prompt_0shot": missing}, "Monday, 9:00 - 9:30")


@pytest.mark.parametrize(
    ("side", "hour", "excluded"),
    [("", 0, [18, 24, 33]), ("before", 24, [18, 23]), ("after", 24, [24, 33])],
)
def test_a_limit_excludes_a_day_or_its_hours(side, hour, excluded):
    limit = Limit(person="Ann", day="Monday", side=side, hour=hour)
    assert [c for c in (18, 23, 24, 33) if limit.excludes(("Monday", c))] == [
        c for c in (18, 23, 24, 33) if c in excluded or not side
    ]
    assert not limit.excludes(("Tuesday", 18))


@settings(deadline=None, max_examples=15)
@given(item=ITEMS)
def test_the_gold_is_the_only_answer(item):
    length = {"0.5": 30, "1": 60}[item["duration"]]
    # every quarter of an hour of every day, from eight to six
    found = [
        slot(day, start, start + length)
        for day in (*WEEKDAYS, "Sunday")
        for start in range(8 * 60, 18 * 60, 15)
        if verify(item, slot(day, start, start + length))
    ]
    assert found == [item["golden_plan"].removeprefix("Here is the proposed time: ")]


@settings(deadline=None, max_examples=40)
@given(item=ITEMS)
def test_the_item_is_that_of_its_prompt(item):
    prompt = item["prompt_0shot"]
    diaries = prompt.partition("Their diaries:\n")[2].partition("\n\n")[0].split("\n")
    assert item["num_people"] == str(len(diaries))
    assert 2 <= len(diaries) <= 7
    days = [day for day in WEEKDAYS if day in prompt.partition("Their diaries:")[0]]
    assert item["num_days"] == str(len(days))
    assert ("half an hour" in prompt) == (item["duration"] == "0.5")
    assert prompt.endswith("\nSOLUTION: ")
    assert item["golden_plan"] not in prompt


def mutants(gold):
    """The gold slot with one part changed, and whether the published code reads the change."""
    day, start, end = (
        gold.partition(", ")[0].rpartition(" ")[2],
        *(
            int(clock.split(":")[0]) * 60 + int(clock.split(":")[1])
            for clock in gold.partition(", ")[2].split(" - ")
        ),
    )
    for other in (*WEEKDAYS, "Sunday", "monday"):
        if other != day:
            yield slot(other, start, end), True
    for minutes in (-120, -60, -30, -15, 15, 30, 60, 120):
        # The published code takes 15 and 45 minutes past for the full hour.
        on_grid = minutes % 30 == 0
        yield slot(day, start + minutes, end), on_grid
        yield slot(day, start, end + minutes), on_grid
        yield slot(day, start + minutes, end + minutes), on_grid


@settings(deadline=None, max_examples=15)
@given(item=ITEMS)
def test_what_the_verifier_rejects_scores_zero(naturalplan, item):
    careful, official = naturalplan(), naturalplan(scorer="official")
    task = careful.task_from_data({**item, "task": "calendar_scheduling"})

    def value(benchmark, response):
        return benchmark.score(benchmark.parse(task.prompt, response), task).value

    gold = item["golden_plan"]
    assert verify(item, gold)
    assert value(careful, gold) == value(official, gold) == 1.0
    for response, read in mutants(gold):
        assert not verify(item, response)
        assert value(careful, response) == 0.0
        assert not read or value(official, response) == 0.0
