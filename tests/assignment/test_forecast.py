"""Calls before the run, and what would save some of them."""

import pytest

from sero.assignment.criteria import default_criteria
from sero.assignment.forecast import Saving, forecast
from sero.assignment.roster import Candidate, DebateRole
from sero.cli.assign_tables import forecast_text


@pytest.mark.parametrize(
    ("roles", "candidates", "changes", "parts"),
    [
        # I, I J, I E
        (3, 4, {}, (3, 12, 12)),
        (2, 3, {}, (2, 6, 6)),
        # I J E
        (3, 4, {"review": "single"}, (3, 12, 48)),
        # less I J
        (3, 4, {"review": "single", "exclude_self": True}, (3, 12, 36)),
        # auto has to see the own scores first
        (3, 4, {"review": "single", "exclude_self": "auto"}, (3, 12, 48)),
        # nothing is saved where all proposals stand in one call
        (3, 4, {"exclude_self": True}, (3, 12, 12)),
        # nor where a single reviewer would be left
        (3, 2, {"review": "single", "exclude_self": True}, (3, 6, 12)),
        (3, 1, {}, (0, 0, 0)),
    ],
)
def test_calls(make_roster, cfg, roles, candidates, changes, parts):
    ahead = forecast(make_roster(roles, candidates), cfg(**changes), host_calls=6)
    assert (ahead.criteria, ahead.proposals, ahead.reviews) == parts
    assert ahead.calls == sum(parts)
    assert ahead.over_host == sum(parts) / 6


def test_given_criteria_are_not_written(make_roster, cfg):
    roles = (
        DebateRole(name="x", description="y", criteria=default_criteria()),
        DebateRole(name="z", description="y"),
    )
    ahead = forecast(make_roster(2, 3, roles=roles), cfg(max_revisions=0), host_calls=1)
    assert ahead.criteria == 1
    assert ahead.most_calls == ahead.calls + 2  # two further attempts for the other role


def test_the_bound(make_roster, cfg):
    # 2 + 6 + 6; two more attempts for each role's criteria; each role once described anew in up to
    # three attempts and heard again by 3 + 3 calls
    assert forecast(make_roster(2, 3), cfg(), host_calls=1).most_calls == 14 + 4 + 2 * (3 + 3 + 3)
    twice = forecast(make_roster(2, 3), cfg(max_revisions=2, criteria_attempts=1), host_calls=1)
    assert twice.most_calls == 14 + 2 * 2 * (1 + 3 + 3)


def test_what_would_save(make_roster, cfg):
    savings = forecast(make_roster(3, 4), cfg(), host_calls=1).savings
    cheaper = savings[-1]
    assert savings[:-1] == (
        Saving(how="one candidate fewer", calls=6),  # I proposals, and I reviews as it also judges
        Saving(how="two evaluators (evaluators: in the file)", calls=6),
        Saving(how="criteria given with the roles", calls=3),
    )
    assert cheaper.how.startswith("a cheaper model for the 12 proposals")
    single = forecast(make_roster(3, 4), cfg(review="single"), host_calls=1).savings
    assert [saving.calls for saving in single] == [
        36,  # 48 reviews to 12
        3 * (1 + 16 - 9),  # 3 x 3 reviews for each role
        3 * (16 - 8),
        3,
        0,
    ]


def test_savings_are_what_a_smaller_roster_costs(make_roster, cfg):
    for changes in ({}, {"review": "single"}, {"review": "single", "exclude_self": True}):
        ahead = forecast(make_roster(3, 5), cfg(**changes), host_calls=1)
        fewer = forecast(make_roster(3, 4), cfg(**changes), host_calls=1)
        (saving,) = [s for s in ahead.savings if s.how == "one candidate fewer"]
        assert saving.calls == ahead.calls - fewer.calls


def test_judges_of_their_own_stay_when_a_candidate_goes(make_roster, cfg):
    judges = (Candidate(name="X"), Candidate(name="Y"))
    ahead = forecast(make_roster(2, 3, judges), cfg(), host_calls=1)
    assert ahead.reviews == 4
    (saving,) = [s for s in ahead.savings if s.how == "one candidate fewer"]
    assert saving.calls == 2


def test_one_call_is_one_call(make_roster, cfg):
    judges = (Candidate(name="X"), Candidate(name="A", prompt="Strategy 0."), Candidate(name="Y"))
    roster = make_roster(1, 2, judges)
    settings = cfg(review="single", exclude_self=True)
    text = forecast_text(forecast(roster, settings, host_calls=1), roster)
    assert "never asked for: 1 review of one's own proposal\n" in text
    assert "to save 1 call: criteria given with the roles\n" in text
    assert "1 calls" not in text
