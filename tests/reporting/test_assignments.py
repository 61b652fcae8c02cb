"""Who played which role: the counts by hand, and the page's panel."""

import json
import re

import pytest

from sero.errors import UserError
from sero.reporting.assignments import SHOWN, gather_assignments
from sero.reporting.entries import AssignmentLine
from sero.reporting.html import write_report
from sero.reporting.records import read_run

CANDIDATES = [{"name": name, "backbone": None, "prompt": ""} for name in ("plain", "quick")]


def line(item, router, solver, *, phase="eval", episode=None, **changes):
    record = {
        "episode": episode,
        "phase": phase,
        "item": item,
        "simulated": False,
        "roles": ["router", "solver"],
        "candidates": CANDIDATES,
        "rule": "greedy",
        "assignment": {"router": router, "solver": solver},
        "reasons": ["highest mean", "second"],
        "means": [[4.5, 3.25], [None, 2.0]],
        "self_excluded": [],
        "warnings": [],
        "calls": 9,
    }
    return {**record, **changes}


LINES = [
    line("t1", "quick", "quick", phase="pre", episode=1),
    line("a", "plain", "quick"),
    line("b", "quick", "plain", warnings=["noise"], self_excluded=["quick"]),
    {"episode": None, "phase": "eval", "item": "c", "assignment": None},
    {
        "episode": None,
        "phase": "eval",
        "item": "d",
        "rule": "uniform",
        "assignment": {"router": "third", "solver": "third"},
    },
]


@pytest.fixture
def run_with(make_run):
    def make(lines, **changes):
        directory = make_run(**changes)
        text = "".join(json.dumps(one) + "\n" for one in lines)
        (directory / "assignments.jsonl").write_text(text)
        return directory

    return make


def gathered(directory):
    return gather_assignments(read_run(directory).assignments())


def test_players_are_counted_over_the_evaluation(run_with):
    found = gathered(run_with(LINES))
    assert (found.evaluated, found.n, found.none, found.training) == (True, 4, 1, 1)
    assert found.candidates == ("plain", "quick", "third")
    assert found.counts == (("router", (1, 1, 1)), ("solver", (1, 1, 1)))
    assert found.rules == (("greedy", 2), ("uniform", 1))
    assert found.warnings == (("noise", 1),)
    assert [task.item for task in found.tasks] == ["a", "b", "d"]
    assert found.tasks[1].notes == ("noise", "scores for oneself left out: quick")
    assert found.tasks[0].rows[1].means == (None, 2.0)
    assert (found.tasks[2].columns, found.tasks[2].rows[0].means) == ((), ())


def test_before_there_is_an_evaluation_those_of_training_are_shown(run_with):
    found = gathered(run_with(LINES[:1]))
    assert (found.evaluated, found.n, found.training) == (False, 1, 1)
    assert found.tasks[0].where == "episode 1, pre"


def test_a_run_without_the_file_has_none(make_run):
    directory = make_run()
    assert gathered(directory).n == 0
    assert "Who played" not in write_report(directory).read_text()


def test_only_the_first_tasks_are_kept_and_all_counted():
    lines = (
        AssignmentLine(item=str(i), phase="eval", rule="random", assignment={"r": "x"})
        for i in range(SHOWN + 5)
    )
    found = gather_assignments(lines)
    assert (len(found.tasks), found.counts) == (SHOWN, (("r", (SHOWN + 5,)),))


def test_a_damaged_line_is_told_with_its_number(run_with):
    directory = run_with([LINES[1], {"item": "b", "phase": "eval", "assignment": 3}])
    with pytest.raises(UserError, match=r"assignments\.jsonl:2: assignment: got 3"):
        gathered(directory)


def text_of(path):
    raw = path.read_text(encoding="utf-8")
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", raw))


def test_the_page_says_who_played_and_why(run_with):
    text = text_of(write_report(run_with(LINES)))
    assert "Who played which role" in text
    assert "4 tasks, 1 without an assignment; 1 training rollouts before them" in text
    assert "Decided by greedy (2), uniform (1)." in text
    assert "role plain quick third router 1 1 1" in text
    assert "a: router plain, solver quick" in text
    assert "router plain 4.50 3.25 highest mean" in text
    assert "solver quick – 2.00 second" in text
    assert "Rule: greedy. noise. scores for oneself left out: quick." in text
    assert "assignments.jsonl" in text


def test_the_chosen_mean_stands_out(run_with):
    raw = write_report(run_with(LINES[1:2])).read_text()
    assert '<td class="n"><b>4.50</b></td><td class="n">3.25</td>' in raw
    assert '<td class="n">–</td><td class="n"><b>2.00</b></td>' in raw


def test_names_of_candidates_are_never_markup(run_with, evil):
    bad = line("a" + evil, "plain" + evil, "quick", reasons=[evil, evil], warnings=[evil])
    raw = write_report(run_with([bad])).read_text()
    assert "<script" not in raw
    assert "alert(1)" in raw


def test_a_run_whose_items_all_failed_says_so(run_with):
    text = text_of(write_report(run_with([LINES[3]])))
    assert "1 tasks, 1 without an assignment." in text
    assert "Decided by" not in text


def test_the_page_gives_the_cost_of_each_backbone(make_run):
    directory = make_run()
    path = directory / "result.json"
    parts = {
        "own": {"model": "m1", "calls": 7, "prompt_tokens": 70, "completion_tokens": 8},
        "strong": {"model": "m2", "calls": 3, "prompt_tokens": 30, "completion_tokens": 4},
    }
    path.write_text(json.dumps({**json.loads(path.read_text()), "cost_by_backbone": parts}))
    text = text_of(write_report(directory))
    assert "own m1 7 70 8 strong m2 3 30 4" in text
