"""Static roles and Sero, end to end on the toy."""

from dataclasses import replace

import pytest

from sero.backbones.base import CallContext, Phase
from sero.backbones.scripted import ScriptedBackbone
from sero.errors import BudgetSpent, ServerUnavailable
from sero.evolution.contracts import static_contracts
from sero.evolution.gate import ScoreGate
from sero.evolution.trainer import Trainer
from sero.inference.operator import answer
from sero.methods.base import Method
from sero.methods.role_pool import RolePoolConfig, Sero, StaticRoles


def static(lab, state):
    return StaticRoles(RolePoolConfig(name="static"), lab=lab, state=state)


def sero(lab, state):
    return Sero(RolePoolConfig(name="sero"), lab=lab, state=state)


def call_for(toy, task):
    return CallContext(run_seed=toy.SEED, phase=Phase.EVAL, episode=None, item=task.id)


def mean_score(toy, method, tasks):
    benchmark = toy.Benchmark()
    scores = []
    for task in tasks:
        rollout = toy.run(method.answer(task.prompt, call_for(toy, task)))
        scores.append(benchmark.score(benchmark.parse(task.prompt, rollout.answer), task).value)
    return sum(scores) / len(scores)


def test_both_are_methods_with_a_name(toy, make_lab):
    methods: list[Method] = [m(make_lab(), toy.state()) for m in (static, sero)]
    assert [method.name for method in methods] == ["static", "sero"]


@pytest.mark.parametrize(("warmup", "main", "planned"), [(2, 8, 300), (1, 0, 30), (0, 0, 0)])
def test_planned_episodes_are_epochs_times_tasks(toy, make_lab, warmup, main, planned):
    lab = make_lab(train=replace(toy.TRAIN, warmup_epochs=warmup, main_epochs=main))
    assert sero(lab, toy.state()).planned_episodes(30) == planned
    assert static(lab, toy.state()).planned_episodes(30) == 0


def test_the_frozen_pool_drafts_whatever_order_training_used(toy, make_lab):
    credit = replace(toy.CREDIT, order_source="stored")
    lab = make_lab(inference=replace(toy.INFERENCE, credit=credit))
    task = toy.tasks(1)[0]
    rollout = toy.run(static(lab, toy.state()).answer(task.prompt, call_for(toy, task)))
    kinds = [message.kind for message in rollout.messages]
    assert kinds.count("draft") == len(rollout.order) > 0


def test_static_roles_answer_with_the_operator_and_write_nothing(toy, make_lab, make_fitting):
    """`near` and `wrong` vote: the smaller wins, one off, so every item scores .5."""
    lab, state = make_lab(), toy.state()
    method, recorder = static(lab, state), toy.Recorder()
    toy.run(method.fit(toy.tasks(), make_fitting(recorder)))
    assert lab.parts.backbone.requests == []
    assert (recorder.episodes, recorder.checkpoints) == ([], [])
    task = toy.tasks(3)[2]
    call = call_for(toy, task)
    rollout = toy.run(method.answer(task.prompt, call))
    assert rollout == toy.run(answer(task.prompt, state, lab.parts, lab.inference, call=call))
    assert rollout.fast != {}  # bootstrap order in evaluation as well
    assert method.state is state
    assert state.credit.roles == {}
    assert mean_score(toy, method, toy.tasks(6)) == 0.5


def test_no_prompt_ever_holds_the_gold_of_its_task(toy, make_lab, make_fitting):
    """The total of a task is on no card and in no prompt; only a role may bring it in."""
    lab = make_lab(ScriptedBackbone(lambda r: toy.reply(r) if r.role == "editor" else "ANSWER: 7"))
    method = sero(lab, toy.state())
    toy.run(method.fit(toy.tasks(), make_fitting()))
    gold = {str(task.reference["total"]) for task in toy.tasks()}
    for request in lab.parts.backbone.requests:
        text = "\n".join(message.content for message in request.messages)
        assert not any(total in text for total in gold)


@pytest.fixture(scope="module")
def plan(toy):
    return replace(toy.TRAIN, warmup_epochs=3, main_epochs=5, batch=4, checkpoint_every=4)


def test_sero_evolves_a_better_pool_and_answers_with_it(toy, make_lab, make_fitting, plan):
    lab, seed = make_lab(train=plan), toy.state()
    method, recorder = sero(lab, seed), toy.Recorder()
    assert method.state is seed
    toy.run(method.fit(toy.tasks(), make_fitting(recorder)))
    assert len(recorder.episodes) == method.planned_episodes(2) == 16
    evolved = method.state
    assert evolved.pool.hash == recorder.episodes[-1]["pool_hash"] != seed.pool.hash
    assert any(card.parent for card in evolved.pool)
    assert all(contract.holds for contract in static_contracts(evolved.pool, toy.terms()))
    assert seed.pool == toy.seed_pool()
    heldout = toy.tasks(8)[2:]
    assert mean_score(toy, static(lab, seed), heldout) == 0.5
    assert mean_score(toy, method, heldout) == 1.0


def test_answering_leaves_the_evolved_state_alone(toy, make_lab, make_fitting):
    method = sero(make_lab(), toy.state())
    toy.run(method.fit(toy.tasks(), make_fitting()))
    before = method.state
    mean_score(toy, method, toy.tasks(5))
    assert method.state is before


def test_training_is_the_same_whenever_it_is_run(toy, make_lab, make_fitting, plan):
    runs = []
    for _ in range(2):
        method, recorder = sero(make_lab(train=plan), toy.state()), toy.Recorder()
        toy.run(method.fit(toy.tasks(), make_fitting(recorder)))
        runs.append((method.state, recorder.episodes, recorder.metrics, recorder.traces))
    assert runs[0] == runs[1]


def test_sero_resumes_from_a_checkpoint(toy, make_lab, make_fitting, plan):
    whole, recorder = sero(make_lab(train=plan), toy.state()), toy.Recorder()
    toy.run(whole.fit(toy.tasks(), make_fitting(recorder)))
    interruption = toy.Interruptions(150, fail)
    method = sero(make_lab(ScriptedBackbone(interruption), train=plan), toy.state())
    cut = toy.Recorder()
    with pytest.raises(ServerUnavailable):
        toy.run(method.fit(toy.tasks(), make_fitting(cut)))
    assert method.state.pool == toy.seed_pool()  # an unfinished fit evolves nothing
    body, kept = cut.resumed()
    assert 0 < body["progress"]["episode"] < 16
    again = sero(make_lab(train=plan), toy.state())
    toy.run(again.fit(toy.tasks(), make_fitting(kept, resume=body)))
    assert again.state == whole.state
    assert kept.episodes == recorder.episodes
    assert kept.metrics == recorder.metrics


async def fail(request):
    raise ServerUnavailable("http://localhost:1 does not answer")


def test_a_finished_checkpoint_gives_its_pool_without_a_call(toy, make_lab, make_fitting, plan):
    method, recorder = sero(make_lab(train=plan), toy.state()), toy.Recorder()
    toy.run(method.fit(toy.tasks(), make_fitting(recorder)))
    body, kept = recorder.resumed()
    lab = make_lab(train=plan)
    again = sero(lab, toy.state())
    toy.run(again.fit(toy.tasks(), make_fitting(kept, resume=body)))
    assert again.state == method.state
    assert lab.parts.backbone.requests == []


def test_the_budget_reaches_the_trainer(toy, make_lab, make_fitting):
    def check(cost):
        if cost.calls >= 20:
            raise BudgetSpent("budget.calls: 20 spent of 20")

    recorder = toy.Recorder()
    with pytest.raises(BudgetSpent):
        toy.run(
            sero(make_lab(), toy.state()).fit(
                toy.tasks(), make_fitting(recorder, check_budget=check)
            )
        )
    assert recorder.resumed()[0]["progress"]["cost"]["calls"] >= 20
    assert 0 < len(recorder.episodes) < 4


@pytest.mark.parametrize(
    ("enabled", "reserved", "min_validators", "expected"),
    [
        (True, True, 1, (True, 1)),
        (True, True, 2, (True, 2)),
        (True, False, 1, (False, 0)),
        (False, True, 1, (True, 1)),  # the ablation "no repair" changes one thing only
    ],
)
def test_reserved_alone_decides_the_validator_rules(
    toy, make_lab, make_fitting, monkeypatch, enabled, reserved, min_validators, expected
):
    repair = replace(toy.INFERENCE.repair, enabled=enabled, reserved=reserved)
    lab = make_lab(
        inference=replace(toy.INFERENCE, repair=repair),
        guard=replace(toy.GUARD, min_validators=min_validators),
    )
    guard = built_trainer(toy, lab, make_fitting(), monkeypatch).guard
    assert (guard.reserved, guard.terms.min_validators) == expected
    assert guard.terms.seed_families == toy.seed_pool().families
    assert guard.terms.output_protocol == toy.FORMAT


def test_the_lab_reaches_every_part(toy, make_lab, make_fitting, monkeypatch):
    commits = []
    lab = make_lab(
        commit=lambda: commits.append(1),
        strict_add=True,
        gate=replace(toy.GATE, tasks=4),
        inference=replace(toy.INFERENCE, credit=replace(toy.CREDIT, mu=0.25)),
    )
    trainer = built_trainer(toy, lab, make_fitting(), monkeypatch)
    assert trainer.gate == ScoreGate(
        cfg=lab.gate, strict_add=True, train=toy.tasks(), run_seed=toy.SEED
    )
    assert trainer.credit.mu == 0.25
    assert trainer.editor.known_texts == lab.benchmark.known_texts()
    assert trainer.editor.max_prompt_chars == lab.schema.max_prompt_chars
    assert trainer.editor.ledger is trainer.roll.ledger  # one accounting
    trainer.editor.commit()
    trainer.roll.commit()
    assert len(commits) == 2


def built_trainer(toy, lab, fitting, monkeypatch) -> Trainer:
    """The trainer `fit` puts together, caught instead of run."""
    caught = []

    async def catch(trainer, progress, recorder):
        caught.append(trainer)
        return progress

    monkeypatch.setattr("sero.methods.role_pool.train", catch)
    toy.run(sero(lab, toy.state()).fit(toy.tasks(), fitting))
    return caught[0]


class NoGate:
    """A control's gate: takes nothing, asks nobody."""

    async def judge(self, task, before, state, proposal, broken, phase, roll, episode):
        from sero.evolution.gate import Verdict

        return Verdict(state=state, committed=False)


class Frozen(Sero):
    """A control as the seam wants it: one part of Sero changed, the rest inherited."""

    def gate(self, tasks):
        return NoGate()


def test_a_control_changes_one_part(toy, make_lab, make_fitting):
    method, recorder = (
        Frozen(RolePoolConfig(name="frozen"), lab=make_lab(), state=toy.state()),
        toy.Recorder(),
    )
    toy.run(method.fit(toy.tasks(), make_fitting(recorder)))
    assert method.state.pool == toy.seed_pool()
    assert {trace["phase"] for trace in recorder.traces} <= {"pre", "edit", "loo"}
    assert len(recorder.episodes) == 4
