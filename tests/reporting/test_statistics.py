import numpy as np
import pytest

from sero.reporting import statistics
from sero.reporting.statistics import (
    best_estimate,
    best_score_estimate,
    by_group,
    estimate,
    holm,
    paired_difference,
    score_estimate,
    seed_effect_test,
    sign_flip_test,
    t_interval,
    t_test,
)
from sero.seeding import rng_for


def test_interval_equals_a_slow_loop():
    strata = {"b": [0.0, 1.0, 1.0], "a": [0.25, 0.75]}
    rng = rng_for(0, "bootstrap")
    away = np.zeros(50)
    for name in ("a", "b"):
        values = strata[name]
        stretch = (len(values) / (len(values) - 1)) ** 0.5  # √(3/2) and √2
        for row in range(50):
            picks = rng.integers(0, len(values), size=len(values))
            away[row] += stretch * (sum(values[i] for i in picks) - sum(values))
    found = estimate(strata, resamples=50)
    assert found.mean == pytest.approx(3.0 / 5)  # (0 + 1 + 1 + .25 + .75) / 5
    low, high = 0.6 + np.percentile(away / 5, [2.5, 97.5])
    # No lower than all at their least, (0 + 0 + 0 + .25 + .25) / 5, nor above all at their most.
    assert [found.low, found.high] == pytest.approx([max(low, 0.1), min(high, 0.9)])
    assert found.n == 5


def test_the_best_is_chosen_in_each_resample_as_in_a_slow_loop():
    strata = {"b": [(0.0, 1.0), (1.0, 0.0), (1.0, 0.5)], "a": [(0.25, 0.5), (0.75, 0.5)]}
    rng = rng_for(0, "bootstrap")
    away = np.zeros((50, 2))
    for name in ("a", "b"):
        # in order of the last column, then of the first
        values = sorted(strata[name], key=lambda row: (row[1], row[0]))
        stretch = (len(values) / (len(values) - 1)) ** 0.5
        for row in range(50):
            picks = rng.integers(0, len(values), size=len(values))
            for j in range(2):
                drawn = sum(values[i][j] for i in picks) - sum(value[j] for value in values)
                away[row, j] += stretch * drawn
    best = [max(0.6 + first / 5, 0.5 + second / 5) for first, second in away]
    found = best_estimate(strata, resamples=50)
    # (0 + 1 + 1 + .25 + .75) / 5 against (1 + 0 + .5 + .5 + .5) / 5
    assert (found.mean, found.n) == (pytest.approx(0.6), 5)
    low, high = 0.6 + np.percentile(best, [2.5, 97.5]) - np.mean(best)
    assert [found.low, found.high] == pytest.approx([max(low, 0.0), min(high, 1.0)])


def test_with_one_far_ahead_the_choice_adds_nothing():
    strata = {"a": [0.5, 0.75, 1.0, 1.0] * 5}
    alone = estimate(strata)
    found = best_estimate({"a": [(value, value - 0.5) for value in strata["a"]]})
    assert found.mean == alone.mean
    assert [found.low, found.high] == pytest.approx([alone.low, alone.high], abs=0.003)


def test_the_best_at_the_ends_and_of_nothing():
    assert best_score_estimate({"g": [(1.0, 0.0)] * 3}) == score_estimate({"g": [1.0] * 3})
    assert best_estimate({}).mean is best_estimate({"g": []}).mean is None
    assert best_estimate({"g": [(0.0, 0.0)]}).negated == estimate({"g": [0.0]})
    assert str(best_estimate({"g": [(0.0, 0.0)]}).negated.mean) == "0.0"


def test_blocks_do_not_change_the_draws(monkeypatch):
    strata = {"a": [0.0, 0.5, 1.0] * 5}
    whole = estimate(strata)
    monkeypatch.setattr(statistics, "BLOCK", 31)  # two rows of 15 at a time
    assert estimate(strata) == whole


def test_half_width_is_near_the_normal_one():
    # 100 ones and 100 zeros: standard error sqrt(.25 / 200) = .0354, half width .0693.
    found = estimate({"g": [1.0, 0.0] * 100})
    assert found.mean == 0.5
    assert (found.high - found.low) / 2 == pytest.approx(0.0693, abs=0.006)


def test_stratified_interval_ignores_differences_between_groups():
    found = estimate({"easy": [1.0] * 10, "hard": [0.0] * 10})
    assert (found.mean, found.low, found.high) == (0.5, 0.5, 0.5)


def test_nothing_scored_has_no_mean():
    found = estimate({"g": []})
    assert (found.mean, found.low, found.high, found.n) == (None, None, None, 0)


def test_paired_difference_uses_common_items_only():
    ours = {"a": ("g", 1.0), "b": ("g", 0.5), "c": ("g", 1.0)}
    theirs = {"b": ("g", 0.25), "a": ("g", 0.75), "d": ("g", 0.0)}
    found = paired_difference(ours, theirs)
    assert found.estimate.mean == pytest.approx(0.25)  # (.25 + .25) / 2
    assert (found.estimate.low, found.estimate.high) == pytest.approx((0.25, 0.25))
    assert (found.estimate.n, found.unmatched) == (2, 2)  # c and d are one-sided


def test_by_group_keeps_order():
    assert by_group([("x", 1.0), ("y", 0.0), ("x", 0.5)]) == {"x": [1.0, 0.5], "y": [0.0]}


def test_student_interval_by_hand():
    # mean .6, s = .1, t(2, .975) = 4.30265: half width 4.30265 · .1 / √3 = .24841
    found = t_interval([0.5, 0.6, 0.7])
    assert found.mean == pytest.approx(0.6)
    assert (found.low, found.high) == pytest.approx((0.6 - 0.24841, 0.6 + 0.24841), abs=1e-5)
    assert found.n == 3


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], (None, None, None, 0)),
        ([0.25], (0.25, None, None, 1)),  # one run says nothing of the next
        ([1.0, 1.0, 1.0], (1.0, 1.0, 1.0, 3)),  # all equal: no width
    ],
)
def test_student_interval_of_few_or_equal_values(values, expected):
    found = t_interval(values)
    assert (found.mean, found.low, found.high, found.n) == expected


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        # t = .2 / (.1 / √3) = 3.4641; with 2 degrees of freedom p = 1 - t / √(2 + t²) = .07418
        ([0.1, 0.2, 0.3], 0.07418),
        ([-0.1, -0.2, -0.3], 0.07418),
        ([-0.1, 0.1], 1.0),
        ([0.0, 0.0, 0.0], 1.0),  # nowhere any difference
        ([0.1, 0.1, 0.1], None),  # no variation: nothing to test with
        ([0.5], None),
        ([], None),
    ],
)
def test_paired_t_test(differences, p):
    assert t_test(differences) == (None if p is None else pytest.approx(p, abs=1e-5))


def test_p_is_below_the_level_just_when_the_interval_leaves_zero_out():
    for shift in np.linspace(0.0, 0.6, 61):
        values = [shift + x for x in (-0.2, -0.05, 0.0, 0.1, 0.15)]
        assert (t_test(values) < 0.05) is (t_interval(values).low > 0)


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([1.0, 1.0, 1.0], 2 / 8),  # +++ and --- of eight patterns
        ([2.0, 1.0, -0.5], 4 / 8),  # |±2 ± 1 ± .5| is 3.5 twice and 2.5 twice
        ([0.0, 0.0], 1.0),
        ([1.0] * 8 + [-1.0] + [0.0] * 50, 2 * (1 + 9) / 2**9),  # McNemar with 8 against 1
        ([], None),
    ],
)
def test_sign_flips_looked_at_one_by_one(differences, p):
    assert sign_flip_test(differences) == (None if p is None else pytest.approx(p))


def test_random_sign_flips_are_near_the_exact_value_and_repeat(monkeypatch):
    # 13 against 5: twice the binomial tail, 2 (1 + 18 + 153 + 816 + 3060 + 8568) / 2^18
    values = [1.0] * 13 + [-1.0] * 5
    found = sign_flip_test(values)
    assert found == pytest.approx(2 * 12616 / 2**18, abs=0.01)
    assert sign_flip_test(values) == found
    monkeypatch.setattr(statistics, "BLOCK", 97)  # five rows at a time
    assert sign_flip_test(values) == found


def test_holm_steps_down():
    # sorted .01 · 3 = .03, .03 · 2 = .06, .04 · 1 = .04, raised to .06
    assert holm([0.01, 0.04, None, 0.03]) == pytest.approx((0.03, 0.06, None, 0.06))
    assert holm([0.9, 0.8]) == (1.0, 1.0)
    assert holm([]) == ()


@pytest.mark.parametrize("n_runs", [3, 10])
def test_student_interval_covers_as_it_says(n_runs):
    """Runs of 100 items without an effect of the seed: 95 % of the intervals hold the mean."""
    rng = np.random.default_rng(7)
    chances = rng.uniform(0.1, 0.9, size=100)  # each item's chance of being right
    scores = rng.random((8000, n_runs, 100)) < chances
    found = [t_interval(list(means)) for means in scores.mean(axis=2)]
    covered = np.mean([e.low <= chances.mean() <= e.high for e in found])
    assert 0.93 <= covered <= 0.97


def items_of(rng, sizes, means, seeds, shift=0.0):
    """0/1 scores of invented items: each item has a chance of its own around its group's mean.

    Under a seed effect every item's chance is moved by one draw for each seed.
    """
    moved = rng.normal(0.0, shift, size=seeds) if shift else np.zeros(seeds)
    strata = {}
    for name, n in sizes.items():
        chance = rng.beta(2 * means[name], 2 * (1 - means[name]), size=(n, 1)) + moved
        strata[name] = rng.random((n, seeds)) < np.clip(chance, 0.0, 1.0)
    return strata


SIZES = {"a": 34, "b": 33, "c": 33}


@pytest.mark.slow
@pytest.mark.parametrize(
    "means",
    [{"a": 0.3, "b": 0.5, "c": 0.7}, {"a": 0.9, "b": 0.85, "c": 0.9}, {"a": 0.1, "b": 0.2, "c": 0}],
)
def test_intervals_cover_what_they_say(means):
    """3 seeds x 100 items without a seed effect: nominal 95 % covers 93 to 97 %."""
    means = {name: value or 0.05 for name, value in means.items()}
    rng = np.random.default_rng(5)
    truth = sum(SIZES[name] * means[name] for name in SIZES) / 100
    covered = 0
    for _ in range(2000):
        strata = items_of(rng, SIZES, means, 3)
        found = estimate({n: list(v.mean(axis=1)) for n, v in strata.items()}, resamples=1000)
        covered += found.low <= truth <= found.high
    assert 0.93 <= covered / 2000 <= 0.97


def test_a_seed_effect_is_found_and_none_is_not_invented():
    """At the 1 % of the report's warning: about 1 in 100 without an effect, most with one."""
    rng = np.random.default_rng(6)
    means = {"a": 0.3, "b": 0.5, "c": 0.7}

    def warned(shift):
        strata = items_of(rng, SIZES, means, 3, shift)
        return seed_effect_test(np.concatenate(list(strata.values())).astype(float)) < 0.01

    assert np.mean([warned(0.0) for _ in range(1000)]) <= 0.02
    assert np.mean([warned(0.2) for _ in range(200)]) >= 0.5


def test_seed_effect_by_hand():
    """T = (1, 4), Σ (T - 2.5)² = 4.5; within: 3 items of .5, so Q = 3; P(χ²₁ > 3) = .0833.

    The item on which both seeds are right says nothing.
    """
    scores = [[0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [1.0, 1.0]]
    assert seed_effect_test(scores) == pytest.approx(0.0833, abs=1e-4)
    assert seed_effect_test([row[::-1] for row in scores]) == pytest.approx(0.0833, abs=1e-4)


@pytest.mark.parametrize("scores", [[], [[1.0]], [[1.0, 1.0], [0.0, 0.0]]])
def test_no_seed_effect_can_be_told(scores):
    assert seed_effect_test(scores) is None


def test_no_spread_is_no_certainty():
    # exact ends by Clopper and Pearson: 1 - .025 ** (1 / 12), .025 ** (1 / 36)
    none_right = score_estimate({"a": [0.0] * 5, "b": [0.0] * 7})
    assert (none_right.low, none_right.high) == (0.0, pytest.approx(0.264648, abs=1e-6))
    all_right = score_estimate({"a": [1.0] * 36})
    assert (all_right.low, all_right.high) == (pytest.approx(0.902606, abs=1e-6), 1.0)
    assert score_estimate({"a": [0.0, 1.0] * 9}) == estimate({"a": [0.0, 1.0] * 9})
    assert score_estimate({}) == estimate({})


def test_the_order_of_the_items_moves_no_interval():
    values = [0.0] * 18 + [1.0] * 18
    shuffled = [values[(7 * i) % 36] for i in range(36)]
    assert sorted(shuffled) == values
    assert estimate({"a": shuffled}) == estimate({"a": values})
