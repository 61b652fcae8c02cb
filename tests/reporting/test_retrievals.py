import pytest
from pydantic import TypeAdapter

from sero.reporting.entries import Episode
from sero.reporting.retrievals import Retrievals, unseen_newcomers


def trace(episode, *team, phase="pre"):
    return {"episode": episode, "phase": phase, "rollout": {"team": [*team, "scribe"]}}


def watched(*traces):
    found = Retrievals()
    assert list(found.watch(traces)) == list(traces)  # handed on untouched
    return found


def record(number, **changes):
    raw = {"episode": number, "phase": "main", "task": "t", "action": "noop"}
    return TypeAdapter(Episode).validate_python({**raw, "verdict": "unchanged", **changes})


def added(number, role):
    return record(number, action="add", role=role, verdict="committed", committed=True)


def removed(number, role):
    return record(number, action="remove", target=role, verdict="committed", committed=True)


def test_only_pre_edit_teams_of_training_count():
    found = watched(
        trace(3, "a"),
        trace(3, "b", phase="post"),
        trace(None, "c", phase="eval"),
        {"episode": 4, "phase": "edit", "messages": []},
        {"episode": 5, "phase": "pre", "rollout": None},
    )
    assert found.seen == {"a": [3], "scribe": [3]}


@pytest.mark.parametrize(("after", "until", "there"), [(2, 3, True), (3, 9, False), (0, 2, False)])
def test_a_stretch_begins_behind_its_first_episode(after, until, there):
    assert watched(trace(3, "a")).between("a", after, until) is there


def test_newcomers_are_followed_until_they_leave():
    """`early` is asked in 5; `late` only before it came; `gone` left in 7, a namesake came in 8."""
    episodes = [
        record(1),
        added(2, "early"),
        added(3, "late"),
        added(4, "gone"),
        record(5),
        record(6, action="add", role="refused", verdict="rejected"),
        removed(7, "gone"),
        added(8, "gone-too"),
        record(9),
        record(10),
    ]
    found = watched(trace(2, "late"), trace(5, "early"), trace(8, "gone"), trace(10, "gone-too"))
    assert unseen_newcomers(episodes, found) == {"late": 7, "gone": 3}


def test_without_traces_nothing_is_said():
    assert unseen_newcomers([added(1, "a"), record(90)], Retrievals()) == {}
    assert unseen_newcomers([], watched(trace(1, "a"))) == {}
