import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sero.benchmarks.tablebench.careful_text import plain, tight, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("１０６２％", "1062%"),
        ("٣,١", "3,1"),
        ("−5 – 6", "-5 - 6"),
        ("“Nelt”", '"Nelt"'),
        ("sa\u0303o", "são"),
        ("  a \t b\u00a0c ", "a b c"),
        ("10²", "10²"),
        ("plain", "plain"),
    ],
)
def test_plain(text, expected):
    assert plain(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Big Sky", "big sky"),
        ("Big-Sky", "bigsky"),
        ("U.S.A.", "usa"),
        ("Nelt, Ovar; Pim", "nelt ovar pim"),
        ("1,204 cups", "1204 cups"),
        ("1:45.61", "1:45.61"),
        ("5-14 (29)", "5-14 29"),
        ("2004/05", "2004-05"),
        ("profit -16", "profit -16"),
        ("Nelt, - 16", "nelt -16"),
        ("row - 16", "row 16"),
        (".22 long", "0.22 long"),
        ("700+", "700+"),
        ("A+ and B-", "a+ and b-"),
        ("F# (or C#)", "f# or c#"),
        ("14% of it", "14% of it"),
        ("14 % of it", "14% of it"),
        ("C++, C#", "c++ c#"),
        ("- $5 and -.5", "-5 and -0.5"),
        (">= 5", ">=5"),
        ("€5 and $6", "5 and 6"),
        ("<5", "<5"),
        ("Group A", "group a"),
        ("a Group", "group"),
        ("the", "the"),
        ("men's", "mens"),
        ("Negtive impact", "negative impact"),
        ("35°", "35°"),
        ("«Nelt»", "nelt"),
        ("?!", ""),
    ],
)
def test_words(text, expected):
    assert " ".join(words(text)) == expected


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("vice - chair", "Vice-Chair", True),
        ("men 's doubles", "men's doubles", True),
        ("n / a", "N/A", True),
        ("caldwell , idaho", "Caldwell, Idaho", True),
        ('"Nelt."', "nelt", True),
        ("Big-Sky", "Big Sky", False),
        (".22 long", "22 long", False),
        ("5-14", "514", False),
    ],
)
def test_tight_closes_gaps_around_marks_only(a, b, same):
    assert (tight(a) == tight(b)) is same


@settings(deadline=None, max_examples=200)
@given(text=st.text())
def test_total_and_stable(text):
    assert plain(plain(text)) == plain(text)
    assert all(word == word.strip() and word for word in words(text))
    assert isinstance(tight(text), str)
