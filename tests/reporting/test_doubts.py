"""Meta-Debate without readable scores: counted by hand, told wherever the row is shown."""

import io
import json

import pytest
import yaml
from rich.console import Console

from sero.reporting.doubts import Doubts, count_doubts, doubts_in, doubts_of
from sero.reporting.entries import AssignmentLine
from sero.reporting.formats import Format, render_report
from sero.reporting.html import write_report
from sero.reporting.records import read_run
from sero.reporting.results import make_report
from sero.reporting.summary import print_summary


def line(means, *sources, phase="eval", assignment=True, **more):
    return {
        "item": "t",
        "phase": phase,
        "assignment": {"solver": "ann"} if assignment else None,
        "roles": [f"r{i}" for i in range(len(means))],
        "means": means,
        "hearings": [{"criteria_source": source} for source in sources],
        **more,
    }


READ = line([[None, 3.0]], "generated")
UNREAD = line([[None, None]], "given", "default", fallback=["r0"], dropped=2)
LINES = [
    READ,
    UNREAD,
    line([[4.0]], "default", "default"),
    line([]),  # nobody was scored: a single candidate, or a rule without scores
    line([[None]], "default", assignment=False),
    line([[None]], "default", phase="pre"),
]


def run_by(make_run, by, lines, **changes):
    directory = make_run(method="mad", **changes)
    config = yaml.safe_load((directory / "config.yaml").read_text())
    (directory / "config.yaml").write_text(yaml.safe_dump({**config, "assign": {"by": by}}))
    text = "".join(json.dumps(one) + "\n" for one in lines)
    (directory / "assignments.jsonl").write_text(text)
    return directory


def test_tasks_are_counted_once_and_of_the_evaluation_alone():
    found = count_doubts(AssignmentLine(**one) for one in LINES)
    assert found == Doubts(tasks=4, unread=1, defaulted=2)
    arbitrary, unwritten = found.lines
    assert arbitrary.startswith("on 1 of 4 tasks no score could be read")
    assert arbitrary.endswith("there this row is not Meta-Debate")
    assert "on 2 of 4 tasks" in unwritten
    assert Doubts(tasks=4).lines == ()


BOTH = [[4.0, 3.0], [2.0, None]]


@pytest.mark.parametrize(
    ("means", "more", "counts", "said"),
    [
        (BOTH, {}, {}, ""),
        ([[4.0, 3.0], [None, None]], {"fallback": ["r1"]}, {"partly_unread"}, "best at the others"),
        (BOTH, {"fallback": ["r1"]}, {"given_up"}, "went to the candidate best over all"),
        (BOTH, {"fallback": ["r0", "r1"]}, {"uniform"}, "one candidate took all: this row is uni"),
        ([[None, 2.0], [None, None]], {"fallback": ["r0", "r1"]}, {"uniform", "partly_unread"}, ""),
        ([[None] * 2] * 2, {"fallback": ["r0", "r1"], "dropped": 8}, {"unread"}, "arbitrary: this"),
        (BOTH, {"flat": ["r1"]}, {"flat"}, "differ less than its reviewers' scores"),
        (BOTH, {"dropped": 1}, {"dropped"}, "some of the scores could not be read"),
        (
            [[4.0], [2.0], [None]],
            {"fallback": ["r1", "r2"], "dropped": 1},
            {"partly_unread", "given_up", "dropped"},
            "",
        ),
    ],
)
def test_several_roles_are_looked_at_one_by_one(means, more, counts, said):
    found = doubts_in(AssignmentLine(**line(means, **more)))
    assert found == Doubts(tasks=1, **dict.fromkeys(counts, 1))
    assert len(found.found) == len(counts) == len({doubt.code for doubt in found.found})
    assert not said or said in found.lines[0]
    assert all(doubt.advice for doubt in found.found)


def test_only_meta_debate_is_doubted(make_run):
    assert doubts_of(read_run(run_by(make_run, "random", [UNREAD]))) == Doubts()
    other = run_by(make_run, "meta_debate", [UNREAD], seed=2)
    assert doubts_of(read_run(other)) == Doubts(tasks=1, unread=1, defaulted=1)


def test_every_table_names_the_row(make_run):
    runs = [run_by(make_run, "meta_debate", [UNREAD, UNREAD], seed=seed) for seed in (1, 2)]
    printed = io.StringIO()
    print_summary(runs, Console(file=printed, width=300))
    said = "tasks no score could be read, so the assignment is arbitrary: this row is not"
    report = " ".join(render_report(make_report(runs), Format.TEXT).split())
    assert f"Warning: mad · by meta_debate: on 4 of 4 {said} Meta-Debate." in report
    assert "mad · by meta_debate: on 4 of 4 tasks no usable criteria" in report
    assert f"mad · by meta_debate, seed 2: on 2 of 2 {said}" in printed.getvalue()
    page = write_report(runs[0]).read_text()
    assert f"<b>Assigning roles: on 2 of 2 {said}" in page


def test_readable_scores_need_no_word(make_run):
    run = run_by(make_run, "meta_debate", [READ])
    assert "no score" not in render_report(make_report([run]), Format.TEXT)
    assert "Assigning roles" not in write_report(run).read_text()
