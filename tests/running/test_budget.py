"""A limit that is reached stops the run and says how to go on."""

from types import SimpleNamespace

import pytest

from sero.errors import BudgetSpent
from sero.running.budget import Budget, unpriced

NO_LIMIT = {"calls": None, "tokens": None, "hours": None, "usd": None}
LIMITS = {"calls": 100, "tokens": 5000, "hours": 1.5, "usd": 2.5}
BELOW = {"calls": 99, "tokens": 4999, "hours": 1.49, "usd": 2.49}


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
        ("usd", 2.75, "budget.usd: 2.75 spent of 2.5"),
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
    budget().check(calls=10**12, tokens=10**15, hours=1e6, usd=1e6)


def test_a_limit_of_zero_allows_nothing():
    with pytest.raises(BudgetSpent, match=r"budget\.calls: 0 spent of 0"):
        budget(calls=0).check(calls=0, tokens=0, hours=0.0, usd=0.0)


def test_where_no_price_is_known_no_dollars_are_spent():
    budget(**LIMITS).check(**{**BELOW, "usd": None})


PRICED = ("backbone=gpt_4o_mini", "benchmark=toy", "encoder=hashing")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (PRICED, None),
        ((*PRICED, "budget.usd=3"), None),
        ((*PRICED, "backbone.price.prompt_usd_per_mtok=null"), None),
        (
            (*PRICED, "budget.usd=3", "backbone.price.prompt_usd_per_mtok=null"),
            "the price of backbone=gpt_4o_mini is not known. Set backbone.price.prompt_usd_per",
        ),
        (("budget.usd=3",), "backbone=skillworld has no price"),
    ],
)
def test_a_limit_that_cannot_be_kept_is_told(bench, words, said):
    """A missing price is never an error; with `budget.usd` it is worth a warning."""
    config, _, _ = bench.job(*words)
    found = unpriced(config)
    assert found is None if said is None else said in found
