"""A pool's team with its players, their reviews in its order, and who answers for a card."""

import dataclasses

import pytest

from sero.backbones.scripted import ScriptedBackbone
from sero.credit import FastWeights
from sero.errors import UserError
from sero.inference.operator import answer
from sero.inference.parts import speak
from sero.inference.retrieval import Team, assigned_team
from sero.inference.role_assignment import (
    AS_WRITTEN,
    PlannedAssignment,
    RoleAssignment,
    assign_cards,
)
from sero.inference.span import Span
from sero.inference.trace import CallKind, cost_of

POOL = ("r1", "s1", "s2", "v1", "v2", "a1")


class Casting:
    """Says who plays: every card through `backbone`, with a suitability by name."""

    def __init__(self, message=None, *, backbone="strong", suitability=None):
        self.asked = []
        self._messages = () if message is None else (message,)
        self._backbone, self._suitability = backbone, suitability or {}

    async def assign(self, prompt, cards, call):
        self.asked.append((prompt, [card.name for card in cards], call))
        return RoleAssignment(
            cards=tuple(dataclasses.replace(card, backbone=self._backbone) for card in cards),
            suitability=self._suitability,
            messages=self._messages,
            record={"item": call.item, "rule": "test"},
        )

    def planned(self, n_roles):
        return PlannedAssignment(calls=Span(1, 1), distinct=1, shown=0)


def team_of(pool):
    return Team(
        members=tuple(card for card in pool if card.name != "a1"),
        aggregator=pool.terminal,
        similarity={},
    )


# ---- the team -----------------------------------------------------------------------------------


async def test_members_and_aggregator_are_played_together(pool_of, call):
    team, casting = team_of(pool_of("s1", "v1", "a1")), Casting()
    found = await assigned_team("task", team, casting, call=call)
    assert casting.asked == [("task", ["s1", "v1", "a1"], call)]
    assert found.names == team.names
    assert [card.backbone for card in (*found.members, found.aggregator)] == ["strong"] * 3
    assert found.assignment.record == {"item": "task_1", "rule": "test"}


async def test_without_an_assigner_or_a_terminal_the_team_stands(pool_of, call):
    team = team_of(pool_of("s1", "a1"))
    assert await assigned_team("task", team, None, call=call) is team
    casting, headless = Casting(), dataclasses.replace(team, aggregator=None)
    assert await assigned_team("task", headless, casting, call=call) is headless
    assert casting.asked == []
    assert team.assignment is AS_WRITTEN


async def test_cards_of_a_host_stand_as_they_are_without_an_assigner(pool_of, call):
    cards = pool_of("s1", "a1").cards
    assert await assign_cards("task", cards, None, call=call) == RoleAssignment(cards=cards)


def test_a_card_outside_of_the_team_stands_as_it_is(pool_of, card):
    pool = pool_of("s1", "v1", "a1")
    team = dataclasses.replace(
        team_of(pool), members=tuple(dataclasses.replace(c, backbone="x") for c in pool.cards[:1])
    )
    assert team.card_of(pool["s1"]).backbone == "x"
    assert team.card_of(pool["v1"]).backbone is None


# ---- the operator -------------------------------------------------------------------------------


@pytest.fixture
def two(parts):
    """Parts over two scripted backbones, and the two."""
    own, strong = (
        ScriptedBackbone(lambda request: f"{request.role} ANSWER 4", name=name)
        for name in ("own", "strong")
    )
    return parts(own, backbones={"strong": strong}), own, strong


async def test_a_rollout_is_played_and_says_so(state_of, two, config, call, message):
    lab, own, strong = two
    casting = Casting(message("judge", "r1: strong", backbone=None))
    cfg = dataclasses.replace(config(repair={"always": True}), assigner=casting)
    rollout = await answer("task", state_of(*POOL), lab, cfg, call=call)
    assert rollout.assignment == {"item": "task_1", "rule": "test"}
    assert rollout.messages[0].text == "r1: strong"
    # v2 is kept for the repair and stands outside of the team: it speaks as it is written
    assert [request.role for request in own.requests] == ["v2"]
    assert {request.role for request in strong.requests} == {"r1", "s1", "s2", "v1", "a1"}
    cost = rollout.cost
    assert cost.calls == len(rollout.messages) == 1 + len(own.requests) + len(strong.requests)
    assert cost.elsewhere["strong"].calls == len(strong.requests)


async def test_a_validator_of_the_team_checks_as_it_is_played(state_of, two, config, call):
    lab, own, strong = two
    cfg = dataclasses.replace(config(repair={"always": True}), assigner=Casting())
    await answer("task", state_of("s1", "v1", "a1"), lab, cfg, call=call)
    assert own.requests == []
    assert [request.role for request in strong.requests].count("v1") == 3  # draft, message, check


async def test_a_rollout_nobody_assigned_has_no_line(state_of, two, config, call):
    lab, _, strong = two
    rollout = await answer("task", state_of(*POOL), lab, config(), call=call)
    assert rollout.assignment is None
    assert "assignment" not in rollout.to_data()
    assert (strong.requests, dict(rollout.cost.elsewhere)) == ([], {})


async def test_reviews_change_the_order_of_a_team(state_of, two, config, call):
    """Every draft reads alike, so order is the pool's, until the reviewers are listened to."""
    lab, _, _ = two

    async def order(peer):
        weights = FastWeights(similarity=0, history=0, agreement=0, validity=0, peer=peer)
        casting = Casting(suitability={"s1": 0.25, "s2": 0.5, "s3": 1.0})
        cfg = dataclasses.replace(config(credit={"fast_weights": weights}), assigner=casting)
        rollout = await answer("task", state_of("s1", "s2", "s3", "a1"), same, cfg, call=call)
        return rollout.order, rollout.fast

    same = dataclasses.replace(
        lab, backbones={"strong": ScriptedBackbone([], default="the same ANSWER 4")}
    )
    (plain, before), (reviewed, after) = await order(0.0), await order(0.2)
    assert plain == ("s1", "s2", "s3")
    assert reviewed == ("s3", "s2", "s1")
    added = {name: after[name] - before[name] for name in before}
    assert added == pytest.approx({"s1": 0.05, "s2": 0.1, "s3": 0.2})


# ---- who answers --------------------------------------------------------------------------------


async def test_a_card_speaks_through_the_backbone_it_names(two, card, call):
    lab, own, strong = two

    async def said(backbone):
        one = card("s1", backbone=backbone)
        return await speak(one, "task", (), lab, call=call, kind=CallKind.DRAFT)

    plain, through = await said(None), await said("strong")
    assert (plain.backbone, through.backbone) == (None, "strong")
    assert (len(own.requests), len(strong.requests)) == (1, 1)
    cost = cost_of([plain, through])
    assert (cost.calls, cost.elsewhere["strong"].calls) == (2, 1)
    assert cost.elsewhere["strong"].prompt_tokens == through.prompt_tokens


async def test_a_prompt_is_trimmed_to_the_room_of_who_answers(parts, card, call):
    from sero.inference.layout import Upstream

    small = ScriptedBackbone([], default="ok", max_prompt_chars=900)
    lab = parts(ScriptedBackbone([], default="ok"), backbones={"small": small})
    heard = [Upstream(name="s2", family="f", text="word " * 1000)]
    for name, trimmed in ((None, 0), ("small", 1)):
        one = card("s1", backbone=name)
        found = await speak(one, "task", heard, lab, call=call, kind=CallKind.MESSAGE)
        assert found.trimmed == trimmed
    (request,) = small.requests
    assert sum(len(m.content) for m in request.messages) <= 900


async def test_a_backbone_that_is_not_there_is_told_with_what_to_write(two, card, call):
    with pytest.raises(UserError, match=r"role 's1'.*'stronger'.*there are: strong.*\+backbones"):
        await speak(
            card("s1", backbone="stronger"), "task", (), two[0], call=call, kind=CallKind.DRAFT
        )
