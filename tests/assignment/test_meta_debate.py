"""Meta-Debate against scripted reviewers: assignments worked out by hand, calls, records."""

import asyncio
import json

import numpy as np
import pytest

from sero.assignment.forecast import forecast
from sero.assignment.meta_debate import assign_roles
from sero.assignment.roster import Candidate
from sero.assignment.rules import AssignMode

GREEDY, ARGMAX, MARGIN, HUNGARIAN = AssignMode
TASK = "Decide."


def run(people, cfg, call, **changes):
    return asyncio.run(assign_roles(TASK, people.roster, people.panel, cfg(**changes), call=call))


# roles x candidates, the assignment under each rule, and under which threshold nothing is low
TABLES = {
    "architecture": (
        [[4.3, 3.6, 3.4], [3.8, 4.4, 3.7], [3.5, 3.9, 4.6]],
        {GREEDY: (0, 1, 2), ARGMAX: (0, 1, 2), MARGIN: (0, 1, 2), HUNGARIAN: (0, 1, 2)},
    ),
    # A is wanted by both. greedy: 5.0 for r0, B is left with 1.0; margin: 0.5 against 3.4, so r1
    # keeps A; hungarian: 4.5 + 4.4 against 5.0 + 1.0
    "conflict": (
        [[5.0, 4.5], [4.4, 1.0]],
        {GREEDY: (0, 1), ARGMAX: (0, 0), MARGIN: (1, 0), HUNGARIAN: (1, 0)},
    ),
    "ties": (
        [[4.0, 4.0, 4.0], [4.0, 4.0, 4.0], [4.0, 4.0, 4.0]],
        dict.fromkeys(AssignMode, (0, 1, 2)),
    ),
    # more roles than candidates: A to r0 (5.0), B to r1 (3.0); then A to r3 (4.5), B to r2 (2.9)
    "few candidates": (
        [[5.0, 1.0], [4.0, 3.0], [3.5, 2.9], [4.5, 1.0]],
        {
            GREEDY: (0, 1, 1, 0),
            ARGMAX: (0, 0, 0, 0),
            MARGIN: (0, 1, 1, 0),
            HUNGARIAN: (0, 1, 1, 0),
        },
    ),
    # nobody scored A in r0, nor B in r1
    "missing": (
        [[None, 3.0, 2.6], [5.0, None, 4.0], [4.8, 4.0, 3.0]],
        # greedy: A to r1 (5.0), B to r2 (4.0), C is left for r0; argmax takes A twice.
        # margin: A is asked by r1 (5.0 - 4.0) and r2 (4.8 - 4.0): r1 keeps it. B is then asked by
        # r0 (3.0 - 2.6) and r2 (4.0 - 3.0): r2 keeps it. hungarian: 3.0 + 4.0 + 4.8 = 11.8
        # against greedy's 2.6 + 5.0 + 4.0 = 11.6
        {GREEDY: (2, 0, 1), ARGMAX: (1, 0, 0), MARGIN: (2, 0, 1), HUNGARIAN: (1, 2, 0)},
    ),
}


@pytest.mark.parametrize("mode", AssignMode)
@pytest.mark.parametrize("name", TABLES)
def test_hand_made_tables(make_roster, society, cfg, call, name, mode):
    table, expected = TABLES[name]
    people = society(make_roster(len(table), len(table[0])), table)
    found = run(people, cfg, call, mode=mode)
    assert found.chosen == expected[mode]
    means = np.array([[np.nan if v is None else v for v in row] for row in table])
    assert found.decision.found.means == pytest.approx(means, nan_ok=True)
    missing = sum(value is None for row in table for value in row)
    assert found.dropped == missing * 3 * len(people.evaluators)


def test_what_is_asked_and_what_it_costs(make_roster, society, cfg, call):
    table, _ = TABLES["architecture"]
    people = society(make_roster(3, 3), table)
    found = run(people, cfg, call)
    kinds = people.kinds()
    assert (kinds.count("criteria"), kinds.count("proposal"), kinds.count("review")) == (3, 9, 9)
    ahead = forecast(people.roster, cfg(), host_calls=6)
    assert found.cost.calls == len(people.requests) == ahead.calls == 21
    assert ahead.over_host == 3.5
    bounds = {
        people.kind_of(r): (r.max_tokens, r.schema.name if r.schema else "")
        for r in people.requests
    }
    assert bounds == {
        "criteria": (200, "criteria"),
        "proposal": (100, ""),
        "review": (300, "review"),
    }
    # the first evaluator writes the criteria; everybody speaks with the own prompt strategy
    assert {r.role for r in people.requests if people.kind_of(r) == "criteria"} == {"A"}
    assert {(r.role, r.messages[0].content) for r in people.requests} == {
        (name, f"Strategy {j}.") for j, name in enumerate("ABC")
    }
    assert found.warnings == tuple(
        f"role 'r{i}': the description is generic: 3 word(s) in it are about this role. Say in a "
        "paragraph what the role is responsible for and what counts as success"
        for i in range(3)
    )


def test_one_call_per_proposal(make_roster, society, cfg, call):
    table, expected = TABLES["architecture"]
    people = society(make_roster(3, 3), table)
    found = run(people, cfg, call, review="single")
    assert found.chosen == expected[GREEDY]
    assert people.kinds().count("review") == 27  # I J E
    assert found.cost.calls == forecast(people.roster, cfg(review="single"), host_calls=1).calls


def test_own_reviews_are_saved_under_single_calls(make_roster, society, cfg, call):
    table, _ = TABLES["architecture"]
    people = society(make_roster(3, 3), table)
    found = run(people, cfg, call, review="single", exclude_self=True)
    ahead = forecast(people.roster, cfg(review="single", exclude_self=True), host_calls=1)
    assert ahead.own_reviews_saved == 9  # I J
    assert people.kinds().count("review") == ahead.reviews == 18
    assert np.isnan([found.decision.scores[:, j, j] for j in range(3)]).all()
    assert found.chosen == (0, 1, 2)
    assert found.dropped == 0
    joint = run(society(make_roster(3, 3), table), cfg, call, exclude_self=True)
    assert joint.cost.calls == 21  # nothing is saved
    assert joint.decision.found.means == pytest.approx(found.decision.found.means)
    assert joint.decision.excluded == found.decision.excluded == (0, 1, 2)
    assert not any("fewer than two" in line for line in found.warnings)
    # C's scores for A cannot be read in r1, so B's alone is left for A there
    torn = [[[mean] * 3 for mean in row] for row in table]
    torn[1][0][2] = None
    people = society(make_roster(3, 3), torn)
    found = run(people, cfg, call, review="single", exclude_self=True)
    assert found.dropped == 3
    line = "fewer than two reviewers' scores are left for a candidate of r1"
    assert line in found.warnings


def test_evaluators_of_their_own(make_roster, society, cfg, call):
    judges = (Candidate(name="X"), Candidate(name="B", prompt="Strategy 1."))
    roster = make_roster(2, 2, judges)
    # scores by evaluator X, B: means A 4.0, B 3.0 and A 3.0, B 4.5
    people = society(roster, [[[4.0, 4.0], [2.0, 4.0]], [[3.0, 3.0], [4.0, 5.0]]])
    found = run(people, cfg, call)
    assert found.chosen == (0, 1)
    assert found.decision.scores.shape == (2, 2, 2)
    assert found.roster.own == (None, 1)
    writers = {r.role for r in people.requests if people.kind_of(r) == "criteria"}
    assert writers == {"X"}
    assert {r.role for r in people.requests if people.kind_of(r) == "review"} == {"X", "B"}
    assert found.cost.calls == forecast(roster, cfg(), host_calls=1).calls == 2 + 4 + 4


def test_a_single_candidate_takes_every_role_without_a_call(make_roster, society, cfg, call):
    people = society(make_roster(3, 1), [[1.0]] * 3)
    found = run(people, cfg, call)
    assert found.chosen == (0, 0, 0)
    assert people.requests == []
    assert (found.cost.calls, found.decision) == (0, None)
    assert found.warnings == (
        "'A' is the only candidate: it takes every role and nobody was asked",
    )
    assert forecast(people.roster, cfg(), host_calls=3).most_calls == 0
    assert found.to_data()["rule"] == "single_candidate"


class TestLowScores:
    LOW = ((4.0, 3.0, 3.0), (2.0, 2.5, 1.0))

    def test_a_role_is_described_anew_and_heard_again(self, make_roster, society, cfg, call):
        people = society(make_roster(2, 3), self.LOW, after={1: [3.0, 3.5, 4.5]})
        found = run(people, cfg, call)
        assert found.chosen == (0, 2)
        assert found.decision.low == (False, False)
        assert found.hearings[1].role.description == "Described anew at length."
        assert found.superseded[0].role.description == "Role 1 of the hand-made table."
        assert "role 'r1' was described anew" in found.warnings
        # 2 + 6 + 6, then one revision, 3 proposals and 3 reviews
        assert found.cost.calls == len(people.requests) == 14 + 7
        proposals = [r for r in people.requests if people.kind_of(r) == "proposal"]
        assert "Described anew at length. Here is" in proposals[-1].messages[-1].content

    def test_still_low_is_uniform_for_that_role(self, make_roster, society, cfg, call):
        people = society(make_roster(2, 3), self.LOW, after={1: [1.0, 2.2, 2.4]})
        found = run(people, cfg, call)
        # best overall: A (4.0 + 1.0) / 2, B (3.0 + 2.2) / 2 = 2.6, C (3.0 + 2.4) / 2 = 2.7
        assert found.chosen == (0, 2)
        assert found.decision.low == (False, True)
        assert found.to_data()["fallback"] == ["r1"]
        assert people.kinds().count("revision") == 1

    @pytest.mark.parametrize("revisions", [0, 2, 3])
    def test_as_often_as_allowed(self, make_roster, society, cfg, call, revisions):
        people = society(make_roster(2, 3), self.LOW, after={1: [1.0, 2.2, 2.4]})
        found = run(people, cfg, call, max_revisions=revisions)
        assert people.kinds().count("revision") == revisions
        assert len(found.superseded) == revisions
        ahead = forecast(people.roster, cfg(max_revisions=revisions), host_calls=1)
        assert ahead.calls <= found.cost.calls == 14 + 7 * revisions <= ahead.most_calls

    def test_a_description_that_never_comes(self, make_roster, society, cfg, call):
        people = society(make_roster(2, 3), self.LOW, replies={"revision": "I cannot."})
        found = run(people, cfg, call, max_revisions=2)
        assert found.chosen == (0, 0)  # best overall: A 3.0, B 2.75, C 2.0
        assert found.superseded == ()
        assert people.kinds().count("revision") == 3  # and no second round of the same questions
        assert "1 role(s) could not be described anew: no usable reply" in found.warnings
        assert found.cost.calls == len(people.requests) == 17

    def test_all_roles_low(self, make_roster, society, cfg, call):
        low = [[2.0, 1.0, 2.4], [1.0, 1.2, 2.0]]
        people = society(make_roster(2, 3), low, after=dict(enumerate(low)))
        found = run(people, cfg, call)
        assert found.chosen == (2, 2)
        assert found.cost.calls == len(people.requests) == 14 + 14
        assert "'C' takes every role" in found.warnings


def test_everything_refused_costs_what_the_forecast_says_at_most(make_roster, society, cfg, call):
    """Criteria never usable, scores low, and a revision that comes with the last attempt."""
    roster = make_roster(2, 3)
    tries = {"n": 0}

    def revision(request):
        tries["n"] += 1
        third = request.sample_index[-2:] == ("attempt", 2)
        return people.reply_anew() if third else "no"

    people = society(roster, [[2.0] * 3] * 2, after={0: [2.0] * 3, 1: [2.0] * 3})
    people.reply_anew = lambda: json.dumps(
        {
            "description": "Described anew at length.",
            "criteria": [
                {"name": f"Point {n}", "description": f"Sign {n}.", "lower_is_better": n == 3}
                for n in (1, 2, 3)
            ],
        }
    )
    people.replies = {"criteria": "none", "revision": revision}
    found = run(people, cfg, call)
    ahead = forecast(roster, cfg(), host_calls=1)
    assert tries["n"] == 6
    assert found.cost.calls == len(people.requests) == ahead.most_calls == 14 + 4 + 2 * (3 + 3 + 3)
    assert sum("the default ones were used" in line for line in found.warnings) == 2


def test_the_record_holds_everything(make_roster, society, cfg, call):
    people = society(make_roster(2, 3), TestLowScores.LOW, after={1: [3.0, 3.5, 4.5]})
    found = run(people, cfg, call)
    data = json.loads(json.dumps(found.to_data(), allow_nan=False))
    assert data["item"] == "item-1"
    assert data["simulated"] is False
    assert data["assignment"] == {"r0": "A", "r1": "C"} == found.by_role
    assert data["calls"] == len(data["messages"]) == 21
    assert {m["kind"] for m in data["messages"]} == {"criteria", "proposal", "review"}
    hearing = data["hearings"][1]
    assert hearing["criteria"][2] == {
        "name": "Point 3",
        "description": "Says the third thing.",
        "lower_is_better": True,
    }
    assert hearing["proposals"][0] == "This is how A would play r1."
    assert hearing["reviews"][0]["scores"] == [[3.0] * 3, [3.5] * 3, [4.5] * 3]
    assert data["superseded"][0]["description"] == "Role 1 of the hand-made table."
    assert data["means"][1] == [3.0, 3.5, 4.5]
    assert [c["name"] for c in data["candidates"]] == ["A", "B", "C"]
