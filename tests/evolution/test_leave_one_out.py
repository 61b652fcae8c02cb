"""The credit refresh: against hand-worked numbers and against a slow loop over the operator."""

from dataclasses import replace

import pytest

from sero.backbones.base import CallContext, Phase
from sero.credit import RoleCredit, ema_update
from sero.evolution.leave_one_out import refresh, refresh_is_due, refresh_tasks
from sero.inference.operator import answer
from sero.roles.card import RoleType

EPISODE = 40


@pytest.mark.parametrize(
    ("episode", "pool_size", "every", "due"),
    [
        (40, 8, 40, True),
        (39, 8, 40, False),
        (41, 8, 40, False),
        (80, 8, 40, True),
        (20, 8, 20, True),
        (40, 4, 40, True),  # loo_min_pool = 4
        (40, 3, 40, False),
        (40, 8, 0, False),  # 0: never
        (1, 8, 1, True),
    ],
)
def test_schedule(toy, episode, pool_size, every, due):
    cfg = replace(toy.CREDIT, loo_every=every)
    assert refresh_is_due(episode, pool_size, cfg) is due


def test_tasks_are_drawn_without_replacement_by_seed_and_episode(toy):
    train = toy.tasks(10)
    cfg = replace(toy.CREDIT, loo_tasks=3)
    draws = {}
    for episode in range(1, 40):
        drawn = refresh_tasks(train, cfg, run_seed=3, episode=episode)
        assert len({task.id for task in drawn}) == 3
        assert drawn == refresh_tasks(train, cfg, run_seed=3, episode=episode)
        draws[episode] = tuple(task.id for task in drawn)
    assert len(set(draws.values())) > 30
    assert {name for drawn in draws.values() for name in drawn} == {task.id for task in train}
    assert any(
        refresh_tasks(train, cfg, run_seed=4, episode=e) != refresh_tasks(
            train, cfg, run_seed=3, episode=e) for e in range(1, 4)
    )  # fmt: skip


def test_fewer_tasks_than_asked_for_are_all_taken(toy):
    drawn = refresh_tasks(toy.tasks(2), replace(toy.CREDIT, loo_tasks=5), run_seed=1, episode=1)
    assert sorted(task.id for task in drawn) == ["sum-0", "sum-1"]


SCORES = {
    "sum-0": {None: 0.75, "router": 0.75, "adder": 0.25, "guesser": 1.0},
    "sum-1": {None: 0.5, "router": 0.25, "checker": 0.25},
}
TEAMS = {"sum-0": ("router", "adder", "guesser", "scribe"), "sum-1": ("router", "scribe")}


class World:
    """Scores by task and by who is missing; teams by task.

                whole   without router  adder  guesser  checker
    sum-0        .75          .75        .25     1.0      .75     team router adder guesser
    sum-1        .50          .25        .50     .50      .25     team router, checker repairs
    """

    def __init__(self, toy, cfg, credits=None):
        self.toy, self.cfg = toy, cfg
        self.state = toy.state(credits=credits or {})
        self.roll = toy.Roll(self._rule)

    def _rule(self, task, state, phase, repeat):
        gone = set(self.state.pool.names) - set(state.pool.names)
        missing = next(iter(gone), None)
        return self.toy.scored(
            SCORES[task.id][missing],
            team=TEAMS[task.id],
            validator="checker" if task.id == "sum-1" else None,
            final_fast={"adder": 0.99},
        )

    def refreshed(self):
        return self.toy.run(
            refresh(self.state, self.toy.tasks(2), self.roll, self.cfg, episode=EPISODE)
        )

    def asked(self):
        """(task, who is missing), in order."""
        every = self.state.pool.names
        return [
            (task, next((n for n in every if n not in state.pool), None))
            for task, _, _, _, state in self.roll.asked
        ]


def test_inactive_roles_are_skipped(toy):
    """phi = mean over the tasks where the role was active; c <- .9 c + .1 phi.

    router (0 + .25)/2 = .125, adder .5, guesser -.25, checker (repair only) .25; adder-2 was
    nowhere; the aggregator has none.
    """
    known = {
        "router": RoleCredit(ema=0.5, loo=0.5, fast=0.7, n_updates=1, n_bonus=1),
        "guesser": RoleCredit(n_bonus=3),
    }
    world = World(toy, toy.CREDIT, known)
    outcome = world.refreshed()
    assert outcome.loo == {"router": 0.125, "adder": 0.5, "guesser": -0.25, "checker": 0.25}
    credit = outcome.state.credit
    assert credit["router"].ema == pytest.approx(0.9 * 0.5 + 0.1 * 0.125, abs=1e-15)
    assert credit["router"] == replace(
        known["router"], ema=credit["router"].ema, loo=0.125, n_updates=2, n_bonus=2
    )
    assert credit["guesser"] == RoleCredit(ema=-0.025, loo=-0.25, n_updates=1, n_bonus=4)
    assert credit["adder"] == RoleCredit(ema=0.05, loo=0.5, n_updates=1, n_bonus=1)
    assert credit["checker"] == RoleCredit(ema=0.025, loo=0.25, n_updates=1, n_bonus=1)
    assert "adder-2" not in credit.roles
    assert "scribe" not in credit.roles
    assert outcome.state.pool is world.state.pool


def test_inactive_roles_count_as_zero_if_so_configured(toy):
    """router .125, adder (.5 + 0)/2, guesser (-.25 + 0)/2, adder-2 0, checker (0 + .25)/2."""
    outcome = World(toy, replace(toy.CREDIT, loo_inactive="zero")).refreshed()
    assert outcome.loo == {
        "router": 0.125,
        "adder": 0.25,
        "guesser": -0.125,
        "adder-2": 0.0,
        "checker": 0.125,
    }
    assert outcome.state.credit["adder-2"] == RoleCredit(n_updates=1, n_bonus=1)


@pytest.mark.parametrize("inactive", ["skip", "zero"])
def test_one_base_run_per_task_and_no_request_for_inactive_roles(toy, inactive):
    world = World(toy, replace(toy.CREDIT, loo_inactive=inactive))
    world.refreshed()
    assert world.asked() == [
        ("sum-0", None),
        ("sum-1", None),
        ("sum-0", "router"),
        ("sum-1", "router"),
        ("sum-0", "adder"),
        ("sum-0", "guesser"),
        ("sum-1", "checker"),
    ]
    assert {(phase, episode) for _, phase, episode, _, _ in world.roll.asked} == {
        (toy.LOO, EPISODE)
    }


def test_fast_credit_is_left_alone(toy):
    outcome = World(toy, toy.CREDIT, {"adder": RoleCredit(fast=0.1)}).refreshed()
    assert outcome.state.credit["adder"].fast == 0.1
    assert outcome.state.credit["router"].fast is None


def test_reduced_runs_read_one_snapshot(toy):
    world = World(toy, toy.CREDIT)
    world.refreshed()
    assert all(state.credit is world.state.credit for *_, state in world.roll.asked)


def test_sequential_runs_read_the_updates_before_them(toy):
    """router is first: its own reduced runs see the old C, adder's see router's update, ..."""
    world = World(toy, replace(toy.CREDIT, loo_sequential=True))
    outcome = world.refreshed()
    seen = [state.credit for *_, state in world.roll.asked]
    after_router = world.state.credit.updated({"router": ema_update(RoleCredit(), 0.125, mu=0.1)})
    after_adder = after_router.updated({"adder": ema_update(RoleCredit(), 0.5, mu=0.1)})
    assert seen[:4] == [world.state.credit] * 4
    assert seen[4] == after_router
    assert seen[5] == after_adder
    assert seen[6] == after_adder.updated({"guesser": ema_update(RoleCredit(), -0.25, mu=0.1)})
    assert outcome.loo == World(toy, toy.CREDIT).refreshed().loo  # these scores ignore C


def fuller_state(toy):
    """A good newcomer beside the seed pool, and some credit already."""
    pool = toy.seed_pool().with_role(toy.skilled("helper", "exact", "carrying"))
    return toy.state(
        pool,
        {
            "helper": RoleCredit(ema=0.4, n_updates=2, n_bonus=5),
            "guesser": RoleCredit(ema=0.3, n_updates=1, n_bonus=1),
            "adder-2": RoleCredit(ema=0.1, n_updates=1, n_bonus=1),
        },
    )


def slow_loop(toy, state, tasks, cfg, inference):
    """phi of every role by the definition, each number from a rollout of its own."""
    benchmark, parts = toy.Benchmark(), toy.parts()

    def score(task, pool_state):
        call = CallContext(run_seed=toy.SEED, phase=Phase.LOO, episode=EPISODE, item=task.id)
        rollout = toy.run(answer(task.prompt, pool_state, parts, inference, call=call))
        return benchmark.score(benchmark.parse(task.prompt, rollout.answer), task).value, rollout

    measured = {}
    for card in state.pool:
        if card.role_type is RoleType.AGGREGATOR:
            continue
        differences = []
        for task in tasks:
            whole, rollout = score(task, state)
            reduced = replace(state, pool=state.pool.without_role(card.name))
            spoke = card.name in {message.role for message in rollout.messages}
            if spoke or cfg.loo_inactive == "zero":
                differences.append(whole - score(task, reduced)[0] if spoke else 0.0)
        if differences:
            measured[card.name] = sum(differences) / len(differences)
    return measured


@pytest.mark.parametrize("inactive", ["skip", "zero"])
@pytest.mark.parametrize("always", [False, True])
@pytest.mark.parametrize("val_slots", [0, 1])
def test_the_real_operator_agrees_with_the_slow_loop(toy, inactive, always, val_slots):
    cfg = replace(toy.CREDIT, loo_inactive=inactive)
    inference = replace(
        toy.INFERENCE,
        credit=cfg,
        repair=replace(toy.INFERENCE.repair, always=always),
        retrieval=replace(toy.INFERENCE.retrieval, val_slots=val_slots),
    )
    state, tasks = fuller_state(toy), toy.tasks(3)
    outcome = toy.run(refresh(state, tasks, toy.roller(inference=inference), cfg, episode=EPISODE))
    expected = slow_loop(toy, state, tasks, cfg, inference)
    assert outcome.loo == pytest.approx(expected, abs=1e-12)
    assert any(value != 0.0 for value in expected.values())
    assert ("checker" in expected) is (always or val_slots == 1 or inactive == "zero")


def test_the_result_does_not_depend_on_the_order_of_roles(toy):
    """The same pool listed backwards: no ties here, so every rollout is the same."""
    state = fuller_state(toy)
    turned = replace(state, pool=type(state.pool)(tuple(reversed(state.pool.cards))))
    measured = [
        toy.run(refresh(s, toy.tasks(2), toy.roller(), toy.CREDIT, episode=EPISODE))
        for s in (state, turned)
    ]
    assert measured[0].loo == measured[1].loo
    assert measured[0].state.credit.roles == measured[1].state.credit.roles
    assert list(measured[0].loo) == list(reversed(measured[1].loo))


def test_a_refresh_pays_for_active_roles_only(toy):
    """Team of 3 (router, helper, guesser), 1 task: base 3 drafts + 3 messages + 1 answer = 7.

    Three reduced runs. Without a specialist another steps in: 7 calls; without the router 2 + 2
    + 1 = 5. All in all 7 + 5 + 7 + 7 = 26.
    """
    roll = toy.roller()
    outcome = toy.run(refresh(fuller_state(toy), toy.tasks(1), roll, toy.CREDIT, episode=EPISODE))
    assert set(outcome.loo) == {"router", "helper", "guesser"}
    cost, traces = roll.ledger.take()
    assert (cost.calls, len(traces)) == (26, 4)
    assert {trace["phase"] for trace in traces} == {"loo"}
