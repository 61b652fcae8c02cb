import pytest
from hypothesis import given
from hypothesis import strategies as st

from sero.skillworld import text
from sero.skillworld.world import Case

CASE = Case(
    id="test-012",
    group="g04",
    required=(4, 0, 2),
    right=("4821", "3310", "9999"),
    wrong=("1000", "1001", "1002"),
)
SHEET = "abcdefghijkl"


def test_the_prompt_names_case_order_and_format():
    assert text.case_prompt(CASE) == (
        "Ledger case test-012 asks for three facts. Each builds on the one before it: "
        "c4, then c0, then c2.\n\n"
        "Every fact is a number of four digits. End your reply with one line in this format:\n"
        "Answer: c4 = <number>; c0 = <number>; c2 = <number>"
    )
    assert text.read_case_id(text.case_prompt(CASE)) == "test-012"
    assert text.read_asked(text.case_prompt(CASE)) == (4, 0, 2)
    assert text.read_answer(text.case_prompt(CASE)) == {}  # the format is no answer
    assert text.fill("{a} {b}", a="{b}") == "{b} {b}"


def test_messages_are_read_back():
    written = text.write_message(SHEET, CASE, [1, 0, -1])
    assert written == "Sheet abcdefghijkl, case test-012\nc4 = 4821\nc2 = 1002"
    message = text.read_message(written)
    assert message == text.Message(SHEET, "test-012", {4: "4821", 2: "1002"})
    assert text.signs_of(message.facts, CASE) == [1, 0, -1]


def test_a_silent_message_and_a_setup_message_state_nothing():
    for written in (text.write_message(SHEET, CASE, [0, 0, 0]), text.write_setup(SHEET, CASE)):
        assert text.read_message(written) == text.Message(SHEET, "test-012", {})
    assert text.write_setup(SHEET, CASE).endswith("Setup: c4 then c0 then c2")


def test_answers_and_reports():
    answer = text.write_answer(SHEET, CASE, ["4821", "1001", "9999"])
    assert answer == "Sheet abcdefghijkl, case test-012\nAnswer: c4 = 4821; c0 = 1001; c2 = 9999"
    assert text.read_answer(answer) == {4: "4821", 0: "1001", 2: "9999"}
    assert len(answer) < 200  # the observation embeds the first 200 characters
    report = text.write_report(SHEET, CASE, [0, 1, 0])
    assert report == "VERDICT: revise\nSheet abcdefghijkl, case test-012\nc0 = 3310"
    assert text.read_message(report) == text.Message(SHEET, "test-012", {0: "3310"})
    assert text.write_report(SHEET, CASE, [0, 0, 0]).splitlines()[0] == "VERDICT: ok"


@pytest.mark.parametrize(
    ("written", "facts"),
    [
        ("Answer: c4 = 1111; c0 = 2222\nAnswer: c4=3333, c0 =4444.", {4: "3333", 0: "4444"}),
        ("Answer: c4 = 1111\nc4 = 2222", {4: "1111"}),  # only the line itself
        ("Answer: c4 = 1111; c4 = 2222", {4: "2222"}),
        ("Answer: c4 = 11111; c0 = 222; c2 = ٣٣٣٣", {}),  # four ASCII digits, no more, no fewer
        ("c4 = 1111", None),
        ("", None),
    ],
)
def test_the_last_answer_line_counts(written, facts):
    assert text.read_answer(written) == facts


@pytest.mark.parametrize(
    ("facts", "signs"),
    [
        ({4: "4821", 0: "1001"}, [1, -1, 0]),
        ({4: "5555", 5: "4821"}, [-1, 0, 0]),  # any other value is wrong; c5 is not asked for
        ({}, [0, 0, 0]),
    ],
)
def test_signs(facts, signs):
    assert text.signs_of(facts, CASE) == signs


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("Work by method sheet abcdefghijkl.", "abcdefghijkl"),
        ("One line. Method sheet abc.\nmethod sheet def", "abc"),
        ("Work by method sheet 12.", None),
        ("no such thing", None),
    ],
)
def test_sheet_codes_in_a_card(written, code):
    assert text.read_sheet_code(written) == code


PIECES = st.sampled_from(
    [
        "Sheet ",
        "abcdefghijkl",
        ", case ",
        "test-1",
        "Answer:",
        " c4 = 4821",
        "; ",
        "\n",
        "VERDICT: ok",
    ]
)


@given(st.one_of(st.text(), st.lists(PIECES).map("".join)))
def test_readers_take_any_text(written):
    text.read_case_id(written)
    text.read_asked(written)
    text.read_answer(written)
    text.read_sheet_code(written)
    message = text.read_message(written)
    facts = message.facts if message else text.read_facts(written)
    assert all(len(value) == 4 and value.isascii() for value in facts.values())
