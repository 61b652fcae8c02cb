import json

import pytest

from sero.benchmarks.naturalplan.items import load_items, read_item, task_from_data
from sero.errors import DataError


def write_jsonl(path, data, order=1):
    rows = [
        {**item, "example_id": item_id, "task": group}
        for group, items in data.items()
        for item_id, item in items.items()
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows[::order]), encoding="utf-8")
    return path


def test_both_layouts_give_the_same_tasks_and_fingerprint(
    naturalplan_folder, naturalplan_data, tmp_path
):
    tasks, fingerprint = load_items(str(naturalplan_folder))
    lines = write_jsonl(tmp_path / "items.jsonl", naturalplan_data, order=-1)
    assert load_items(str(lines)) == (tasks, fingerprint)
    assert len(tasks) == 36
    assert [task.id for task in tasks] == sorted(task.id for task in tasks)
    # the checkout of the published repository, whose files are in `data`
    naturalplan_folder.rename(tmp_path / "data")
    assert load_items(str(tmp_path)) == (tasks, fingerprint)


def test_one_file_of_the_three_can_be_read(naturalplan_folder):
    tasks, _ = load_items(str(naturalplan_folder / "trip_planning.json"))
    assert {task.group for task in tasks} == {"trip_planning"}


def test_stored_model_outputs_and_examples_stay_behind(naturalplan_folder):
    tasks, _ = load_items(str(naturalplan_folder))
    for task in tasks:
        assert "stored model output" not in repr(task)
        assert "pred_5shot_pro" not in task.reference
        assert "prompt_5shot" not in task.reference


def test_numbers_may_be_texts(naturalplan_data):
    trip = next(iter(naturalplan_data["trip_planning"].values()))
    item, faults = read_item({**trip, "num_cities": 4}, "trip_planning")
    assert not faults
    assert item == read_item(trip, "trip_planning")[0]
    assert item.cities == ("Arden", "Borel", "Corva", "Delve")
    assert item.durations == (2, 3, 4, 2)
    calendar = next(iter(naturalplan_data["calendar_scheduling"].values()))
    assert read_item(calendar, "calendar_scheduling")[0].duration == 0.5


def test_the_fingerprint_ignores_what_is_never_used(naturalplan_data, tmp_path):
    _, before = load_items(str(write_jsonl(tmp_path / "a.jsonl", naturalplan_data)))
    changed = json.loads(json.dumps(naturalplan_data))
    changed["trip_planning"]["trip_planning_example_0"]["pred_5shot_pro"] = "other"
    assert load_items(str(write_jsonl(tmp_path / "b.jsonl", changed)))[1] == before
    changed["trip_planning"]["trip_planning_example_0"]["golden_plan"] = "other"
    assert load_items(str(write_jsonl(tmp_path / "c.jsonl", changed)))[1] != before


def test_every_fault_of_a_file_is_listed(naturalplan_data, tmp_path):
    data = json.loads(json.dumps(naturalplan_data))
    data["trip_planning"]["trip_planning_example_0"]["durations"] = "2**x**3**4"
    data["trip_planning"]["trip_planning_example_1"]["num_cities"] = "5"
    del data["calendar_scheduling"]["calendar_scheduling_example_0"]["golden_plan"]
    meeting = data["meeting_planning"]["meeting_planning_example_0"]
    meeting["constraints"][0] = ["Mill Yard", "nine"]
    meeting["constraints"][1][2] = "10:00 to 11:30"
    del meeting["dist_matrix"]["Elm's Park"]
    data["meeting_planning"]["meeting_planning_example_1"]["golden_plan"] = "one text"
    data["meeting_planning"]["meeting_planning_example_2"]["prompt_0shot"] = "What?"
    path = write_jsonl(tmp_path / "a.jsonl", data)
    with path.open("a") as file:
        file.write('{"task": "trip_planning"}\n{"example_id": "y", "task": "chess"}\nnot json\n')
        file.write(path.read_text().split("\n")[2] + "\n")
    with pytest.raises(DataError) as error:
        load_items(str(path))
    message = str(error.value)
    for fault in [
        "line 1, trip_planning_example_0: durations[1]: got 'x'",
        "line 2, trip_planning_example_1: num_cities: got 5 with 4 cities and 4 durations",
        "line 13, calendar_scheduling_example_0: golden_plan: missing",
        "meeting_planning_example_0: constraints[0]: got ['Mill Yard', 'nine']",
        "meeting_planning_example_0: constraints[1]: got ['Ann', 'Quay', '10:00 to 11:30', 45]",
        'meeting_planning_example_0: dist_matrix: no row for "Elm\'s Park"',
        "meeting_planning_example_1: golden_plan: got 'one text'",
        "meeting_planning_example_2: prompt_0shot: does not read like a prompt of meeting",
        "line 37.example_id: got None",
        "line 38.task: got 'chess'; accepted are 'trip_planning'",
        "line 39: not JSON",
        "line 40, trip_planning_example_2: a second item with this id",
        "benchmark.source",
    ]:
        assert fault in message
    assert "12 problem(s)" in message


def test_container_faults_stand_beside_item_faults(naturalplan_folder):
    path = naturalplan_folder / "trip_planning.json"
    data = json.loads(path.read_text())
    data["trip_planning_example_3"] = ["no object"]
    data["trip_planning_example_4"].pop("cities")
    path.write_text(json.dumps(data))
    with pytest.raises(DataError) as error:
        load_items(str(naturalplan_folder))
    assert "trip_planning.json: trip_planning_example_3: got list" in str(error.value)
    assert "trip_planning.json: trip_planning_example_4: cities: missing" in str(error.value)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, "benchmark.source is not set"),
        ("nowhere", "nowhere: no such file or folder"),
        ("empty", "trip_planning.json, calendar_scheduling.json, meeting_planning.json not in"),
        ("notes.txt", "accepted are a folder, a .json or a .jsonl file"),
        ("other.json", "named after it: 'trip_planning'"),
        ("blank.jsonl", "no items in it"),
    ],
)
def test_a_missing_source_says_what_to_do(source, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    for name in ("notes.txt", "other.json", "blank.jsonl"):
        (tmp_path / name).write_text("\n")
    with pytest.raises(DataError) as error:
        load_items(source)
    assert message in str(error.value)
    if source != "other.json":
        assert "google-deepmind/natural-plan" in str(error.value)


def test_one_item_becomes_one_task(naturalplan_data):
    item = naturalplan_data["calendar_scheduling"]["calendar_scheduling_example_0"]
    task = task_from_data({**item, "example_id": "c0", "task": "calendar_scheduling"})
    assert (task.id, task.group) == ("c0", "calendar_scheduling")
    with pytest.raises(DataError, match=r"item\.task: got None; accepted are 'trip_planning'"):
        task_from_data(item)
    with pytest.raises(DataError, match="num_people: missing"):
        task_from_data({"task": "calendar_scheduling"})
