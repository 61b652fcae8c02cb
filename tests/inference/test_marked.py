"""Marks that no text holds, and texts cut alike."""

import re
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sero.inference import marked
from sero.inference.layout import TRIMMED
from sero.inference.marked import common_length, fitted, mark_for


@given(st.lists(st.text(max_size=60), min_size=1, max_size=4))
def test_no_text_holds_the_mark(texts):
    mark = mark_for(texts)
    assert re.fullmatch(r"[0-9a-f]{12}", mark)
    assert not any(mark in text for text in texts)
    assert mark_for(texts) == mark


def test_a_mark_that_a_text_holds_is_not_taken(monkeypatch):
    digests = iter(("a" * 64, "b" * 64))

    class Hashing:
        @staticmethod
        def sha256(_):
            return SimpleNamespace(hexdigest=lambda: next(digests))

    monkeypatch.setattr(marked, "hashlib", Hashing)
    assert mark_for([f"=== proposal 2 {'a' * 12} ==="]) == "b" * 12


def test_the_longest_are_cut_to_one_length():
    # 9, 7 and 2 characters, 6 too many: 5 + 5 + 2
    assert common_length([9, 2, 7], 6) == 5
    assert common_length([9, 2, 7], 2) == 7
    assert common_length([9, 2, 7], 3) == 6  # 1 of the first goes, and 1.. of both
    assert common_length([9, 2, 7], 18) == 0
    assert common_length([9, 2, 7], 99) == 0


@pytest.mark.parametrize(
    ("max_chars", "kept", "cut"),
    [
        (None, (100, 3, 60), 0),
        (170, (100, 3, 60), 0),  # 163 and the two blanks and the frame of five fit
        (140, (70, 3, 60), 1),  # 30 too many, all of them the longest text's
        (120, (55, 3, 55), 2),  # 50 too many: 100 and 60 to 55
    ],
)
def test_a_prompt_is_cut_in_its_texts_alone(max_chars, kept, cut):
    texts = ["a" * 100, "bbb", "c" * 60]
    prompt, n = fitted(texts, lambda shown: f"<<{' '.join(shown)}>>!", max_chars)
    assert n == cut
    if max_chars is not None:
        assert len(prompt) <= max_chars
    assert len(prompt) == sum(kept) + 2 + 5
    assert prompt.startswith("<<a")
    assert prompt.endswith(">>!")
    assert prompt.count(TRIMMED) == cut


def test_where_nothing_fits_a_note_stands_for_each_text():
    prompt, cut = fitted(["a" * 100, "b" * 60], lambda shown: f"<<{' '.join(shown)}>>!", 0)
    assert (prompt, cut) == (f"<<{TRIMMED} {TRIMMED}>>!", 2)
