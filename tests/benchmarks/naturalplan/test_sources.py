import json

import pytest

from sero.benchmarks.naturalplan.sources import read_source
from sero.errors import DataError


def items(rows):
    return [raw for _, raw in rows]


def test_both_layouts_give_the_same_items(
    naturalplan_folder, naturalplan_file, naturalplan_rows, tmp_path
):
    rows = read_source(naturalplan_folder)
    assert items(rows) == naturalplan_rows
    assert rows[0][0] == "trip_planning.json: trip_planning_example_0"
    assert items(read_source(naturalplan_file)) == naturalplan_rows
    # a checkout of the published repository, whose files are in `data`
    naturalplan_folder.rename(tmp_path / "data")
    assert read_source(tmp_path) == rows


def test_one_file_of_the_three_can_be_read(naturalplan_folder):
    rows = read_source(naturalplan_folder / "trip_planning.json")
    assert {raw["task"] for _, raw in rows} == {"trip_planning"}


def test_the_id_of_an_item_is_the_key_it_stands_under(naturalplan_folder):
    path = naturalplan_folder / "trip_planning.json"
    path.write_text(json.dumps({"a": {"example_id": "b", "task": "calendar_scheduling"}}))
    assert items(read_source(path)) == [{"example_id": "a", "task": "trip_planning"}]


def test_every_fault_of_the_containers_is_listed(naturalplan_folder):
    path = naturalplan_folder / "trip_planning.json"
    path.write_text(json.dumps({"trip_planning_example_3": ["no object"]}))
    (naturalplan_folder / "meeting_planning.json").write_text("[]")
    (naturalplan_folder / "calendar_scheduling.json").write_text("{")
    with pytest.raises(DataError) as error:
        read_source(naturalplan_folder)
    assert error.value.faults[0] == (
        "trip_planning.json: trip_planning_example_3: got list; an item is an object"
    )
    assert "calendar_scheduling.json: not JSON" in error.value.faults[1]
    assert "meeting_planning.json: got list" in error.value.faults[2]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("nowhere", "nowhere: no such file or folder"),
        ("empty", "trip_planning.json, calendar_scheduling.json, meeting_planning.json not in"),
        ("notes.txt", "accepted are a folder, a .json or a .jsonl file"),
        ("other.json", "named after it: 'trip_planning'"),
        ("blank.jsonl", "no items in it"),
    ],
)
def test_a_missing_source_says_what_to_do(source, message, tmp_path):
    (tmp_path / "empty").mkdir()
    for name in ("notes.txt", "other.json", "blank.jsonl"):
        (tmp_path / name).write_text("\n")
    with pytest.raises(DataError) as error:
        read_source(tmp_path / source)
    assert message in str(error.value)
    if source != "other.json":
        assert "google-deepmind/natural-plan" in str(error.value)
