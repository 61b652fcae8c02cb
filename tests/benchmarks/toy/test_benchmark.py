"""The toy benchmark as a whole: items, split, prompts, verdicts."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sero.benchmarks.toy import sentences
from sero.benchmarks.toy.capitals import facts
from sero.errors import DataError
from sero.evolution.contracts import Terms, static_contracts
from sero.roles.card import RoleType

GOOD = {"capitals": "Answer: {}", "sentiment": "Answer: {}", "arithmetic": "1 + 1 = 3\nAnswer: {}"}


def verdict(toy, task, response):
    return toy.score(toy.parse(task.prompt, response), task)


def test_items_are_made_and_the_name_stays_plain(toy):
    split = toy.load()
    assert toy.name == "toy"
    assert Counter(t.group for t in split.train) == dict.fromkeys(GOOD, 10)
    assert Counter(t.group for t in split.heldout) == dict.fromkeys(GOOD, 110)
    tones = Counter(t.subgroup for t in (*split.train, *split.heldout) if t.group == "sentiment")
    assert tones == {"positive": 60, "negative": 60}
    assert split.remarks == ()


def test_the_same_seed_makes_the_same_items_and_another_others(make_toy):
    first, again, other = (make_toy(seed=s).load() for s in (0, 0, 1))
    assert first == again
    assert first.fingerprint != other.fingerprint
    assert {t.id for t in first.heldout} != {t.id for t in other.heldout}


def test_a_kind_that_runs_out_leaves_its_share_to_the_others(make_toy):
    made = Counter(item["kind"] for item in make_toy().generate(600, seed=0, difficulty=1))
    assert made == {"capitals": len(facts()), "sentiment": 132, "arithmetic": 600 - 132 - 149}
    with pytest.raises(DataError, match=r"generated\.n: got 100000; at difficulty 1 there are"):
        make_toy(n=100_000).load()


@pytest.mark.parametrize("difficulty", [1, 5])
def test_gold_scores_one_and_every_other_gold_of_the_kind_zero(make_toy, difficulty):
    split = make_toy(difficulty=difficulty).load()
    toy = make_toy()
    for group, form in GOOD.items():
        tasks = [t for t in split.heldout if t.group == group]
        for task in tasks:
            score = verdict(toy, task, form.format(task.reference["answer"]))
            assert (score.value, score.reason) == (1.0, "")
        for other in tasks[1:40]:
            gold = tasks[0].reference["answer"]
            if other.reference["answer"] != gold:
                score = verdict(toy, tasks[0], form.format(other.reference["answer"]))
                assert score.value == 0.0
                assert gold in score.reason


def test_repeating_the_question_never_answers_it(toy):
    split = toy.load()
    for task in (*split.train, *split.heldout):
        for echo in (task.prompt, task.prompt.partition("\n")[0]):
            score = verdict(toy, task, echo)
            # only a review that calls itself by its class could, and none does
            assert score.value == 0.0, task.id
        for line in task.prompt.partition("\n")[0].split(". "):
            assert verdict(toy, task, f"Answer: {line}").value == 0.0, task.id


def test_prompts_hold_no_gold_but_the_two_words(toy):
    for task in toy.load().heldout:
        if task.group == "sentiment":
            assert task.reference["answer"] not in task.id
        else:
            assert task.reference["answer"] not in task.prompt.replace("Answer", "")


def test_reviews_are_different_clear_and_do_not_name_their_class():
    every = (*sentences.POSITIVE, *sentences.NEGATIVE)
    assert len(set(every)) == len(every) >= 120
    assert len(sentences.POSITIVE) == len(sentences.NEGATIVE)
    for text in every:
        assert "positive" not in text.lower()
        assert "negative" not in text.lower()
        assert len(text.split()) <= 14


def test_no_example_in_a_prompt_is_an_item(make_toy):
    texts = "\n".join(make_toy().known_texts())
    assert "Answer: Paris" in texts
    for item in make_toy().generate(880, seed=0, difficulty=1):
        assert item["question"].removeprefix("Review: ") not in texts
        if item["kind"] == "capitals":
            assert item["answer"] not in texts


def test_the_seed_pool_is_small_and_keeps_its_contracts(toy):
    pool = toy.seed_pool()
    assert 4 <= len(pool) <= 6
    assert len(pool.of_type(RoleType.VALIDATOR)) == 1
    assert pool.terminal is not None
    assert pool.terminal.protected
    terms = Terms(
        seed_families=pool.families, min_validators=1, output_protocol=toy.output_protocol
    )
    assert all(contract.holds for contract in static_contracts(pool, terms))
    for card in pool:
        assert len(card.prompt_text) + len(card.communication_protocol) < 700, card.name


def test_a_verdict_needs_only_kind_and_answer(toy):
    task = toy.task_from_data({"kind": "capitals", "answer": "Kiev"}, "line 1")
    assert task.id == "line 1"
    assert verdict(toy, task, "Answer: Kyiv").value == 1.0
    assert verdict(toy, task, "<think>Answer: Kyiv</think>Answer: Lviv").value == 0.0
    assert verdict(toy, task, "<think>Answer: Kyiv").reason == "the think block never closes"


@pytest.mark.parametrize(
    ("raw", "faults"),
    [
        ({}, ["kind: got None", "answer: got None"]),
        ({"kind": ["capitals"], "answer": "Oslo"}, ["kind: got ['capitals']; one of "]),
        ({"kind": "capital", "answer": "Oslo"}, ["kind: got 'capital'; one of capitals, "]),
        ({"kind": "arithmetic", "answer": 7}, ["answer: got 7; a text is wanted"]),
        ({"kind": "sentiment", "answer": "good"}, ["answer: 'good' cannot be the answer"]),
    ],
)
def test_every_fault_of_an_item_is_told(toy, raw, faults):
    with pytest.raises(DataError) as error:
        toy.task_from_data(raw, "line 3")
    assert len(error.value.faults) == len(faults)
    for found, expected in zip(error.value.faults, faults, strict=True):
        assert found.startswith(expected)


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=60))
def test_any_text_gets_a_verdict(toy, text):
    for kind, gold in (("capitals", "Oslo"), ("sentiment", "positive"), ("arithmetic", "7")):
        task = toy.task_from_data({"kind": kind, "answer": gold})
        score = verdict(toy, task, text)
        assert score.value in (0.0, 1.0)
        assert score.value == 1.0 or score.reason
