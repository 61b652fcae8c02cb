import json

import pytest

from sero.benchmarks.naturalplan.items import make_task, read_item
from sero.errors import DataError


def faults(raw):
    with pytest.raises(DataError) as error:
        read_item(raw, "line 7")
    return error.value.faults


def test_numbers_may_be_texts(naturalplan_rows):
    trip, calendar = naturalplan_rows[0], naturalplan_rows[12]
    group, item = read_item(trip, "line 1")
    assert (group, item) == read_item({**trip, "num_cities": 4}, "line 1")
    assert group == "trip_planning"
    assert item.cities == ("Arden", "Borel", "Corva", "Delve")
    assert item.durations == (2, 3, 4, 2)
    assert read_item(calendar, "line 2")[1].duration == 0.5


def test_stored_model_outputs_and_examples_stay_behind(naturalplan_rows):
    for row in naturalplan_rows:
        task = make_task("x", *read_item(row, "line 1"), "Form")
        assert "stored model output" not in repr(task)
        assert not {"pred_5shot_pro", "prompt_5shot", "prompt_0shot"} & task.reference.keys()
        assert "Form" in task.prompt


@pytest.mark.parametrize(
    ("number", "changes", "fault"),
    [
        (0, {"durations": "2**x**3**4"}, "durations[1]: got 'x'"),
        (0, {"num_cities": "5"}, "num_cities: got 5 with 4 cities and 4 durations"),
        (0, {"example_id": None}, "example_id: got None; a text is wanted"),
        (0, {"example_id": " "}, "example_id: got ' '"),
        (0, {"task": "chess"}, "task: got 'chess'; accepted are 'trip_planning'"),
        (0, {"task": ["trip_planning"]}, "task: got ['trip_planning']"),
        (12, {"golden_plan": ""}, "golden_plan: got ''"),
        (24, {"golden_plan": "one text"}, "golden_plan: got 'one text'"),
        (24, {"prompt_0shot": "What?"}, "prompt_0shot: does not read like a prompt of meeting"),
        (24, {"num_people": 3}, "num_people: got 3 with 2 constraints"),
    ],
)
def test_a_fault_is_named(naturalplan_rows, number, changes, fault):
    (found,) = faults({**naturalplan_rows[number], **changes})
    assert found.startswith(fault)


def test_every_fault_of_an_item_is_listed(naturalplan_rows):
    item = json.loads(json.dumps(naturalplan_rows[24]))
    item["constraints"][0] = ["Mill Yard", "nine"]
    item["constraints"][1][2] = "10:00 to 11:30"
    del item["dist_matrix"]["Elm's Park"]
    item["example_id"] = 5
    assert [fault.partition(";")[0] for fault in faults(item)] == [
        "constraints[0]: got ['Mill Yard', 'nine']",
        "constraints[1]: got ['Ann', 'Quay', '10:00 to 11:30', 45]",
        'dist_matrix: no row for "Elm\'s Park"',
        "example_id: got 5",
    ]


def test_every_fault_of_a_file_is_listed(naturalplan, naturalplan_rows, naturalplan_file):
    with naturalplan_file.open("a") as file:
        file.write('{"example_id": "y", "task": "chess"}\n')
        file.write(json.dumps({**naturalplan_rows[12], "num_days": "no"}) + "\n")
        file.write(json.dumps(naturalplan_rows[2]) + "\n")
    with pytest.raises(DataError) as error:
        naturalplan(source=str(naturalplan_file)).load()
    for fault in [
        "line 37: task: got 'chess'; accepted are 'trip_planning'",
        "line 38: num_days: got 'no'",
        "line 39: a second item with the id 'trip_planning_example_2'",
        "3 problem(s)",
    ]:
        assert fault in str(error.value)


def test_one_item_becomes_one_task(naturalplan, naturalplan_data):
    item = naturalplan_data["calendar_scheduling"]["calendar_scheduling_example_0"]
    benchmark = naturalplan()
    task = benchmark.task_from_data({**item, "example_id": "c0", "task": "calendar_scheduling"})
    assert (task.id, task.group) == ("c0", "calendar_scheduling")
    assert benchmark.task_from_data({**item, "task": "calendar_scheduling"}).id == "item"
    with pytest.raises(DataError, match=r"item\.task: got None; accepted are 'trip_planning'"):
        benchmark.task_from_data(item)
    with pytest.raises(DataError, match="num_people: missing"):
        benchmark.task_from_data({"task": "calendar_scheduling"})
