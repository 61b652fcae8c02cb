"""MAD: two sides, and a judge that stops them or not."""

from collections import Counter

import pytest
import yaml

from sero.backbones.base import CallContext, Phase, request_key
from sero.backbones.scripted import ScriptedBackbone
from sero.credit import PoolState
from sero.errors import CardError
from sero.evolution.sections import SchemaConfig
from sero.inference.span import Span
from sero.methods.judged_debate import JudgedDebate, JudgedDebateConfig

CALL = CallContext(run_seed=7, phase=Phase.EVAL, episode=None, item="sum-0")
TASK = "What is 2 plus 3?"
SIDES = {"affirmative": "affirmative-side", "negative": "negative-side"}
GO_ON = "VERDICT: continue\nThe carry is open."


@pytest.fixture
def cfg(tmp_path):
    path = tmp_path / "single_agent.yaml"
    path.write_text("system: You add numbers.\n")

    def make(rounds, *, debate="package:shared/mad.yaml", judge_each_round=True):
        return JudgedDebateConfig(
            name="mad",
            prompt=str(path),
            debate=str(debate),
            temperature=0.0,
            rounds=rounds,
            judge_each_round=judge_each_round,
        )

    return make


@pytest.fixture
def mad(toy, make_lab, cfg):
    def build(backbone, *, rounds=3, max_prompt_chars=4000, **changes):
        lab = make_lab(backbone, schema=SchemaConfig(max_prompt_chars=max_prompt_chars))
        start = JudgedDebate.start(cfg(rounds, **changes), toy.Benchmark())
        return JudgedDebate(cfg(rounds, **changes), lab=lab, state=PoolState(start.pool))

    return build


def judging(request):
    return "### Your job now\nDecide" in request.messages[-1].content


def court(*rulings, extracted="ANSWER: 8", side=None):
    """Sides that say their number of turn, a judge that rules so round by round, then extracts."""
    turns = Counter()

    def reply(request):
        turns[request.role, judging(request)] += 1
        number = turns[request.role, judging(request)]
        if request.role in SIDES:
            return f"<{request.role} {number}>" if side is None else side
        return rulings[number - 1] if judging(request) else extracted

    return ScriptedBackbone(reply)


@pytest.mark.parametrize(
    ("rulings", "answer", "calls"),
    [
        (["VERDICT: stop\nANSWER: 5"], "ANSWER: 5", 3),  # early
        ([GO_ON, "VERDICT: stop\nANSWER: 5"], "ANSWER: 5", 6),
        ([GO_ON, GO_ON, "VERDICT: stop\nANSWER: 5"], "ANSWER: 5", 9),  # in the last round
        ([GO_ON, GO_ON, GO_ON], "ANSWER: 8", 10),  # the limit: extracted
        (["VERDICT: stop", GO_ON, GO_ON], "ANSWER: 8", 10),  # no answer, no stop
        (["VERDICT: stop\nwell, five", "VERDICT: stop\nANSWER: 5"], "ANSWER: 5", 6),  # not readable
        (["", "hm", "ANSWER: 5"], "ANSWER: 8", 10),  # no verdict at all
        (["ANSWER: 5\nVERDICT: stop", "VERDICT: done\nANSWER: 5", "stop"], "ANSWER: 8", 10),
        (["VERDICT: continue\nANSWER: 5", GO_ON, GO_ON], "ANSWER: 8", 10),
        (['{"verdict": "stop", "answer": "ANSWER: 5"}', GO_ON, GO_ON], "ANSWER: 8", 10),
        (["`VERDICT: stop` or `VERDICT: continue`", GO_ON, GO_ON], "ANSWER: 8", 10),  # an echo
        (["**verdict: Stop**\n\n**ANSWER: 5**\n"], "**ANSWER: 5**", 3),
        (["VERDICT: stop ANSWER: 5"], "ANSWER: 5", 3),  # on one line
    ],
)
def test_the_judge_stops_with_an_answer_or_the_limit_does(toy, mad, rulings, answer, calls):
    backbone = court(*rulings)
    rollout = toy.run(mad(backbone).answer(TASK, CALL))
    assert rollout.answer == answer
    assert rollout.cost.calls == len(backbone.requests) == calls
    kinds = Counter(m.kind for m in rollout.messages)
    assert kinds == Counter(
        message=2 * (calls // 3), judge=calls // 3, **({"aggregate": 1} if calls == 10 else {})
    )
    assert [m.round for m in rollout.messages] == [min(3, 1 + i // 3) for i in range(calls)]


def test_each_has_read_the_debate_so_far_and_no_ruling(toy, mad):
    backbone = court(GO_ON, GO_ON)
    rollout = toy.run(mad(backbone, rounds=2).answer(TASK, CALL))
    assert [r.role for r in backbone.requests] == ["affirmative", "negative", "judge"] * 2 + [
        "judge"
    ]
    said = [
        f"\n\n### Message from {name}, round {number} ({SIDES[name]})\n<{name} {number}>"
        for number in (1, 2)
        for name in SIDES
    ]
    users = [r.messages[-1].content.partition("\n\n### Your job now\n") for r in backbone.requests]
    assert [before for before, _, _ in users] == [
        TASK + "".join(said[:n]) for n in (0, 1, 2, 2, 3, 4, 4)
    ]
    jobs = [job for _, _, job in users]
    assert [bool(job) for job in jobs] == [False, False, True, True, True, True, False]
    assert jobs[2] == jobs[5] != jobs[3] == jobs[4]
    assert rollout.team == ("affirmative", "negative", "judge")
    assert rollout.order == ("affirmative", "negative")


def test_both_sides_read_the_benchmarks_prompt_and_the_judge_owns_its_format(toy, mad):
    pool = mad(court()).state.pool
    for side in SIDES:
        assert pool[side].prompt_text.startswith("You add numbers.\n\nYou take part in a debate")
    assert "You add numbers." not in pool["judge"].prompt_text
    assert pool.terminal.name == "judge"
    assert pool["judge"].communication_protocol == toy.FORMAT


def test_what_a_side_says_decides_nothing(toy, mad):
    backbone = court(GO_ON, GO_ON, GO_ON, side="VERDICT: stop\nANSWER: 1")
    rollout = toy.run(mad(backbone).answer(TASK, CALL))
    assert (rollout.answer, rollout.cost.calls) == ("ANSWER: 8", 10)


@pytest.mark.parametrize(
    ("side", "extracted", "answer"),
    [
        (None, " \n", "<negative 1>"),  # nothing extracted: the last message that says something
        ("", "", ""),
        ("", "ANSWER: 8", "ANSWER: 8"),
        (None, "I cannot tell.", "I cannot tell."),  # an unreadable answer is one, and scores 0
    ],
)
def test_empty_messages(toy, mad, side, extracted, answer):
    backbone = court(GO_ON, side=side, extracted=extracted)
    rollout = toy.run(mad(backbone, rounds=1).answer(TASK, CALL))
    assert (rollout.answer, rollout.cost.calls) == (answer, 4)


@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_calls_lie_between_the_planned_ones(toy, mad, rounds):
    for stops_in in range(1, rounds + 2):
        backbone = court(*[GO_ON] * (stops_in - 1), "VERDICT: stop\nANSWER: 5")
        method = mad(backbone, rounds=rounds)
        rollout = toy.run(method.answer(TASK, CALL))
        planned = method.planned_calls(30, 4)
        assert planned.by_phase == {Phase.EVAL: Span(12, 4 * (3 * rounds + 1))}
        calls = rollout.cost.calls
        assert calls == (3 * stops_in if stops_in <= rounds else 3 * rounds + 1)
        assert len({request_key(backbone.identity, r) for r in backbone.requests}) == calls
        shown = sum(r.messages[-1].content.count("### Message") for r in backbone.requests) / calls
        assert shown <= planned.shown_per_call
        assert planned.distinct_per_task <= calls
    assert shown == planned.shown_per_call  # the longest debate reaches the bound


def test_texts_are_part_of_what_a_run_starts_from(toy, cfg):
    start = JudgedDebate.start(cfg(2), toy.Benchmark())
    assert list(start.more) == ["reply", "verdict"]


def test_cards_beyond_the_limit_are_refused(mad):
    with pytest.raises(CardError, match=r"schema\.max_prompt_chars"):
        mad(court(), max_prompt_chars=40)


def sides_file(tmp_path, *names, **turns):
    """A debate's file with sides of these names and a judge called chair."""
    card = {"capability_family": "f", "communication_protocol": "p", "system_prompt": ["Argue."]}
    sides = [{"name": name, "role_type": "specialist", **card} for name in names]
    chair = {"name": "chair", "role_type": "aggregator", "protected": True, **card}
    path = tmp_path / "debate.yaml"
    path.write_text(yaml.safe_dump({"turns": turns, "roles": [*sides, chair]}))
    return path


@pytest.mark.parametrize("rounds", [1, 2, 4])
@pytest.mark.parametrize("names", [("advocate", "critic"), ("a", "b", "c")])
def test_a_judge_may_speak_once_after_the_last_round(toy, mad, tmp_path, names, rounds):
    """Sides and judge are those of the file; nothing a judge would have said can end a round."""
    backbone = ScriptedBackbone(lambda request: "VERDICT: stop\nANSWER: 5")
    path = sides_file(tmp_path, *names, reply="Reply.")
    method = mad(backbone, rounds=rounds, debate=path, judge_each_round=False)
    rollout = toy.run(method.answer(TASK, CALL))
    assert [(m.role, m.round, m.kind) for m in rollout.messages] == [
        *((name, number, "message") for number in range(1, rounds + 1) for name in names),
        ("chair", rounds + 1, "aggregate"),
    ]
    calls = len(names) * rounds + 1
    planned = method.planned_calls(30, 4)
    assert planned.by_phase == {Phase.EVAL: Span(4 * calls, 4 * calls)}
    assert planned.distinct_per_task == calls == rollout.cost.calls
    users = [request.messages[-1].content for request in backbone.requests]
    assert [user.count("### Message from ") for user in users] == [*range(calls)]
    assert planned.shown_per_call == sum(range(calls)) / calls
    replies = len(names) * (rounds - 1)
    assert [user.endswith("Reply.") for user in users] == [
        *([False] * len(names)),
        *([True] * replies),
        False,
    ]


def test_three_sides_before_a_judge_of_each_round_are_planned_for(toy, mad, tmp_path):
    path = sides_file(tmp_path, "a", "b", "c", reply="Reply.", verdict="Decide.")
    backbone = ScriptedBackbone(lambda request: GO_ON)
    method = mad(backbone, rounds=2, debate=path)
    rollout = toy.run(method.answer(TASK, CALL))
    planned = method.planned_calls(30, 4)
    assert planned.by_phase == {Phase.EVAL: Span(4 * 4, 4 * 9)}
    assert rollout.cost.calls == 9
    shown = sum(r.messages[-1].content.count("### Message from ") for r in backbone.requests)
    # sides 0 + 1 + ... + 5, judge 3 + 6, extraction 6
    assert shown == 15 + 9 + 6 == planned.shown_per_call * 9


@pytest.mark.parametrize(
    ("judge_each_round", "turns", "fault"),
    [
        (False, {"reply": "a", "verdict": "b"}, r"turns\.verdict: unknown turn"),
        (True, {"reply": "a"}, r"turns\.verdict: missing"),
    ],
)
def test_a_ruling_is_worded_where_there_is_one(mad, tmp_path, judge_each_round, turns, fault):
    path = sides_file(tmp_path, "a", "b", **turns)
    with pytest.raises(CardError, match=fault):
        mad(court(), debate=path, judge_each_round=judge_each_round)
