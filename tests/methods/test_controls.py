"""The controls, end to end on the toy: what they share with Sero, and what they leave out."""

import asyncio
from collections import Counter
from dataclasses import replace

import pytest

from sero.backbones.scripted import ScriptedBackbone
from sero.errors import ServerUnavailable
from sero.evolution.controls import CreditHeuristic as HeuristicController
from sero.evolution.controls import UniformLegal, UniformUngated
from sero.evolution.sections import RandomConfig
from sero.inference.parts import Parts
from sero.methods.base import Method
from sero.methods.controls import CreditHeuristic, GatedRandom, RandomEvolution
from sero.methods.role_pool import RolePoolConfig, Sero


def made(kind, lab, state):
    return kind(RolePoolConfig(name=kind.__name__), lab=lab, state=state)


def trained(toy, method, make_fitting, recorder=None, **fitting):
    recorder = recorder or toy.Recorder()
    toy.run(method.fit(toy.tasks(), make_fitting(recorder, **fitting)))
    return recorder


@pytest.fixture(scope="module")
def plan(toy):
    return replace(toy.TRAIN, warmup_epochs=3, main_epochs=17, batch=4, checkpoint_every=4)


@pytest.fixture
def random_lab(toy, make_lab):
    """A lab of random evolution on the two tasks of the toy, with forty episodes."""

    def random_lab(**changes):
        return make_lab(**{"random": RandomConfig(passes=20, loo=False), **changes})

    return random_lab


def test_all_are_methods_with_a_controller_of_their_own(toy, make_lab):
    kinds = {
        GatedRandom: UniformLegal,
        CreditHeuristic: HeuristicController,
        RandomEvolution: UniformUngated,
    }
    for kind, controller in kinds.items():
        method: Method = made(kind, make_lab(), toy.state())
        assert type(method.controller()) is controller


@pytest.mark.parametrize("kind", [GatedRandom, CreditHeuristic])
def test_fair_controls_keep_the_gate_and_the_guards(toy, make_lab, make_fitting, plan, kind):
    lab = make_lab(train=plan)
    method = made(kind, lab, toy.state())
    recorder = trained(toy, method, make_fitting)
    assert len(recorder.episodes) == method.planned_episodes(2) == 40
    assert method.gate(toy.tasks()) == made(Sero, lab, toy.state()).gate(toy.tasks())
    for row in recorder.episodes:
        if row["committed"]:
            floor = -1e-9 if row["phase"] == "warmup" else 1e-9
            assert row["gate_delta"] >= floor
            assert all(row["contracts"].values())
    assert any(row["committed"] for row in recorder.episodes)
    assert any(row["loo"] for row in recorder.episodes)
    assert all("controller/loss" not in row for row in recorder.metrics)


def test_gated_random_draws_from_the_stream_the_learned_controller_uses(
    toy, make_lab, make_fitting, plan
):
    """Same tasks in the same order, same editor: only the controller differs."""
    rows = {
        kind: trained(toy, made(kind, make_lab(train=plan), toy.state()), make_fitting).episodes
        for kind in (Sero, GatedRandom)
    }
    tasks = [[row["task"] for row in rows[kind]] for kind in rows]
    assert tasks[0] == tasks[1]
    actions = Counter(row["action"] for row in rows[GatedRandom])
    assert set(actions) == {"add", "remove", "noop"}


def test_random_evolution_commits_whatever_can_be_done(toy, random_lab, make_fitting):
    method = made(RandomEvolution, random_lab(), toy.state())
    recorder = trained(toy, method, make_fitting)
    rows = recorder.episodes
    assert len(rows) == method.planned_episodes(2) == 40
    assert {row["phase"] for row in rows} == {"main"}
    for row in rows:
        # scores are logged before the edit, and nothing is run after it
        assert row["score_before"] is not None
        assert (row["score_after"], row["gate_delta"], row["reward"]) == (None, None, 0.0)
        assert row["loo"] is None
        done = row["action"] != "noop" and not row["reasons"]
        assert row["committed"] is done
    refused = {code for row in rows for code in row["reasons"]}
    editor = {"invalid_card", "leak", "duplicate_name"}
    assert refused - editor <= {"protected", "pool_full"}
    assert "protected" in refused
    phases = {trace["phase"] for trace in recorder.traces}
    assert phases == {"pre", "edit"}


def test_random_evolution_may_lose_families_and_validators_but_not_the_terminal(
    toy, random_lab, make_fitting
):
    method = made(RandomEvolution, random_lab(pool=replace(toy.POOL, p_min=5)), toy.state())
    recorder = trained(toy, method, make_fitting)
    pools = [state.pool for state in recorder.pools.values()]
    assert min(len(pool) for pool in pools) < 5
    assert any("checking" not in pool.families for pool in pools)
    assert all("scribe" in pool for pool in pools)
    assert {"capability", "validation"} <= {
        name
        for row in recorder.episodes
        for name, holds in (row["contracts"] or {}).items()
        if not holds
    }


def test_a_full_pool_is_not_worth_a_call(toy, random_lab, make_fitting):
    """Six roles under P_max = 6: every Add is refused before the editor is asked."""
    backbone = ScriptedBackbone(toy.reply)
    lab = random_lab(
        backbone=backbone,
        pool=replace(toy.POOL, p_max=6),
        # without Remove the pool stays full
        policy=replace(toy.POLICY, operations=("add", "noop")),
    )
    method = made(RandomEvolution, lab, toy.state())
    rows = trained(toy, method, make_fitting).episodes
    adds = [row for row in rows if row["action"] == "add"]
    assert adds
    assert all(row["reasons"] == ["pool_full"] for row in adds)
    assert all(row["verdict"] == "rejected" for row in adds)
    assert not any(request.role == "editor" for request in backbone.requests)
    assert method.state.pool == toy.seed_pool()


def test_an_emptying_removal_is_refused(toy, random_lab, make_fitting):
    """One unprotected role: a Remove would leave nobody."""
    pool = type(toy.seed_pool())((toy.skilled("alone", "exact", "adding"),))
    lab = random_lab(policy=replace(toy.POLICY, operations=("remove", "noop")))
    method = made(RandomEvolution, lab, toy.state(pool))
    rows = trained(toy, method, make_fitting).episodes
    removals = [row for row in rows if row["action"] == "remove"]
    assert removals
    assert all(row["reasons"] == ["pool_too_small"] for row in removals)
    assert method.state.pool == pool


def test_random_evolution_never_stops_early_and_ignores_guards_and_gate(
    toy, random_lab, make_fitting
):
    stop = replace(toy.EARLY_STOP, enabled=True, window=1, min_episodes=1, threshold=0.01)
    outcomes = []
    for changes in ({}, {"early_stop": stop, "guard": replace(toy.GUARD, max_family_share=0.1)}):
        lab = random_lab(**changes, gate=replace(toy.GATE, warmup="strict"))
        method = made(RandomEvolution, lab, toy.state())
        recorder = trained(toy, method, make_fitting)
        outcomes.append((method.state, recorder.episodes))
    assert len(outcomes[0][1]) == 40
    assert outcomes[0] == outcomes[1]


def test_credit_stays_at_its_start_unless_asked_for(toy, random_lab, make_fitting):
    """`credit.loo_every` = 2: with `random.loo` every second episode refreshes."""
    frozen = made(RandomEvolution, random_lab(), toy.state())
    trained(toy, frozen, make_fitting)
    assert {credit.ema for credit in frozen.state.credit.roles.values()} == {0.0}
    assert {credit.n_updates for credit in frozen.state.credit.roles.values()} == {0}

    lab = random_lab(random=RandomConfig(passes=20, loo=True))
    rows = trained(toy, made(RandomEvolution, lab, toy.state()), make_fitting).episodes
    due = [
        row["episode"]
        for row in rows
        if row["episode"] % 2 == 0 and row["pool_size"] >= toy.CREDIT.loo_min_pool
    ]
    assert [row["episode"] for row in rows if row["loo"] is not None] == due != []


@pytest.mark.parametrize("kind", [GatedRandom, CreditHeuristic, RandomEvolution])
def test_an_interrupted_control_resumes_where_it_was(toy, random_lab, make_fitting, plan, kind):
    whole = made(kind, random_lab(train=plan), toy.state())
    recorder = trained(toy, whole, make_fitting)

    async def fail(request):
        raise ServerUnavailable("the server went away")

    async def cut(request):
        await asyncio.sleep(0)
        return await interruptions(request)

    interruptions = toy.Interruptions(150, fail)
    broken = made(kind, random_lab(train=plan, backbone=ScriptedBackbone(cut)), toy.state())
    first = toy.Recorder()
    with pytest.raises(ServerUnavailable):
        trained(toy, broken, make_fitting, first)
    assert 0 < len(first.episodes) < 40
    body, kept = first.resumed()
    again = made(kind, random_lab(train=plan), toy.state())
    trained(toy, again, make_fitting, kept, resume=body)
    assert kept.episodes == recorder.episodes
    assert kept.traces == recorder.traces
    assert again.state == whole.state


def test_the_pool_is_evaluated_by_the_same_operator(toy, random_lab, make_fitting):
    lab = random_lab()
    assert isinstance(lab.parts, Parts)
    method = made(RandomEvolution, lab, toy.state())
    trained(toy, method, make_fitting)
    assert type(method).answer is Sero.answer
