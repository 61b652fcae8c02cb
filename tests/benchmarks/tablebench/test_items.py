import json

import pytest

from sero.benchmarks.tablebench.items import (
    FILE,
    incomplete,
    once_each,
    plain_item,
    read_item,
    read_source,
)
from sero.errors import DataError


def faults_of(raw):
    with pytest.raises(DataError) as error:
        read_item(raw, "line 3")
    assert str(error.value).startswith("line 3: ")
    return list(error.value.faults)


def test_an_item_of_the_current_release(make_item):
    raw = make_item("Counting", 5)
    item = read_item(raw, "item")
    assert (item.id, item.qsubtype, item.answer) == ("coun0005", "Counting", "1209")
    assert item.table is not None
    assert item.table.columns == ("kiosk", "open since", "cups sold")
    assert item.table.data[1] == ("Ovar", "- 3", None)
    assert read_item({**raw, "chart_type": None, "instruction": "secret"}, "item") == item


def test_a_verdict_needs_three_fields():
    raw = {"id": None, "qtype": "FactChecking", "qsubtype": "MatchBased", "answer": "Yes"}
    item = read_item(raw, "item")
    assert (item.id, item.question, item.table) == (None, None, None)
    assert incomplete(raw) == ["id: missing", "question: missing", "table: missing"]


def test_a_table_in_a_text_and_numbers_for_texts(make_item):
    """Older revisions: the table as JSON in a text, cells as numbers."""
    table = {"columns": ["year", 1948], "data": [["all", 50.0], ["some", 42], ["none", None]]}
    raw = make_item("MatchBased", 0, table=json.dumps(table), answer=42, id=17)
    item = read_item(raw, "item")
    assert item.table is not None
    assert item.table.columns == ("year", "1948")
    assert item.table.data == (("all", "50.0"), ("some", "42"), ("none", None))
    assert (item.answer, item.id) == ("42", "17")
    assert plain_item(raw)["table"]["data"][0] == ("all", "50.0")
    assert plain_item(raw) == plain_item({**raw, "table": table, "answer": "42", "id": "17"})


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"qsubtype": "Agregation"}, ["qsubtype: got 'Agregation'; did you mean 'Aggregation'?"]),
        (
            {"qsubtype": "Multi-hop NumericalReasoning"},
            ["did you mean 'Multi-hop NumericalReasoing'?"],
        ),
        ({"qsubtype": "xyz"}, ["qsubtype: got 'xyz'; accepted are MatchBased, "]),
        ({"qsubtype": None}, ["qsubtype: got None"]),
        ({"qtype": "FactChecking"}, ["Counting belongs to NumericalReasoning"]),
        ({"answer": " "}, ["answer: got ' '"]),
        ({"answer": ["4"]}, ["answer: got ['4']"]),
        ({"answer": True}, ["answer: got True"]),
        ({"answer": "\ud800"}, ["answer: got '\\ud800'"]),
        ({"question": "a \udfff"}, ["half of a surrogate pair"]),
        ({"table": "columns: a"}, ["table: got 'columns: a'", "not JSON"]),
        ({"table": {"columns": ["a"]}}, ["table.data: missing"]),
        ({"table": {"columns": [], "data": [["1"]]}}, ["table.columns"]),
        ({"table": {"columns": ["a"], "data": []}}, ["table.data"]),
        ({"table": {"columns": ["a"], "data": [["1"], ["1", "2"]]}}, ["table.data[1]: 2 cells"]),
        ({"table": {"columns": ["a"], "data": [[{}]]}}, ["table.data[0][0]: got {}"]),
    ],
)
def test_every_fault_is_told(make_item, changes, parts):
    found = "\n".join(faults_of({**make_item("Counting", 0), **changes}))
    for part in parts:
        assert part in found


def test_faults_of_several_fields_come_together(make_item):
    raw = make_item("Counting", 0, answer="", table={"columns": ["a"], "data": [["1", "2"]]})
    del raw["qtype"]
    assert len(faults_of(raw)) == 2  # the shape of the table is looked at when all are typed
    raw = make_item("Counting", 0, qtype="DataAnalysis", table={"columns": ["a"], "data": [[], []]})
    assert len(faults_of(raw)) == 3


def variants(item):
    return [
        {**item, "instruction_type": kind, "instruction": f"secret {kind}"}
        for kind in ("DP", "TCoT", "SCoT", "PoT")
    ]


def test_an_item_of_the_variant_files_is_taken_once(make_item):
    first, second = make_item("Counting", 1), make_item("Counting", 2)
    listed = [("r", raw) for raw in (*variants(first), *variants(second))]
    assert [raw["id"] for _, raw in once_each(listed)] == [first["id"], second["id"]]
    # another answer under the same id is no repetition, nor is a row without an instruction
    other = {**variants(first)[1], "answer": "7"}
    assert len(once_each([("r", variants(first)[0]), ("r", other)])) == 2
    assert len(once_each([("r", first), ("r", first)])) == 2


def test_sources(tmp_path, make_item, write_lines):
    items = [make_item("Counting", i) for i in range(3)]
    lines = write_lines(tmp_path / "whole" / FILE, items)
    array = tmp_path / "items.json"
    array.write_text(json.dumps(items))
    repeated = [variant for item in items for variant in variants(item)]
    variant_file = write_lines(tmp_path / "TableBench_DP.jsonl", repeated)
    read = {path: read_source(path) for path in (lines, lines.parent, array, variant_file)}
    for found in read.values():
        assert [plain_item(raw) for _, raw in found] == [plain_item(item) for item in items]
    assert read[lines] == read[lines.parent]
    assert read[lines][2][0] == "line 3"
    assert read[array][2][0] == "[2]"
    assert read[variant_file][2][0] == "line 9"


@pytest.mark.parametrize(
    ("name", "text", "part"),
    [
        ("a.json", "{}", "an array of items is accepted"),
        ("a.json", "[", "not JSON"),
        ("a.json", "[1, {}]", "[0]: got int; an item is an object"),
        ("a.jsonl", "{}\n[]", "line 2: got list"),
        ("folder/other.jsonl", "{}", "TableBench.jsonl is not in this folder (other.jsonl)"),
        ("folder/readme.md", "", "(no JSON file)"),
    ],
)
def test_damaged_sources(tmp_path, name, text, part):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    with pytest.raises(DataError) as error:
        read_source(path.parent if name.startswith("folder") else path)
    assert part in str(error.value)


def test_a_source_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match="no such file or folder"):
        read_source(tmp_path / "none.jsonl")
