"""A day worked by hand: from the Mill at 9:00AM, 10 minutes to the Quay, 20 on to the Park.

Ann is at the Quay from 9:30AM to 11:00AM and wants 45 minutes; Bob is at the Park from 8:00AM to
10:50AM and wants 15. Wait until 9:30AM, Ann until 10:15AM, at the Park 10:35AM, Bob until 10:50AM:
both can be met, with no minute to spare.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sero.benchmarks.naturalplan.meeting import (
    Meet,
    Travel,
    Wait,
    answer_text,
    clock,
    clock_text,
    day_of,
    gold_steps,
    read,
    read_steps,
    simulate,
    window_of,
)

CONSTRAINTS = [
    ["Mill", "9:00AM"],
    ["Ann", "Quay", "9:30AM to 11:00AM", 45],
    ["Bob", "Lord's Park", "8:00AM to 10:50AM", 15],
]
MATRIX = {
    "Mill": {"Quay": 10, "Lord's Park": 25},
    "Quay": {"Mill": 11, "Lord's Park": 20},
    "Lord's Park": {"Mill": 26, "Quay": 21},
}
DAY = day_of(CONSTRAINTS, MATRIX)
STEPS = (
    "You start at Mill at 9:00AM. You travel to Quay in 10 minutes and arrive at 9:10AM. You wait "
    "until 9:30AM. You meet Ann for 45 minutes from 9:30AM to 10:15AM. You travel to Lord's Park "
    "in 20 minutes and arrive at 10:35AM. You meet Bob for 15 minutes from 10:35AM to 10:50AM."
)


def valid(text):
    steps, _ = read(text)
    return None if steps is None else simulate(steps, DAY)[0]


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("9:00AM", 540),
        ("12:00AM", 0),
        ("12:30PM", 750),
        ("1:05pm", 785),
        ("09:05 AM", 545),
        ("9:5AM", 545),  # as the published clock reads it
        ("13:00PM", None),
        ("9:60AM", None),
        ("9AM", None),
        ("9:00", None),
    ],
)
def test_the_clock(text, minutes):
    assert clock(text) == minutes


@given(st.integers(0, 1439))
def test_the_clock_reads_what_it_writes(minutes):
    assert clock(clock_text(minutes)) == minutes


def test_windows():
    assert window_of("2:45PM to 5:30PM") == (885, 1050)
    assert window_of("14:45 to 17:30") is None
    assert window_of("2:45PM") is None


def test_steps_are_read_in_their_four_forms():
    assert read("SOLUTION: " + STEPS)[0] == (
        Travel("Quay"),
        Wait(570),
        Meet("Ann", 45),
        Travel("Lord's Park"),
        Meet("Bob", 15),
    )


@pytest.mark.parametrize(
    "text",
    [
        STEPS,
        "SOLUTION: " + STEPS,
        "SOLUTION:\n" + STEPS.replace(". ", ".\n"),
        "I compared orders.\n\nSOLUTION: " + STEPS,
        "**SOLUTION:** " + STEPS,
        "__SOLUTION:__ " + STEPS,
        'SOLUTION: "' + STEPS + '"',
        "```\nSOLUTION: " + STEPS + "\n```",
        "SOLUTION:\n```text\n" + STEPS + "\n```\nDone.",
        "SOLUTION: You start at Nowhere. You fly.\nSOLUTION: " + STEPS,  # the last marker
        "SOLUTION: " + STEPS + "\nSOLUTION: see above",  # that a plan follows
        STEPS.replace("Lord's", "Lord’s"),
        STEPS.replace("AM", "am"),
        STEPS.replace("AM", " AM"),
        STEPS.replace("10 minutes", "1 minutes"),  # the matrix counts
        STEPS.replace("from 9:30AM to 10:15AM", "from 1:00AM to 1:05AM"),  # the clock is run
        STEPS.replace("start at Mill", "start at Atlantis"),  # the item says where
        STEPS.replace("Ann for 45 minutes", "Ann for 46 minutes"),
        STEPS.replace("Ann for 45 minutes", "Ann for 1 hour"),
        STEPS.replace("Ann for 45 minutes", "Ann for 0 hours and 45 minutes"),
        STEPS.replace("Ann for 45 minutes", "Ann for 0 hours, 45 minutes"),
        STEPS.replace("Ann for 45 minutes", "Ann for half an hour and a half"),
        STEPS.replace("Ann for 45 minutes", "Ann for 0 hours and a half"),  # no length is read
        STEPS.replace(" for 15 minutes from 10:35AM to 10:50AM", ""),
        STEPS + " You travel home.",
        STEPS + " You meet Bob for 15 minutes.",
        STEPS + " Enjoy your evening. You wait until 11:59PM.",
        STEPS.replace("You travel to Quay", "You travel to Mill in 0 minutes. You travel to Quay"),
    ],
)
def test_plans_that_meet_both(text):
    assert valid(text) == 2


@pytest.mark.parametrize(
    ("text", "n", "stop"),
    [
        (STEPS.replace("Ann for 45", "Ann for 1"), 0, "met for 1 of 45 minutes"),
        (STEPS.replace("for 15 minutes", "for 0h 5m"), 1, "met for 5 of 15 minutes"),
        (STEPS.replace("to Quay", "to Atlantis"), 0, "no way from 'Mill' to 'Atlantis'"),
        (STEPS.replace("meet Bob", "meet Zed"), 1, "nobody is called 'Zed'"),
        (STEPS.replace("meet Bob", "meet Ann"), 1, "Ann is met twice"),
        (STEPS.replace("until 9:30AM", "until 8:00AM"), 0, "wait until 8:00AM goes back"),
        (STEPS.replace("until 9:30AM", "until 9:10AM"), 0, "wait until 9:10AM goes back"),
        (STEPS.replace("until 9:30AM", "until 9:31AM"), 1, "Bob cannot be met at 10:36AM"),
        (STEPS.replace("You wait until 9:30AM. ", ""), 0, "Ann cannot be met at 9:10AM"),
        (STEPS.replace("You travel to Lord's Park", "You fly"), 1, ""),
        (
            STEPS.replace("You travel to Lord's Park in 20", "You start in 20"),
            1,
            "Bob is not at Quay",
        ),
        ("SOLUTION: You start at Mill.", 0, ""),
    ],
)
def test_the_first_violation_ends_the_day(text, n, stop):
    steps, _ = read(text)
    count, why = simulate(steps, DAY)
    assert count == n
    assert stop in why


@pytest.mark.parametrize(
    "text",
    [
        "",
        "SOLUTION:",
        "SOLUTION: It is impossible to meet anyone.",
        "Here is my plan. " + STEPS,
        "SOLUTION:\n1. " + STEPS.replace(". ", ".\n2. "),
        "SOLUTION:\n- " + STEPS.replace(". ", ".\n- "),
        "SOLUTION: " + STEPS.lower(),
        'SOLUTION: [{"step": "You start at Mill at 9:00AM."}]',
    ],
)
def test_what_does_not_begin_with_a_step_is_no_answer(text):
    steps, reason = read(text)
    assert steps is None
    assert "SOLUTION:" in reason


def test_gold_is_a_list_of_sentences():
    gold = [f"{step}." for step in STEPS.rstrip(".").split(". ")]
    assert simulate(gold_steps(gold), DAY) == (2, "")


TOKENS = ["You travel to ", "You wait until ", "You meet ", "You start", " in ", " for ", "9:30AM"]
TOKENS += [". ", ".", "5 minutes", "Ann", "for", "in", "é", "’", "  ", "\n", "SOLUTION:", "*"]


@given(st.lists(st.sampled_from(TOKENS)).map("".join))
def test_the_canonical_answer_reads_back_to_the_same_steps(text):
    steps, _ = read(text)
    if steps is not None:
        assert read_steps(answer_text(steps)) == steps
