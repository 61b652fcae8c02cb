import pytest

from sero.benchmarks.olympiadbench.official_pairs import (
    UndecidedError,
    is_interval,
    paired,
    same_number,
    same_text,
)


def equal(answer: str, gold: str, tolerance: float) -> bool:
    return answer == gold


@pytest.mark.parametrize(
    ("answers", "golds", "right"),
    [
        ("abc", "abc", True),
        ("abc", "cab", True),
        ("aab", "aba", True),
        ("aab", "abb", False),
        ("ab", "abc", False),
        ("abc", "ab", False),
        ("", "", True),
    ],
)
def test_every_answer_needs_a_gold_of_its_own(answers, golds, right):
    assert paired(list(answers), list(golds), [1e-8], equal) is right


def test_pairing_is_greedy():
    """0 takes the first gold within 1, which the second answer would have needed."""
    close = lambda a, b, tolerance: abs(float(a) - float(b)) <= tolerance  # noqa: E731
    assert paired(["0", "2"], ["-1", "1"], [1.0], close)
    assert not paired(["0", "2"], ["1", "-1"], [1.0], close)


def test_tolerances_go_by_the_order_of_the_answers():
    """Answers are visited at 0, then at 1 of the two left, then the last one."""
    visits: list[tuple[str, float]] = []

    def same(answer: str, gold: str, tolerance: float) -> bool:
        visits.append((answer, tolerance))
        return True

    assert paired(["a", "b", "c"], ["x", "y", "z"], [0.1, 0.2, 0.3], same)
    assert visits == [("a", 0.1), ("c", 0.3), ("b", 0.2)]


def test_too_few_tolerances_crash_and_too_many_do_not():
    with pytest.raises(IndexError):
        paired(["a", "b", "c"], ["a", "b", "c"], [0.1, 0.2], equal)
    assert paired(["a"], ["a"], [0.1, 0.2], equal)
    assert not paired(["a", "b", "c"], ["a", "b"], [0.1, 0.2], equal)


@pytest.mark.parametrize(
    ("answer", "gold", "tolerance", "same"),
    [
        ("42.0", "42", 1e-8, True),
        ("4200", "42", 1e-8, True),  # a percentage, either way
        ("0.42", "42", 1e-8, True),
        ("420", "42", 1e-8, False),
        ("9.91", "9.81", 0.1, True),
        ("9.9111", "9.81", 0.1, False),  # 0.1011 is above 0.101
        (" 1_000 ", "1e3", 1e-8, True),  # whatever Python's float reads
        ("inf", "inf", 1e-8, False),
        ("nan", "nan", 1e-8, False),
        ("1e999", "1", 1e-8, False),
        ("1/2", "0.5", 1e-8, False),
        ("", "", 1e-8, False),
    ],
)
def test_numbers(answer, gold, tolerance, same):
    assert same_number(answer, gold, tolerance) is same


@pytest.mark.parametrize(
    ("answer", "gold", "verdict"),
    [
        ("x", "x", True),
        ("42", "42.0", True),
        ("42", "43", False),
        ("", "43", False),
        ("", "", False),
        ("(1,2)", "(1,2)", True),
        ("(1,2)", "(1, 2)", None),
        ("42", "\\frac{84}{2}", None),
        ("1234567890123", "1234567890124", None),
        ("x=42", "42", None),
    ],
)
def test_what_text_alone_settles(answer, gold, verdict):
    if verdict is None:
        with pytest.raises(UndecidedError):
            same_text(answer, gold, 1e-8)
    else:
        assert same_text(answer, gold, 1e-8) is verdict


def test_intervals_are_told_by_their_ends():
    assert all(map(is_interval, ["(1,2)", "[1)", "(n+1)(n+2)"]))
    assert not any(map(is_interval, ["", "x\\in(1,2)", "(1,2) ", "{1}"]))
