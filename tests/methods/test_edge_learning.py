"""Edge learning as a method, on the toy: what it plans, learns, resumes and answers with."""

import re
from dataclasses import replace

import pytest

from sero.backbones.base import CallContext, Phase
from sero.backbones.scripted import ScriptedBackbone
from sero.errors import ServerUnavailable
from sero.inference.operator import answer
from sero.inference.span import exactly
from sero.methods.base import Method
from sero.methods.edge_learning import EdgeLearning, EdgeLearningConfig
from sero.methods.role_pool import RolePoolConfig, StaticRoles

CFG = EdgeLearningConfig(
    name="gptswarm",
    lr=0.2,
    graphs=4,
    passes=40,
    initial=0.5,
    threshold=0.5,
    baseline="leave_one_out",
)


def listening(request):
    """Members who hear the router know the total; whom anybody else is heard by is misled."""
    user = request.messages[-1].content
    total = sum(map(int, re.search(r"What is ([0-9]+) plus ([0-9]+)", user).groups()))
    if request.role == "checker":
        return "VERDICT: ok"
    heard = re.findall(r"### Message from ([a-z0-9-]+)", user)
    if request.role == "scribe":
        right = user.count(f"ANSWER: {total}")
        return f"ANSWER: {total + max(0, 2 - right)}"
    return f"ANSWER: {total if heard == ['router'] else 7}"


@pytest.fixture
def learner(toy, make_lab):
    def learner(backbone=None, *, state=None, lab=None, **changes):
        lab = lab or make_lab(backbone or ScriptedBackbone(listening))
        return EdgeLearning(replace(CFG, **changes), lab=lab, state=state or toy.state())

    return learner


def call_for(toy, task):
    return CallContext(run_seed=toy.SEED, phase=Phase.EVAL, episode=None, item=task.id)


def answered(toy, method, task):
    return toy.run(method.answer(task.prompt, call_for(toy, task)))


def test_it_is_a_method_that_starts_from_the_seed_pool(toy, learner):
    method: Method = learner()
    assert (method.name, method.takes_pool) == ("gptswarm", True)
    start = EdgeLearning.start(CFG, toy.Benchmark())
    assert (start.pool, start.more) == (toy.seed_pool(), None)
    assert method.planned_episodes(30) == 40 * 30


def test_everything_but_the_edges_is_static_role_orchestration(toy, make_lab, learner):
    lab = make_lab()
    task = toy.tasks(1)[0]
    static = StaticRoles(RolePoolConfig(name="static"), lab=lab, state=toy.state())
    plain = answered(toy, static, task)
    method = learner(lab=lab, threshold=0.4)  # untrained: all of them
    rollout = answered(toy, method, task)
    same = ("team", "order", "similarity", "fast", "validator")
    assert all(getattr(rollout, name) == getattr(plain, name) for name in same)
    assert [(m.role, m.kind) for m in rollout.messages] == [
        (m.role, m.kind) for m in plain.messages
    ]
    r, a, b = rollout.order
    assert rollout.edges == ((r, a), (r, b), (a, b))
    assert plain.edges == ((r, a), (r, b))  # n = 3: b_in = 1
    assert rollout.levels == (0, 1, 2)
    assert answered(toy, learner(lab=lab), task).edges == ()  # 0.5 is not above 0.5


def test_it_learns_who_should_be_heard_and_answers_with_it(toy, learner, make_fitting):
    seed = toy.state()
    method, recorder = learner(state=seed), toy.Recorder()
    toy.run(method.fit(toy.tasks(), make_fitting(recorder)))
    assert len(recorder.episodes) == method.planned_episodes(2) == 80
    assert method.state is seed
    learnt = recorder.episodes[-1]["edge_probabilities"]
    benchmark = toy.Benchmark()
    for task in toy.tasks(6):
        rollout = answered(toy, method, task)
        r, a, b = rollout.order
        assert rollout.edges == ((r, a), (r, b))
        assert all(learnt[x][y] > 0.5 for x, y in rollout.edges)
        assert learnt[a][b] < 0.5
        assert benchmark.score(benchmark.parse(task.prompt, rollout.answer), task).value == 1.0
    early = sum(row["score_before"] for row in recorder.episodes[:20])
    assert sum(row["score_before"] for row in recorder.episodes[-20:]) > early + 5


def test_evaluation_draws_nothing_and_changes_nothing(toy, make_lab, learner, make_fitting):
    lab = make_lab(ScriptedBackbone(listening))
    method = learner(lab=lab, passes=5)
    toy.run(method.fit(toy.tasks(), make_fitting()))
    task = toy.tasks(3)[2]
    first = answered(toy, method, task)
    assert first == answered(toy, method, task)
    edges = frozenset(
        (a, b)
        for a in toy.seed_pool().names
        for b in toy.seed_pool().names
        if (a, b) in first.edges
    )
    direct = answer(
        task.prompt, toy.state(), lab.parts, lab.inference, call=call_for(toy, task), edges=edges
    )
    assert toy.run(direct) == first


def test_training_drafts_as_the_evaluation_does_whatever_the_order_source(
    toy, make_lab, learner, make_fitting
):
    credit = replace(toy.CREDIT, order_source="stored")
    lab = make_lab(inference=replace(toy.INFERENCE, credit=credit))
    recorder = toy.Recorder()
    toy.run(learner(lab=lab, passes=1).fit(toy.tasks(), make_fitting(recorder)))
    for trace in recorder.traces:
        kinds = [message["kind"] for message in trace["rollout"]["messages"]]
        assert kinds.count("draft") == 3


@pytest.mark.parametrize("rounds", [1, 2])
def test_planned_calls_are_those_that_are_made(toy, make_lab, learner, make_fitting, rounds):
    """n + nT + 1 = 4 + 3T calls a rollout, and nobody checks."""
    inference = replace(
        toy.INFERENCE,
        repair=replace(toy.INFERENCE.repair, enabled=False),
        exec=replace(toy.INFERENCE.exec, rounds=rounds),
    )
    lab = make_lab(ScriptedBackbone(listening), inference=inference)
    method = learner(lab=lab, passes=3)
    planned = method.planned_calls(2, 5)
    each = 4 + 3 * rounds
    assert planned.by_phase == {Phase.PRE: exactly(6 * each), Phase.EVAL: exactly(5 * each)}
    recorder = toy.Recorder()
    toy.run(method.fit(toy.tasks(), make_fitting(recorder)))
    assert len(lab.parts.backbone.requests) == 6 * each
    for task in toy.tasks(5):
        answered(toy, method, task)
    assert len(lab.parts.backbone.requests) == 11 * each
    # a dense DAG shows 3 messages a round, its aggregator 3, and from round 2 on each role its own
    assert planned.shown_per_call >= (3 * rounds + 3 * (rounds - 1) + 3) / each


def test_the_repair_makes_a_span(toy, learner):
    planned = learner(passes=3).planned_calls(2, 5)
    low, high = planned.by_phase[Phase.PRE].low, planned.by_phase[Phase.PRE].high
    assert (low, high) == (6 * 7, 6 * 9)
    assert planned.distinct_per_task == 4


def test_it_resumes_from_a_checkpoint(toy, learner, make_fitting):
    whole, recorder = learner(passes=6), toy.Recorder()
    toy.run(whole.fit(toy.tasks(), make_fitting(recorder)))

    calls = 0

    async def broken(request):
        nonlocal calls
        calls += 1
        if calls == 40:
            raise ServerUnavailable("http://localhost:1 does not answer")
        return listening(request)

    cut = toy.Recorder()
    with pytest.raises(ServerUnavailable):
        toy.run(learner(ScriptedBackbone(broken), passes=6).fit(toy.tasks(), make_fitting(cut)))
    body, kept = cut.resumed()
    assert 0 < body["progress"]["episode"] < 12
    again = learner(passes=6)
    toy.run(again.fit(toy.tasks(), make_fitting(kept, resume=body)))
    assert kept.episodes == recorder.episodes
    assert kept.metrics == recorder.metrics
    task = toy.tasks(4)[3]
    assert answered(toy, again, task) == answered(toy, whole, task)


def test_a_finished_checkpoint_gives_its_edges_without_a_call(toy, make_lab, learner, make_fitting):
    method, recorder = learner(passes=8), toy.Recorder()
    toy.run(method.fit(toy.tasks(), make_fitting(recorder)))
    body, kept = recorder.resumed()
    lab = make_lab(ScriptedBackbone(listening))
    again = learner(lab=lab, passes=8)
    toy.run(again.fit(toy.tasks(), make_fitting(kept, resume=body)))
    assert lab.parts.backbone.requests == []
    task = toy.tasks(4)[3]
    assert answered(toy, again, task).edges == answered(toy, method, task).edges != ()
