"""Scored rollouts: what is noted, when it is durable, and how a refusal reads."""

import pytest

from sero.backbones.base import Phase
from sero.backbones.scripted import ScriptedBackbone
from sero.errors import RequestRejected, ServerUnavailable
from sero.evolution.rolling import Ledger


def test_a_rollout_is_noted_once_with_its_logical_cost(toy):
    ledger = Ledger()
    roll, task = toy.roller(ledger=ledger), toy.tasks(1)[0]
    scored = toy.run(roll(task, toy.state(), Phase.PRE, 7))
    cost, traces = ledger.take()
    assert cost == scored.rollout.cost
    (trace,) = traces
    assert (trace["episode"], trace["phase"], trace["item"]) == (7, "pre", task.id)
    assert trace["score"] == scored.value
    assert ledger.take()[1] == []


def test_a_reply_that_was_not_the_first_is_read_again(toy):
    """The counter of lost replies grows once: the second rollout stands, and alone is noted."""
    counts = iter([0, 1, 1])
    ledger = Ledger()
    backbone = ScriptedBackbone(lambda request: f"answer {len(backbone.requests)}")
    roll = toy.roller(backbone, commit=lambda: next(counts), ledger=ledger)
    scored = toy.run(roll(toy.tasks(1)[0], toy.state(), Phase.PRE, 1))
    asked = [m for m in scored.rollout.messages if not m.replaced]
    assert len(backbone.requests) == 2 * len(asked)
    assert len(ledger.traces) == 1


@pytest.mark.parametrize("phase", [Phase.PRE, Phase.LOO])
def test_a_refused_task_is_named(toy, phase):
    def refuse(request):
        raise RequestRejected("HTTP 400: filtered", status=400)

    roll, task = toy.roller(ScriptedBackbone(refuse)), toy.tasks(1)[0]
    with pytest.raises(RequestRejected) as caught:
        toy.run(roll(task, toy.state(), phase, 1))
    assert str(caught.value) == f"training task {task.id} ({phase}): HTTP 400: filtered"
    assert caught.value.status == 400


def test_a_broken_machine_leaves_nothing(toy):
    def down(request):
        raise ServerUnavailable("down")

    ledger = Ledger()
    with pytest.raises(ServerUnavailable):
        toy.run(
            toy.roller(ScriptedBackbone(down), ledger=ledger)(
                toy.tasks(1)[0], toy.state(), Phase.PRE, 1
            )
        )
    assert ledger == Ledger()
