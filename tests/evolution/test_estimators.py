"""The credit estimators: on worked games, and against slow loops over the real operator."""

import asyncio
from dataclasses import dataclass, field, replace
from itertools import permutations

import pytest

from sero.backbones.base import CallContext, Phase
from sero.errors import ServerUnavailable
from sero.evolution.estimators import (
    PermutationShapley,
    clamped,
    estimator_for,
    leave_one_out,
)
from sero.evolution.shapley import draw_orders
from sero.inference.layout import template
from sero.inference.operator import answer
from sero.inference.repair import read_verdict
from sero.roles.card import RoleType
from sero.seeding import rng_for

EPISODE = 40
NEUTRAL = template("counterfactual", "neutral")


@dataclass
class Game:
    """Stands for a Roller whose scores are known: by who is missing, silenced or in the team."""

    toy: object
    missing: dict = field(default_factory=dict)
    silenced: dict = field(default_factory=dict)
    teams: dict = field(default_factory=dict)
    run_seed: int = 5
    asked: list = field(default_factory=list)

    async def __call__(self, task, state, phase, episode, *, team_names=None, replace=None):
        assert (phase, episode) == (Phase.LOO, EPISODE)
        self.asked.append((frozenset(state.pool.names), team_names, replace))
        if replace is not None:
            (name, text), *others = replace.items()
            assert not others
            assert text == NEUTRAL
            return self.toy.scored(self.silenced[name])
        if team_names is not None:
            return self.toy.scored(self.teams[frozenset(team_names)])
        (name,) = set(self.toy.seed_pool().names) - set(state.pool.names)
        return self.toy.scored(self.missing[name])


@pytest.fixture
def base(toy):
    """Team router, adder, guesser; the checker repairs; s = .75."""
    return toy.scored(0.75, team=("router", "adder", "guesser", "scribe"), validator="checker")


def run(work):
    return asyncio.run(work)


def measured(toy, estimate, base, game, names=None):
    state = toy.state()
    wanted = state.pool.names if names is None else names
    return toy.run(estimate(toy.tasks(1)[0], base, state, wanted, game, episode=EPISODE))


def test_the_configuration_names_them(toy):
    def named(name):
        return estimator_for(replace(toy.CREDIT, estimator=name, orders=6, tmc_tol=0.25))

    assert named("loo") is leave_one_out
    assert named("clamp") is clamped
    assert named("shapley_mc") == PermutationShapley(orders=6, antithetic=True, tol=0.0)
    assert named("tmc") == PermutationShapley(orders=6, antithetic=True, tol=0.25)


class TestLeaveOneOut:
    MISSING = (("router", 0.5), ("adder", 0.25), ("guesser", 1.0), ("checker", 0.75))

    def test_whole_minus_reduced_for_every_role_that_spoke(self, toy, base):
        game = Game(toy, missing=dict(self.MISSING))
        got = measured(toy, leave_one_out, base, game)
        assert got.phi == {"router": 0.25, "adder": 0.5, "guesser": -0.25, "checker": 0.0}
        assert list(got.phi) == ["router", "adder", "guesser", "checker"]
        assert got.stderr == {}
        assert len(game.asked) == 4
        assert all(team is replaced is None for _, team, replaced in game.asked)

    def test_only_the_names_asked_for(self, toy, base):
        game = Game(toy, missing=dict(self.MISSING))
        got = measured(toy, leave_one_out, base, game, names=["adder-2", "adder"])
        assert got.phi == {"adder": 0.5}
        assert len(game.asked) == 1


class TestClamp:
    def test_whole_minus_silenced_with_the_same_team(self, toy, base):
        """router .75 - .5, adder .75 - 0, guesser .75 - 1, checker (its report) .75 - .5."""
        game = Game(
            toy, silenced={"router": 0.5, "adder": 0.0, "guesser": 1.0, "checker": 0.5}
        )  # fmt: skip
        got = measured(toy, clamped, base, game)
        assert got.phi == {"router": 0.25, "adder": 0.75, "guesser": -0.25, "checker": 0.25}
        assert got.stderr == {}
        whole = frozenset(toy.seed_pool().names)
        assert [(pool, team) for pool, team, _ in game.asked] == [
            (whole, ("router", "adder", "guesser"))
        ] * 4

    def test_only_the_names_asked_for(self, toy, base):
        game = Game(toy, silenced={"guesser": 1.0})
        assert measured(toy, clamped, base, game, names=["guesser"]).phi == {"guesser": -0.25}

    def test_the_neutral_text_says_nothing(self, toy, simulated):
        """No answer, no verdict, no fact: for the benchmarks' parsers and the repair pass."""
        prompt = toy.tasks(1)[0].prompt
        assert toy.Benchmark().parse(prompt, NEUTRAL).answer is None
        world = simulated(200)
        assert world.benchmark.parse(world.split.train[0].prompt, NEUTRAL).answer is None
        assert read_verdict(NEUTRAL) is None
        assert NEUTRAL == NEUTRAL.strip() != ""

    @pytest.mark.parametrize("val_slots", [0, 1])
    def test_agrees_with_the_definition_and_leaves_team_and_dag_alone(self, simulated, val_slots):
        """The slow loop retrieves by itself; team, order and edges are those of the base run."""
        world = simulated(203)
        world.inference = replace(
            world.inference, retrieval=replace(world.inference.retrieval, val_slots=val_slots)
        )
        state = world.team_with(
            world.card("good-0", "good", 0),
            world.card("good-4", "good", 4),
            world.card("harm-2", "harmful", 2),
            world.card("med-3", "medium", 3),
        )
        roll = world.roller()
        nonzero = 0
        for task in world.split.train[:6]:
            base = run(roll(task, state, Phase.LOO, EPISODE))
            got = run(clamped(task, base, state, state.pool.names, roll, episode=EPISODE))
            assert set(got.phi) == {*base.rollout.order, "validator"}
            call = CallContext(run_seed=203, phase=Phase.LOO, episode=EPISODE, item=task.id)
            for name, value in got.phi.items():
                rollout = run(
                    answer(
                        task.prompt,
                        state,
                        world.parts,
                        world.inference,
                        call=call,
                        replace={name: NEUTRAL},
                    )
                )
                assert rollout.team == base.rollout.team
                assert rollout.order == base.rollout.order
                assert rollout.edges == base.rollout.edges
                score = world.benchmark.score(
                    world.benchmark.parse(task.prompt, rollout.answer), task
                )
                assert value == base.value - score.value
                nonzero += value != 0
        assert nonzero > 5


ADDED = {"router": 0.25, "adder": 0.5, "guesser": -0.25}
PLAYERS = ("router", "adder", "guesser")


def additive_teams(start=0.25):
    """v(S) = .25 + the sum of its members' own; the whole team has .75."""
    teams = {}
    for order in permutations(PLAYERS):
        for n in range(4):
            team = frozenset(order[:n])
            teams[team] = start + sum(ADDED[name] for name in team)
    return teams


class TestPermutationShapley:
    SHAPLEY = PermutationShapley(orders=8, antithetic=True, tol=0.0)

    def test_an_additive_game_is_exact(self, toy, base):
        game = Game(toy, teams=additive_teams())
        got = measured(toy, self.SHAPLEY, base, game)
        assert got.phi == pytest.approx(ADDED, abs=1e-12)
        assert got.stderr == pytest.approx(dict.fromkeys(PLAYERS, 0.0), abs=1e-12)
        assert list(got.phi) == list(PLAYERS)  # a validator that only repairs is no player

    def test_no_coalition_is_rolled_twice_and_the_whole_team_never(self, toy, base):
        game = Game(toy, teams=additive_teams())
        measured(toy, PermutationShapley(orders=64, antithetic=True, tol=0.0), base, game)
        teams = [team for _, team, _ in game.asked]
        assert len(teams) == len(set(teams)) == 7  # 2^3 without the whole
        assert () in teams  # the aggregator alone
        order = {name: i for i, name in enumerate(PLAYERS)}
        assert all(list(team) == sorted(team, key=order.get) for team in teams)
        assert all(pool == frozenset(toy.seed_pool().names) for pool, _, _ in game.asked)

    def test_orders_come_from_the_seed_the_episode_and_the_task(self, toy, base):
        """φ by hand from the same stream: the mean marginal of the orders it names."""
        teams = additive_teams()
        for team in teams:  # router and adder together are worth .5 less than their sum
            if {"router", "adder"} <= team:
                teams[team] -= 0.5
        whole = toy.scored(teams[frozenset(PLAYERS)], team=(*PLAYERS, "scribe"))
        game = Game(toy, teams=teams)
        got = measured(toy, PermutationShapley(orders=3, antithetic=False, tol=0.0), whole, game)
        rng = rng_for(5, "shapley", EPISODE, "sum-0")
        orders = draw_orders(PLAYERS, 3, antithetic=False, rng=rng)
        first = sum(order.index("router") < order.index("adder") for order in orders) / 3
        assert got.phi == pytest.approx(
            {"router": 0.25 - 0.5 * (1 - first), "adder": 0.5 - 0.5 * first, "guesser": -0.25}
        )
        assert set(got.stderr) == set(PLAYERS)
        again = measured(toy, PermutationShapley(orders=3, antithetic=False, tol=0.0), whole, game)
        assert again == got

    def test_only_the_names_asked_for(self, toy, base):
        game = Game(toy, teams=additive_teams())
        got = measured(toy, self.SHAPLEY, base, game, names=["adder", "checker"])
        assert got.phi == pytest.approx({"adder": 0.5})
        assert set(got.stderr) == {"adder"}

    def test_nobody_asked_for_costs_nothing(self, toy, base):
        game = Game(toy)
        assert measured(toy, self.SHAPLEY, base, game, names=["adder-2"]).phi == {}
        alone = toy.scored(0.5, team=("scribe",))
        assert measured(toy, self.SHAPLEY, alone, game).phi == {}
        assert game.asked == []

    def test_truncation_gives_the_rest_nothing_without_a_look(self, toy, base):
        """The adder alone reaches the whole score, so all of it is the adder's in any order."""
        teams = {team: 0.75 if "adder" in team else 0.0 for team in additive_teams()}
        game = Game(toy, teams=teams)
        got = measured(
            toy, PermutationShapley(orders=64, antithetic=True, tol=0.01), base, game
        )  # fmt: skip
        assert got.phi == {"router": 0.0, "adder": 0.75, "guesser": 0.0}
        # an empty team already within the tolerance of the whole one: nobody else is rolled
        near = Game(toy, teams=teams)
        flat = toy.scored(0.005, team=(*PLAYERS, "scribe"))
        got = measured(toy, PermutationShapley(orders=2, antithetic=True, tol=0.01), flat, near)
        assert got.phi == dict.fromkeys(PLAYERS, 0.0)
        assert [team for _, team, _ in near.asked] == [()]

    @pytest.mark.parametrize("task", range(3))
    def test_the_real_operator_shares_out_what_the_team_adds(self, toy, task):
        """Σ φ = v(B_t) - v(∅), with every v(S) from the operator and retrieval bypassed."""
        state, roll, x = toy.state(), toy.roller(), toy.tasks(3)[task]
        base = toy.run(roll(x, state, Phase.LOO, EPISODE))
        empty = toy.run(roll(x, state, Phase.LOO, EPISODE, team_names=()))
        assert empty.rollout.team == ("scribe",)
        got = toy.run(self.SHAPLEY(x, base, state, state.pool.names, roll, episode=EPISODE))
        assert tuple(got.phi) == tuple(
            c.name for c in state.pool
            if c.name in base.rollout.team and c.role_type is not RoleType.AGGREGATOR
        )  # fmt: skip
        assert sum(got.phi.values()) == pytest.approx(base.value - empty.value, abs=1e-12)


@pytest.mark.parametrize("name", ["loo", "clamp", "shapley_mc", "tmc"])
def test_a_broken_machine_is_no_score(toy, base, name):
    async def broken(*args, **kwargs):
        raise ServerUnavailable("down")

    broken.run_seed = 5
    with pytest.raises(ServerUnavailable):
        measured(toy, estimator_for(replace(toy.CREDIT, estimator=name)), base, broken)
