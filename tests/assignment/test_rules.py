"""The four rules on matrices small enough to be settled by hand."""

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sero.assignment.rules import AssignMode, assign, best_overall
from sero.assignment.scores import Suitability, suitability

GREEDY, ARGMAX, MARGIN, HUNGARIAN = AssignMode
NAN = float("nan")


def found(means, variances=None):
    means = np.array(means, dtype=float)
    return Suitability(
        means=means,
        variances=np.zeros_like(means) if variances is None else np.array(variances, dtype=float),
    )


def by_rule(means, variances=None):
    table = found(means, variances)
    return {mode: assign(table, mode) for mode in AssignMode}


def test_the_published_example_has_no_conflict():
    # advocate, critic, judge (rows) over models A, B, C
    rows = [[4.3, 3.6, 3.4], [3.8, 4.4, 3.7], [3.5, 3.9, 4.6]]
    assert set(by_rule(rows).values()) == {(0, 1, 2)}


def test_one_candidate_that_two_roles_want():
    # greedy: 5.0 (role 0, A), 4.9 falls to A taken, 4.0 (role 1, C), then role 2 gets B.
    # margin: role 0 asks A with 5.0 - 4.8 = 0.2, role 1 asks A with 4.9 - 4.0 = 0.9 and keeps it;
    #         role 0 asks B (4.8), which role 2 asks too: margins 4.8 - 1.0 and 3.0 - 2.0.
    # hungarian: A to role 1 and B to role 0, 4.9 + 4.8 + 2.0 = 11.7 against 5 + 4 + 3 = 12.0.
    rows = [[5.0, 4.8, 1.0], [4.9, 1.0, 4.0], [2.5, 3.0, 2.0]]
    assert by_rule(rows) == {
        GREEDY: (0, 2, 1),
        ARGMAX: (0, 0, 1),
        MARGIN: (1, 0, 2),
        HUNGARIAN: (0, 2, 1),
    }


def test_the_largest_sum_is_not_the_greedy_one():
    # greedy takes 5.0 and is left with 1.0; the other way round gives 4.5 + 4.4
    assert by_rule([[5.0, 4.5], [4.4, 1.0]]) == {
        GREEDY: (0, 1),
        ARGMAX: (0, 0),
        MARGIN: (1, 0),  # 5.0 - 4.5 against 4.4 - 1.0
        HUNGARIAN: (1, 0),
    }


def test_equal_scores_go_to_the_smaller_variance():
    rows = [[4.0, 4.0], [1.0, 1.0]]
    assert by_rule(rows, [[0.5, 0.1], [0.0, 0.0]]) == dict.fromkeys(AssignMode, (1, 0))


def test_the_same_scores_in_another_order_tie_in_mean_and_variance():
    # float sums give B a mean and a variance that differ from A's in the last digits
    table = suitability(np.array([[[10 / 3, 7 / 3, 3.0], [3.0, 7 / 3, 10 / 3]]]))
    assert table.variances[0, 0] != table.variances[0, 1]
    assert {mode: assign(table, mode) for mode in AssignMode} == dict.fromkeys(AssignMode, (0,))


def test_equal_margins_go_to_the_higher_score_whatever_their_floats():
    assert 1.1 - 1.0 > 1.7 - 1.6
    assert assign(found([[1.1, 1.0], [1.7, 1.6]]), MARGIN) == (1, 0)


def test_then_to_the_candidate_with_fewer_roles_and_then_to_the_lower_index():
    # argmax, all equal: A for role 0 by index; B and C hold none, so B for role 1, C for role 2,
    # and role 3 starts over
    assert assign(found(np.full((4, 3), 3.0)), ARGMAX) == (0, 1, 2, 0)
    assert assign(found(np.full((3, 3), 3.0)), GREEDY) == (0, 1, 2)
    assert assign(found(np.full((3, 3), 3.0)), HUNGARIAN) == (0, 1, 2)
    assert assign(found(np.full((3, 3), 3.0)), MARGIN) == (0, 1, 2)


def test_sums_of_floats_in_another_order_still_tie():
    a, b = (0.1 + 0.2) + 0.3, 0.1 + (0.2 + 0.3)
    assert a != b
    assert assign(found([[b, a]]), GREEDY) == (0,)


def test_more_roles_than_candidates():
    rows = [[5.0, 1.0], [4.0, 3.0], [3.5, 2.9], [4.5, 1.0]]
    # greedy, first round: (0, A) 5.0, then (1, B) 3.0; second: (3, A) 4.5, (2, B) 2.9
    # hungarian, first round: 5.0 + 3.0 = 8.0; second: 4.5 + 2.9
    # margin, first round: A is wanted by all; 4.0, 1.0, 0.6 and 3.5 apart, role 0 keeps it;
    #   B is then wanted by 1, 2 and 3, each without an alternative: the higher score keeps it
    assert by_rule(rows) == {
        GREEDY: (0, 1, 1, 0),
        ARGMAX: (0, 0, 0, 0),
        MARGIN: (0, 1, 1, 0),
        HUNGARIAN: (0, 1, 1, 0),
    }


def test_a_role_at_its_last_candidate_ousts_nobody_with_an_alternative():
    # A is wanted with 5 - 1 and 4.9 - 1, role 0 keeps it; role 1 comes to B with nothing behind it
    # (margin 0, the next round is its), which role 2 keeps with 5 - 1; then role 1 gets A
    assert assign(found([[5.0, 1.0], [4.9, 1.0], [1.0, 5.0]]), MARGIN) == (0, 0, 1)


def test_margin_over_two_candidates_for_three_roles():
    # Who holds A and B after the first round, found without the dance: of the roles that like the
    # candidate better the one with the largest margin; if none does, of the others the one with
    # the highest score for it. The third role gets the candidate it likes better.
    rng = np.random.default_rng(0)
    gained, at_random = [], []
    for _ in range(300):
        rows = rng.uniform(1, 5, (3, 2))
        likes = rows.argmax(axis=1)
        margins = np.abs(rows[:, 0] - rows[:, 1])
        expected = likes.copy()
        for j in (0, 1):
            if j in likes:
                continue
            top = max(range(3), key=lambda i: margins[i])
            rest = [i for i in range(3) if i != top]
            expected[max(rest, key=lambda i: rows[i, j])] = j
        chosen = assign(found(rows), MARGIN)
        assert chosen == tuple(expected)
        gained.append(rows[range(3), chosen].mean())
        at_random.append(rows.mean())
    assert np.mean(gained) > np.mean(at_random) + 0.5


@pytest.mark.parametrize("mode", AssignMode)
def test_a_missing_score_is_taken_last(mode):
    assert assign(found([[NAN, 1.0], [5.0, NAN]]), mode) == (1, 0)
    assert assign(found([[NAN], [NAN]]), mode) == (0, 0)


@pytest.mark.parametrize("mode", AssignMode)
def test_one_candidate_plays_every_role(mode):
    assert assign(found([[2.0], [3.0], [1.0]]), mode) == (0, 0, 0)


def test_the_best_overall_is_over_the_scores_that_exist():
    assert best_overall(np.array([[4.0, 3.0, NAN], [NAN, 4.8, NAN]])) == 0  # 4.0 against 3.9
    assert best_overall(np.array([[3.0, 3.0]])) == 0
    assert best_overall(np.array([[NAN, NAN]])) == 0


unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
matrices = st.integers(1, 4).flatmap(
    lambda n: st.integers(1, 4).flatmap(
        lambda m: st.lists(
            st.lists(st.integers(5, 25).map(lambda v: v / 5), min_size=m, max_size=m),
            min_size=n,
            max_size=n,
        )
    )
)


@unhurried
@given(matrices)
def test_distinct_rules_use_nobody_more_often_than_they_must(rows):
    n_roles, n_candidates = len(rows), len(rows[0])
    most = -(-n_roles // n_candidates)
    for mode in (GREEDY, MARGIN, HUNGARIAN):
        chosen = assign(found(rows), mode)
        assert len(chosen) == n_roles
        assert max(chosen.count(j) for j in chosen) <= most


@unhurried
@given(matrices)
def test_hungarian_reaches_the_largest_sum(rows):
    n_roles, n_candidates = len(rows), len(rows[0])
    if n_roles > n_candidates:
        return
    chosen = assign(found(rows), HUNGARIAN)
    total = sum(rows[i][j] for i, j in enumerate(chosen))
    every = itertools.permutations(range(n_candidates), n_roles)
    assert total == pytest.approx(max(sum(rows[i][j] for i, j in enumerate(p)) for p in every))


@unhurried
@given(matrices)
def test_without_conflict_all_rules_agree_with_argmax(rows):
    tops = [[j for j, v in enumerate(row) if v == max(row)] for row in rows]
    if any(len(top) > 1 for top in tops) or len({top[0] for top in tops}) < len(rows):
        return
    assert set(by_rule(rows).values()) == {tuple(top[0] for top in tops)}
