"""The early-stop rule (method.md §4.8)."""

from dataclasses import replace

import pytest

from sero.evolution.early_stop import should_stop
from sero.evolution.sections import EarlyStopConfig

PAPER = EarlyStopConfig(enabled=True, window=24, threshold=0.85, min_episodes=24, one_pass=False)


def history(unchanged: int, committed: int) -> list[bool]:
    return [False] * unchanged + [True] * committed


@pytest.mark.parametrize(
    ("unchanged", "committed", "stops"),
    [
        (20, 4, False),  # 20/24 = .833
        (21, 3, True),  # 21/24 = .875 > .85
        (24, 0, True),
        (23, 0, False),  # no full window yet
        (0, 24, False),
    ],
)
def test_the_published_rule(unchanged, committed, stops):
    assert should_stop(history(unchanged, committed), PAPER, n_train=20) is stops


def test_only_the_last_window_counts():
    busy_start = [True] * 30 + [False] * 24
    busy_end = [False] * 24 + [True] * 4 + [False] * 20
    assert should_stop(busy_start, PAPER, n_train=20)
    assert not should_stop(busy_end, PAPER, n_train=20)


@pytest.mark.parametrize(("n", "stops"), [(24, False), (29, False), (30, True)])
def test_one_pass_waits_for_every_training_task(n, stops):
    cfg = replace(PAPER, one_pass=True)
    assert should_stop([False] * n, cfg, n_train=30) is stops


@pytest.mark.parametrize(("n", "stops"), [(24, False), (39, False), (40, True)])
def test_min_episodes_above_the_window_is_awaited(n, stops):
    assert should_stop([False] * n, replace(PAPER, min_episodes=40), n_train=20) is stops


def test_a_min_below_the_window_still_needs_a_full_window():
    assert not should_stop([False] * 10, replace(PAPER, min_episodes=5), n_train=1)


def test_exactly_the_threshold_goes_on():
    # 17/20 = .85 is not more than .85
    cfg = replace(PAPER, window=20, min_episodes=20)
    assert not should_stop(history(17, 3), cfg, n_train=1)
    assert should_stop(history(18, 2), cfg, n_train=1)


def test_disabled_never_stops():
    assert not should_stop([False] * 500, replace(PAPER, enabled=False), n_train=1)
