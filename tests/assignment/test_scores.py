"""From peer scores to suitability, on tables small enough to be worked by hand."""

import numpy as np
import pytest

from sero.assignment.scores import (
    flat_roles,
    self_promoters,
    severity_corrected,
    suitability,
    without_own,
)

NAN = float("nan")


def test_means_and_variances_leave_missing_scores_out():
    found = suitability(np.array([[[4.0, 2.0, NAN], [NAN, NAN, NAN]]]))
    assert found.means[0, 0] == 3.0
    assert found.variances[0, 0] == 1.0
    assert np.isnan(found.means[0, 1])


def test_own_scores_are_taken_out():
    scores = np.arange(9, dtype=float).reshape(1, 3, 3)
    kept, short = without_own(scores, (0, 1, 2))
    assert not short.any()
    assert np.isnan(kept[0]).tolist() == np.eye(3, dtype=bool).tolist()
    assert suitability(kept).means[0].tolist() == [1.5, 4.0, 6.5]
    assert scores[0, 0, 0] == 0.0  # the given scores stand


def test_an_outsider_has_no_own_score():
    kept, _ = without_own(np.ones((1, 2, 3)), (0, None, 1))
    assert np.isnan(kept[0]).tolist() == [[True, False, False], [False, False, True]]


def test_a_single_other_reviewer_is_too_few():
    scores = np.array([[[5.0, 1.0], [2.0, 4.0]]])
    kept, short = without_own(scores, (0, 1))
    assert short.tolist() == [True]
    assert kept.tolist() == scores.tolist()


def test_a_role_keeps_every_own_score_or_none():
    # r0: without B's own score C's alone would be left for B, as A gave none; so A and C, who have
    # two other reviewers each, keep theirs as well. r1 is whole.
    scores = np.full((2, 3, 3), 3.0)
    scores[0, 1, 0] = NAN
    kept, short = without_own(scores, (0, 1, 2))
    assert short.tolist() == [True, False]
    assert np.array_equal(kept[0], scores[0], equal_nan=True)
    assert np.isnan(kept[1]).tolist() == np.eye(3, dtype=bool).tolist()


def test_an_own_score_that_is_missing_anyway_keeps_nobody_elses():
    scores = np.full((1, 3, 3), 3.0)
    scores[0, 1, :2] = NAN  # C's alone is there for B, and nothing would be taken from it
    kept, short = without_own(scores, (0, 1, 2))
    assert not short.any()
    assert np.isnan(kept[0, [0, 2], [0, 2]]).all()


def test_many_tasks_at_once_are_each_by_itself():
    rng = np.random.default_rng(1)
    scores = rng.integers(1, 6, (40, 2, 3, 3)).astype(float)
    scores[:, :, 0, 0] = 5.0
    scores[rng.random(scores.shape) < 0.1] = NAN
    named = self_promoters(scores, (0, 1, None), margin=1.0)
    kept, short = without_own(scores, (0, 1, None), named)
    assert 0 < named[:, 0].sum() < 40
    assert short.any()
    for task, whose, left, few in zip(scores, named, kept, short, strict=True):
        assert self_promoters(task, (0, 1, None), margin=1.0).tolist() == whose.tolist()
        alone, alone_short = without_own(task, (0, 1, None), whose)
        assert np.array_equal(alone, left, equal_nan=True)
        assert alone_short.tolist() == few.tolist()


def test_only_named_evaluators_are_excluded():
    kept, _ = without_own(np.ones((1, 3, 3)), (0, 1, 2), (False, True, False))
    assert np.argwhere(np.isnan(kept)).tolist() == [[0, 1, 1]]


def test_a_self_promoter_stands_out():
    # Evaluator 0 gives itself 5 and the others 3 in all three roles; the others see a 3 in it.
    # Evaluator 1 likes itself best in one role of three. Evaluator 2 is even.
    scores = np.full((3, 3, 3), 3.0)
    scores[:, 0, 0] = 5.0
    scores[0, 1, 1] = 5.0
    assert self_promoters(scores, (0, 1, 2), margin=1.0).tolist() == [True, False, False]
    assert not self_promoters(scores, (0, 1, 2), margin=2.5).any()  # 2 is too little


def test_a_gap_of_just_the_margin_is_enough_whatever_its_floats():
    scores = np.full((1, 3, 3), 1.3)
    scores[0, 0, 0] = 2.3
    assert 2.3 - 1.3 < 1.0
    assert self_promoters(scores, (0, None, None), margin=1.0).tolist() == [True, False, False]


def test_a_candidate_that_all_prefer_is_no_self_promoter():
    scores = np.full((3, 3, 3), 3.0)
    scores[:, 0, :] = 5.0
    assert not self_promoters(scores, (0, 1, 2), margin=1.0).any()


def test_severity_cancels_in_a_full_table():
    ability = np.array([[4.0, 3.0, 2.0]])
    severity = np.array([[0.5, -0.25, -0.25]])
    scores = ability[:, :, None] + severity[:, None, :]
    corrected = suitability(severity_corrected(scores))
    assert corrected.means == pytest.approx(ability)
    assert corrected.variances == pytest.approx(np.zeros((1, 3)))  # they agree but for severity
    assert suitability(scores).means == pytest.approx(ability)


def test_severity_is_fitted_where_reviewers_differ():
    # The harsh reviewer (-1 to the others' +0.5) saw only the best candidate: its mean suffers,
    # the corrected value does not.
    ability = np.array([[4.0, 3.5, 2.0]])
    scores = ability[:, :, None] + np.array([0.5, 0.5, -1.0])
    scores[0, 1:, 2] = NAN
    scores[0, 0, 0] = NAN
    assert suitability(scores).means[0] == pytest.approx([3.75, 4.0, 2.5])
    corrected = suitability(severity_corrected(scores)).means[0]
    assert corrected[0] > corrected[1] > corrected[2]
    assert corrected[1] - corrected[2] == pytest.approx(1.5)


def test_severity_needs_three_candidates():
    with pytest.raises(ValueError, match="at least three"):
        severity_corrected(np.ones((1, 2, 2)))


def test_flat_scores_are_noise():
    agreed = np.array([[4.0, 4.0], [3.0, 3.0]])  # spread 1, no disagreement
    disputed = np.array([[5.0, 1.0], [1.0, 4.0]])  # spread 0.5, sd 2 and 1.5
    single = np.array([[5.0, 1.0], [NAN, NAN]])
    assert flat_roles(np.stack([agreed, disputed, single])) == (False, True, False)


def test_severity_counts_as_disagreement_until_it_is_taken_out():
    # The reviewers agree on every difference and differ by 2 in severity: spread 0.6, sd 1 each.
    scores = np.array([[[5.0, 3.0], [4.5, 2.5], [4.4, 2.4]]])
    assert flat_roles(scores) == (True,)
    assert flat_roles(severity_corrected(scores)) == (False,)


def test_a_spread_of_just_the_disagreement_is_not_flat():
    # means 3 and 7/3, sd 1/3 and 1: a spread of 2/3 against 2/3, equal but for the last digits
    scores = np.array([[[8 / 3, 10 / 3], [10 / 3, 4 / 3]]])
    assert flat_roles(scores) == (False,)
