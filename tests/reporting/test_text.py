import pytest

from sero.reporting.text import compact, printable, score, signed


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ž 表", "plain ž 表"),
        ("\x1b[31mred", "\\x1b[31mred"),  # a terminal escape sequence
        ("a\rb\nc\td", "a\\rb\\nc\\td"),  # overwriting and splitting lines
        ("\x9b2J", "\\x9b2J"),  # the one-byte form of an escape sequence
        ("ab\u202ecd", "ab\\u202ecd"),  # right-to-left override
        ("a\u200bb", "a\\u200bb"),  # zero-width space
        ("a\u2028b", "a\\u2028b"),  # line separator
        ("\ud800", "\\ud800"),  # a lone surrogate cannot be encoded
    ],
)
def test_printable_escapes_what_steers_a_terminal_or_hides(text, shown):
    assert printable(text) == shown
    assert printable(text).encode("utf-8")


def test_printable_keeps_lines_when_asked_and_cuts():
    assert printable("a\n\tb\x07", keep_lines=True) == "a\n\tb\\x07"
    assert printable("abcdef", limit=4) == "abc…"
    assert printable("abcd", limit=4) == "abcd"


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0"), (999, "999"), (1000, "1.00k"), (45_120, "45.1k"), (1_230_000, "1.23M")],
)
def test_compact(count, shown):
    assert compact(count) == shown


def test_numbers_or_a_dash():
    assert (signed(0.25), signed(-0.1), signed(None)) == ("+0.250", "-0.100", "–")
    assert (score(0.5), score(None)) == ("0.500", "–")


def test_a_difference_that_rounds_to_zero_has_a_plus():
    assert [signed(value) for value in (-0.0001, -0.0, 0.0004)] == ["+0.000"] * 3
    assert signed(-0.0006) == "-0.001"
