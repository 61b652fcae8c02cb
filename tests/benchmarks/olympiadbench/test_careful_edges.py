r"""The end of an answer: marks go, commands stay whole."""

from __future__ import annotations

import time

import pytest

from sero.benchmarks.olympiadbench.careful_edges import without_end_marks


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("42", "42"),
        ("42 .,", "42"),
        (r"42\,", "42"),
        (r"42\;.", "42"),
        (r"42\ ", "42"),
        ("42\\", "42"),  # what is left of a control space
        (r"42.\\", "42"),
        (r"42~\quad\;\!", "42"),
        ("42!", "42!"),
        (r"a\_", r"a\_"),
        (r"\{1\}", r"\{1\}"),
        (r"1\\,", "1"),
        (r"\,", ""),
        ("", ""),
    ],
)
def test_marks_go_and_no_command_is_cut(text: str, left: str) -> None:
    assert without_end_marks(text, ".,_") == left


@pytest.mark.parametrize("run", ["\\", ",", r"\,", "\\quad", " ."])
def test_long_runs_cost_little(run: str) -> None:
    started = time.monotonic()
    assert without_end_marks("x" + run * 100_000, ".,") == "x"
    assert time.monotonic() - started < 10
