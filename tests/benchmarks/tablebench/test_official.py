import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sero.benchmarks.tablebench.official import normalised, read_official, score_official
from sero.benchmarks.tablebench.subtypes import Metric

EM, EM_10, ROUGE_L = Metric.EM, Metric.EM_10, Metric.ROUGE_L


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("Final Answer: 7", "7"),
        ("So.\nFinal Answer:  7  \nBye", " 7  "),
        ("The Final Answer: 7", "7"),
        ("Final Answer: 1\nFinal Answer: 2", "1"),
        ("<think>Final Answer: 1</think>Final Answer: 2", "1</think>Final Answer: 2"),
        ("final answer: 7", ""),
        ("Final Answer:7", ""),
        ("Final Answer:\n7", ""),
        ("Final Answer: \n7", ""),
        ("**Final Answer:** 7", ""),
        ("**Final Answer: 7**", "7**"),
        ("Final Answer: 7\r\n", "7\r"),
        ("7", ""),
        ("", ""),
    ],
)
def test_the_first_marker_of_the_raw_response_is_read(response, answer):
    assert read_official(response) == answer


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("The Big Sky", "big sky"),
        ("The Big-Sky", "bigsky"),
        ("  a  B,c  ", "bc"),
        ("-10.60%", "1060"),
        ("−5.5", "−55"),
        ("An A the", ""),
        ("Anna at theatre", "anna at theatre"),
    ],
)
def test_normalisation(text, key):
    assert normalised(text) == key


@pytest.mark.parametrize(
    ("gold", "answer", "metric", "value"),
    [
        ("10.6", "106", EM, 1.0),
        ("10.6", "10.60", EM, 0.0),
        ("10.6", "10,6", EM, 1.0),
        ("-5.5", "5.5", EM, 1.0),
        ("1062", "1.062e3", EM, 0.0),
        ("1062", "0001062", EM, 1.0),
        ("2500", "25e2", EM, 1.0),
        ("a, b", "a b", EM, 1.0),
        ("a, b", "a,b", EM, 0.0),
        ("a, b", "a", EM, 0.0),
        ("A", "", EM, 1.0),  # both sides are empty
        ("-", "?", EM, 1.0),
        ("7", "nan", EM, 0.0),
        ("7", "snan", EM, 0.0),
        ("7", "inf", EM, 0.0),
        ("7", "1e999999999999999999999", EM, 0.0),
        ("9" * 29, "9" * 29, EM, 0.0),  # too long for 28 digits: the gold itself fails
        ("9" * 29, "9" * 29, EM_10, 1.0),
        ("٣", "3", EM, 1.0),  # digits of any script
        ("250", "275", EM_10, 1.0),
        ("250", "276", EM_10, 0.0),
        ("250", "225", EM_10, 1.0),
        ("250", "-250", EM_10, 1.0),
        ("12.41", "12.9", EM_10, 0.0),
        ("0", "0", EM_10, 1.0),
        ("0", "1", EM_10, 0.0),
        ("0", "nan", EM_10, 0.0),
        ("250", "nan", EM_10, 0.0),
        ("250", "infinity", EM_10, 0.0),
        ("250", "", EM_10, 0.0),
        ("Weak, 0.4", "weak 04", EM_10, 1.0),
        ("Weak, 0.40", "Weak, 0.41", EM_10, 0.0),
        ("the red kiosk", "red kiosk", ROUGE_L, 1.0),
        ("red kiosk", "", ROUGE_L, 0.0),
        ("r = 0.89", "r 0 89", ROUGE_L, 0.4),  # r 089 against r 0 89
    ],
)
def test_verdicts_with_their_faults(gold, answer, metric, value):
    assert score_official(gold, answer, metric) == pytest.approx(value)


@settings(deadline=None, max_examples=200)
@given(gold=st.text(), answer=st.text(), metric=st.sampled_from(list(Metric)))
def test_total(gold, answer, metric):
    assert 0.0 <= score_official(gold, answer, metric) <= 1.0
    assert isinstance(read_official(answer), str)
