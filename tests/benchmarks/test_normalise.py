import pytest
from hypothesis import given
from hypothesis import strategies as st

from sero.benchmarks.normalise import name_key, plain_typography, strip_think, without_emphasis


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("no block", "no block"),
        ("<think>a</think>\nb", "b"),
        ("x <think>a</think> y <thinking>c</thinking> z", "x  y  z"),
        ("<think>a <think> b</think> c", "c"),  # a tag inside a block is its text
        ("opened by the template</think> b", "b"),
        ("<THINK>a</Think>b", "b"),
        ("<think>never closed", None),
        ("answer <think>never closed", None),
        ("<think></think>", ""),
        ("", ""),
    ],
)
def test_think_blocks_go_and_an_open_one_means_no_answer(text, left):
    assert strip_think(text) == left


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("9:30 – 10:30", "9:30 - 10:30"),
        ("9:30\u202fAM", "9:30 AM"),
        ("Fisherman’s “Wharf”", 'Fisherman\'s "Wharf"'),
        ("a\u200bb\r\n", "ab\n"),
        ("\u200e12\u200f, \u202a3\u202c, 2\u2062x", "12, 3, 2x"),
        ("９：３０", "９:３０"),  # only punctuation; digits of another script stay
    ],
)
def test_typography_becomes_ascii(text, plain):
    assert plain_typography(text) == plain


def test_emphasis_marks_go():
    assert without_emphasis("**SOLUTION:** `You start`") == "SOLUTION: You start"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Reykjavík", "Reykjavik", True),
        ("Fisherman’s  Wharf", "Fisherman's Wharf", True),
        (" Nob Hill ", "Nob Hill", True),
        ("nob hill", "Nob Hill", False),
    ],
)
def test_names_are_compared_by_letters(one, other, same):
    assert (name_key(one) == name_key(other)) is same


@given(st.text())
def test_keys_are_fixed_points(name):
    assert name_key(name_key(name)) == name_key(name)


@given(st.lists(st.sampled_from(["<think>", "</think>", "a", " "])).map("".join))
def test_nothing_of_a_tag_is_left(text):
    left = strip_think(text)
    assert left is None or "think" not in left
