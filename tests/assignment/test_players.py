"""Who plays a host's roles: Meta-Debate, one candidate, a random one; what a run may ask for."""

import dataclasses
from collections import Counter

import pytest

from sero.assignment.config import RunAssignConfig
from sero.assignment.players import (
    MetaDebate,
    RandomPlayers,
    Uniform,
    as_played,
    make_assigner,
    role_of,
    roster_for_run,
    with_roles,
)
from sero.assignment.roster import Candidate, Criterion, DebateRole, Roster, Seat
from sero.assignment.rules import AssignMode
from sero.backbones.base import CallContext, Phase
from sero.backbones.scripted import ScriptedBackbone
from sero.errors import RosterError
from sero.inference.role_assignment import NOTHING_ASKED
from sero.inference.span import Span
from sero.roles.card import RoleCard, RoleType
from sero.roles.pool import RolePool

PLAIN = Candidate(name="plain")
WARM = Candidate(name="warm", backbone="strong", prompt="Think.\nThen speak.", temperature=0.4)
TOOLED = Candidate(name="tooled", request={"tools": [1]})
ROSTER = Roster(roles=(), candidates=(PLAIN, WARM), evaluators=(PLAIN, WARM))


def card(name, role_type="specialist", **changes):
    values = {
        "capability_family": "f",
        "communication_protocol": "text",
        "system_prompt": (f"You are {name}.",),
    }
    return RoleCard(name=name, role_type=RoleType(role_type), **{**values, **changes})


CARDS = (card("r0"), card("r1", temperature=0.9, backbone="other"), card("r2", "aggregator"))
POOL = RolePool(CARDS)


def at(item, seed=7):
    return CallContext(run_seed=seed, phase=Phase.EVAL, episode=None, item=item)


@pytest.fixture
def run_cfg(cfg, tmp_path):
    """A run's section over a roster file with this text."""

    def make(text, by="meta_debate"):
        path = tmp_path / "roster.yaml"
        path.write_text(text)
        return RunAssignConfig(**dataclasses.asdict(cfg()), by=by, roster=str(path))

    return make


# ---- a card as it is played ---------------------------------------------------------------------


def test_a_player_brings_its_prompt_temperature_and_backbone():
    plain, warm, tooled = as_played(CARDS, (PLAIN, WARM, TOOLED))
    assert plain == CARDS[0]
    assert warm.system_prompt == ("Think.", "Then speak.", "", "You are r1.")
    assert (warm.temperature, warm.backbone) == (0.4, "strong")
    # the run's own backbone under options of its own has a name of its own
    assert tooled.backbone == TOOLED.seat.key
    assert tooled.backbone.startswith("#")
    assert (warm.name, warm.role_type, tooled.role_type) == (
        "r1",
        *[c.role_type for c in CARDS[1:]],
    )


def test_a_card_that_names_a_backbone_is_played_by_its_players():
    (played,) = as_played(CARDS[1:2], (PLAIN,))
    assert (played.backbone, played.temperature) == (None, 0.0)


@pytest.mark.parametrize(
    ("seat", "key"),
    [
        (Seat(None), None),
        (Seat("strong"), "strong"),
        (Seat("strong", '{"a":1}'), "strong#015abd"),
        (Seat(None, '{"a":1}'), "#015abd"),
    ],
)
def test_the_name_of_a_seat(seat, key):
    # printf '{"a":1}' | sha256sum begins with 015abd
    assert seat.key == key


def test_equal_options_in_another_order_are_one_seat():
    one, other = ({"a": 1, "b": {"c": 2}}, {"b": {"c": 2}, "a": 1})
    assert Candidate(name="x", request=one).seat == Candidate(name="y", request=other).seat
    assert (
        Candidate(name="x", request={"a": 2}).seat.key
        != Candidate(name="x", request={"a": 1}).seat.key
    )


# ---- the roles that are assigned ----------------------------------------------------------------


def test_cards_describe_the_roles_that_the_roster_does_not():
    told = DebateRole(name="r1", description="Told by people.")
    roster = with_roles(dataclasses.replace(ROSTER, roles=(told,)), CARDS)
    assert [role.name for role in roster.roles] == ["r0", "r1", "r2"]
    assert roster.roles[1] is told
    assert roster.roles[0].description == "You are r0."
    assert role_of(card("mute", system_prompt=("  ",))).description == "mute"


# ---- who decides --------------------------------------------------------------------------------


async def test_one_candidate_plays_every_role_and_nobody_is_asked():
    uniform = Uniform(candidate=WARM)
    played = await uniform.assign("task", CARDS, at("i"))
    assert {one.backbone for one in played.cards} == {"strong"}
    assert (played.messages, dict(played.suitability)) == ((), {})
    assert played.record == {
        "item": "i",
        "rule": "uniform",
        "assignment": {"r0": "warm", "r1": "warm", "r2": "warm"},
    }
    assert uniform.planned(9) == NOTHING_ASKED


def many(n):
    return tuple(Candidate(name=f"c{j}") for j in range(n))


async def chosen(assigner, item, cards=CARDS, seed=7):
    played = await assigner.assign("task", cards, at(item, seed))
    return played.record["assignment"]


@pytest.mark.parametrize("n", [2, 3, 5])
async def test_nobody_plays_a_second_role_before_everybody_has_one(n):
    assigner = RandomPlayers(candidates=many(n), reuse=False)
    for item in map(str, range(20)):
        held = Counter((await chosen(assigner, item)).values())
        assert (
            max(held.values()) - min([*held.values(), 0] if len(held) < n else held.values()) <= 1
        )


async def test_few_players_change_when_a_role_leaves_the_team():
    cards = tuple(card(f"r{i}") for i in range(4))
    assigner = RandomPlayers(candidates=many(4), reuse=False)
    changed = total = 0
    for item in map(str, range(200)):
        whole, fewer = await chosen(assigner, item, cards), await chosen(assigner, item, cards[1:])
        changed += sum(whole[role] != player for role, player in fewer.items())
        total += len(fewer)
    assert changed / total < 0.35  # a place of its own for every role would change half of them


async def test_a_random_player_depends_on_seed_task_and_role_alone():
    assigner = RandomPlayers(candidates=many(3), reuse=True)
    whole = [await chosen(assigner, str(i)) for i in range(60)]
    assert [await chosen(assigner, str(i)) for i in range(60)] == whole
    assert [await chosen(assigner, str(i), seed=8) for i in range(60)] != whole
    fewer = [await chosen(assigner, str(i), CARDS[:2]) for i in range(60)]
    assert [{role: one[role] for role in ("r0", "r1")} for one in whole] == fewer
    # 180 draws over three candidates: each has 60 give or take four deviations of 6.3
    counts = Counter(player for one in whole for player in one.values())
    assert all(35 <= counts[f"c{j}"] <= 85 for j in range(3))
    assert any(len(set(one.values())) < 3 for one in whole)


async def test_every_assignment_of_distinct_players_occurs():
    assigner = RandomPlayers(candidates=many(3), reuse=False)
    seen = {tuple((await chosen(assigner, str(i))).values()) for i in range(200)}
    assert len(seen) == 6


async def test_meta_debate_plays_what_the_reviews_say(society, make_roster, cfg):
    roster = make_roster(3, 2)
    # A is better at r0 and r2; two candidates for three roles: A takes r0, B r1, A r2
    people = society(roster, [[5, 1], [4, 3], [4, 2]])
    debate = MetaDebate(roster=roster, panel=people.panel, cfg=cfg(mode=AssignMode.ARGMAX))
    cards = tuple(card(f"r{i}") for i in range(3))
    played = await debate.assign("task", cards, at("item-1"))
    assert played.record["assignment"] == {"r0": "A", "r1": "A", "r2": "A"}
    assert [one.system_prompt[0] for one in played.cards] == ["Strategy 0."] * 3
    # (M - 1) / 4
    assert played.suitability == pytest.approx({"r0": 1.0, "r1": 0.75, "r2": 0.75})
    assert len(played.messages) == 3 + 3 * 2 + 3 * 2
    assert played.record["item"] == "item-1"
    assert debate.planned(3).calls.low == len(played.messages)


async def test_a_single_candidate_is_not_debated(society, make_roster, cfg):
    roster = make_roster(2, 1)
    people = society(roster, [[5], [5]])
    debate = MetaDebate(roster=roster, panel=people.panel, cfg=cfg())
    assert debate.planned(2) == NOTHING_ASKED
    played = await debate.assign("task", (card("r0"), card("r1")), at("i"))
    assert people.requests == []
    assert played.record["rule"] == "single_candidate"
    assert [one.system_prompt for one in played.cards] == [
        ("Strategy 0.", "", f"You are r{i}.") for i in range(2)
    ]
    assert "nobody was asked" in played.record["warnings"][0]


def test_the_forecast_of_a_debate_by_hand(make_roster, cfg):
    three = tuple(Criterion(name=f"Point {n}", description="To see.") for n in range(3))
    given = DebateRole(name="r0", description="d", criteria=three)
    roster = make_roster(1, 3, roles=(given,))
    debate = MetaDebate(roster=roster, panel={}, cfg=cfg(max_revisions=1, criteria_attempts=3))
    planned = debate.planned(4)
    # criteria 4 (or 3: r0's are given), proposals 4 · 3, reviews 4 · 3; at most 2 more attempts at
    # each criteria, and each role anew: 3 attempts, 3 proposals, 3 reviews
    assert planned.calls == Span(3 + 12 + 12, 4 + 24 + 4 * 2 + 4 * 9)
    assert planned.shown == 4 * 3 * 3 * 2


def test_who_makes_the_decision(cfg):
    own, strong, optional = (ScriptedBackbone([], default=name) for name in "abc")
    roster = Roster(roles=(), candidates=(PLAIN, WARM, TOOLED), evaluators=(PLAIN, WARM))
    others = {"strong": strong, TOOLED.seat.key: optional}
    debate = make_assigner("meta_debate", roster, cfg(), own, others)
    assert isinstance(debate, MetaDebate)
    assert debate.panel == {Seat(None): own, Seat("strong"): strong, TOOLED.seat: optional}
    random = make_assigner("random", roster, cfg(mode=AssignMode.ARGMAX), own, others)
    assert isinstance(random, RandomPlayers)
    assert random.reuse
    assert not make_assigner("random", roster, cfg(), own, others).reuse
    assert make_assigner("warm", roster, cfg(), own, others) == Uniform(candidate=WARM)


# ---- the roster of a run ------------------------------------------------------------------------


def test_a_roster_of_a_run_needs_no_roles(run_cfg):
    found = roster_for_run(run_cfg("candidates: [{name: a}, {name: b}]"), POOL, ())
    assert [one.name for one in found.candidates] == ["a", "b"]
    assert found.roles == ()


def test_every_fault_of_a_roster_against_its_run_is_told(run_cfg):
    text = """
candidates:
  - {name: random}
  - {name: a, backbone: strong}
  - {name: b, backbone: stronger}
roles:
  - {name: r1, description: known}
  - {name: r11, description: unknown}
"""
    with pytest.raises(RosterError) as caught:
        roster_for_run(run_cfg(text, by="metadebate"), POOL, ("strong",))
    said = str(caught.value)
    assert "candidates.random: this name is kept for assign.by=random" in said
    assert "assign.by: got 'metadebate'" in said
    assert "did you mean 'meta_debate'?" in said
    assert "roles.r11: the method has no such role; there are r0, r1, r2; did you mean 'r1'" in said
    assert "'b' is to speak through backbone 'stronger'" in said
    assert "+backbones.stronger={}" in said
    assert "'a' is to speak" not in said
    assert str(run_cfg(text).roster) in said


def test_an_evaluator_without_its_backbone_is_told_too(run_cfg):
    text = "candidates: [{name: a}, {name: b}]\nevaluators: [{name: j, backbone: x}, {name: k}]"
    with pytest.raises(RosterError, match="'j' is to speak through backbone 'x'"):
        roster_for_run(run_cfg(text), POOL, ())


@pytest.mark.parametrize("by", ["a", "random", "meta_debate"])
def test_a_candidates_name_may_decide(run_cfg, by):
    found = roster_for_run(run_cfg("candidates: [{name: a}, {name: b}]", by=by), POOL, ())
    assert [one.name for one in found.candidates] == ["a", "b"]
