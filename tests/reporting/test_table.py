import pytest

from sero.reporting.entries import Spending
from sero.reporting.seeds import make_blocks, row_estimate
from sero.reporting.table import (
    cost_table,
    difference_table,
    differences_to,
    pool_table,
    score_table,
)


@pytest.fixture
def block_of():
    def make(*runs):
        (block,) = make_blocks(runs)
        estimates = [row_estimate(row, block) for row in block.rows]
        return block, estimates

    return make


def items(*values):
    return {f"i{n}": ("g", value) for n, value in enumerate(values)}


def spent(calls, tokens=0):
    return Spending(calls=calls, prompt_tokens=tokens, completion_tokens=0)


def test_scores_over_worlds(run, block_of):
    runs = [run("a", s, items(v, v), failures=f) for s, v, f in ((1, 0.2, 1), (2, 0.6, 2))]
    table = score_table(*block_of(*runs, run("b", 1, items(0.1))))
    assert table.title == "Held-out score · SIMULATED"
    assert table.columns == ("row", "worlds", "items", "score", "95 % CI", "sd", "failed")
    # s = .28284; half width t(1, .975) = 12.706 times s / √2 = .2: 2.5412
    assert table.rows == (
        ("a", "2", "2", "0.400", "-2.141 to 2.941", "0.283", "3"),
        ("b", "1", "1", "0.100", "–", "–", "0"),
    )
    assert "Student's t over worlds" in table.notes[0]
    assert table.notes[1] == "World: dim 32."


def test_scores_over_items(run, block_of):
    real = {"simulated": False, "data": "d", "world": ""}
    runs = [run("a", s, items(*v), data="d", setting=real) for s, v in ((1, (1, 1)), (2, (1, 0)))]
    table = score_table(*block_of(*runs))
    assert table.title == "Held-out score"
    # items 1 and .5, resampled: between both .5 and both 1
    assert table.rows == (("a", "2", "2", "0.750", "0.500 to 1.000", "0.354", "0"),)
    assert "bootstrap" in table.notes[0]
    assert len(table.notes) == 1


def test_differences_are_row_minus_baseline_without_the_ceiling(run, block_of):
    a = [run("a", s, items(v)) for s, v in ((1, 0.6), (2, 0.8), (3, 0.9))]
    b = [run("b", s, items(v)) for s, v in ((1, 0.5), (2, 0.6), (3, 0.6))]
    block, _ = block_of(*a, *b, *(run("ceiling", s, items(1.0)) for s in (1, 2, 3)))
    base = next(row for row in block.rows if row.label == "b")
    table = difference_table(block, base, differences_to(block, base))
    # .1, .2, .3: half width .24841 and p = .07418 (see the tests of the statistics)
    expected = ("a", "3", "+0.200", "-0.048 to +0.448", "3/3", "0.074", "0.074")
    assert table.rows == (expected,)
    assert "Row minus b" in table.notes[0]
    assert "a tie counts ½" in table.notes[0]


def test_p_is_corrected_over_the_table(run, block_of):
    deltas = {"a": (0.1, 0.2, 0.3), "c": (0.2, 0.4, 0.6)}
    runs = [run(n, s, items(d)) for n, of in deltas.items() for s, d in enumerate(of)]
    block, _ = block_of(*runs, *(run("b", s, items(0.0)) for s in range(3)))
    base = next(row for row in block.rows if row.label == "b")
    table = difference_table(block, base, differences_to(block, base))
    # equal t, so p = .07418 twice; Holm doubles the first and keeps the second as high
    assert [row[-2:] for row in table.rows] == [("0.074", "0.148")] * 2
    assert "over the 2 comparison(s)" in table.notes[0]


def test_one_run_each_and_no_variation_have_dashes(run, block_of):
    block, _ = block_of(run("a", 1, items(0.75)), run("b", 1, items(0.5)))
    table = difference_table(block, block.rows[1], differences_to(block, block.rows[1]))
    # One seed has one world, so the interval is over its items; a single one has no width.
    assert table.rows[0][:5] == ("a", "1", "+0.250", "+0.250 to +0.250", "1/1")
    runs = [run(n, s, items(v)) for n, v in (("a", 0.75), ("b", 0.5)) for s in (1, 2)]
    block, _ = block_of(*runs)
    table = difference_table(block, block.rows[1], differences_to(block, block.rows[1]))
    assert table.rows == (("a", "2", "+0.250", "+0.250 to +0.250", "2/2", "–", "–"),)


def test_costs(run, block_of):
    parts = {"training": spent(1500), "evaluation": spent(50, 800), "candidates": 10}
    runs = [run("a", 1, items(0.4), calls=2000, **parts), run("a", 2, items(0.8), calls=4000)]
    table = cost_table(*block_of(*runs, run("b", 1, items(0.0), calls=0)))
    # The second run has no parts on record: .4 points of the first, over 50 calls and 800 tokens.
    assert table.rows == (
        ("1 a", "0.600", "3,000", "1,500", "50", "10", "1.00k", "0.008", "0.500"),
        ("2 b", "0.000", "0", "–", "–", "–", "1.00k", "–", "–"),
    )


def test_dollars_have_columns_where_a_price_is_known(run, block_of):
    runs = [run("a", 1, items(0.4), usd=0.25, usd_sent=0.1), run("a", 2, items(0.8), usd=0.75)]
    table = cost_table(*block_of(*runs, run("b", 1, items(0.0))))
    assert table.columns[-2:] == ("US$", "US$ sent")
    assert [row[-2:] for row in table.rows] == [("0.5000", "0.1000"), ("–", "–")]
    assert "which is billed" in table.notes[0]


def test_ground_truth_and_regret(run, block_of):
    kept = {"roles": 10, "harmful": 1, "lost_aggregator": False, "commits": 3}
    lost = {"roles": 9, "harmful": 2, "lost_aggregator": True, "commits": 4}
    top = {"roles": 9, "harmful": 0, "lost_aggregator": False}
    runs = [run("a", 1, items(0.5), **kept), run("a", 2, items(0.7), **lost)]
    runs += [run("ceiling", s, items(0.8), **top) for s in (1, 2)]
    table = pool_table(block_of(*runs)[0])
    assert table.title == "Pools and ground truth · SIMULATED"
    # regret .3 and .1: s = .14142, half width 12.706 · .1
    assert table.rows == (
        ("ceiling", "–", "9.0", "0.0", "0/2", "–", "–"),
        ("a", "3.5", "9.5", "1.5", "1/2", "+0.200", "-1.071 to +1.471"),
    )
    assert "ceiling (0.800) minus row" in table.notes[1]


def test_a_real_benchmark_has_no_ground_truth(run, block_of):
    real = {"simulated": False}
    table = pool_table(block_of(run("a", setting=real, roles=5, commits=1))[0])
    assert table.columns == ("row", "commits", "roles at end")
    assert table.title == "Pools"
    assert pool_table(block_of(run("a", setting=real))[0]).rows == ()
