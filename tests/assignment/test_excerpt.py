"""Proposals on the beginning of a task."""

import pytest

from sero.assignment.excerpt import task_for_proposals, task_for_reviews
from sero.assignment.meta_debate import assign_roles

TASK = "Beginning of the task. Its end."
SCORES = [[4, 3], [3, 4]]


@pytest.mark.parametrize("chars", [None, len(TASK), len(TASK) + 1])
def test_a_task_that_is_short_enough_stays_as_it_is(chars):
    assert task_for_proposals(f"\n{TASK} ", chars) == TASK
    assert task_for_reviews(f"\n{TASK} ", chars) == TASK


def test_the_excerpt_says_where_it_ends_and_reviewers_learn_it():
    assert task_for_proposals(TASK, 9) == (
        "Beginning\n\n[Here the excerpt ends: these are the first 9 of the task's 31 characters, "
        "and the rest is not shown to you]"
    )
    assert task_for_reviews(TASK, 9) == (
        f"{TASK}\n\n[The proposals were written on the first 9 of these 31 characters. Their "
        "authors did not see the rest, so nothing in it counts against a proposal.]"
    )


def test_a_tasks_own_braces_are_left_alone():
    assert task_for_proposals("{shown} {all} and more", 13).startswith("{shown} {all}\n\n[Here")


async def test_only_proposals_are_asked_on_the_excerpt(society, make_roster, cfg, call):
    played = society(make_roster(2, 2), SCORES)
    found = await assign_roles(TASK, played.roster, played.panel, cfg(excerpt_chars=9), call=call)
    assert found.by_role == {"r0": "A", "r1": "B"}
    seen = {"criteria": True, "proposal": False, "review": True}
    for request in played.requests:
        prompt = request.messages[-1].content
        kind = played.kind_of(request)
        assert ("Its end" in prompt) == seen[kind]
        assert ("first 9 of" in prompt) == (kind != "criteria")
    assert played.kinds().count("proposal") == 4


async def test_an_excerpt_as_long_as_the_task_changes_no_request(society, make_roster, cfg, call):
    sent = []
    for chars in (None, 1000):
        played = society(make_roster(2, 2), SCORES)
        changed = cfg(excerpt_chars=chars)
        await assign_roles(TASK, played.roster, played.panel, changed, call=call)
        sent.append(played.requests)
    assert sent[0] == sent[1]
