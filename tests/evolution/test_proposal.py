"""From an action to an edited state; the anchor of an Add."""

from dataclasses import replace

import pytest

from sero.backbones.scripted import ScriptedBackbone
from sero.credit import RoleCredit
from sero.evolution.actions import Action, Operation
from sero.evolution.proposal import anchor_mask, best_anchor, edit
from sero.evolution.reasons import Code

ADD, REMOVE, NOOP = Operation.ADD, Operation.REMOVE, Operation.NOOP


@pytest.fixture
def apply(toy):
    """Apply an action to a state; the editor answers with the given texts, one after another."""

    def apply(action, state, *replies, **changes):
        answers = iter(replies)
        backbone = ScriptedBackbone(lambda request: next(answers))
        editor = toy.editor(backbone, cfg=changes.pop("cfg", toy.EDITOR))
        known = {"seed_families": state.pool.families, "failures": (), "removed": (), "episode": 4}
        credit = changes.pop("credit", toy.CREDIT)
        proposal = toy.run(
            edit(action, toy.tasks()[0], state, editor, credit, **{**known, **changes})
        )
        return proposal, backbone.requests

    return apply


def test_noop_proposes_nothing_and_asks_nobody(toy, apply):
    proposal, requests = apply(Action(operation=NOOP, target=None), toy.state())
    assert (proposal.candidate, proposal.target, proposal.card) == (None, None, None)
    assert proposal.reasons == ()
    assert requests == []


def test_remove_drops_the_role_from_pool_and_credit(toy, apply):
    known = {"adder": RoleCredit(ema=0.3, n_updates=2), "guesser": RoleCredit(ema=-0.1)}
    state = toy.state(credits=known)
    proposal, requests = apply(Action(operation=REMOVE, target=2), state)  # index 2: guesser
    assert proposal.target == "guesser"
    assert proposal.candidate.pool.names == ("router", "adder", "adder-2", "checker", "scribe")
    assert dict(proposal.candidate.credit.roles) == {"adder": known["adder"]}
    assert requests == []
    assert "guesser" in state.pool  # the old state is as it was
    assert state.credit["guesser"] == known["guesser"]


def test_remove_needs_a_target(toy, apply):
    with pytest.raises(ValueError, match="Remove without a target"):
        apply(Action(operation=REMOVE, target=None), toy.state())


@pytest.mark.parametrize("new_n", [0, 3])
def test_add_appends_the_card_with_the_credit_of_a_newcomer(toy, apply, new_n):
    known = {"adder": RoleCredit(ema=0.3, fast=0.5, n_updates=2, n_bonus=2)}
    credit = replace(toy.CREDIT, new_n=new_n)
    proposal, _ = apply(
        Action(operation=ADD, target=None), toy.state(credits=known), toy.card_json("new"),
        credit=credit,
    )  # fmt: skip
    candidate = proposal.candidate
    assert candidate.pool.names == (*toy.seed_pool().names, "new")
    assert candidate.pool["new"] is proposal.card
    assert dict(candidate.credit.roles) == {
        "adder": known["adder"],
        "new": RoleCredit(ema=0.0, loo=0.0, fast=None, n_updates=0, n_bonus=new_n),
    }
    assert (proposal.target, proposal.card.parent, proposal.card.created_at) == (
        "adder",
        "adder",
        4,
    )


def test_an_add_without_a_usable_card_has_reasons_and_no_candidate(toy, apply):
    proposal, requests = apply(
        Action(operation=ADD, target=None), toy.state(), "no", toy.card_json("adder")
    )
    assert proposal.candidate is None
    assert proposal.card is None
    assert proposal.target == "adder"
    assert [reason.code for reason in proposal.reasons] == [Code.DUPLICATE_NAME]
    assert len(requests) == 2


def test_the_action_may_name_the_anchor_itself(toy, apply):
    """`policy.add_target=anchor`: index 3 is adder-2, although adder has more credit."""
    state = toy.state(credits={"adder": RoleCredit(ema=0.9)})
    proposal, requests = apply(Action(operation=ADD, target=3), state, toy.card_json("new"))
    assert (proposal.target, proposal.card.parent) == ("adder-2", "adder-2")
    assert "name: adder-2\n" in requests[0].messages[-1].content


@pytest.mark.parametrize(
    ("ema", "anchor_types", "anchor"),
    [
        ({}, "specialists", "adder"),  # all equal: the lowest index among specialists
        ({}, "all", "router"),  # the literal reading picks the router at first
        ({"adder": 0.1, "guesser": 0.2, "adder-2": 0.2}, "specialists", "guesser"),  # tie: index
        ({"adder": -0.3, "guesser": -0.1, "adder-2": -0.2}, "specialists", "guesser"),
        ({"router": 0.5, "adder": 0.1}, "specialists", "adder"),
        ({"router": 0.5, "adder": 0.1}, "all", "router"),
        ({"scribe": 0.5, "adder": 0.1}, "all", "scribe"),
    ],
)
def test_the_anchor_is_the_best_allowed_role(toy, ema, anchor_types, anchor):
    state = toy.state(credits={name: RoleCredit(ema=c) for name, c in ema.items()})
    cfg = replace(toy.EDITOR, anchor_types=anchor_types)
    assert best_anchor(state, cfg, toy.CREDIT).name == anchor


def test_the_anchor_is_read_with_bias_correction_if_that_is_on(toy):
    """c / (1 - .9^n): .1 after one update is 1, .3 after ten is .3 / .6513 = .46."""
    state = toy.state(
        credits={
            "adder": RoleCredit(ema=0.3, n_updates=10),
            "guesser": RoleCredit(ema=0.1, n_updates=1),
        }
    )
    corrected = replace(toy.CREDIT, bias_correction=True)
    assert best_anchor(state, toy.EDITOR, toy.CREDIT).name == "adder"
    assert best_anchor(state, toy.EDITOR, corrected).name == "guesser"


@pytest.mark.parametrize(
    ("anchor_types", "mask"),
    [
        ("specialists", (False, True, True, True, False, False)),
        ("all", (True, True, True, True, True, True)),
    ],
)
def test_the_anchor_mask_goes_by_pool_index(toy, anchor_types, mask):
    assert anchor_mask(toy.state(), replace(toy.EDITOR, anchor_types=anchor_types)) == mask


def test_a_pool_without_specialists_has_no_anchor(toy, apply):
    pool = toy.seed_pool()
    for name in ("adder", "adder-2", "guesser"):
        pool = pool.without_role(name)
    state = toy.state(pool)
    assert best_anchor(state, toy.EDITOR, toy.CREDIT) is None
    proposal, requests = apply(Action(operation=ADD, target=None), state, toy.card_json("new"))
    assert (proposal.target, proposal.card.parent) == (None, None)
    assert "name: none\ntags: none\nprotocol: none" in requests[0].messages[-1].content
