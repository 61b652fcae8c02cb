"""Generated table items: schema, balance, determinism, exact gold, and what the scorers say."""

import hashlib
import json
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from sero.benchmarks.generate.table_reader import read_question
from sero.benchmarks.generate.table_verifier import expected_answer, verify
from sero.benchmarks.generate.table_wordings import QUESTIONS
from sero.benchmarks.generate.tables import SUBTYPES, generate_tablebench
from sero.benchmarks.item_benchmark import GeneratedConfig
from sero.benchmarks.tablebench import TableBench, TableBenchConfig
from sero.benchmarks.tablebench import subtypes as published
from sero.benchmarks.tablebench.items import FIELDS, read_item

Item = dict[str, Any]
Verdicts = Callable[[Item, Sequence[str]], list[float]]
LEVELS = (1, 2, 3, 4, 5)
A_ROUND = 17 * 12
"""Every template of every subtype at least twice."""
NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?%?")
PINNED = "68b72e441d427dcc76918994b915b9b425fdb35fd860b23b699c93d0c3d58312"
"""sha256 of forty items."""
ARTICLES = ("a", "an", "the")
PHRASES = ("impact", "trend", "correlation")


@pytest.fixture(scope="module")
def by_level() -> dict[int, list[Item]]:
    return {level: generate_tablebench(A_ROUND, seed=11, difficulty=level) for level in LEVELS}


@pytest.fixture(scope="module")
def items(by_level: dict[int, list[Item]]) -> list[Item]:
    return [item for level in LEVELS for item in by_level[level]]


@pytest.fixture(scope="module")
def verdict() -> Verdicts:
    """What the careful scorer says about answer lines."""
    benchmark = TableBench(
        TableBenchConfig(
            name="tablebench",
            source="generated",
            prompts="package:tablebench",
            seed_pool="package:tablebench/seed_pool.yaml",
            n_train=17,
            n_heldout=None,
            split_seed=0,
            allow_counts=True,
            strict_add=False,
            generated=GeneratedConfig(n=34, seed=0, difficulty=1),
            scorer="careful",
        )
    )

    def judge(item: Item, answers: Sequence[str]) -> list[float]:
        task = benchmark.task_from_data(item)
        parsed = [benchmark.parse(task.prompt, f"Final Answer: {answer}") for answer in answers]
        return [benchmark.score(one, task).value for one in parsed]

    return judge


def rows_of(item: Item) -> list[dict[str, str]]:
    """Rows as dictionaries with lower-case keys, the totals row left out."""
    headers = [header.lower() for header in item["table"]["columns"]]
    key = name_key(item)
    rows = [dict(zip(headers, row, strict=True)) for row in item["table"]["data"]]
    return [row for row in rows if str(row[key]).lower() != "total"]


def name_key(item: Item) -> str:
    first, second = item["table"]["columns"][:2]
    return str(second if first.lower() == "entry" else first).lower()


def of_kind(items: Sequence[Item], *kinds: str) -> Iterator[tuple[str, Mapping[str, str], Item]]:
    for item in items:
        kind, slots = read_question(item["qsubtype"], item["question"])
        if kind in kinds:
            yield kind, slots, item


def test_items_have_the_published_schema(items: list[Item]) -> None:
    for item in items:
        assert tuple(item) == FIELDS
        read = read_item(item, "item")
        assert read.qtype == published.SUBTYPES[read.qsubtype].qtype
        assert item["id"]
        assert item["question"]
        assert all(len(row) == len(item["table"]["columns"]) for row in item["table"]["data"])
        cells = [cell for row in item["table"]["data"] for cell in row]
        assert all(cell is None or isinstance(cell, str) for cell in cells)
        assert len(set(item["table"]["columns"])) == len(item["table"]["columns"])
    assert {qsubtype for _, qsubtype in SUBTYPES} == set(published.SUBTYPES)


def test_subtypes_take_turns(by_level: dict[int, list[Item]]) -> None:
    counts: Counter[str] = Counter(dict.fromkeys(published.SUBTYPES, 0))
    for item in by_level[2]:
        counts[item["qsubtype"]] += 1
        assert max(counts.values()) - min(counts.values()) <= 1


def test_every_kind_of_question_is_asked(items: list[Item]) -> None:
    kinds = defaultdict(set)
    for item in items:
        kinds[item["qsubtype"]].add(read_question(item["qsubtype"], item["question"])[0])
    assert kinds == {subtype: set(found) for subtype, found in QUESTIONS.items()}
    assert all(len(found) >= 2 for found in kinds.values())


def test_a_seed_gives_the_same_bytes(by_level: dict[int, list[Item]]) -> None:
    prefix = generate_tablebench(40, seed=11, difficulty=4)
    assert prefix == by_level[4][:40]
    assert generate_tablebench(40, seed=12, difficulty=4) != prefix
    content = json.dumps(prefix, ensure_ascii=False).encode()
    assert hashlib.sha256(content).hexdigest() == PINNED, "generated items have changed"


def test_two_thousand_items_differ_and_come_fast() -> None:
    start = time.process_time()
    items = generate_tablebench(2000, seed=3, difficulty=2)
    assert time.process_time() - start < 10
    assert len({item["id"] for item in items}) == 2000
    assert len({item["question"] + json.dumps(item["table"]) for item in items}) == 2000


def test_tables_grow_with_difficulty(by_level: dict[int, list[Item]]) -> None:
    rows = {level: [len(i["table"]["data"]) for i in by_level[level]] for level in LEVELS}
    cells = [
        sum(len(i["table"]["data"]) * len(i["table"]["columns"]) for i in by_level[level])
        for level in LEVELS
    ]
    assert (min(rows[1]), max(rows[5])) == (5, 21)  # 20 rows and their totals
    assert all(max(rows[level]) <= min(rows[level + 2]) + 1 for level in (1, 2, 3))
    assert cells == sorted(cells)
    assert cells[4] > 4 * cells[0]


def test_clutter_comes_with_difficulty(by_level: dict[int, list[Item]]) -> None:
    def share(level: int, has: Callable[[Item], bool]) -> float:
        return sum(map(has, by_level[level])) / A_ROUND

    def grouped(item: Item) -> bool:
        return bool(re.search(r'"[0-9]{1,3},[0-9]{3}', json.dumps(item["table"])))

    def totalled(item: Item) -> bool:
        return len(rows_of(item)) < len(item["table"]["data"])

    def two_conditions(item: Item) -> bool:
        return " and whose " in item["question"]

    assert share(1, grouped) == share(2, totalled) == share(3, two_conditions) == 0
    assert share(2, grouped) > 0.2
    assert share(3, totalled) > 0.1
    assert share(4, two_conditions) > 0.05


def test_verifier_finds_every_gold_from_the_text(items: list[Item]) -> None:
    for item in items:
        assert expected_answer(item) == item["answer"], item["question"]
        assert verify(item, item["answer"])


def mutations(item: Item) -> Iterator[str]:
    """Answers that differ from the gold in one part, by more than any tolerance."""
    rng = random.Random(item["id"])
    names = [row[name_key(item)] for row in rows_of(item)]
    if published.SUBTYPES[item["qsubtype"]].metric is published.Metric.ROUGE_L:
        words = item["answer"].split()
        where = rng.choice([i for i, word in enumerate(words) if word.lower() not in ARTICLES])
        yield " ".join([*words[:where], "elsewhere", *words[where + 1 :]])
        yield " ".join(words[:where] + words[where + 1 :])
        return
    parts = item["answer"].split(", ")
    for i, part in enumerate(parts):
        if NUMBER.fullmatch(part):
            sign, value = "%" * part.endswith("%"), float(part.rstrip("%"))
            others = [f"{value * 1.5 + 3:.2f}{sign}", f"{value * 10 + 1:.2f}{sign}"]
            others += [f"{-value:.2f}{sign}"] if value else []
        elif part in ("Yes", "No"):
            others = ["No" if part == "Yes" else "Yes"]
        elif part.endswith(PHRASES):
            others = ["Strong impact", part.rsplit(" ", 1)[0]]
        else:
            others = [part + "x", rng.choice([name for name in names if name != part])]
        for other in others:
            yield ", ".join([*parts[:i], other, *parts[i + 1 :]])
    yield item["answer"] + ", 7"
    if len(parts) > 1:
        yield ", ".join(parts[:-1])
        yield ", ".join(parts[::-1])


def test_gold_scores_one_and_each_mutation_nothing(
    by_level: dict[int, list[Item]], verdict: Verdicts
) -> None:
    for item in by_level[1] + by_level[4]:
        fuzzy = published.SUBTYPES[item["qsubtype"]].metric is published.Metric.ROUGE_L
        wrong = list(mutations(item))
        gold_score, *scores = verdict(item, [item["answer"], *wrong])
        assert gold_score == 1.0
        for answer, score in zip(wrong, scores, strict=True):
            assert not verify(item, answer), (item["question"], answer)
            assert score < 1.0 if fuzzy else score == 0.0, (item["question"], answer)


def test_one_changed_cell_changes_the_expected_answer(items: list[Item]) -> None:
    """The cells are the only source: another highest value is another answer."""
    changed = 0
    for kind, slots, item in of_kind(items, "extreme_row", "nth", "top_sum", "spread", "average"):
        if kind == "average" and slots["where"]:
            continue
        copy = json.loads(json.dumps(item))
        place = copy["table"]["columns"].index(slots["col"])
        last = len(rows_of(item)) - 1
        copy["table"]["data"][last][place] = "9,999,999"
        changed += expected_answer(copy) != item["answer"]
    assert changed > 20


@pytest.mark.parametrize(("n", "difficulty"), [(-1, 1), (3, 0), (3, 6)])
def test_odd_arguments_are_refused(n: int, difficulty: int) -> None:
    with pytest.raises(ValueError, match="generate_tablebench got"):
        generate_tablebench(n, seed=0, difficulty=difficulty)


def test_no_items_is_an_empty_list() -> None:
    assert generate_tablebench(0, seed=0, difficulty=3) == []


def test_verifier_refuses_a_question_of_another_form(items: list[Item]) -> None:
    with pytest.raises(ValueError, match="0 wordings fit"):
        verify({**items[0], "question": "How many are there?"}, "3")
