"""Chain of thought and self-consistency: what is sent, how it is voted on."""

from collections import Counter

import pytest

from sero.backbones.base import CallContext, Phase
from sero.backbones.scripted import ScriptedBackbone
from sero.benchmarks.base import Parsed
from sero.credit import PoolState
from sero.errors import CardError
from sero.methods.prompting import (
    ChainOfThought,
    ChainOfThoughtConfig,
    SelfConsistency,
    SelfConsistencyConfig,
    majority,
)

SYSTEM = "You add numbers.\n\nThink, then write the total.\n"


@pytest.fixture
def prompt_file(tmp_path):
    path = tmp_path / "single_agent.yaml"
    path.write_text("system: |\n  You add numbers.\n\n  Think, then write the total.\n")
    return str(path)


@pytest.fixture
def cot(toy, make_lab, prompt_file):
    def build(backbone):
        cfg = ChainOfThoughtConfig(name="cot", prompt=prompt_file, temperature=0.0)
        start = ChainOfThought.start(cfg, toy.Benchmark())
        return ChainOfThought(cfg, lab=make_lab(backbone), state=PoolState(start.pool))

    return build


@pytest.fixture
def sc(toy, make_lab, prompt_file):
    def build(backbone, samples=3, **changes):
        cfg = SelfConsistencyConfig(name="sc", prompt=prompt_file, temperature=0.7, samples=samples)
        start = SelfConsistency.start(cfg, toy.Benchmark())
        return SelfConsistency(cfg, lab=make_lab(backbone, **changes), state=PoolState(start.pool))

    return build


def call(seed=7, item="sum-0"):
    return CallContext(run_seed=seed, phase=Phase.EVAL, episode=None, item=item)


def saying(*texts):
    """Replies by the number of the sample, the last part of its index."""
    return ScriptedBackbone(lambda request: texts[request.sample_index[-1]])


def test_one_call_with_the_prompt_verbatim_and_the_task(toy, cot):
    backbone = ScriptedBackbone([("", "ANSWER: 317")])
    task = toy.tasks(1)[0]
    rollout = toy.run(cot(backbone).answer(task.prompt, call()))
    (request,) = backbone.requests
    assert [(m.role, m.content) for m in request.messages] == [
        ("system", SYSTEM),
        ("user", task.prompt),
    ]
    assert (request.temperature, request.sample_index, request.schema) == (0.0, (0,), None)
    assert rollout.answer == "ANSWER: 317"
    assert rollout.cost.calls == 1
    assert (rollout.order, rollout.edges, rollout.reason) == ((), (), "")


def test_greedy_requests_are_equal_for_every_seed_and_item(toy, cot):
    backbone = ScriptedBackbone([("", "ANSWER: 317")])
    task = toy.tasks(1)[0]
    for seed in (1, 2):
        toy.run(cot(backbone).answer(task.prompt, call(seed, f"item-{seed}")))
    assert backbone.requests[0] == backbone.requests[1]


def test_three_samples_that_differ_by_their_number_and_the_runs_seed(toy, sc):
    backbone = saying("ANSWER: 1", "ANSWER: 2", "ANSWER: 2")
    task = toy.tasks(1)[0]
    rollout = toy.run(sc(backbone).answer(task.prompt, call(seed=7)))
    assert [r.sample_index for r in backbone.requests] == [(7, 0), (7, 1), (7, 2)]
    assert {r.temperature for r in backbone.requests} == {0.7}
    assert {r.messages for r in backbone.requests} == {backbone.requests[0].messages}
    assert rollout.answer == "ANSWER: 2"
    assert Counter(m.kind for m in rollout.messages) == {"sample": 3}
    assert rollout.cost.calls == 3


@pytest.mark.parametrize(
    ("texts", "answer"),
    [
        (("ANSWER: 5", "ANSWER: 6", "ANSWER: 6"), "ANSWER: 6"),
        (("hm", "ANSWER: 6", "well"), "ANSWER: 6"),  # what cannot be read does not vote
        (("hm", "ANSWER: 6", "ANSWER: 5"), "ANSWER: 6"),  # a tie goes to the earlier answer
        (("ANSWER: 4", "ANSWER: 5", "ANSWER: 6"), "ANSWER: 4"),  # all differ: the first
        (("hm", "well", "so"), "hm"),  # nothing to read: the first is scored
        (("so ANSWER: 6", "ANSWER: 5", "thus ANSWER: 6"), "so ANSWER: 6"),  # the earliest of them
    ],
)
def test_the_vote(toy, sc, texts, answer):
    task = toy.tasks(1)[0]
    assert toy.run(sc(saying(*texts)).answer(task.prompt, call())).answer == answer


def test_a_vote_of_canonical_answers_by_hand():
    parsed = [Parsed(answer=a, text="") for a in (None, "x", "y", "y", "x", None)]
    assert majority(parsed) == 1
    assert majority([Parsed(answer=None, text="")]) == 0


@pytest.mark.parametrize("text", ["roles: []", "system: 3", "system: ' '", "- a"])
def test_a_prompt_file_without_a_prompt_is_refused(toy, tmp_path, text):
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    cfg = ChainOfThoughtConfig(name="cot", prompt=str(path), temperature=0.0)
    with pytest.raises(CardError, match=r"system: missing"):
        ChainOfThought.start(cfg, toy.Benchmark())


async def test_nothing_is_trained(make_fitting, cot):
    method = cot(ScriptedBackbone([("", "x")]))
    assert method.planned_episodes(30) == 0
    await method.fit((), make_fitting())
    assert method.state.pool.names == ("single-agent",)
    assert not method.takes_pool
