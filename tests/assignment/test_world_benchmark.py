"""The assignment world as a benchmark, its roles as they are played, and its oracle."""

import asyncio
import dataclasses

import numpy as np
import pytest

from sero.assignment.config import RunAssignConfig
from sero.assignment.players import ORACLE, Oracle, as_played, make_assigner, roster_for_run
from sero.assignment.roster import Candidate
from sero.assignment.rules import AssignMode
from sero.assignment.world import AssignmentWorld, WorldSpec
from sero.assignment.world_backbone import AssignmentWorldBackbone, AssignmentWorldBackboneConfig
from sero.assignment.world_benchmark import (
    AssignmentWorldBenchmark,
    AssignmentWorldConfig,
    truth_of,
)
from sero.assignment.world_text import (
    CANDIDATES,
    entry_code,
    read_entries,
    world_cards,
    world_roster,
    world_task,
    write_entries,
)
from sero.backbones.base import ChatMessage, Request
from sero.errors import DataError, RosterError
from sero.inference.layout import Upstream, role_chat


def benchmark(world=3, **changes) -> AssignmentWorldBenchmark:
    values = {"name": "assignment_world", "world": world, "prompts": "package:assignment_world"}
    values |= {"n_train": 2, "n_heldout": 5, "strict_add": False}
    return AssignmentWorldBenchmark(AssignmentWorldConfig(**{**values, **changes}))


class TestBenchmark:
    def test_held_out_are_the_first_tasks_of_the_world(self):
        split = benchmark().load()
        assert [task.id for task in split.heldout] == [f"case-{n}" for n in range(5)]
        assert [task.id for task in split.train] == ["case-5", "case-6"]
        longer = benchmark(n_heldout=9).load()
        assert longer.heldout[:5] == split.heldout

    def test_the_prompts_of_two_worlds_are_the_same_and_their_data_are_not(self):
        here, there = benchmark(3).load(), benchmark(4).load()
        assert [t.prompt for t in here.heldout] == [t.prompt for t in there.heldout]
        assert here.fingerprint != there.fingerprint
        assert here.fingerprint == benchmark(3).load().fingerprint

    def test_the_score_is_the_mean_probability_of_who_played(self):
        world, task = benchmark(), benchmark().load().heldout[2]
        players = (3, 0, 3)
        spec = WorldSpec(key=3)
        entries = {i + 1: entry_code(spec, 2, i, j) for i, j in enumerate(players)}
        parsed = world.parse(task.prompt, "The ledger:\n" + write_entries(entries))
        skill = AssignmentWorld(spec).case(2).skill
        by_hand = (skill[0, 3] + skill[1, 0] + skill[2, 3]) / 3
        assert world.score(parsed, task).value == pytest.approx(by_hand, abs=1e-15)
        # an entry of another task is nobody's here
        entries[1] = entry_code(spec, 1, 0, 3)
        parsed = world.parse(task.prompt, write_entries(entries))
        without = (skill[1, 0] + skill[2, 3]) / 3
        assert world.score(parsed, task).value == pytest.approx(without, abs=1e-15)

    def test_a_missing_column_is_no_answer(self):
        world, task = benchmark(), benchmark().load().heldout[0]
        parsed = world.parse(task.prompt, write_entries({1: "0" * 12, 3: "1" * 12}))
        assert (parsed.answer, parsed.reason) == (None, "no entry for column 2")
        assert world.score(parsed, task).value == 0.0
        assert world.parse(task.prompt, "").reason == "no entry for column 1, 2, 3"

    def test_no_prompt_or_code_shows_who_is_good(self):
        texts = [task.prompt for task in benchmark().load().heldout]
        codes = list(benchmark().load().heldout[0].reference["success"])
        assert len(set(codes)) == 12
        assert not any(code in text for code in codes for text in texts)

    def test_it_has_no_items_from_outside(self):
        with pytest.raises(DataError, match="assignment_world is simulated"):
            benchmark().task_from_data({})


def said(spec, card, upstream=(), number=0) -> str:
    chat = role_chat(card, world_task(number), upstream, max_chars=None)
    request = Request(
        messages=chat.messages, temperature=0.0, max_tokens=50, sample_index=(0,), role=card.name
    )
    return asyncio.run(AssignmentWorldBackbone(spec).generate(request)).text


class TestPlayedRoles:
    def test_a_role_writes_its_own_entry_and_passes_the_others_on(self):
        spec = WorldSpec(key=3)
        players = [world_roster().candidates[j] for j in (2, 1, 1)]
        first, second, last = as_played(world_cards().cards, players)
        notes = [said(spec, first), said(spec, second)]
        assert read_entries(notes[0]) == {1: entry_code(spec, 0, 0, 2)}
        heard = [
            Upstream(card.name, card.capability_family, text)
            for card, text in zip((first, second), notes, strict=True)
        ]
        assert read_entries(said(spec, last, heard)) == {
            i + 1: entry_code(spec, 0, i, j) for i, j in enumerate((2, 1, 1))
        }

    def test_a_card_that_nobody_plays_knows_nothing(self):
        assert said(WorldSpec(key=3), world_cards().cards[0]) == "I do not know this task."

    def test_nor_does_a_role_that_the_world_does_not_have(self):
        (card,) = as_played(world_cards().cards[:1], world_roster().candidates[:1])
        other = dataclasses.replace(card, name="Bookkeeper")
        assert said(WorldSpec(key=3), other) == "I do not know this task."

    def test_the_models_name_says_which_reviewers_are_not_the_published_ones(self):
        values = {"name": "assignment_world", "world": 1, "severity_sd": 0.5, "noise_sd": 0.8}
        values["self_bonus"] = (1.0,) * 4

        def model(**changes) -> str:
            cfg = AssignmentWorldBackboneConfig(**{**values, **changes})
            return AssignmentWorldBackbone(cfg).identity.model

        assert model() == model(world=2) == "assignment-world"
        assert model(noise_sd=2.0) == "assignment-world-noise-2"
        assert model(self_bonus=(3.0, 1.0, 1.0, 1.0)) == "assignment-world-bonus-3-1-1-1"


@pytest.fixture
def run_cfg(cfg):
    def make(by, **changes) -> RunAssignConfig:
        values = dataclasses.asdict(cfg(**changes))
        return RunAssignConfig(**values, by=by, roster=CANDIDATES)

    return make


class TestOracle:
    def chosen(self, mode, call, run_cfg):
        cfg, world = run_cfg(ORACLE, mode=mode), benchmark()
        roster = roster_for_run(cfg, world.seed_pool(), (), truth_known=True)
        backbone = AssignmentWorldBackbone(WorldSpec(key=3))
        oracle = make_assigner(ORACLE, roster, cfg, backbone, {}, truth_of(world))
        assert isinstance(oracle, Oracle)
        assert oracle.planned(3).calls.high == 0
        names = [candidate.name for candidate in roster.candidates]
        found = []
        for task in world.load().heldout:
            played = asyncio.run(oracle.assign(task.prompt, world_cards().cards, call))
            assert played.record["rule"] == "oracle"
            found.append([names.index(who) for who in played.record["assignment"].values()])
        return np.array(found), np.stack(
            [AssignmentWorld(WorldSpec(key=3)).case(n).skill for n in range(5)]
        )

    def test_with_reuse_it_is_the_best_of_each_role(self, call, run_cfg):
        found, skill = self.chosen(AssignMode.ARGMAX, call, run_cfg)
        assert (found == skill.argmax(axis=2)).all()

    def test_without_it_is_the_largest_sum_over_distinct_candidates(self, call, run_cfg):
        found, skill = self.chosen(AssignMode.GREEDY, call, run_cfg)
        for players, task in zip(found, skill, strict=True):
            worth = [
                task[0, a] + task[1, b] + task[2, c]
                for a in range(4)
                for b in range(4)
                for c in range(4)
                if len({a, b, c}) == 3
            ]
            assert len(set(players)) == 3
            assert task[range(3), players].sum() == pytest.approx(max(worth))

    def test_a_stranger_is_worth_nothing(self):
        world = benchmark()
        people = (Candidate(name="x", prompt="Be good."), world_roster().candidates[0])
        found = world.success(world_task(0), world_cards().cards, people)
        assert found[:, 0].tolist() == [0.0, 0.0, 0.0]
        assert (found[:, 1] == AssignmentWorld(WorldSpec(key=3)).case(0).skill[:, 0]).all()
        assert not world.success("Hello.", world_cards().cards, people).any()

    @pytest.mark.parametrize(
        ("by", "known", "said"),
        [
            (
                "oracle",
                False,
                "assign.by: oracle needs to know what every candidate is worth, and only the "
                "simulated benchmark=assignment_world does",
            ),
            ("oracel", True, "did you mean 'oracle'"),
            ("clerk-5", False, "there are meta_debate, random, clerk-1"),
        ],
    )
    def test_where_it_is_not_offered_the_message_says_so(self, run_cfg, by, known, said):
        with pytest.raises(RosterError) as caught:
            roster_for_run(run_cfg(by), benchmark().seed_pool(), (), truth_known=known)
        assert said in str(caught.value)

    def test_no_other_benchmark_knows_a_truth(self):
        class Other:
            pass

        assert truth_of(Other()) is None


async def test_a_request_without_a_system_message_is_answered():
    request = Request(
        messages=(ChatMessage("user", world_task(0)),),
        temperature=0.0,
        max_tokens=10,
        sample_index=(0,),
    )
    reply = await AssignmentWorldBackbone(WorldSpec(key=0)).generate(request)
    assert reply.text == "I do not know this task."
