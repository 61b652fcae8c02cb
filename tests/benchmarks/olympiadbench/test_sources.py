import json

import pytest

from sero.benchmarks.olympiadbench.sources import read_rows
from sero.errors import DataError

MATHS, PHYSICS = "OE_TO_maths_en_COMP", "OE_TO_physics_en_COMP"
A, B = {"id": 1, "subfield": "Algebra"}, {"id": 2, "subfield": None}


def lines(*items):
    return "".join(json.dumps(item) + "\n" for item in items)


def test_lines_and_arrays_are_told_apart_by_their_text(tmp_path):
    for name, text, place in (
        ("all.jsonl", "\n" + lines(A, B), "all.jsonl: line 3"),
        ("all.json", json.dumps([A, B], indent=1), "all.json: item 2"),
        ("odd.json", lines(A, B), "odd.json: line 2"),
        ("odd.jsonl", "\ufeff" + json.dumps([A, B]), "odd.jsonl: item 2"),
    ):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        rows = read_rows(path)
        assert [raw for _, raw in rows] == [A, B]
        assert rows[1][0] == place


def test_a_file_named_after_a_subset_tells_the_subject(tmp_path):
    path = tmp_path / f"{PHYSICS}.json"
    path.write_text(json.dumps([B, {**B, "subject": "Math"}, {**B, "subject": None}]))
    assert [raw["subject"] for _, raw in read_rows(path)] == ["Physics", "Math", "Physics"]


@pytest.mark.parametrize("inside", [".", "OlympiadBench_Dataset/data"])
@pytest.mark.parametrize("ending", [".json", ".jsonl", "_copy.jsonl"])
def test_a_folder_holds_the_two_subsets(tmp_path, inside, ending):
    folder = tmp_path / inside
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{PHYSICS}{ending}").write_text(lines(B))
    (folder / f"{MATHS}{ending}").write_text(json.dumps([A]))
    (folder / "OE_MM_maths_en_COMP.json").write_text("not read")
    (folder / f"{MATHS}.parquet").write_text("not read")
    assert [(raw["id"], raw["subject"]) for _, raw in read_rows(tmp_path)] == [
        (1, "Math"),
        (2, "Physics"),
    ]


def test_a_folder_without_or_with_too_many_files(tmp_path):
    with pytest.raises(DataError, match="no file of a published subset"):
        read_rows(tmp_path)
    for name in (f"{MATHS}.json", f"{MATHS}.jsonl"):
        (tmp_path / name).write_text("[]")
    with pytest.raises(DataError, match="more than one file") as error:
        read_rows(tmp_path)
    assert f"{MATHS}.jsonl" in str(error.value)


def test_nothing_there(tmp_path):
    with pytest.raises(DataError, match="no such file or folder"):
        read_rows(tmp_path / "none")


def test_every_fault_of_every_file(tmp_path):
    (tmp_path / f"{MATHS}.json").write_text('[{"id": 1}, 2, [3]]')
    (tmp_path / f"{PHYSICS}.jsonl").write_text('{"id": 1}\n{"id"\n')
    with pytest.raises(DataError) as error:
        read_rows(tmp_path)
    assert list(error.value.faults)[:2] == [
        f"{MATHS}.json: item 2: got int; an item is an object",
        f"{MATHS}.json: item 3: got list; an item is an object",
    ]
    assert error.value.faults[2].startswith(f"{PHYSICS}.jsonl: line 2: not JSON")


def test_a_broken_array(tmp_path):
    path = tmp_path / "a.json"
    for text in ("[1", "[" * 100_000, '[{"a": 1},]'):
        path.write_text(text)
        with pytest.raises(DataError, match="not JSON"):
            read_rows(path)
