"""LLM debate and DMAD: who hears whom, how it is voted on, what it costs."""

from collections import Counter
from dataclasses import replace

import pytest

from sero.backbones.base import CallContext, Phase, request_key
from sero.backbones.scripted import ScriptedBackbone
from sero.benchmarks.base import Parsed
from sero.benchmarks.olympiadbench.answer_text import canonical
from sero.credit import PoolState
from sero.evolution.sections import SchemaConfig
from sero.inference.span import exactly
from sero.methods.debate import (
    Debate,
    DebateConfig,
    DiverseDebate,
    DiverseDebateConfig,
    converged,
)
from sero.methods.prompting import SelfConsistency, SelfConsistencyConfig, majority

SYSTEM = "You add numbers.\n\nThink, then write the total.\n"
CALL = CallContext(run_seed=7, phase=Phase.EVAL, episode=None, item="sum-0")
TASK = "What is 2 plus 3?"
APPROACHES = ("chain-of-thought", "step-back", "program-of-thought")


@pytest.fixture
def prompt_file(tmp_path):
    path = tmp_path / "single_agent.yaml"
    path.write_text("system: |\n  You add numbers.\n\n  Think, then write the total.\n")
    return str(path)


@pytest.fixture
def built(toy, make_lab):
    def build(method, cfg, backbone):
        lab = make_lab(backbone, schema=SchemaConfig(max_prompt_chars=4000))
        return method(cfg, lab=lab, state=PoolState(method.start(cfg, toy.Benchmark()).pool))

    return build


@pytest.fixture
def debate(built, prompt_file):
    def build(backbone, *, agents=3, rounds=2):
        cfg = DebateConfig(
            name="debate",
            prompt=prompt_file,
            debate="package:shared/debate.yaml",
            temperature=0.7,
            agents=agents,
            rounds=rounds,
        )
        return built(Debate, cfg, backbone)

    return build


@pytest.fixture
def dmad(built, prompt_file):
    def build(backbone, *, rounds=2):
        cfg = DiverseDebateConfig(
            name="dmad",
            prompt=prompt_file,
            debate="package:shared/dmad.yaml",
            temperature=0.0,
            rounds=rounds,
        )
        return built(DiverseDebate, cfg, backbone)

    return build


def round_of(request):
    """1, or 2 for every later one, by what the prompt shows."""
    return 2 if "### Your previous message" in request.messages[-1].content else 1


def speaking():
    return ScriptedBackbone(lambda request: f"<{request.role}, round {round_of(request)}>")


def shown(request):
    return request.messages[-1].content.count("### Message from") + (round_of(request) > 1)


# ---- LLM debate ---------------------------------------------------------------------------------


def test_first_answers_are_the_samples_of_self_consistency(toy, built, debate, prompt_file):
    sc, talk = speaking(), speaking()
    cfg = SelfConsistencyConfig(name="sc", prompt=prompt_file, temperature=0.7, samples=3)
    toy.run(built(SelfConsistency, cfg, sc).answer(TASK, CALL))
    toy.run(debate(talk).answer(TASK, CALL))
    first = talk.requests[:3]
    assert [request_key(talk.identity, r) for r in first] == [
        request_key(sc.identity, r) for r in sc.requests
    ]
    assert [[(m.role, m.content) for m in r.messages] for r in first] == [
        [("system", SYSTEM), ("user", TASK)]
    ] * 3
    assert [r.sample_index for r in talk.requests] == [(7, 0), (7, 1), (7, 2)] * 2
    assert [r.role for r in talk.requests] == ["agent-1", "agent-2", "agent-3"] * 2


def test_from_the_second_round_on_an_agent_sees_the_others_last_answers(toy, debate):
    backbone = ScriptedBackbone(lambda request: f"<{request.role}, {len(backbone.requests)}>")
    toy.run(debate(backbone, rounds=3).answer(TASK, CALL))
    for number, k in [(n, k) for n in (2, 3) for k in (1, 2, 3)]:
        request = backbone.requests[3 * (number - 1) + k - 1]
        others = [i for i in (1, 2, 3) if i != k]
        last = 3 * (number - 2)  # requests before the round of which the messages are
        assert request.messages[0].content == SYSTEM
        assert request.messages[-1].content.startswith(
            TASK
            + "".join(
                f"\n\n### Message from agent-{i} (single-agent)\n<agent-{i}, {last + i}>"
                for i in others
            )
            + f"\n\n### Your previous message\n<agent-{k}, {last + k}>\n\n### Your job now\n"
        )


@pytest.mark.parametrize(
    ("last", "answer", "agreement"),
    [
        (("ANSWER: 5", "ANSWER: 6", "ANSWER: 6"), "ANSWER: 6", 2 / 3),
        (("hm", "ANSWER: 6", "well"), "ANSWER: 6", 1 / 3),  # what cannot be read does not vote
        (("hm", "ANSWER: 6", "ANSWER: 5"), "ANSWER: 6", 1 / 3),  # a tie goes to the earlier agent
        (("ANSWER: 4", "ANSWER: 5", "ANSWER: 6"), "ANSWER: 4", 1 / 3),
        (("so ANSWER: 6", "ANSWER: 6", "ANSWER: 6"), "so ANSWER: 6", 1.0),
        (("", "", "ANSWER: 6"), "ANSWER: 6", 1 / 3),
        (("hm", "", "well"), "hm", 0.0),  # nothing to read: the first agent's words
        (("", "", ""), "", 0.0),
    ],
)
def test_the_last_round_votes(toy, debate, last, answer, agreement):
    def reply(request):
        return last[request.sample_index[-1]] if round_of(request) == 2 else "ANSWER: 9"

    rollout = toy.run(debate(ScriptedBackbone(reply)).answer(TASK, CALL))
    assert rollout.answer == answer
    assert rollout.metrics == {"agreement": pytest.approx(agreement)}
    assert [m.round for m in rollout.messages] == [1, 1, 1, 2, 2, 2]
    assert {m.kind for m in rollout.messages} == {"message"}


def test_one_round_is_self_consistency(toy, debate):
    backbone = ScriptedBackbone(
        lambda r: ("ANSWER: 1", "ANSWER: 2", "ANSWER: 2")[r.sample_index[1]]
    )
    rollout = toy.run(debate(backbone, rounds=1).answer(TASK, CALL))
    assert (rollout.answer, rollout.cost.calls) == ("ANSWER: 2", 3)


@pytest.mark.parametrize(("agents", "rounds"), [(2, 1), (3, 2), (4, 3)])
def test_calls_are_the_planned_ones(toy, debate, agents, rounds):
    backbone = speaking()
    method = debate(backbone, agents=agents, rounds=rounds)
    rollout = toy.run(method.answer(TASK, CALL))
    planned = method.planned_calls(30, 5)
    assert rollout.cost.calls == len(backbone.requests) == agents * rounds
    assert planned.by_phase == {Phase.EVAL: exactly(5 * agents * rounds)}
    keys = {request_key(backbone.identity, r) for r in backbone.requests}
    assert planned.distinct_per_task == len(keys) == agents * rounds
    assert planned.shown_per_call == sum(map(shown, backbone.requests)) / rollout.cost.calls


def test_agents_are_named_cards_with_one_prompt(toy, prompt_file):
    cfg = DebateConfig(
        name="debate",
        prompt=prompt_file,
        debate="package:shared/debate.yaml",
        temperature=0.7,
        agents=4,
        rounds=2,
    )
    start = Debate.start(cfg, toy.Benchmark())
    assert start.pool.names == ("agent-1", "agent-2", "agent-3", "agent-4")
    assert {card.prompt_text for card in start.pool} == {SYSTEM}
    assert {card.communication_protocol for card in start.pool} == {toy.FORMAT}
    assert list(start.more) == ["revise"]


# ---- DMAD ---------------------------------------------------------------------------------------


def test_approaches_present_alone_and_then_criticise_each_other(toy, dmad):
    backbone = speaking()
    rollout = toy.run(dmad(backbone).answer(TASK, CALL))
    first, second, (last,) = (backbone.requests[i:j] for i, j in ((0, 3), (3, 6), (6, 7)))
    assert [r.role for r in first] == [r.role for r in second] == list(APPROACHES)
    assert [r.messages[-1].content for r in first] == [TASK] * 3
    for request in second:
        others = [name for name in APPROACHES if name != request.role]
        assert request.messages[-1].content.startswith(
            TASK
            + "".join(f"\n\n### Message from {n} ({n})\n<{n}, round 1>" for n in others)
            + f"\n\n### Your previous message\n<{request.role}, round 1>\n\n### Your job now\n"
        )
    assert last.role == "synthesiser"
    assert last.messages[-1].content == TASK + "".join(
        f"\n\n### Message from {n} ({n})\n<{n}, round 2>" for n in APPROACHES
    )
    assert last.messages[0].content.endswith(f"Format of your reply:\n{toy.FORMAT}")
    assert rollout.team == (*APPROACHES, "synthesiser")
    assert Counter(m.kind for m in rollout.messages) == {"message": 6, "aggregate": 1}
    assert {r.temperature for r in backbone.requests} == {0.0}


def test_each_approach_has_the_benchmarks_prompt_and_a_method_of_its_own(dmad):
    pool = dmad(speaking()).state.pool
    prompts = [pool[name].prompt_text for name in APPROACHES]
    assert all(text.startswith(SYSTEM.strip() + "\n\nYour method is ") for text in prompts)
    assert len(set(prompts)) == 3
    assert SYSTEM.strip() not in pool["synthesiser"].prompt_text


@pytest.mark.parametrize(
    ("last", "given", "answer", "confidence"),
    [
        (("ANSWER: 5", "ANSWER: 5", "ANSWER: 5"), "ANSWER: 5", "ANSWER: 5", 1.0),
        (("ANSWER: 5", "ANSWER: 6", "ANSWER: 5"), "ANSWER: 5", "ANSWER: 5", 2 / 3),
        (("ANSWER: 5", "ANSWER: 6", "ANSWER: 5"), "ANSWER: 6", "ANSWER: 6", 1 / 3),
        (("ANSWER: 5", "ANSWER: 5", "ANSWER: 5"), "ANSWER: 9", "ANSWER: 9", 0.0),  # nobody's
        (("ANSWER: 5", "", "hm"), "ANSWER: 5", "ANSWER: 5", 1 / 3),
        (("hm", "well", "so"), "no idea", "no idea", 0.0),  # unread is no agreement
        (("ANSWER: 5", "ANSWER: 6", ""), " \n", "ANSWER: 6", 1 / 3),  # the last that said something
        (("", "", ""), "", "", 0.0),
    ],
)
def test_confidence_is_the_share_that_converged_on_the_answer(
    toy, dmad, last, given, answer, confidence
):
    def reply(request):
        if request.role == "synthesiser":
            return given
        return last[APPROACHES.index(request.role)] if round_of(request) == 2 else "ANSWER: 1"

    rollout = toy.run(dmad(ScriptedBackbone(reply)).answer(TASK, CALL))
    assert rollout.answer == answer
    assert rollout.metrics == {"confidence": pytest.approx(confidence)}


def test_equal_answers_count_as_one_where_a_vote_counts_them_as_one(make_lab):
    def parse(prompt, text):
        return Parsed(answer=canonical(text), text=text)

    lab = make_lab()
    lab = replace(lab, parts=replace(lab.parts, parse=parse))
    last = ["0.625", r"\dfrac58", "5/8", "0.6250"]
    # the parser spells fractions alike, and decimals alike, and does no arithmetic
    assert converged(TASK, last, r"\frac{5}{8}", lab) == converged(TASK, last, ".625", lab) == 0.5
    assert majority([parse(TASK, text) for text in last[:3]]) == 1


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_calls_of_dmad_are_the_planned_ones(toy, dmad, rounds):
    backbone = speaking()
    method = dmad(backbone, rounds=rounds)
    rollout = toy.run(method.answer(TASK, CALL))
    planned = method.planned_calls(30, 5)
    assert rollout.cost.calls == len(backbone.requests) == 3 * rounds + 1
    assert planned.by_phase == {Phase.EVAL: exactly(5 * (3 * rounds + 1))}
    assert planned.shown_per_call == sum(map(shown, backbone.requests)) / rollout.cost.calls


def test_a_program_is_a_text_like_any_other(toy, dmad, tmp_path):
    mark = tmp_path / "ran"
    program = f"import pathlib\npathlib.Path({str(mark)!r}).touch()\nANSWER: 5"
    backbone = ScriptedBackbone(lambda r: program if "program" in r.role else "ANSWER: 5")
    toy.run(dmad(backbone).answer(TASK, CALL))
    assert program in backbone.requests[-1].messages[-1].content
    assert not mark.exists()
