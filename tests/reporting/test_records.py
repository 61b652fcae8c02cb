import json

import pytest
import yaml

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


# ---- further backbones --------------------------------------------------------------------------


@pytest.fixture
def run_through(make_run):
    """A run of a live model with further backbones, from their entries in manifest and config."""

    def make(manifest=None, config=None, **changes):
        directory = make_run(simulated=False, **changes)
        path = directory / "manifest.json"
        found = {**json.loads(path.read_text()), "backbone": {"id": "m", "revision": "r1"}}
        path.write_text(json.dumps({**found, **({"backbones": manifest} if manifest else {})}))
        path = directory / "config.yaml"
        tree = yaml.safe_load(path.read_text())
        path.write_text(yaml.safe_dump({**tree, **({"backbones": config} if config else {})}))
        return read_run(directory)

    return make


def test_the_setting_names_every_backbone(run_through):
    run = run_through(
        {"b": {"id": "m2", "revision": None}, "a": {"id": "m1", "revision": "x"}},
        {"a": {"name": "m1", "chat_template_kwargs": {"think": False}}, "b": {"name": "m2"}},
    )
    assert run.backbone_setting.endswith(" (revision r1); a: m1 (revision x, think=false); b: m2")


def test_the_options_of_candidates_are_no_setting(run_through):
    entry = {"id": "m1", "revision": "x"}
    plain = run_through({"a": entry}, seed=1)
    more = run_through({"a": entry, "a#012345": entry, "#012345": entry}, seed=2)
    assert more.backbone_setting == plain.backbone_setting


def test_an_unfinished_run_tells_from_its_configuration(run_through):
    run = run_through(None, {"a": {"name": "m1", "revision": "x"}})
    assert run.backbone_setting.endswith("; a: m1 (revision x)")


def test_what_any_backbone_wants_said_is_said(run_through):
    run = run_through(None, {"a": {"note": "Too small."}, "b": {"note": "Too small."}})
    assert run.note == "Too small."
