import json

import pytest

from sero.benchmarks.preparing import MAX_REMARKS, nothing_to_prepare, prepare, report
from sero.errors import DataError


@pytest.fixture
def copy(tmp_path, quiz_rows, write_lines):
    return write_lines(tmp_path / "copy" / "quiz.jsonl", quiz_rows)


@pytest.fixture
def target(tmp_path):
    return tmp_path / "data" / "quiz.jsonl"


@pytest.fixture
def bench(quiz, target):
    return quiz(source=str(target))


def items(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_local_copy_becomes_a_prepared_file(bench, copy, target, quiz_rows):
    done = prepare(bench, str(copy))
    assert done.written
    assert done.path == target
    by_id = {row["id"]: row for row in quiz_rows}
    ids = ["s1", "s2", "s3", "s4", "w1", "w2"]
    assert items(target) == [
        {key: value for key, value in by_id[i].items() if key != "stored"} for i in ids
    ]
    description = dict(done.description)
    assert len(description.pop("sha256")) == 64
    assert description == {
        "benchmark": "quiz",
        "source": str(copy),
        "revision": None,
        "items": 6,
        "groups": {"sums": 4, "words": 2},
        "subgroups": {"sums/easy": 4},
        "left_out": {"they need a picture": 2},
        "remarks": ["2 item(s) left out: they need a picture", "w1: the gold is misspelt"],
        "fingerprint": bench.load().fingerprint,
    }
    assert list(bench.load().remarks) == description["remarks"]


def test_the_order_of_the_source_and_what_is_not_kept_change_nothing(
    bench, copy, tmp_path, quiz_rows, write_lines
):
    first = prepare(bench, str(copy))
    rows = [{**row, "stored": "x"} for row in reversed(quiz_rows)]
    again = prepare(bench, str(write_lines(tmp_path / "other.jsonl", rows)))
    assert not again.written
    assert again.description == first.description


def test_a_fetched_benchmark_says_which_revision_was_read(
    bench, quiz_module, quiz_rows, monkeypatch
):
    asked = []

    def fetch(self, revision=None):
        asked.append(revision)
        return [("row", row) for row in quiz_rows], "owner/quiz@abc"

    monkeypatch.setattr(quiz_module.Quiz, "fetch", fetch)
    description = prepare(bench, revision="v2").description
    assert (description["source"], description["revision"]) == ("owner/quiz", "abc")
    assert asked == ["v2"]
    assert report(prepare(bench))[0] == "quiz: 6 items from owner/quiz at abc"


def test_a_source_that_cannot_be_fetched_names_the_way_round(bench):
    with pytest.raises(DataError) as error:
        prepare(bench)
    assert str(error.value) == (
        "quiz: no public source is known; give source=PATH\nFrom a local copy of the data: "
        "python scripts/prepare_data.py benchmark=quiz source=PATH"
    )


def test_other_counts_are_refused_and_nothing_is_written(bench, quiz, target, copy, write_lines):
    few = write_lines(copy.with_name("few.jsonl"), items(copy)[:3])
    with pytest.raises(DataError, match="sums: 3 items found, 4 expected\n  words: 0 items"):
        prepare(bench, str(few))
    assert not target.parent.exists()
    done = prepare(quiz(source=str(target), allow_counts=True), str(few))
    assert done.description["items"] == 3


def test_every_fault_is_told_and_nothing_is_written(bench, target, copy, write_lines):
    rows = items(copy)
    bad = write_lines(copy.with_name("bad.jsonl"), [rows[0], rows[0], {"id": "x", "kind": "sums"}])
    with pytest.raises(DataError) as error:
        prepare(bench, str(bad))
    assert error.value.faults == (
        "line 2: a second item with the id 's3'",
        "line 3: answer: missing",
    )
    assert not target.parent.exists()


def test_an_item_that_reads_back_otherwise_is_a_fault(
    bench, copy, quiz_module, quiz_rows, monkeypatch, write_lines
):
    bare = [{k: v for k, v in row.items() if k != "id"} for row in quiz_rows]
    with pytest.raises(DataError, match="line 1: has no id, or not all of it is among the fields"):
        prepare(bench, str(write_lines(copy.with_name("bare.jsonl"), bare)))
    monkeypatch.setattr(quiz_module.Quiz, "fields", ("id", "kind"))
    with pytest.raises(DataError, match="line 1, as kept: answer: missing"):
        prepare(bench, str(copy))


@pytest.mark.parametrize("value", ['"\\ud800"', "NaN", "1e999"])
def test_what_no_json_file_can_hold_is_a_fault(bench, copy, target, value):
    lines = copy.read_text().splitlines()
    lines[0] = lines[0].replace('"easy"', value)
    copy.write_text("\n".join(lines))
    with pytest.raises(DataError, match="line 1: no JSON that could be written"):
        prepare(bench, str(copy))
    assert not target.parent.exists()


def test_another_prepared_file_is_never_replaced_silently(bench, copy, quiz, target, write_lines):
    prepare(bench, str(copy))
    other = write_lines(copy.with_name("b.jsonl"), [{**r, "level": "hard"} for r in items(copy)])
    with pytest.raises(DataError, match="there is a file of other content"):
        prepare(bench, str(other))
    assert items(target)[0]["level"] == "easy"
    assert prepare(bench, str(other), overwrite=True).written
    assert items(target)[0]["level"] == "hard"


def test_mixed_up_paths_are_refused(bench, quiz, copy, target, tmp_path):
    prepare(bench, str(copy))
    with pytest.raises(DataError, match="the prepared file itself"):
        prepare(bench, str(target))
    with pytest.raises(DataError, match="a folder; it names the prepared file"):
        prepare(quiz(source=str(tmp_path)), str(copy))
    with pytest.raises(DataError, match="revision=v2: a local copy has none"):
        prepare(bench, str(copy), revision="v2")
    with pytest.raises(DataError, match=r"nowhere\.jsonl: cannot be read: No such file"):
        prepare(bench, str(tmp_path / "nowhere.jsonl"))


def test_what_has_nothing_to_prepare(quiz, quiz_module, monkeypatch):
    assert "reads no data; there is nothing to prepare" in nothing_to_prepare(quiz())
    assert nothing_to_prepare(quiz(source="x.jsonl")) == ""
    monkeypatch.setattr(quiz_module.Quiz, "has_published_items", False)
    assert nothing_to_prepare(quiz()) == "quiz makes its own items; there is nothing to prepare"


def test_the_report(bench, copy, target):
    lines = report(prepare(bench, str(copy)))
    assert lines[:6] == [
        f"quiz: 6 items from {copy}",
        "  sums             4",
        "  words            2",
        "    sums/easy      4",
        "  2 item(s) left out: they need a picture",
        "  w1: the gold is misspelt",
    ]
    assert lines[6] == f"  {target}, described in quiz.manifest.json"
    assert lines[7].startswith("  sha256 ")
    again = report(prepare(bench, str(copy)))
    assert again[6] == f"  unchanged: {target}, described in quiz.manifest.json"


def test_many_remarks_are_cut(bench, copy, quiz_module, quiz_rows, monkeypatch, write_lines):
    rows = [{**quiz_rows[0], "id": f"s{i:03}"} for i in range(MAX_REMARKS + 5)]
    monkeypatch.setattr(quiz_module.Quiz, "published", {})
    monkeypatch.setattr(quiz_module.Quiz, "defects", {row["id"]: "wrong" for row in rows})
    lines = report(prepare(bench, str(write_lines(copy, rows))))
    assert lines[-4:-2] == [f"  s{MAX_REMARKS - 1:03}: wrong", "  ... and 5 more"]
