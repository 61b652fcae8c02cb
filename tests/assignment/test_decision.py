"""From scores to an assignment: exclusion, correction, thresholds, reasons; worked by hand."""

import numpy as np
import pytest

from sero.assignment.decision import Names, decide
from sero.assignment.rules import AssignMode

NAN = float("nan")


def names(n_roles, n_candidates, n_evaluators=None):
    return Names(
        roles=tuple(f"r{i}" for i in range(n_roles)),
        candidates=tuple("ABCDEF"[:n_candidates]),
        evaluators=tuple("ABCDEF"[: n_evaluators or n_candidates]),
    )


def decided(rows, cfg, own=None, own_unasked=False, **changes):
    """Means given as they are (one evaluator), or scores per evaluator."""
    scores = np.array(rows, dtype=float)
    if scores.ndim == 2:
        scores = scores[:, :, None]
    own = own or (None,) * scores.shape[2]
    who = names(*scores.shape)
    return decide(scores, own, who, cfg(**changes), own_unasked=own_unasked)


ARCHITECTURE = [[4.3, 3.6, 3.4], [3.8, 4.4, 3.7], [3.5, 3.9, 4.6]]


@pytest.mark.parametrize("mode", AssignMode)
def test_the_architecture_matrix(cfg, mode):
    found = decided(ARCHITECTURE, cfg, mode=mode)
    assert found.chosen == (0, 1, 2)
    assert found.margins == (0.7, 0.6, 0.7)
    assert found.warnings == ()
    assert found.reasons[1] == "highest mean 4.40, 0.60 above the next"
    assert found.mode is mode


def test_a_role_without_a_mean_above_the_threshold_gets_the_best_overall(cfg):
    # r1 is low: 2.5 is not above 2.5. Greedy over r0 and r2 alone: A 4.0, then B 3.0.
    # Best overall: A (4.0 + 2.0 + 3.5) / 3 = 3.17, B (3.0 + 2.5 + 3.0) / 3 = 2.83
    found = decided([[4.0, 3.0], [2.0, 2.5], [3.5, 3.0]], cfg)
    assert found.low == (False, True, False)
    assert found.chosen == (0, 0, 1)
    assert found.reasons[1] == ("best mean 2.50, not above 2.5; the best over all roles takes it")
    assert found.reasons[2] == "mean 3.00, behind 'A' (3.50), who plays 'r0', 'r1'"
    assert "no mean above 2.5 for r1: best overall" in found.warnings


def test_all_low_is_uniform(cfg):
    found = decided([[2.0, 1.0, 2.4], [1.0, 1.2, 2.0]], cfg)
    assert found.chosen == (2, 2)  # C: 2.2 on average
    assert "'C' takes every role" in found.warnings


def test_just_above_the_threshold_is_not_low(cfg):
    assert decided([[2.51, 1.0], [1.0, 2.5 + 1e-12]], cfg).low == (False, True)


def test_missing_scores(cfg):
    # r0 has none of A; r1 has none at all and so no mean above the threshold. Best overall over
    # the means that are there: B 4.0, C 3.0.
    found = decided([[NAN, 4.0, 3.0], [NAN, NAN, NAN]], cfg)
    assert found.chosen == (1, 1)
    assert found.reasons == (
        "highest mean 4.00, 1.00 above the next",
        "no score of the role could be read; the best over all roles takes it",
    )
    assert found.margins == (1.0, None)


def test_no_score_at_all(cfg):
    found = decided([[NAN, NAN], [NAN, NAN]], cfg)
    assert found.chosen == (0, 0)
    assert "no score could be read at all: the assignment is arbitrary" in found.warnings


def test_a_tie_names_the_rule_that_settled_it(cfg):
    # both 4.0: A by scores 5 and 3, B by 4 and 4
    rows = [[[5.0, 3.0], [4.0, 4.0]]]
    found = decided(rows, cfg)
    assert found.chosen == (1,)
    assert found.reasons == ("mean 4.00, tied with 'A' and settled by the smaller variance",)
    assert found.margins == (0.0,)
    # the same three scores in another order: nothing but floats tells the variances apart
    turned = decided([[[3.0, 7 / 3, 10 / 3], [10 / 3, 7 / 3, 3.0]]], cfg)
    assert turned.chosen == (0,)
    assert "smaller variance" not in turned.reasons[0]
    same = decided([[4.0, 4.0], [4.0, 4.0]], cfg)
    assert same.chosen == (0, 1)
    assert same.reasons[1] == (
        "mean 4.00, tied with 'A' and settled by roles held, other roles' claims or the order of "
        "the list"
    )


def test_fewer_candidates_than_roles(cfg):
    rows = [[5.0, 3.0], [4.0, 3.2], [3.5, 2.9]]
    # first round: A to r0 (5.0), B to r1 (3.2); second: A to r2 (3.5)
    found = decided(rows, cfg)
    assert found.chosen == (0, 1, 0)
    assert (
        "3 roles for 2 candidates: greedy went round again over the roles that were left"
    ) in found.warnings
    assert decided(rows, cfg, mode=AssignMode.ARGMAX).warnings == ("'A' takes every role",)


def test_flat_scores_are_called_noise(cfg):
    # spread of the means 0.5, standard deviations 1 and 1.5
    found = decided([[[5.0, 3.0], [5.0, 2.0]]], cfg)
    assert found.flat == (True,)
    assert found.warnings == (
        "the scores for r0 differ less than the reviewers do: noise, or reviewers of unlike "
        "severity",
    )


def test_severity_is_not_called_noise_where_it_is_taken_out(cfg):
    # the reviewers agree on every difference and differ by 2 in severity: spread 0.6, sd 1
    rows = [[[5.0, 3.0], [4.5, 2.5], [4.4, 2.4]]]
    found = decided(rows, cfg)
    assert found.flat == (True,)
    assert found.warnings[0].endswith("; assign.severity_correction=true tells them apart")
    corrected = decided(rows, cfg, severity_correction=True)
    assert (corrected.flat, corrected.warnings) == ((False,), ())
    # A and B by turns, a spread of 0.2 on average: that is noise
    torn = decided([[[5.0, 3.0], [3.0, 4.6], [4.0, 4.0]]], cfg, severity_correction=True)
    assert torn.warnings == (
        "the scores for r0 differ less than the reviewers do, their severity taken out: noise",
    )


def test_a_mean_that_a_single_reviewer_of_a_panel_decides(cfg):
    # B in r1 was scored by one of three; r2 by nobody, which its reason says
    rows = np.array([[[4.0] * 3, [3.0] * 3], [[4.0] * 3, [3.0, NAN, NAN]], [[NAN] * 3] * 2])
    line = "fewer than two reviewers' scores are left for a candidate of r1"
    assert line in decided(rows, cfg).warnings
    assert not any("fewer than two" in one for one in decided(rows[:1], cfg).warnings)
    assert not any("fewer than two" in one for one in decided(rows[:, :, 0], cfg).warnings)


class TestExclusion:
    # Evaluator A gives itself 5; B and C see 3 in A, 3.5 in B, 3 in C; three roles alike.
    GAMED = [[[5.0, 3.0, 3.0], [3.0, 3.5, 3.5], [3.0, 3.0, 3.0]]] * 3
    OWN = (0, 1, 2)

    def test_off(self, cfg):
        found = decided(self.GAMED, cfg, self.OWN, mode=AssignMode.ARGMAX)
        assert found.excluded == ()
        assert found.chosen == (0, 0, 0)  # 3.67 against 3.33

    def test_auto_finds_the_one_that_favours_itself(self, cfg):
        found = decided(self.GAMED, cfg, self.OWN, mode=AssignMode.ARGMAX, exclude_self="auto")
        assert found.excluded == (0,)
        assert "'A' favours itself" in found.warnings
        assert found.found.means[0].tolist() == pytest.approx([3.0, 10 / 3, 3.0])
        assert found.chosen == (1, 1, 1)
        assert found.scores[0, 0, 0] == 5.0  # the record keeps what was said

    def test_the_margin(self, cfg):
        found = decided(self.GAMED, cfg, self.OWN, exclude_self="auto", self_margin=2.1)
        assert found.excluded == ()

    def test_a_score_that_was_never_there_was_not_excluded(self, cfg):
        # C gave itself nothing that could be read, and nothing of A's is left to take out but in r1
        rows = np.array(self.GAMED)
        rows[:, 2, 2] = NAN
        rows[[0, 2], 0, 0] = NAN
        assert decided(rows, cfg, self.OWN, exclude_self=True).excluded == (0, 1)

    def test_who_was_never_asked_about_itself_is_excluded(self, cfg):
        rows = np.array(self.GAMED)
        for e in self.OWN:
            rows[:, e, e] = NAN
        changes = {"exclude_self": True, "review": "single"}
        assert decided(rows, cfg, self.OWN, **changes).excluded == ()
        unasked = decided(rows, cfg, (0, 1, None), own_unasked=True, **changes)
        assert unasked.excluded == (0, 1)

    def test_all(self, cfg):
        found = decided(self.GAMED, cfg, self.OWN, exclude_self=True)
        assert found.excluded == (0, 1, 2)
        assert found.found.means[0].tolist() == pytest.approx([3.0, 3.25, 3.0])

    def test_a_single_reviewer_left_keeps_all_with_a_warning(self, cfg):
        rows = [[[5.0, 3.0], [3.0, 4.0]]]
        found = decided(rows, cfg, (0, 1), exclude_self=True)
        assert found.excluded == ()
        assert found.found.means[0].tolist() == [4.0, 3.5]
        assert (
            "excluding self would leave a single reviewer in r0, so all scores for oneself were "
            "kept there"
        ) in found.warnings


class TestSeverity:
    def test_it_changes_who_is_ahead_once_self_is_excluded(self, cfg):
        # ability 4, 3.5, 3; severities +0.5, +0.5, -1. Without their own scores A is seen by the
        # strict C and B, means 3.75, 3.25, 3.5: C passes B. Corrected, the order is right again.
        ability, severity = np.array([4.0, 3.5, 3.0]), np.array([0.5, 0.5, -1.0])
        rows = (ability[:, None] + severity)[None]
        plain = decided(rows, cfg, (0, 1, 2), exclude_self=True)
        assert plain.found.means[0].tolist() == [3.75, 3.25, 3.5]
        fitted = decided(rows, cfg, (0, 1, 2), exclude_self=True, severity_correction=True)
        assert fitted.corrected
        assert np.diff(fitted.found.means[0]).tolist() == pytest.approx([-0.5, -0.5])

    def test_what_is_excluded_is_not_fitted(self, cfg):
        # the same scores, but for A's of itself: excluded, it changes nothing
        ability, severity = np.array([4.0, 3.5, 3.0]), np.array([0.5, 0.5, -1.0])
        rows = (ability[:, None] + severity)[None]
        gamed = rows.copy()
        gamed[0, 0, 0] = 1.0
        changes = {"exclude_self": True, "severity_correction": True}
        honest = decided(rows, cfg, (0, 1, 2), **changes).found.means
        assert decided(gamed, cfg, (0, 1, 2), **changes).found.means == pytest.approx(honest)

    def test_two_candidates_are_too_few(self, cfg):
        found = decided([[4.0, 3.0]], cfg, severity_correction=True)
        assert not found.corrected
        assert found.warnings[0].startswith("severity_correction needs three candidates")


def test_the_record_is_plain_data(cfg):
    found = decided([[4.0, NAN], [2.0, 2.0]], cfg)
    data = found.to_data(names(2, 2, 1))
    assert data["rule"] == "greedy"
    assert data["assignment"] == {"r0": "A", "r1": "A"}
    assert data["scores"] == [[[4.0], [None]], [[2.0], [2.0]]]
    assert data["means"] == [[4.0, None], [2.0, 2.0]]
    assert data["variances"] == [[0.0, None], [0.0, 0.0]]
    assert (data["fallback"], data["margins"]) == (["r1"], [None, 0.0])
