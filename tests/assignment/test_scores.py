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
    assert not short
    assert np.isnan(kept[0]).tolist() == np.eye(3, dtype=bool).tolist()
    assert suitability(kept).means[0].tolist() == [1.5, 4.0, 6.5]
    assert scores[0, 0, 0] == 0.0  # the given scores stand


def test_an_outsider_has_no_own_score():
    kept, _ = without_own(np.ones((1, 2, 3)), (0, None, 1))
    assert np.isnan(kept[0]).tolist() == [[True, False, False], [False, False, True]]


def test_a_single_other_reviewer_is_too_few():
    scores = np.array([[[5.0, 1.0], [2.0, 4.0]]])
    kept, short = without_own(scores, (0, 1))
    assert short
    assert kept.tolist() == scores.tolist()


def test_only_named_evaluators_are_excluded():
    kept, _ = without_own(np.ones((1, 3, 3)), (0, 1, 2), (False, True, False))
    assert np.argwhere(np.isnan(kept)).tolist() == [[0, 1, 1]]


def test_a_self_promoter_stands_out():
    # Evaluator 0 gives itself 5 and the others 3 in all three roles; the others see a 3 in it.
    # Evaluator 1 likes itself best in one role of three. Evaluator 2 is even.
    scores = np.full((3, 3, 3), 3.0)
    scores[:, 0, 0] = 5.0
    scores[0, 1, 1] = 5.0
    assert self_promoters(scores, (0, 1, 2), margin=1.0) == (True, False, False)
    assert self_promoters(scores, (0, 1, 2), margin=2.5) == (False, False, False)  # 2 is too little


def test_a_candidate_that_all_prefer_is_no_self_promoter():
    scores = np.full((3, 3, 3), 3.0)
    scores[:, 0, :] = 5.0
    assert self_promoters(scores, (0, 1, 2), margin=1.0) == (False, False, False)


def test_severity_cancels_in_a_full_table():
    ability = np.array([[4.0, 3.0, 2.0]])
    severity = np.array([[0.5, -0.25, -0.25]])
    scores = ability[:, :, None] + severity[:, None, :]
    assert severity_corrected(scores) == pytest.approx(ability)
    assert suitability(scores).means == pytest.approx(ability)


def test_severity_is_fitted_where_reviewers_differ():
    # The harsh reviewer (-1 to the others' +0.5) saw only the best candidate: its mean suffers,
    # the corrected value does not.
    ability = np.array([[4.0, 3.5, 2.0]])
    scores = ability[:, :, None] + np.array([0.5, 0.5, -1.0])
    scores[0, 1:, 2] = NAN
    scores[0, 0, 0] = NAN
    assert suitability(scores).means[0] == pytest.approx([3.75, 4.0, 2.5])
    corrected = severity_corrected(scores)[0]
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
