import json
import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sero.benchmarks import prompt_files
from sero.benchmarks.tablebench.subtypes import FORMS, SUBTYPES, Metric, published_counts
from sero.encoders import HashingConfig, HashingEncoder
from sero.errors import CardError, DataError
from sero.roles.card import RoleType

SCORERS = ("careful", "official")
GOLDS = {
    "Aggregation": "10.6",
    "Ranking": "Nelt, Ovar",
    "ImpactAnalysis": "No clear impact",
    "StatisticalAnalysis": "3.5, 12.2",
    "CorrelationAnalysis": "Weak positive correlation, 0.40",
    "CausalAnalysis": "Yes, a higher fare goes with fewer cups (-0.81).",
}


def value(benchmark, task, response):
    return benchmark.score(benchmark.parse(task.prompt, response), task).value


def answered(gold):
    return f"Let me look at the table.\nFinal Answer: {gold}"


# Items and split


def test_a_task_is_called_after_id_and_subtype(tablebench, make_item):
    task = tablebench().task_from_data(make_item("Counting", 5))
    assert task.id == "coun0005/Counting"
    assert (task.group, task.subgroup) == ("NumericalReasoning", "Counting")
    assert task.reference == {"answer": "1209"}
    assert '["Nelt", "1990", "1,204"]' in task.prompt
    assert "1209" not in task.prompt


def test_a_verdict_needs_no_table_and_no_question(tablebench):
    raw = {"id": None, "qtype": "FactChecking", "qsubtype": "MatchBased", "answer": "Yes"}
    task = tablebench().task_from_data(raw, "line 4")
    assert task.id == "line 4/MatchBased"
    assert "Question: \n" in task.prompt
    assert value(tablebench(), task, "Final Answer: yes") == 1.0


def test_the_published_split(tablebench, full_set, write_lines, tmp_path):
    source = str(write_lines(tmp_path / "tablebench.jsonl", full_set))
    benchmark = tablebench(source=source, allow_counts=False, n_heldout=796)
    split = benchmark.load()
    assert (len(split.train), len(split.heldout)) == (40, 796)
    assert split.remarks == ("50 item(s) left out: they ask for a chart",)
    per_subtype = Counter(task.subgroup for task in split.train)
    # 40 = 17 * 2 + 6: the six left over go to the first (family, subtype) by name
    assert set(per_subtype) == set(SUBTYPES)
    assert sorted(per_subtype.values()) == [2] * 11 + [3] * 6
    assert {name for name, n in per_subtype.items() if n == 3} == {
        "AnomalyDetection",
        "CausalAnalysis",
        "CorrelationAnalysis",
        "DescriptiveAnalysis",
        "ImpactAnalysis",
        "StatisticalAnalysis",
    }
    everything = Counter(task.group for task in (*split.train, *split.heldout))
    assert everything == published_counts()
    assert not {task.id for task in split.train} & {task.id for task in split.heldout}


def test_the_pair_that_shares_an_id_survives_and_is_held_out(
    tablebench, full_set, write_lines, tmp_path
):
    assert Counter(row["id"] for row in full_set)["shared"] == 2
    source = str(write_lines(tmp_path / "tablebench.jsonl", full_set))
    split = tablebench(source=source, n_heldout=796).load()
    pair = [task for task in split.heldout if task.id.startswith("shared/")]
    assert sorted(task.id for task in pair) == [
        "shared/Aggregation",
        "shared/ArithmeticCalculation",
    ]
    assert pair[0].prompt == pair[1].prompt


def test_another_size_is_refused_unless_allowed(tablebench, full_set, write_lines, tmp_path):
    source = str(write_lines(tmp_path / "tablebench.jsonl", full_set[3:]))
    with pytest.raises(DataError, match="FactChecking: 93 items found, 96 expected"):
        tablebench(source=source, allow_counts=False, n_heldout=796).load()
    assert len(tablebench(source=source, n_heldout=796).load().heldout) == 793


def test_the_split_does_not_hang_on_the_layout(tablebench, full_set, write_lines, tmp_path):
    chosen = full_set[::9]
    plain = tablebench(source=str(write_lines(tmp_path / "a.jsonl", chosen)), n_train=17).load()
    older = [{**row, "table": json.dumps(row["table"]), "chart_type": None} for row in chosen]
    variants = [{**row, "instruction_type": kind} for row in older for kind in ("DP", "PoT")]
    path = write_lines(tmp_path / "b.jsonl", variants[::-1])
    assert tablebench(source=str(path), n_train=17).load() == plain


def test_an_item_without_a_question_cannot_be_asked(tablebench, make_item, write_lines, tmp_path):
    rows = [make_item("Counting", i) for i in range(4)]
    rows[1] = {**rows[1], "question": "", "table": None}
    rows[2] = {**rows[2], "qsubtype": "Count"}
    source = str(write_lines(tmp_path / "tablebench.jsonl", rows))
    with pytest.raises(DataError) as error:
        tablebench(source=source, n_train=1).load()
    assert list(error.value.faults) == [
        "line 2: question: missing",
        "line 2: table: missing",
        "line 3: qsubtype: got 'Count'; did you mean 'Counting'?",
    ]


def test_a_second_item_with_id_and_subtype_is_a_fault(tablebench, make_item, write_lines, tmp_path):
    rows = [make_item("Counting", i) for i in (1, 2, 1)]
    source = str(write_lines(tmp_path / "tablebench.jsonl", rows))
    with pytest.raises(DataError, match="a second item with the id 'coun0001/Counting'"):
        tablebench(source=source, n_train=1).load()


def test_kept_fields(tablebench, make_item):
    raw = make_item(
        "Counting", 1, instruction="secret", table=json.dumps({"columns": ["a"], "data": [[1]]})
    )
    assert tablebench().kept(raw) == {
        "id": "coun0001",
        "qtype": "NumericalReasoning",
        "qsubtype": "Counting",
        "question": "Counting, case 1: how many cups were sold?",
        "answer": "1205",
        "table": {"columns": ("a",), "data": (("1",),)},
    }


def test_generated_items_load_and_their_gold_is_right(tablebench):
    split = tablebench(source="generated", n_train=17).load()
    assert tablebench(source="generated").name == "tablebench-generated"
    tasks = (*split.train, *split.heldout)
    assert len(tasks) == 68
    assert {task.subgroup for task in tasks} == set(SUBTYPES)
    for scorer in SCORERS:
        benchmark = tablebench(scorer=scorer)
        for task in tasks:
            assert value(benchmark, task, answered(task.reference["answer"])) == 1.0


# Scorers


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("subtype", GOLDS)
def test_gold_scores_one(scorers, task_of, scorer, subtype):
    task = task_of(subtype, GOLDS[subtype])
    parsed = scorers[scorer].parse(task.prompt, answered(GOLDS[subtype]))
    assert parsed.answer
    score = scorers[scorer].score(parsed, task)
    assert score.value == 1.0
    assert score.reason in ("the gold answer", "the gold's words in their order")


@pytest.mark.parametrize(
    ("gold", "response", "careful", "official"),
    [
        ("10.6", "Final Answer: 106", 0.0, 1.0),
        ("10.6", "Final Answer: 10.60", 1.0, 0.0),
        ("10.6", "Final Answer: -10.6", 0.0, 1.0),
        ("10.6", "**Final Answer:** 10.6", 1.0, 0.0),
        ("10.6", "Final Answer: 1\nFinal Answer: 10.6", 1.0, 0.0),
        ("10.6", "Final Answer: 10.6\nFinal Answer: 1", 0.0, 1.0),
        ("10.6", "<think>Final Answer: 1</think>Final Answer: 10.6", 1.0, 0.0),
        ("10.6", "<think>Final Answer: 10.6", 0.0, 1.0),
        ("10.6", "10.6", 0.0, 0.0),
        ("10.6", "", 0.0, 0.0),
        ("A", "", 0.0, 1.0),  # the published reader takes both for empty
        ("A", "Final Answer: the", 0.0, 1.0),
    ],
)
def test_where_the_scorers_part(scorers, task_of, gold, response, careful, official):
    task = task_of("Aggregation", gold)
    assert value(scorers["careful"], task, response) == careful
    assert value(scorers["official"], task, response) == official


def test_the_metric_follows_the_subtype(scorers, task_of):
    response = "Final Answer: 10.9"
    assert value(scorers["careful"], task_of("Aggregation", "10.6"), response) == 0.0
    assert value(scorers["careful"], task_of("TrendForecasting", "10.6"), response) == 1.0
    # tokens 10 6 against 10 9 after the published normalisation: 106 and 109
    assert value(scorers["careful"], task_of("CausalAnalysis", "rises by 10.6"), response) == 0.0


def test_reasons_and_side_metrics(scorers, task_of):
    task = task_of("Ranking", "Nelt, Ovar")
    careful = scorers["careful"]
    score = careful.score(careful.parse("", "Final Answer: Ovar, Nelt"), task)
    assert (score.value, score.metrics) == (0.0, {"list_recall": 1.0})
    assert score.reason == "EM 0: got 'Ovar, Nelt'; gold is 'Nelt, Ovar'"
    single = task_of("Ranking", "Nelt")
    assert not careful.score(careful.parse("", "Final Answer: Nelt"), single).metrics
    for benchmark in scorers.values():
        score = benchmark.score(benchmark.parse("", "Nelt"), single)
        assert score.value == 0.0
        assert not score.metrics
    assert careful.parse("", "Nelt").reason == "no line 'Final Answer: ...' in the response"
    assert scorers["official"].parse("", "Nelt").answer is None
    assert scorers["official"].score(scorers["official"].parse("", "x"), single).reason == (
        "EM 0: no answer; gold is 'Nelt'"
    )


def test_what_is_read_votes(scorers):
    careful = scorers["careful"]
    dressed = ["Final Answer: 1,204", "so **final answer:** $1204.00", "Final Answer:\n1204"]
    assert {careful.parse("", text).answer for text in dressed} == {"1204"}
    official = scorers["official"]
    assert official.parse("", "Final Answer: The Red-Kiosk").answer == "redkiosk"
    assert official.parse("", "Final Answer: The").answer is None


# Format violations on which a scorer may be lenient: ours, and why.
DEVIATIONS = {
    "lower-case label: parse fails": (1.0, "letter case of the marker is typography"),
    "no blank after the colon: parse fails": (1.0, "so is the blank"),
    "value on the next line: parse fails": (1.0, "an empty marker line announces the next one"),
    "LaTeX box: letters of the command stay": (1.0, "a box is dress of the whole answer"),
    "and instead of the comma": (1.0, "`and` joins the same parts in the same order"),
    "percent sign added; official deletes it": (1.0, "golds carry the sign or leave it out"),
    "percent sign missing; official deletes it everywhere and accepts": (1.0, "the same"),
    "no label: parse fails": (0.0, "without the marker any number of the text might be meant"),
    "number words": (0.0, "the prompt asks for a number"),
    "wrong strength word": (0.0, "text parts have to be equal"),
}


def test_vectors(scorers, shared_tablebench):
    lines = (shared_tablebench / "scorer_vectors.jsonl").read_text(encoding="utf-8").splitlines()
    wrong = []
    for number, line in enumerate(lines, 1):
        row = json.loads(line)
        task = scorers["careful"].task_from_data(row["item"])
        published, note = row["official_score"], row["note"]
        got = value(scorers["official"], task, row["response"])
        if published is not None and got != pytest.approx(published, abs=1e-6):
            wrong.append(f"official, line {number}: {got}, {note}")
        got = value(scorers["careful"], task, row["response"])
        wanted = row.get("expected_score", published)
        if row.get("format_violation"):
            wanted = DEVIATIONS.get(note, (wanted, ""))[0]
        if got != pytest.approx(wanted, abs=1e-6):
            wrong.append(f"careful, line {number}: {got}, {note}")
    assert not wrong, "\n".join(wrong)
    assert len(lines) > 120


def test_real_items(tablebench, shared_tablebench):
    sample = shared_tablebench / "sample.jsonl"
    split = tablebench(source=str(sample), n_train=17).load()
    tasks = (*split.train, *split.heldout)
    assert (len(split.train), len(tasks)) == (17, 53)
    assert set(Counter(task.subgroup for task in tasks)) == set(SUBTYPES)
    assert split.remarks == ("1 item(s) left out: they ask for a chart",)
    ids = Counter(task.id.partition("/")[0] for task in tasks)
    pair = next(i for i, n in ids.items() if n == 2)
    assert sum(task.id.startswith(pair) for task in split.heldout) == 2
    # the published code itself fails on none of the sample's golds
    for scorer in SCORERS:
        benchmark = tablebench(scorer=scorer)
        for task in tasks:
            assert value(benchmark, task, answered(task.reference["answer"])) == 1.0, task.id
    assert [raw["id"] for _, raw in tablebench().read_source(sample)][-1] == pair


# Any text


TOKENS = ["Final Answer: ", "final answer:", "\n", "7", "10.6", "Nelt", ", ", "<think>", "</think>"]
TOKENS += ["**", "\\boxed{", "}", "-", "%", "−", "²", "٣", "\x00", "\ud800", "the", " and "]


@settings(deadline=None, max_examples=150)
@given(
    response=st.one_of(st.text(), st.lists(st.sampled_from(TOKENS)).map("".join)),
    subtype=st.sampled_from(sorted(GOLDS)),
)
def test_scoring_is_total(scorers, task_of, response, subtype):
    task = task_of(subtype, GOLDS[subtype])
    for benchmark in scorers.values():
        parsed = benchmark.parse(task.prompt, response)
        score = benchmark.score(parsed, task)
        assert 0.0 <= score.value <= 1.0
        if SUBTYPES[subtype].metric is not Metric.ROUGE_L:
            assert score.value in (0.0, 1.0)
        assert all(0.0 <= number <= 1.0 for number in score.metrics.values())


@settings(deadline=None, max_examples=150)
@given(gold=st.from_regex(r"[^\x00-\x1f]*[A-Za-z0-9][^\x00-\x1f]*", fullmatch=True))
def test_any_gold_on_one_line_scores_one(scorers, task_of, gold):
    for subtype in GOLDS:
        task = task_of(subtype, gold.replace("\x85", " ").encode(errors="replace").decode())
        if "final" in gold.lower() or "think" in gold.lower():
            continue
        assert value(scorers["careful"], task, answered(task.reference["answer"])) == 1.0


HOSTILE = ["a", " ", "\n", "final ", "final answer ", "final answer", "Final Answer: ", "**", "_"]
HOSTILE += ["Final Answer:\n", "Final Answer: 7\n", "<think>", "</think>", "`\n", "\\boxed{", "}"]
HOSTILE += ["{,}", "Nelt, ", "\u0301", "Final Answer: 7, ", "yes, "]


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_text_of_100_kb_takes_no_time(scorers, task_of, scorer, unit):
    text = (unit * (100_000 // len(unit) + 1))[:100_000]
    for response in (text, f"Final Answer: {text}", f"Final Answer{text}"):
        for subtype in ("Ranking", "CausalAnalysis"):
            task = task_of(subtype, GOLDS[subtype])
            start = time.process_time()
            value(scorers[scorer], task, response)
            assert time.process_time() - start < 1.0


# The pool and the prompts


def test_the_seed_pool_covers_the_contracts(tablebench):
    benchmark = tablebench()
    pool = benchmark.seed_pool()
    assert Counter(card.role_type for card in pool) == {
        RoleType.ROUTER: 1,
        RoleType.SPECIALIST: 4,
        RoleType.VALIDATOR: 1,
        RoleType.AGGREGATOR: 1,
    }
    assert [card.name for card in pool if card.protected] == [pool.terminal.name]
    assert benchmark.output_protocol == pool.terminal.communication_protocol
    assert "Final Answer:" in benchmark.output_protocol
    validator = pool.of_type(RoleType.VALIDATOR)[0]
    assert validator.communication_protocol.startswith("Line 1: `VERDICT: ok` or `VERDICT: revise`")
    # every specialist has a family of its own
    assert len({card.capability_family for card in pool}) == 7
    assert all(len(card.prompt_text) < 4000 for card in pool)


def test_the_cards_are_distinct(tablebench):
    encoder = HashingEncoder(HashingConfig(dim=512))
    vectors = np.stack([encoder.encode(card.identity_text) for card in tablebench().seed_pool()])
    similarity = vectors @ vectors.T - np.eye(len(vectors))
    assert similarity.max() < 0.92


def test_another_pool_can_be_named(tablebench, tmp_path):
    with pytest.raises(CardError, match="no such file"):
        tablebench(seed_pool=str(tmp_path / "none.yaml")).seed_pool()


def test_known_texts_hold_every_card_and_form(tablebench):
    benchmark = tablebench()
    known = "\n".join(benchmark.known_texts())
    for card in benchmark.seed_pool():
        assert card.name in known
        assert card.prompt_text in known
        assert card.communication_protocol in known
    for form in FORMS:
        assert prompt_files.text("package:tablebench", prompt_files.ANSWER_FORMAT, form) in known
    assert prompt_files.text(benchmark.config.prompts, "single_agent", "system") in known


def test_the_examples_of_the_forms_can_be_read(scorers):
    for form in FORMS:
        shown = prompt_files.text("package:tablebench", prompt_files.ANSWER_FORMAT, form)
        for benchmark in scorers.values():
            assert benchmark.parse("", shown).answer is not None
