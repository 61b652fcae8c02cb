"""What counts as an answer to a toy question, and what does not."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sero.benchmarks.toy.reading import (
    answer_phrase,
    plain_number,
    read_capital,
    read_number,
    read_sentiment,
)

FORM = "Reply with one line: Answer: and the city."
READERS = (read_capital, read_sentiment, read_number)


def read(reader, response):
    return reader(answer_phrase(response, FORM)).answer


@pytest.mark.parametrize(
    ("response", "text", "marked"),
    [
        ("Answer: Rome", "Rome", True),
        ("answer : Rome\nThat is all.", "Rome", True),
        ("**Final Answer:** Rome", "Rome", True),
        ("Answer\uff1aRome", "Rome", True),
        ("Answer:\n\nRome\nIt is old.", "Rome", True),
        ("Answer: Bonn\nWait.\nAnswer: Rome", "Rome", True),  # the last one counts
        ("Answer: Bonn Answer: Rome", "Rome", True),
        ("Answer: Rome\nAnswer:", "Rome", True),  # nothing stands behind the last
        ("The answer is Bonn.\nAnswer: Rome", "Rome", True),
        ("Answer: Rome\nThe answer is well known.", "Rome", True),  # a colon says more than `is`
        ("So the answer is: Rome.", "Rome.", True),
        # The prompt's own words are no answer.
        ("Answer: Rome\n\nReply with one line: Answer: and the city.", "Rome", True),
        ("Answer: and the city", "Answer: and the city", False),
        ("It is Rome.", "It is Rome.", False),
        ("The answers: Rome", "The answers: Rome", False),
        ("", "", False),
    ],
)
def test_the_answer_line(response, text, marked):
    phrase = answer_phrase(response, FORM)
    assert (phrase.text, phrase.marked) == (text, marked)


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("Answer: Brasilia", "Brasília"),
        ("Answer: brasília.", "Brasília"),
        ("Answer: The capital of Brazil is Brasília.", "Brasília"),
        ("Brasília", "Brasília"),
        ("The capital of Brazil is Brasília.", "Brasília"),
        ("Answer: Washington DC", "Washington, D.C."),
        ("Answer: Washington, D.C.", "Washington, D.C."),
        ("Answer: Kiev", "Kyiv"),
        ("Answer: Port au Prince", "Port-au-Prince"),
        ("Answer: Nuku\u02bbalofa", "Nuku'alofa"),
        ("Answer: N\u2019Djamena", "N'Djamena"),
        ("Answer: Santiago", "Santiago"),
        ("Answer: Santiago de Cuba", "Santiago de Cuba"),  # another city, not Chile's capital
        ("London is in England.\nAnswer: Rome", "Rome"),  # the answer line decides
        # Two cities, in whatever words, are no answer; nor is a guess or a denial.
        ("Answer: Canberra or Sydney", None),
        ("Answer: Canberra (not Sydney)", None),
        ("Answer: Canberra, Sydney", None),
        ("It is Canberra. Sydney is larger.", None),
        ("Answer: not Canberra", None),
        ("Answer: I don't know, Canberra?", None),
        ("Answer: Canberra or Wagga Wagga", None),
        ("Answer: maybe Canberra", None),
        # A city nobody knows is a wrong answer if it is given as one.
        ("Answer: Wagga Wagga", "wagga wagga"),
        ("It is Wagga Wagga.", None),
        ("Answer: ...", None),
        ("", None),
    ],
)
def test_capitals(response, answer):
    assert read(read_capital, response) == answer


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("Answer: positive", "positive"),
        ("Answer: **Negative**.", "negative"),
        ("Answer: The review is negative", "negative"),
        ("Positive\n\nThe staff was kind.", "positive"),
        ("This review is negative.", "negative"),
        ("The words are positive at first.\nAnswer: negative", "negative"),
        ("Answer: positive or negative", None),
        ("Answer: positive, not negative", None),
        ("Is it positive or negative? It is positive.", None),
        ("Answer: not positive", None),
        ("This is not a positive review.", None),
        ("It isn\u2019t positive", None),
        ("Answer: non-positive", None),
        ("Answer: neutral, positive", None),
        ("Answer: good", None),
        ("Answer: positively", None),
        ("", None),
    ],
)
def test_sentiment(response, answer):
    assert read(read_sentiment, response) == answer


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("Answer: 7", "7"),
        ("Answer: 7.", "7"),
        ("Answer: 7.00", "7"),
        ("Answer: $7", "7"),
        ("Answer: $7$", "7"),
        ("Answer: \\boxed{7}", "7"),
        ("Answer: **7** apples", "7"),
        ("Answer: 3 + 4 = 7", "7"),
        ("Answer: 3+4=7 apples", "7"),
        ("Answer: 3 apples and 4 apples make 7", "7"),
        ("Answer: 2 * 4 = 8", "8"),
        ("Answer: 1,024", "1024"),
        ("Answer: -3", "-3"),
        ("Answer: 3 - 6 = -3", "-3"),
        ("Answer: \u22123", "-3"),
        ("Answer: 007", "7"),
        ("3 + 4 = 9\nAnswer: 7", "7"),
        ("7", "7"),
        ("7 apples", "7"),
        ("Tom has 7 apples.", "7"),
        ("Tom has 3 apples and buys 4.\n3 + 4 = 7", "7"),
        ("3 apples + 4 apples = 7 apples", "7"),
        # A calculation without its result, a choice, a share or a range is no number.
        ("Answer: 8 - 4", None),
        ("Answer: 8-4", None),
        ("Answer: 2 * 4", None),
        ("Answer: 2 x 4", None),
        ("Answer: 8/2", None),
        ("Answer: 3 plus 4", None),
        ("Answer: 7 = 3 + 4", None),
        ("Answer: 7 or 8", None),
        ("Answer: not 7", None),
        ("Answer: 7%", None),
        ("Answer: 3,4", None),
        ("Answer: 1.2.3", None),
        ("Answer: 7th", None),
        ("Answer: seven", None),
        # Without a marker the question's own numbers must not pass for an answer.
        ("Tom has 8 apples and gives away 4.", None),
        ("There are 8 apples.\nHe gives away 4.", None),
        ("There are 8 - 4 apples.", None),
        ("8 - 4 =", None),
        ("8 - 4 = 2 + 2", None),
        ("", None),
    ],
)
def test_numbers(response, answer):
    assert read(read_number, response) == answer


@pytest.mark.parametrize(
    ("written", "plain"),
    [("+7", "7"), ("-0", "0"), ("-0.0", "0"), ("0.50", "0.5"), ("12,000.10", "12000.1")],
)
def test_one_spelling_for_one_number(written, plain):
    assert plain_number(written) == plain


@settings(deadline=None, max_examples=200)
@given(
    st.text(alphabet=st.sampled_from("answer:is 0123456789.,+-*=/\n%positvngParis"), max_size=80)
)
def test_reading_is_total(response):
    phrase = answer_phrase(response, FORM)
    for reader in READERS:
        reading = reader(phrase)
        assert (reading.answer is None) == bool(reading.reason)


@pytest.mark.parametrize(
    "text",
    [
        "answer:\n" * 14_000,
        "answer is " * 10_000,
        "Answer: " + "1" * 100_000,
        "Answer: " + "1," * 50_000,
        "Answer: " + "1,000" * 20_000 + "x",
        "Answer: " + "1." * 50_000,
        "Answer: " + "8 - " * 25_000,
        "2*" * 50_000,
        "Paris " * 17_000,
        "Santiago de los " * 6_000,
        "answer" + " " * 100_000,
    ],
)
def test_long_texts_are_read_at_once(text):
    started = time.process_time()
    phrase = answer_phrase(text, FORM)
    for reader in READERS:
        reader(phrase)
    assert time.process_time() - started < 1.5
