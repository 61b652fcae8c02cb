import json

import pytest

from sero.errors import UserError
from sero.reporting.records import find_runs, is_run, read_run


def test_a_finished_run(make_run):
    run = read_run(make_run())
    assert run.status.state == "completed"
    assert run.result is not None
    assert run.result.calls == 1234
    assert (run.experiment, run.variant, run.method) == ("quickstart", "base", "sero")
    assert (run.benchmark, run.backbone, run.seed) == ("skillworld", "skillworld-1", "42")
    assert run.simulated
    assert [e.verdict for e in run.episodes()] == ["unchanged", "committed", "rejected"]
    assert [e.reasons for e in run.episodes()][2] == ("family_lost", "no_gain")
    assert [p.score for p in run.predictions()] == [1.0, 0.0, 0.5]
    assert len(list(run.metrics())) == 3
    assert [t["phase"] for t in run.traces()] == ["pre", "edit"]


def test_an_unfinished_run_is_named_by_its_configuration(make_run):
    run = read_run(make_run(result=False, state="running"))
    assert run.result is None
    assert (run.method, run.benchmark, run.backbone) == ("sero", "skillworld", "skillworld-1")
    assert (run.seed, run.simulated) == ("42", True)


def test_missing_files_read_as_absent_and_the_path_names_the_run(tmp_path):
    directory = tmp_path / "exp" / "base" / "static" / "toy" / "seed_7"
    directory.mkdir(parents=True)
    (directory / "status.json").write_text('{"state": "running"}')
    run = read_run(directory)
    assert (run.experiment, run.variant, run.method) == ("exp", "base", "static")
    assert (run.benchmark, run.seed, run.backbone) == ("toy", "7", "?")
    assert list(run.episodes()) == list(run.traces()) == list(run.predictions()) == []
    assert not run.simulated


def test_a_torn_last_line_is_dropped(make_run):
    directory = make_run()
    with (directory / "episodes.jsonl").open("a") as file:
        file.write('{"episode": 4, "ph')
    assert len(list(read_run(directory).episodes())) == 3


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("status.json", "{", "status.json: damaged"),
        ("result.json", "[1]", "result.json: got list"),
        ("result.json", '{"method": 3}', "result.json: method: got 3"),
        ("config.yaml", "a: [", "config.yaml: damaged"),
    ],
)
def test_damaged_small_files_are_named(make_run, name, text, message):
    directory = make_run()
    (directory / name).write_text(text)
    with pytest.raises(UserError, match=message):
        read_run(directory)


def test_a_damaged_line_is_named(make_run):
    directory = make_run()
    path = directory / "episodes.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], "not json", lines[2]]) + "\n")
    with pytest.raises(UserError, match=r"episodes.jsonl:2: not a JSON record"):
        list(read_run(directory).episodes())
    path.write_text(json.dumps([1]) + "\n")
    with pytest.raises(UserError, match=r"episodes.jsonl:1: got list"):
        list(read_run(directory).episodes())


def test_find_runs_goes_down_and_says_what_is_wrong(make_run, tmp_path):
    two = make_run(method="static"), make_run(method="sero")
    assert find_runs(two[0]) == (two[0],)
    assert find_runs(tmp_path / "runs") == tuple(sorted(two))
    with pytest.raises(UserError, match="no such directory"):
        find_runs(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="not a run directory"):
        find_runs(tmp_path / "empty")
    with pytest.raises(UserError, match="a file; name a run directory"):
        read_run(two[0] / "status.json")
    with pytest.raises(UserError, match=r"below it there is .*seed_42"):
        read_run(tmp_path / "runs")
    assert is_run(two[0])
    assert not is_run(two[0].parent)
