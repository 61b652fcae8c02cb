"""The gate under noise: values worked by hand, the law of the sum, and a slow simulation."""

import numpy as np
import pytest

from sero.evolution.gate import EPS
from sero.evolution.gate_noise import chances, cheapest, error_rate, settings, sum_law
from sero.seeding import rng_for

# A flip rate of 0.32 is an error rate of 0.2: 2 · 0.2 · 0.8.
F, E = 0.32, 0.2


def test_the_error_rate_gives_the_flip_rate_back():
    assert error_rate(0.0) == 0.0
    assert error_rate(F) == pytest.approx(E)
    assert error_rate(0.5) == 0.5


@pytest.mark.parametrize(
    ("tasks", "repeats", "effect", "strict", "nonharmful"),
    [
        # one difference: +1 and -1 with 0.16 each
        (1, 1, 0.0, 0.16, 0.84),
        # two: P(0) = 0.68² + 2 · 0.16² = 0.5136, the rest is shared evenly
        (2, 1, 0.0, 0.2432, 0.7568),
        # without an effect tasks and repeats are the same
        (1, 2, 0.0, 0.2432, 0.7568),
        # half of the tasks turned: P(+1) = (0.16 + 0.64) / 2, P(-1) = (0.16 + 0.04) / 2
        (1, 1, 0.5, 0.40, 0.90),
        (1, 1, -0.5, 0.10, 0.60),
        # two tasks: P(> 0) = 0.4² + 2 · 0.4 · 0.5, P(0) = 0.5² + 2 · 0.4 · 0.1
        (2, 1, 0.5, 0.56, 0.89),
        # one task twice: turned 0.64² + 2 · 0.64 · 0.32 = 0.8192 or not 0.2432, half each;
        # P(0): turned 0.32² + 2 · 0.64 · 0.04 = 0.1536 or not 0.5136
        (1, 2, 0.5, 0.5312, 0.8648),
    ],
)
def test_values_worked_by_hand(tasks, repeats, effect, strict, nonharmful):
    found = chances(F, tasks=tasks, repeats=repeats, effect=effect)
    assert found.strict == pytest.approx(strict)
    assert found.nonharmful == pytest.approx(nonharmful)


@pytest.mark.parametrize(("tasks", "effect", "strict"), [(1, 0.1, 0.1), (2, 0.1, 0.19)])
def test_without_noise_only_a_turned_task_counts(tasks, effect, strict):
    # a gain of 0.1 is seen when one of the tasks is a turned one: 1 - 0.9^T
    assert chances(0.0, tasks=tasks, repeats=3, effect=effect).strict == pytest.approx(strict)
    none = chances(0.0, tasks=tasks, repeats=3)
    assert (none.strict, none.nonharmful) == (0.0, 1.0)


@pytest.mark.parametrize("effect", [0.0, 0.2, -0.2])
def test_the_law_of_the_sum(effect):
    law = sum_law(F, tasks=3, repeats=2, effect=effect)
    assert law.shape == (13,)
    assert law.sum() == pytest.approx(1.0)
    # a turned task's difference is 1 - 2ε = 0.6 on average, six differences
    assert law @ np.arange(-6, 7) == pytest.approx(6 * 0.6 * effect)


@pytest.mark.parametrize(("tasks", "repeats", "effect"), [(1, 3, 0.0), (4, 1, 0.1), (3, 2, -0.3)])
def test_a_slow_simulation_agrees(tasks, repeats, effect):
    n = 100_000
    rng = rng_for(0, "gate noise", tasks, repeats)
    deserved = rng.random((n, tasks, 1)) < 0.5
    turned = rng.random((n, tasks, 1)) < abs(effect)
    before = np.where(turned, effect < 0, deserved)
    after = np.where(turned, effect > 0, deserved)
    shape = (n, tasks, repeats)
    before, after = ((rng.random(shape) < E) != pool for pool in (before, after))
    mean = (after.astype(float) - before).mean(axis=(1, 2))
    found = chances(F, tasks=tasks, repeats=repeats, effect=effect)
    # five standard errors of a share of 100,000
    assert found.strict == pytest.approx(np.mean(mean > EPS), abs=0.008)
    assert found.nonharmful == pytest.approx(np.mean(mean >= -EPS), abs=0.008)


def test_averaging_raises_the_strict_rules_false_commits_and_lowers_harm():
    found = settings(F, 0.2, tasks=(1, 2, 4, 8, 16), repeats=(1,))
    false = [s.no_effect.strict for s in found]
    assert false == sorted(false)
    assert false[0] == pytest.approx(0.16)
    assert false[-1] < 0.5
    lost = [s.loss.nonharmful for s in found]
    assert lost == sorted(lost, reverse=True)
    assert all(s.no_effect.nonharmful > 0.5 for s in found)


def test_settings_go_from_the_cheapest_and_say_what_they_cost():
    found = settings(F, 0.1, tasks=(1, 2, 4), repeats=(1, 2))
    assert [(s.tasks, s.repeats, s.extra_rollouts) for s in found] == [
        (1, 1, 0),
        (2, 1, 2),
        (1, 2, 2),
        (4, 1, 6),
        (2, 2, 6),
        (4, 2, 14),
    ]
    assert found[4].overrides == "gate.tasks=2 gate.repeats=2"


def test_the_cheapest_setting_under_a_level_or_none():
    found = settings(F, 0.5, tasks=(1, 2, 4, 8), repeats=(1,))
    # a loss of 0.5 is committed with 0.10, 0.11 and 0.093 by 1, 2 and 4 tasks
    first = cheapest(found, 0.095, lambda s: s.loss.strict)
    assert first is found[2]
    assert first.loss.strict == pytest.approx(0.093, abs=5e-4)
    assert cheapest(found, 0.05, lambda s: s.no_effect.strict) is None
    assert cheapest(found, 0.16 + 1e-12, lambda s: s.no_effect.strict) is found[0]


@pytest.mark.parametrize("flips", [0.02, 0.1, F])
def test_at_equal_cost_tasks_see_more_than_repeats(flips):
    more_tasks, more_repeats = settings(flips, 0.2, tasks=(4,), repeats=(1,)) + settings(
        flips, 0.2, tasks=(1,), repeats=(4,)
    )
    assert more_tasks.extra_rollouts == more_repeats.extra_rollouts
    assert more_tasks.gain.strict > more_repeats.gain.strict
    assert more_tasks.loss.nonharmful < more_repeats.loss.nonharmful


@pytest.mark.parametrize(
    ("flips", "tasks", "repeats", "effect"),
    [(0.6, 1, 1, 0.0), (-0.1, 1, 1, 0.0), (0.1, 0, 1, 0.0), (0.1, 1, 0, 0.0), (0.1, 1, 1, 1.5)],
)
def test_arguments_out_of_range_are_refused(flips, tasks, repeats, effect):
    with pytest.raises(ValueError):
        sum_law(flips, tasks=tasks, repeats=repeats, effect=effect)
