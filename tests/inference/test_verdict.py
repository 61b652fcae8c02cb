"""A verdict is a first line; nothing else in a reply is one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sero.inference.verdict import Verdict, first_verdict

WORDS = ("stop", "continue")


@pytest.mark.parametrize(
    ("reply", "word", "rest"),
    [
        ("VERDICT: stop\nAnswer: 3", "stop", "Answer: 3"),
        ("VERDICT: continue", "continue", ""),
        ("\n\n  verdict: Stop", "stop", ""),
        ("**VERDICT: stop**\n\nAnswer: 3\nwith care\n", "stop", "Answer: 3\nwith care"),
        ("## VERDICT: `stop`. Answer: 3", "stop", "Answer: 3"),
        ("VERDICT: stop\n**Day 1-3:** Atown", "stop", "**Day 1-3:** Atown"),  # its own markup stays
        ("VERDICT: stop: -5", "stop", "-5"),
        ("VERDICT: stop\r\nAnswer: 3", "stop", "Answer: 3"),
        ("VERDICT: stop\nVERDICT: continue", "stop", "VERDICT: continue"),
    ],
)
def test_a_word_and_what_stands_behind_it(reply, word, rest):
    assert first_verdict(reply, WORDS) == Verdict(word, rest)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        " \n\t",
        "stop",
        "VERDICT:",
        "VERDICT: halt",
        "VERDICT: stopped",
        "VERDICT stop",
        "The VERDICT: stop",
        "Answer: 3\nVERDICT: stop",
        "VERDICT:\nstop",
        '{"VERDICT": "stop"}',
        "*" * 40 + "VERDICT: stop",
        "VERDICT: ok",
    ],
)
def test_anything_else_is_none(reply):
    assert first_verdict(reply, WORDS) is None


@given(st.text(), st.sampled_from(["", "VERDICT: stop", "VERDICT:", "\nverdict: continue "]))
def test_any_text_is_read(text, before):
    found = first_verdict(before + text, WORDS)
    assert found is None or (found.word in WORDS and found.rest in before + text)
