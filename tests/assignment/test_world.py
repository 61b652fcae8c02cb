"""The assignment world: its figures, what they must show, and Meta-Debate run on it end to end."""

import asyncio
import dataclasses

import numpy as np
import pytest

from sero.assignment.decision import decide
from sero.assignment.forecast import forecast
from sero.assignment.meta_debate import assign_roles
from sero.assignment.record import names_of
from sero.assignment.roster import Seat
from sero.assignment.rules import AssignMode
from sero.assignment.world import (
    HIGHEST,
    LOWEST,
    OWN,
    AssignmentWorld,
    WorldSpec,
    assigned,
    assigned_auto,
    play,
)
from sero.assignment.world_backbone import AssignmentWorldBackbone, world_panel
from sero.assignment.world_table import (
    GAMER,
    LONE_GAMER,
    interval,
    table_of,
    world_figures,
)
from sero.assignment.world_text import world_roster, world_task
from sero.backbones.base import CallContext, ChatMessage, Phase, Request

KEYS = range(10)
N_TASKS = 400
ARGMAX, GREEDY = AssignMode.ARGMAX, AssignMode.GREEDY


def worlds(**changes):
    return [play(WorldSpec(key=key, **changes), N_TASKS) for key in KEYS]


def mean(values):
    return float(np.mean(list(values)))


@pytest.fixture(scope="module")
def figures():
    """Every figure of the table in each of ten worlds of 400 tasks."""
    return world_figures(KEYS, N_TASKS)


class TestWorld:
    def test_a_task_is_a_function_of_the_key_and_its_number(self):
        spec = WorldSpec(key=3)
        one, two = AssignmentWorld(spec), AssignmentWorld(spec)
        two.case(0)
        assert (one.case(5).skill == two.case(5).skill).all()
        assert (one.case(5).grades == two.case(5).grades).all()
        assert (one.case(5).skill != AssignmentWorld(WorldSpec(key=4)).case(5).skill).any()

    def test_grades_are_whole_numbers_from_1_to_5(self):
        case = AssignmentWorld(WorldSpec(key=0)).case(0)
        assert case.skill.shape == (3, 4)
        assert case.grades.shape == (3, 4, 4, 3)
        assert set(np.unique(case.grades)) <= {1, 2, 3, 4, 5}
        assert LOWEST <= case.skill.min() <= case.skill.max() <= HIGHEST

    def test_the_reviewers_do_not_move_the_skills(self):
        plain, gamed = play(WorldSpec(key=1), 20), play(WorldSpec(key=1, bonus=GAMER), 20)
        assert (plain.skill == gamed.skill).all()
        own = gamed.scores[:, :, 0, 0] - plain.scores[:, :, 0, 0]
        assert own.min() >= 0
        assert own.mean() > 0.5
        others = np.delete(np.arange(4), 0)
        assert (plain.scores[:, :, others] == gamed.scores[:, :, others]).all()

    def test_a_reviewer_without_noise_or_leaning_sees_the_skill(self):
        spec = WorldSpec(key=2, severity_sd=0.0, noise_sd=0.0, bonus=(0.0,) * 4)
        played = play(spec, 50)
        assert np.abs(played.scores - (1 + 4 * played.skill[..., None])).max() <= 0.5

    def test_success_counts_the_chosen(self):
        played = play(WorldSpec(key=0), 2)
        chosen = np.array([[0, 1, 2], [3, 3, 3]])
        by_hand = [played.skill[0, i, i] for i in range(3)] + list(played.skill[1, :, 3])
        assert played.success(chosen) == pytest.approx(np.mean(by_hand))
        every = np.array([[[j] * 3] * 2 for j in range(4)])
        assert [played.success(c) for c in every] == pytest.approx(list(played.uniform))
        best = played.skill.argmax(axis=2)
        assert played.success(best) == pytest.approx(played.oracle)

    def test_all_tasks_at_once_are_the_rule_on_each(self):
        from sero.assignment.rules import assign
        from sero.assignment.scores import suitability

        played = play(WorldSpec(key=5), 30)
        for mode in AssignMode:
            each = [assign(suitability(scores), mode) for scores in played.scores]
            assert assigned(played, mode).tolist() == [list(chosen) for chosen in each]


class TestTargets:
    """Means over ten worlds of 400 tasks; simulated."""

    @pytest.mark.parametrize("mode", [ARGMAX, GREEDY])
    def test_dynamic_against_uniform_and_random(self, figures, mode):
        dynamic = figures[mode].mean()
        assert dynamic - figures["best uniform"].mean() >= 0.08
        assert dynamic - figures["random, mean uniform"].mean() >= 0.12

    @pytest.mark.parametrize("mode", AssignMode)
    def test_pure_noise_is_a_random_assignment(self, mode):
        noise = worlds(noise_sd=float("inf"))
        dynamic = mean(p.success(assigned(p, mode)) for p in noise)
        assert dynamic == pytest.approx(mean(p.random for p in noise), abs=0.005)

    def test_more_noise_is_worse_all_the_way_down_to_random(self, figures):
        clear, loud, louder = (
            mean(p.success(assigned(p, ARGMAX)) for p in worlds(noise_sd=sd))
            for sd in (0.0, 8.0, 40.0)
        )
        plain, noisy = figures["argmax"].mean(), figures["argmax, noise sd 2"].mean()
        assert clear > plain > noisy > loud > louder
        assert louder - figures["random, mean uniform"].mean() < 0.03

    @pytest.mark.parametrize(
        ("name", "bonus", "named", "others_named"),
        # where everybody adds 1 point to the own scores, the margin of 1 catches some of the others
        [("gamer", GAMER, 0.9, 0.35), ("lone gamer", LONE_GAMER, 0.65, 0.05)],
    )
    def test_one_self_promoter_is_contained(self, figures, name, bonus, named, others_named):
        honest = mean(
            p.success(assigned(p, ARGMAX))
            for p in worlds(bonus=tuple(b - 2 * (e == 0) for e, b in enumerate(bonus)))
        )
        gamed = worlds(bonus=bonus)
        auto = [assigned_auto(p, ARGMAX, margin=1.0) for p in gamed]
        shares = np.mean([share for _, share in auto], axis=0)
        assert shares[0] >= named  # on that share of the tasks it is named
        assert shares[1:].max() < others_named
        assert honest - figures[f"{name}, self excluded by auto"].mean() <= 0.01
        assert honest - figures[f"{name}, all scores"].mean() <= 0.015
        taken = mean((assigned(p, ARGMAX) == 0).mean() for p in gamed)
        kept = mean((c == 0).mean() for c, _ in auto)
        assert kept < taken  # it holds fewer roles than its own scores would have brought it

    @pytest.mark.parametrize(
        ("row", "against", "sign"),
        [
            ("argmax, self excluded", "argmax", -1),
            ("gamer, self excluded", "gamer, all scores", -1),
            ("lone gamer, self excluded", "lone gamer, all scores", 0),
            ("lone gamer, self excluded by auto", "lone gamer, all scores", 1),
        ],
    )
    def test_what_exclusion_brings_in_the_same_worlds(self, figures, row, against, sign):
        # paired, so the interval is narrower than that of either row: leaving the own scores out
        # costs a little even against one reviewer with 2 points more than the others; `auto` helps
        # where the others add nothing
        difference, half = interval(figures[row] - figures[against])
        assert abs(difference) < 0.01
        assert half < 0.003
        assert (difference > half) - (difference < -half) == sign

    def test_the_table(self, figures):
        rows = {row.name: row for row in table_of(figures)}
        fitted = {name: row for name, row in rows.items() if row.fitted}
        assert set(fitted) == {"random, mean uniform", "best uniform", "argmax", "oracle"}
        for row in fitted.values():
            assert row.mean == pytest.approx(row.published, abs=0.01)
        # outcomes: nothing was fitted to them
        for name, published in (
            ("hungarian, self excluded", 0.678),
            ("argmax, noise sd 2", 0.674),
            ("argmax, self excluded", 0.706),
            ("argmax, self excluded, corrected", 0.708),
            ("gamer, all scores", 0.704),
            ("gamer, self excluded", 0.706),
            ("gamer, self excluded, corrected", 0.708),
        ):
            assert rows[name].published == published
            assert rows[name].mean == pytest.approx(published, abs=0.015)
        assert all(0.01 < row.half_width < 0.04 for row in rows.values())
        by_hand = figures["oracle"]
        assert rows["oracle"].half_width == pytest.approx(
            2.262157 * by_hand.std(ddof=1) / 10**0.5, rel=1e-6
        )


class TestEndToEnd:
    """The real prompts, criteria and reviews over a simulated backbone with known truth."""

    def run(self, spec, number, cfg):
        call = CallContext(run_seed=1, phase=Phase.EVAL, episode=None, item=f"case-{number}")
        return asyncio.run(
            assign_roles(world_task(number), world_roster(), world_panel(spec), cfg, call=call)
        )

    @pytest.mark.parametrize(
        "changes",
        [
            {},
            {"mode": ARGMAX, "exclude_self": "auto"},
            {"mode": AssignMode.HUNGARIAN, "exclude_self": True, "severity_correction": True},
            {"review": "single"},
        ],
        ids=["greedy", "auto", "hungarian", "single"],
    )
    def test_it_decides_as_the_pure_world_does(self, cfg, changes):
        spec = WorldSpec(key=11, bonus=GAMER)
        settings = cfg(max_revisions=0, **changes)
        world, roster = AssignmentWorld(spec), world_roster()
        gained = []
        for number in range(24):
            case = world.case(number)
            found = self.run(spec, number, settings)
            pure = decide(case.grades.mean(axis=3), OWN, names_of(roster), settings)
            assert found.decision.scores == pytest.approx(pure.scores)
            assert (found.chosen, found.decision.excluded) == (pure.chosen, pure.excluded)
            assert found.decision.reasons == pure.reasons
            assert found.dropped == 0
            assert found.cost.calls == forecast(roster, settings, host_calls=1).calls
            gained.append(np.mean([case.skill[i, j] for i, j in enumerate(found.chosen)]))
        assert np.mean(gained) - play(spec, 24).random > 0.1

    def test_what_is_simulated_says_so(self, cfg):
        found = self.run(WorldSpec(key=0), 0, cfg())
        assert found.simulated
        assert found.to_data()["simulated"] is True

    def test_the_backbone_shows_nobody_who_proposed(self, cfg):
        found = self.run(WorldSpec(key=0), 0, cfg())
        texts = [m.text for hearing in found.hearings for m in hearing.proposals]
        assert len(set(texts)) == 12
        assert not any("clerk-" in text for text in texts)

    @pytest.mark.parametrize(
        ("system", "user"),
        [
            ("", "Hello."),
            ("You work by method sheet 0123456789ab.", "You are acting as Clerk 1. x. case-0"),
            (None, "You are acting as Nobody. x. Here is the task: case-0."),
            (None, "Evaluate each candidate's suitability for the Clerk 1 role."),
        ],
    )
    async def test_a_prompt_it_does_not_know(self, system, user):
        system = world_roster().candidates[0].prompt if system is None else system
        request = Request(
            messages=(ChatMessage("system", system), ChatMessage("user", user)),
            temperature=0.0,
            max_tokens=10,
            sample_index=(0,),
        )
        reply = await AssignmentWorldBackbone(WorldSpec(key=0)).generate(request)
        assert reply.text == "I do not know this task."

    def test_worlds_have_identities_of_their_own(self):
        specs = [WorldSpec(key=0), WorldSpec(key=1), WorldSpec(key=0, noise_sd=2.0)]
        identities = {AssignmentWorldBackbone(spec).identity for spec in specs}
        assert len(identities) == 3
        assert all(identity.simulated for identity in identities)
        assert set(world_panel(specs[0])) == {Seat(None)}


def test_a_single_candidate_is_uniform_with_no_review(cfg):
    spec = WorldSpec(key=2)
    whole = world_roster()
    one = dataclasses.replace(
        whole, candidates=whole.candidates[2:3], evaluators=whole.candidates[2:3]
    )
    call = CallContext(run_seed=1, phase=Phase.EVAL, episode=None, item="case-0")
    found = asyncio.run(assign_roles(world_task(0), one, world_panel(spec), cfg(), call=call))
    assert found.chosen == (0, 0, 0)
    assert found.cost.calls == 0
    played = play(spec, 5)
    assert played.success(np.full((5, 3), 2)) == pytest.approx(played.uniform[2])
