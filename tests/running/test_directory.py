"""A run directory: fresh, unfinished, finished, or somebody else's."""

import json

import pytest
import yaml

from sero.errors import RunConflict, StorageError
from sero.running.directory import Opened, RunDirectory, RunState, RunStatus, Status

CONFIG = {
    "seed": 42,
    "backbone": {"name": "openai", "base_url": "http://a:8000/v1", "model": "m"},
    "gate": {"tasks": 1, "kind": "published"},
    "reinforce": {"lr": 1e-05},
    "policy": {"operations": ["add", "remove", "noop"]},
}


def comparable(data):
    """Everything but the server's address."""
    return {**data, "backbone": {k: v for k, v in data["backbone"].items() if k != "base_url"}}


def leaves(data, prefix=""):
    for key, value in data.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def describe(old, new):
    before, after = dict(leaves(old)), dict(leaves(new))
    return [
        f"{key}: {before.get(key)} -> {after.get(key)}"
        for key in {**before, **after}
        if before.get(key) != after.get(key)
    ]


def opened(run, config=CONFIG):
    return run.open(config, comparable, describe)


@pytest.fixture
def run(tmp_path):
    return RunDirectory(tmp_path / "runs" / "seed_42")


def test_files_have_the_names_of_the_contract(tmp_path):
    run = RunDirectory(tmp_path)
    names = {
        run.config: "config.yaml",
        run.manifest: "manifest.json",
        run.status: "status.json",
        run.metrics: "metrics.jsonl",
        run.episodes: "episodes.jsonl",
        run.traces: "traces.jsonl",
        run.predictions: "predictions.jsonl",
        run.result: "result.json",
        run.assignments: "assignments.jsonl",
        run.report: "report.html",
        run.checkpoint: "checkpoint/last.pt",
        run.pool_seed: "pool/seed.yaml",
        run.pool_final: "pool/final.yaml",
        run.pool_episode(7): "pool/episode_0007.yaml",
        run.pool_episode(12345): "pool/episode_12345.yaml",
    }
    assert {path.relative_to(tmp_path).as_posix() for path in names} == set(names.values())
    for path, name in names.items():
        assert path == tmp_path / name


def test_a_new_directory_is_fresh_and_gets_the_configuration(run):
    assert opened(run) == Opened(state=RunState.FRESH, failures=0, status=None)
    assert yaml.safe_load(run.config.read_text()) == CONFIG
    assert list(run.path.iterdir()) == [run.config]


def test_hidden_files_of_the_lock_do_not_make_it_old(run):
    run.path.mkdir(parents=True)
    (run.path / ".lock").touch()
    assert opened(run).state is RunState.FRESH


@pytest.mark.parametrize("left", ["running", "interrupted", "failed"])
def test_whatever_did_not_complete_is_unfinished(run, left):
    opened(run)
    run.write_status(RunStatus(left), reason="why", phase="main", episode=3)
    status = Status(state=RunStatus(left), reason="why", phase="main", episode=3)
    assert opened(run) == Opened(state=RunState.UNFINISHED, failures=0, status=status)


def test_killed_before_its_first_status_is_unfinished(run):
    opened(run)
    assert opened(run) == Opened(state=RunState.UNFINISHED, failures=0, status=None)


@pytest.mark.parametrize("failures", [0, 2])
def test_a_completed_run_is_finished_and_says_what_failed(run, failures):
    opened(run)
    run.write_status(RunStatus.COMPLETED, phase="eval", episode=300)
    run.result.write_text(json.dumps({"failures": failures}))
    before = run.config.read_bytes()
    found = opened(run)
    assert (found.state, found.failures) == (RunState.FINISHED, failures)
    assert run.config.read_bytes() == before


@pytest.mark.parametrize("result", [None, "", "[]", '{"n": 3}', '{"failures": "x"}'])
def test_completed_without_a_result_is_unfinished(run, result):
    opened(run)
    run.write_status(RunStatus.COMPLETED)
    if result is not None:
        run.result.write_text(result)
    assert opened(run).state is RunState.UNFINISHED


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"state": "odd"}', '{"state": "running"}', "\ud800"]
)
def test_a_damaged_status_is_an_unfinished_run(run, text, caplog):
    opened(run)
    run.status.write_bytes(text.encode("utf-8", errors="surrogatepass"))
    assert opened(run) == Opened(state=RunState.UNFINISHED, failures=0, status=None)
    assert str(run.status) in caplog.text


def test_another_configuration_is_refused_with_the_difference(run):
    opened(run)
    before = run.config.read_bytes()
    changed = {**CONFIG, "gate": {"tasks": 8, "kind": "none"}, "seed": 7}
    with pytest.raises(RunConflict) as caught:
        opened(run, changed)
    assert str(caught.value) == (
        f"{run.path} holds a run with another configuration:\n"
        "  seed: 42 -> 7\n"
        "  gate.tasks: 1 -> 8\n"
        "  gate.kind: published -> none\n"
        "Directories are never overwritten: give the old values to go on with that run, "
        "or start a new one with another paths.runs, or move the directory away."
    )
    assert caught.value.exit_code == 2
    assert run.config.read_bytes() == before


def test_a_finished_run_of_another_configuration_is_refused_too(run):
    opened(run)
    run.write_status(RunStatus.COMPLETED)
    run.result.write_text('{"failures": 0}')
    with pytest.raises(RunConflict, match=r"seed: 42 -> 7"):
        opened(run, {**CONFIG, "seed": 7})


def test_what_cannot_change_a_result_may_change_and_is_recorded(run):
    opened(run)
    moved = {**CONFIG, "backbone": {**CONFIG["backbone"], "base_url": "http://b:9000/v1"}}
    assert opened(run, moved).state is RunState.UNFINISHED
    assert yaml.safe_load(run.config.read_text()) == moved


def test_a_float_written_in_another_way_is_no_change(run):
    opened(run)
    same = {**CONFIG, "reinforce": {"lr": 0.00001}}
    assert opened(run, same).state is RunState.UNFINISHED


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a: [1", "not readable as YAML"),
        (b"\xff\xfe\x00", "not readable as YAML"),
        (b"- 1", "got list; a configuration is a mapping"),
        (b"", "got NoneType; a configuration is a mapping"),
    ],
)
def test_a_configuration_that_cannot_be_read_is_a_conflict(run, content, message):
    opened(run)
    run.config.write_bytes(content)
    with pytest.raises(RunConflict, match=message):
        opened(run)


def test_a_directory_of_something_else_is_left_alone(run):
    run.path.mkdir(parents=True)
    (run.path / "thesis.tex").write_text("mine")
    with pytest.raises(RunConflict, match=r"holds thesis\.tex but no config\.yaml"):
        opened(run)
    assert [p.name for p in run.path.iterdir()] == ["thesis.tex"]


def test_a_file_in_its_place_is_named(tmp_path):
    (tmp_path / "run").write_text("")
    with pytest.raises(StorageError, match="run"):
        opened(RunDirectory(tmp_path / "run"))


def test_what_a_killed_write_left_is_swept_away(run):
    opened(run)
    leftovers = [run.path / ".status.json.123.tmp"]
    leftovers += [run.path / d / f".x.{d}.tmp" for d in ("pool", "checkpoint")]
    for leftover in leftovers:
        leftover.parent.mkdir(exist_ok=True)
        leftover.write_text("half")
    (run.path / "kept.tmp").touch()
    opened(run)
    assert not any(leftover.exists() for leftover in leftovers)
    assert (run.path / "kept.tmp").exists()
