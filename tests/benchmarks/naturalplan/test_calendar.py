import pytest

from sero.benchmarks.naturalplan.calendar import NO_SLOT, read, read_official


@pytest.mark.parametrize(
    ("text", "careful", "official"),
    [
        (
            "Here is the proposed time: Monday, 13:30 - 14:30 ",
            "Monday, 13:30 - 14:30",
            ("Monday", 13.5, 14.5),
        ),
        ("Monday, 09:30 - 10:00", "Monday, 9:30 - 10:00", ("Monday", 9.5, 10.0)),
        ("**Tuesday, 11:00 – 12:00**", "Tuesday, 11:00 - 12:00", NO_SLOT),
        ("**Tuesday**, 11:00—12:00.", "Tuesday, 11:00 - 12:00", NO_SLOT),
        ("Tuesday, 11:00-12:00", "Tuesday, 11:00 - 12:00", NO_SLOT),
        # the published code takes any minutes but 30 for the full hour
        ("Tuesday, 11:15 - 12:15", "Tuesday, 11:15 - 12:15", ("Tuesday", 11.0, 12.0)),
        # rejected before the marker, alternative behind it
        (
            "Not Friday, 8:00 - 8:30.\nHere is the proposed time: Monday, 9:30 - 10:00\n"
            "Another option: Friday, 9:00 - 9:30",
            "Monday, 9:30 - 10:00",
            ("Friday", 8.0, 8.5),
        ),
        # the last marker that a slot follows
        (
            "Here is the proposed time: Monday, 9:00 - 9:30. No, wait.\n"
            "Here is the proposed time: Monday, 9:30 - 10:00\n"
            "SOLUTION: see the proposed time: above",
            "Monday, 9:30 - 10:00",
            ("Monday", 9.0, 9.5),
        ),
        (
            "Monday, 8:00 - 8:30? SOLUTION: Monday, 9:30 - 10:00",
            "Monday, 9:30 - 10:00",
            ("Monday", 8.0, 8.5),
        ),
        (
            "Here is the proposed time: Friday, 8:00 - 8:30. It clashes.\n"
            "SOLUTION: Monday, 9:30 - 10:00",
            "Monday, 9:30 - 10:00",
            ("Friday", 8.0, 8.5),
        ),
        (
            "Not Friday, 8:00 - 8:30.\n**Proposed Time:** Monday, 9:30 - 10:00",
            "Monday, 9:30 - 10:00",
            ("Friday", 8.0, 8.5),
        ),
        (
            "The proposed time: Monday, 9:30 - 10:00. Another solution: Friday, 8:00 - 8:30",
            "Monday, 9:30 - 10:00",
            ("Monday", 9.5, 10.0),
        ),
        (
            "SOLUTION: Monday, 9:30 - 10:00\nAlternative solution: Friday, 8:00 - 8:30",
            "Monday, 9:30 - 10:00",
            ("Monday", 9.5, 10.0),
        ),
        (
            "Not Friday, 8:00 - 8:30.\n### Solution: Monday, 9:30 - 10:00",
            "Monday, 9:30 - 10:00",
            ("Friday", 8.0, 8.5),
        ),
        ("__Monday, 9:30 - 10:00__", "Monday, 9:30 - 10:00", ("Monday", 9.5, 10.0)),
        # half of the day named behind a slot: it may only confirm the 24-hour clock
        ("Monday, 9:30 - 10:00 AM", "Monday, 9:30 - 10:00", ("Monday", 9.5, 10.0)),
        ("Monday, 11:30 - 12:30 PM", "Monday, 11:30 - 12:30", ("Monday", 11.5, 12.5)),
        ("Monday, 9:30 - 10:00 a month", "Monday, 9:30 - 10:00", ("Monday", 9.5, 10.0)),
        ("Monday, 9:30 - 10:00 PM", None, ("Monday", 9.5, 10.0)),
        ("Monday, 9:30 - 10:00 p.m.", None, ("Monday", 9.5, 10.0)),
        ("Monday, 12:00 - 12:30 AM", None, ("Monday", 12.0, 12.5)),
        ("\\boxed{Tuesday, 11:00 - 12:00}", "Tuesday, 11:00 - 12:00", ("Tuesday", 11.0, 12.0)),
        # other formats stay unread by both
        ("Monday 16:00 - 16:30", None, NO_SLOT),
        ("Monday, 12:30 PM - 1:00 PM", None, NO_SLOT),
        ("Monday, 13:30:00 - 14:30:00", None, NO_SLOT),
        ("Monday, March 4, 16:00 - 16:30", None, NO_SLOT),
        ("Fri, 11:00 - 11:30", None, ("Fri", 11.0, 11.5)),
        ("monday, 16:00 - 16:30", None, ("monday", 16.0, 16.5)),
        ("Monday, 16:30", None, NO_SLOT),
        ("No common slot exists.", None, NO_SLOT),
        ("", None, NO_SLOT),
    ],
)
def test_both_readers(text, careful, official):
    assert read(text) == careful
    assert read_official(text) == official


def test_the_canonical_answer_is_a_fixed_point():
    assert read(read("Here is the proposed time: Monday, 09:00 – 09:30") or "") == (
        "Monday, 9:00 - 9:30"
    )
