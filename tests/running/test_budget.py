"""A limit that is reached stops the run and says how to go on."""

from types import SimpleNamespace

import pytest

from sero.errors import BudgetSpent
from sero.running.budget import Budget

NO_LIMIT = {"calls": None, "tokens": None, "hours": None}
LIMITS = {"calls": 100, "tokens": 5000, "hours": 1.5}
BELOW = {"calls": 99, "tokens": 4999, "hours": 1.49}


def budget(**limits):
    return Budget(SimpleNamespace(**{**NO_LIMIT, **limits}))


def test_below_every_limit_nothing_happens():
    budget(**LIMITS).check(**BELOW)


@pytest.mark.parametrize(
    ("name", "spent", "shown"),
    [
        ("calls", 100, "budget.calls: 100 spent of 100"),
        ("calls", 101, "budget.calls: 101 spent of 100"),
        ("tokens", 12345, "budget.tokens: 12,345 spent of 5,000"),
        ("hours", 1.5, "budget.hours: 1.5 spent of 1.5"),
    ],
)
def test_a_limit_that_is_reached_is_named_with_the_way_on(name, spent, shown):
    with pytest.raises(BudgetSpent) as caught:
        budget(**LIMITS).check(**{**BELOW, name: spent})
    assert shown in str(caught.value)
    assert "raise the limit" in str(caught.value)
    assert caught.value.exit_code == 75


def test_all_limits_that_are_reached_are_named():
    with pytest.raises(BudgetSpent, match=r"budget\.calls: 100 .*; budget\.hours: 2 "):
        budget(**LIMITS).check(**{**BELOW, "calls": 100, "hours": 2})


def test_no_limit_is_no_limit():
    budget().check(calls=10**12, tokens=10**15, hours=1e6)


def test_a_limit_of_zero_allows_nothing():
    with pytest.raises(BudgetSpent, match=r"budget\.calls: 0 spent of 0"):
        budget(calls=0).check(calls=0, tokens=0, hours=0.0)
