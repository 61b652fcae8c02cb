"""Rank correlation against values worked by hand."""

import pytest

from sero.credit import CreditState, RoleCredit
from sero.evolution.ranks import foresight, spearman


@pytest.mark.parametrize(
    ("a", "b", "rho"),
    [
        ([1, 2, 3, 4], [10, 20, 30, 40], 1.0),
        ([1, 2, 3, 4], [9, 5, 2, -1], -1.0),
        # ranks 1 2 3 4 and 2 1 4 3: d² = 1+1+1+1, ρ = 1 - 6·4/(4·15)
        ([1, 2, 3, 4], [2, 1, 4, 3], 0.6),
        # ties share a rank: 1 2.5 2.5 against 1 2 3;
        # about their mean 2: (-1 .5 .5)·(-1 0 1) = 1.5 over √1.5·√2
        ([0, 7, 7], [1, 2, 3], 1.5 / (1.5 * 2) ** 0.5),
        # rounding of a mean of three scores is a tie, not an order
        ([1, 2, 3], [0.1 + 0.2, 0.3, 0.5], 1.5 / (1.5 * 2) ** 0.5),
        ([1, 2, 3], [5, 5, 5], None),  # one side does not vary
        ([1, 2], [1, 2], None),  # two roles say nothing
        ([], [], None),
    ],
)
def test_spearman_by_hand(a, b, rho):
    assert spearman(a, b) == (None if rho is None else pytest.approx(rho))
    assert spearman(b, a) == spearman(a, b)


def test_pairs_of_unequal_length_are_refused():
    with pytest.raises(ValueError, match="3 and 2"):
        spearman([1, 2, 3], [1, 2])


def test_foresight_reads_only_measured_roles(toy):
    credit = CreditState(
        {"a": RoleCredit(ema=0.1), "b": RoleCredit(ema=0.2), "c": RoleCredit(ema=0.3)}
    )
    phi = {"a": -1.0, "c": 0.5, "b": 0.0}
    assert foresight(credit, phi, toy.CREDIT) == pytest.approx(1.0)
    assert foresight(credit, {"a": 1.0}, toy.CREDIT) is None
    # a role without credit counts as 0: c = 0 .1 .3, φ = 1 0 -1
    assert foresight(credit, {"new": 1.0, "a": 0.0, "c": -1.0}, toy.CREDIT) == pytest.approx(-1.0)
