"""Items that come with the package, and what a user's own folder of them has to hold."""

import shutil
from collections import Counter
from pathlib import Path

import pytest
import yaml

from sero.config import Component, composer, parse_config
from sero.doctor import Level
from sero.doctor.data import check_data
from sero.errors import DataError
from sero.planning.job import read_items
from sero.prompts import __file__ as prompts_file

CONF = Path(__file__).resolve().parents[3] / "conf"
COUNTS = {
    "code_review": {"clean": (0, 2), "one-fault": (1, 3), "several-faults": (1, 3)},
    "architecture": {"data": (1, 2), "delivery": (1, 1), "services": (0, 3)},
    "hard_math": dict.fromkeys(("algebra", "combinatorics", "geometry", "number-theory"), (1, 2)),
}


@pytest.mark.parametrize("name", COUNTS)
def test_the_split_of_the_shipped_configuration(example, name):
    with composer(CONF, "train") as composing:
        words = [f"benchmark={name}", "encoder=hashing", "backbone=scripted", "method=cot"]
        composed = composing.compose(["experiment=single", *words])
        benchmark = parse_config(composed.config, composed.choices).benchmark.build()
    split = benchmark.load()
    assert split == example(name).load()
    train, heldout = (Counter(t.group for t in part) for part in (split.train, split.heldout))
    assert {g: (train[g], heldout[g]) for g in train | heldout} == COUNTS[name]
    assert benchmark.name == name


@pytest.mark.parametrize("name", COUNTS)
def test_no_prompt_has_a_field_left_open_and_each_fits_a_small_context(tasks, name):
    for task in tasks(name).values():
        assert not any(f"{{{field}}}" in task.prompt for field in ("question", "patch", "kinds"))
        assert len(task.prompt) < 2000


@pytest.mark.parametrize("name", COUNTS)
def test_the_terminal_of_the_seed_pool_owns_the_answer_format(example, name):
    benchmark = example(name)
    pool = benchmark.seed_pool()
    assert pool.terminal.communication_protocol == benchmark.output_protocol
    assert len(pool) >= 4


@pytest.mark.parametrize("name", COUNTS)
def test_nothing_is_fetched_or_prepared(example, name):
    benchmark = example(name)
    assert not benchmark.has_published_items
    with pytest.raises(DataError, match="no public source"):
        benchmark.fetch()


@pytest.fixture
def own(example, tmp_path):
    """A user's copy of a worked example with other items."""

    def make(items):
        folder = tmp_path / "mine"
        shutil.copytree(Path(prompts_file).parent / "hard_math", folder)
        (folder / "items.yaml").write_text(yaml.safe_dump(items))
        return example("hard_math", prompts=str(folder), n_train=1)

    return make


def test_a_folder_of_ones_own(own):
    item = {"id": "a", "group": "sums", "question": "$1+1$?", "answer": "2"}
    items = [item | {"answer_type": "Numerical"}, item | {"id": "b", "answer_type": "Expression"}]
    items[1]["question"] = "$1+1+0$?"
    split = own({"items": items}).load()
    assert sorted(task.id for task in (*split.train, *split.heldout)) == ["a", "b"]


@pytest.mark.parametrize(
    ("items", "fault"),
    [
        ({}, "items: missing"),
        ({"items": []}, "items: missing"),
        ({"items": ["x"]}, r"items\[0\]: got str"),
        ({"items": [{"id": "a", "answer": " ", "answer_type": "Tuple"}]}, r"items\[0\]: answer: "),
        ({"items": [{"id": "a", "answer": "1", "answer_type": "Tuple"}]}, r"accepted are Numerica"),
    ],
)
def test_faults_of_items_are_told_with_their_place(own, items, fault):
    with pytest.raises(DataError, match=fault):
        own(items).load()


def test_a_folder_without_items_says_so(example, tmp_path):
    folder = tmp_path / "mine"
    shutil.copytree(Path(prompts_file).parent / "hard_math", folder)
    (folder / "items.yaml").unlink()
    with pytest.raises(DataError, match=r"items\.yaml: 1 problem\(s\) in the data\n  no such file"):
        example("hard_math", prompts=str(folder)).load()


async def test_the_doctor_asks_for_no_file(example):
    benchmark = example("hard_math")
    part = Component(choice="hard_math", target=type(benchmark), config=benchmark.config)
    finding = (await check_data(part)).finding
    assert finding.level is Level.OK
    assert finding.said.startswith("4 training and 8 held-out tasks")
    assert finding.said.endswith("made here")


def test_a_plan_takes_no_faulty_folder_for_data_to_come(own):
    """With `n_heldout` known, missing data would be counted; there are none to prepare here."""
    with composer(CONF, "train") as composing:
        words = ["benchmark=hard_math", "encoder=hashing", "backbone=scripted", "method=cot"]
        folder = own({"items": []}).config.prompts
        more = [f"benchmark.prompts={folder}", "benchmark.n_heldout=3"]
        composed = composing.compose(["experiment=single", *words, *more])
        config = parse_config(composed.config, composed.choices)
        with pytest.raises(DataError, match="items: missing"):
            read_items(config)
