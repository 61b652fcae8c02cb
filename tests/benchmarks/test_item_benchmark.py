import json
from collections import Counter

import pytest

from sero.benchmarks.base import Parsed
from sero.benchmarks.item_benchmark import GeneratedConfig
from sero.benchmarks.prepared import write_prepared
from sero.errors import CardError, DataError


@pytest.fixture
def source(tmp_path, quiz_rows, write_lines):
    return write_lines(tmp_path / "quiz.jsonl", quiz_rows)


def everything(split):
    return [*split.train, *split.heldout]


def test_a_file_becomes_a_split(quiz, source):
    split = quiz(source=str(source)).load()
    assert Counter(task.group for task in everything(split)) == {"sums": 4, "words": 2}
    assert {task.id for task in everything(split)} == {"s1", "s2", "s3", "s4", "w1", "w2"}
    assert Counter(task.group for task in split.train) == {"sums": 1, "words": 1}
    task = next(task for task in everything(split) if task.id == "s3")
    assert (task.subgroup, task.reference) == ("easy", {"answer": "6"})
    assert task.prompt == "3 + 3?\nEnd with a line `Answer: X`."


def test_what_is_left_out_and_what_is_defective_is_said(quiz, source):
    split = quiz(source=str(source)).load()
    assert split.remarks == (
        "2 item(s) left out: they need a picture",
        "w1: the gold is misspelt",
    )


def test_a_number_for_each_group(quiz, source):
    split = quiz(source=str(source), n_train={"sums": 2}).load()
    assert Counter(task.group for task in split.train) == {"sums": 2}
    assert len(split.heldout) == 4


def test_generated_items_have_a_name_of_their_own(quiz):
    made = quiz(generated=GeneratedConfig(n=8, seed=0, difficulty=2))
    assert made.name == "quiz-generated"
    assert made.config.name == "quiz"
    split = made.load()  # no counts are wanted of made-up items
    assert (len(split.train), len(split.heldout)) == (2, 6)
    again = quiz(generated=GeneratedConfig(n=8, seed=0, difficulty=2)).load()
    other = quiz(generated=GeneratedConfig(n=8, seed=1, difficulty=2)).load()
    assert split == again
    assert split.fingerprint != other.fingerprint


def test_a_benchmark_without_generator_says_so(quiz, quiz_module, monkeypatch):
    monkeypatch.delattr(quiz_module.Quiz, "generate")
    with pytest.raises(DataError, match=r"benchmark\.source: quiz has no generator; name a file"):
        quiz().load()


@pytest.mark.parametrize("missing", [True, False])
def test_no_file_or_a_folder_names_the_commands(quiz, tmp_path, missing):
    path = tmp_path / ("nowhere.jsonl" if missing else "")
    with pytest.raises(DataError) as error:
        quiz(source=str(path)).load()
    assert "python scripts/prepare_data.py benchmark=quiz" in str(error.value)
    assert ("benchmark.source=generated" in str(error.value)) is missing
    assert ("source=PATH" if missing else f"source={tmp_path}") in str(error.value)


def test_other_counts_are_refused_with_every_group(quiz, tmp_path, quiz_rows, write_lines):
    path = write_lines(tmp_path / "few.jsonl", [*quiz_rows[:3], *quiz_rows[4:5]])
    with pytest.raises(DataError) as error:
        quiz(source=str(path)).load()
    assert str(error.value) == (
        f"{path}: not the published data\n"
        "  sums: 3 items found, 4 expected\n"
        "  words: 1 items found, 2 expected\n"
        "Supply the whole data, or set benchmark.allow_counts=true to take what is there."
    )
    assert len(everything(quiz(source=str(path), allow_counts=True).load())) == 4


def test_fewer_held_out_items_than_announced_are_refused(quiz, source):
    with pytest.raises(DataError, match="4 held-out items, 5 expected"):
        quiz(source=str(source), n_heldout=5).load()
    assert len(quiz(source=str(source), n_heldout=5, allow_counts=True).load().heldout) == 4
    assert len(quiz(source=str(source), n_heldout=3).load().heldout) == 3


def test_a_split_without_held_out_items_is_refused(quiz, source):
    with pytest.raises(DataError, match="6 tasks, 6 of them for training, leave none held out"):
        quiz(source=str(source), n_train=6).load()


def test_every_fault_of_every_item_is_told_at_once(quiz, tmp_path, quiz_rows):
    lines = [json.dumps(row) for row in quiz_rows]
    lines[1] = json.dumps({"id": "s1"})
    lines[4] = json.dumps(quiz_rows[5])
    path = tmp_path / "quiz.jsonl"
    path.write_text("\n".join(lines))
    with pytest.raises(DataError) as error:
        quiz(source=str(path)).load()
    assert error.value.faults == (
        "line 2: kind: missing",
        "line 2: answer: missing",
        "line 6: a second item with the id 'w1'",
    )
    path.write_text("\n".join([*lines, "[1]", "{"]))
    with pytest.raises(DataError) as error:
        quiz(source=str(path)).load()
    assert [fault[:7] for fault in error.value.faults] == ["line 9:", "line 10"]


def test_a_file_without_items_is_a_fault(quiz, tmp_path, write_lines):
    path = write_lines(tmp_path / "quiz.jsonl", [{"picture": True}])
    with pytest.raises(DataError, match="no items in it"):
        quiz(source=str(path), allow_counts=True).load()


def test_items_with_the_same_prompt_are_never_trained_on(quiz, tmp_path, quiz_rows, write_lines):
    twins = [{**quiz_rows[0], "id": f"t{i}", "answer": str(i)} for i in range(2)]
    path = write_lines(tmp_path / "quiz.jsonl", [*quiz_rows[1:], *twins])
    for seed in range(20):
        # Every sum without a twin is trained on; the twins are left for the held-out part.
        split = quiz(
            source=str(path), split_seed=seed, n_train={"sums": 3}, allow_counts=True
        ).load()
        assert sorted(task.id for task in split.train) == ["s1", "s2", "s4"]
        assert {"t0", "t1"} <= {task.id for task in split.heldout}
    with pytest.raises(DataError, match="sums: 3 found, 4 wanted for training"):
        quiz(source=str(path), n_train={"sums": 4}, allow_counts=True).load()


def test_a_prepared_file_that_was_changed_is_refused(quiz, tmp_path, quiz_rows):
    path = tmp_path / "quiz.jsonl"
    write_prepared(path, quiz_rows, {})
    bench = quiz(source=str(path))
    fingerprint = bench.load().fingerprint
    path.write_text(path.read_text().replace('"6"', '"7"'))
    with pytest.raises(DataError, match="changed since it was prepared"):
        bench.load()
    (tmp_path / "quiz.manifest.json").unlink()
    assert bench.load().fingerprint != fingerprint  # a file of the user's own


def test_the_fingerprint_is_of_the_items_that_count(quiz, quiz_rows):
    bench = quiz()
    whole = [(str(i), row) for i, row in enumerate(quiz_rows)]
    mixed = [(where, {**row, "stored": "another"}) for where, row in whole[5::-1]]
    changed = [*whole[1:], ("0", {**whole[0][1], "answer": "7"})]
    assert bench.fingerprint(whole) == bench.fingerprint(mixed)
    assert bench.fingerprint(whole) != bench.fingerprint(changed)


def test_kept_fields(quiz, quiz_module, quiz_rows, monkeypatch):
    assert quiz().kept(quiz_rows[4]) == {k: v for k, v in quiz_rows[4].items() if k != "stored"}
    monkeypatch.setattr(quiz_module.Quiz, "fields", ())
    assert quiz().kept(quiz_rows[0]) == quiz_rows[0]


def test_the_terminal_card_owns_the_output_protocol(quiz):
    bench = quiz()
    assert bench.output_protocol == "The last line reads `Answer: X`."
    known = "\n".join(bench.known_texts())
    for text in ("End with a line", "You answer quiz questions.", "scribe", "One line of working"):
        assert text in known


def test_a_pool_without_terminal_or_a_missing_folder_is_refused(quiz, tmp_path):
    with pytest.raises(CardError, match="no such file"):
        quiz(prompts=str(tmp_path))


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("<think>Answer: 5</think> Answer: 6", "6"),
        ("Answer: 6 <think> no, Answer: 5", None),
        ("6", None),
        ("", None),
    ],
)
def test_think_blocks_are_gone_before_a_response_is_read(quiz, response, answer):
    parsed = quiz().parse("3 + 3?", response)
    assert parsed.answer == answer
    assert (parsed.reason == "") is (answer is not None)


def test_the_two_scorers(quiz):
    parsed = Parsed(answer="oka", text="")
    for scorer, value in (("careful", 1.0), ("official", 0.0)):
        bench = quiz(scorer=scorer)
        task = bench.task_from_data({"kind": "words", "answer": "Oka"})
        assert bench.score(parsed, task).value == value
        assert bench.scorer == scorer


def test_without_a_public_source_there_is_nothing_to_fetch(quiz):
    with pytest.raises(DataError, match="quiz: no public source is known; give source=PATH"):
        quiz().fetch()


def test_a_local_copy_is_a_jsonl_file(quiz, source, quiz_rows):
    assert quiz().read_source(source) == [(f"line {i}", r) for i, r in enumerate(quiz_rows, 1)]
    with pytest.raises(DataError, match="cannot be read"):
        quiz().read_source(source.parent)
