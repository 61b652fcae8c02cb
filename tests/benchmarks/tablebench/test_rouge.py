import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sero.benchmarks.tablebench.rouge import rouge_l, tokens


def slow_common(a, b):
    """Longest common subsequence by the textbook table."""
    rows = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            rows[i + 1][j + 1] = rows[i][j] + 1 if x == y else max(rows[i][j + 1], rows[i + 1][j])
    return rows[-1][-1]


@pytest.mark.parametrize(
    ("gold", "answer", "value"),
    [
        ("the red kiosk sells tea", "the red kiosk sells tea", 1.0),
        ("the red kiosk sells tea", "The RED kiosk, sells: tea!", 1.0),
        ("a b c d", "a c", 2 / 3),  # P = 1, R = 1/2
        ("a b c d", "d c b a", 0.25),  # one in order: P = R = 1/4
        ("one two", "three", 0.0),
        ("one two", "", 0.0),
        ("", "one", 0.0),
        ("...", "...", 0.0),  # no token on either side
        ("r2d2 0.89", "r2d2 0 89", 1.0),
        ("sells sell", "sell", 2 / 3),  # no stemming
        ("x x y", "x y y", 2 / 3),  # x y in common
    ],
)
def test_worked_values(gold, answer, value):
    assert rouge_l(gold, answer) == pytest.approx(value)


def test_tokens_are_runs_of_ascii_letters_and_digits():
    assert tokens("Größe 12,5 (K²)") == ["gr", "e", "12", "5", "k"]


words = st.lists(st.sampled_from(["a", "b", "c", "1", "22", "É", "x-y"])).map(" ".join)


@settings(deadline=None, max_examples=200)
@given(gold=words, answer=words)
def test_equal_to_the_slow_table(gold, answer):
    wanted, found = tokens(gold), tokens(answer)
    common = slow_common(wanted, found)
    expected = 2 * common / (len(wanted) + len(found)) if common else 0.0
    assert rouge_l(gold, answer) == pytest.approx(expected)
    assert rouge_l(answer, gold) == pytest.approx(expected)


@pytest.fixture(scope="module")
def published():
    scorer = pytest.importorskip("rouge_score.rouge_scorer", reason="rouge-score not installed")
    return scorer.RougeScorer(["rougeL"])


@settings(deadline=None, max_examples=100)
@given(gold=st.one_of(words, st.text()), answer=st.one_of(words, st.text()))
def test_equal_to_rouge_score(published, gold, answer):
    assert rouge_l(gold, answer) == published.score(gold, answer)["rougeL"].fmeasure
