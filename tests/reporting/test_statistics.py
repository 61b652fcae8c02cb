import numpy as np
import pytest

from sero.reporting import statistics
from sero.reporting.statistics import by_group, estimate, paired_difference
from sero.seeding import rng_for


def test_interval_equals_a_slow_loop():
    strata = {"b": [0.0, 1.0, 1.0], "a": [0.25, 0.75]}
    rng = rng_for(0, "bootstrap")
    totals = np.zeros(50)
    for name in ("a", "b"):
        for row in range(50):
            picks = rng.integers(0, len(strata[name]), size=len(strata[name]))
            totals[row] += sum(strata[name][i] for i in picks)
    expected = np.percentile(totals / 5, [2.5, 97.5])
    found = estimate(strata, resamples=50)
    assert found.mean == pytest.approx(3.0 / 5)  # (0 + 1 + 1 + .25 + .75) / 5
    assert [found.low, found.high] == pytest.approx(list(expected))
    assert found.n == 5


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
