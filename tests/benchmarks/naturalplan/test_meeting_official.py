"""The published simulation on the day of `test_meeting.py`: Ann 9:30-10:15, Bob 10:35-10:50."""

import pytest

from sero.benchmarks.naturalplan.meeting_official import read_official, simulate_official

CONSTRAINTS = (
    ("Mill", "9:00AM"),
    ("Ann", "Quay", "9:30AM to 11:00AM", 45),
    ("Bob", "Lord's Park", "8:00AM to 10:50AM", 15),
)
MATRIX = {"Mill": {"Quay": 10}, "Quay": {"Lord's Park": 20}, "Lord's Park": {"Quay": 21}}
STEPS = (
    "You start at Mill at 9:00AM. You travel to Quay in 10 minutes and arrive at 9:10AM. You wait "
    "until 9:30AM. You meet Ann for 45 minutes from 9:30AM to 10:15AM. You travel to Lord's Park "
    "in 20 minutes and arrive at 10:35AM. You meet Bob for 15 minutes from 10:35AM to 10:50AM."
)


def count(text):
    return simulate_official(read_official(text), CONSTRAINTS, MATRIX)


def test_text_behind_the_first_marker_is_split_at_periods():
    assert read_official("a. SOLUTION: b. c . SOLUTION: d") == ["b", "c", "SOLUTION: d"]
    assert read_official("a. b.") == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "n"),
    [
        (STEPS, 2),
        ("Thoughts. SOLUTION: " + STEPS, 2),
        (STEPS.replace("Ann for 45", "Ann for 1"), 2),  # the claimed length is not read
        (STEPS.replace("AM", "am"), 2),
        (STEPS + " You meet Bob.", 2),
        (STEPS + " Bye.", 2),
        (STEPS.replace("until 9:30AM", "until 9:30 AM"), 0),
        (STEPS.replace("until 9:30AM", "until 9:10AM"), 0),
        (STEPS.replace("until 9:30AM", "until 9:31AM"), 1),
        ("Here is my plan. " + STEPS, 0),
        ("**SOLUTION:** " + STEPS, 0),
        ("SOLUTION:\n1. " + STEPS, 0),
        ("", 0),
    ],
)
def test_valid_meetings(text, n):
    assert count(text) == n


@pytest.mark.parametrize(
    ("step", "error"),
    [
        ("You travel to Atlantis in 5 minutes.", KeyError),
        ("You travel to Mill in 0 minutes.", KeyError),
        ("You meet Zed for 5 minutes.", KeyError),
        ("You travel home.", IndexError),
        ("You wait.", IndexError),
        ("You meet.", IndexError),
    ],
)
def test_where_the_published_code_crashes(step, error):
    with pytest.raises(error):
        count(step)


def test_a_gold_list_keeps_its_periods():
    gold = [f"{step}." for step in STEPS.rstrip(".").split(". ")]
    assert simulate_official(gold, CONSTRAINTS, MATRIX) == 2
