"""Runs whose roles candidates play: what they write, and that no stop changes any of it."""

import contextlib
import dataclasses
import shutil
import sqlite3
from collections import Counter

import pytest
import yaml

from sero.errors import (
    BudgetSpent,
    ConfigError,
    RequestRejected,
    RunConflict,
    ServerUnavailable,
    UserError,
)
from sero.running import evaluating
from sero.running.evaluating import predicted
from sero.storage import JsonLines, read_json, write_json

DEBATED = ("method=dmad", "assign.by=meta_debate")
TRAINED = (
    *("method=sero", "assign.by=meta_debate", "benchmark.n_train=4", "gate.kind=none"),
    *("credit.loo_every=3", "train.checkpoint_every=2", "policy.hidden=8"),
)
FILES = ("episodes.jsonl", "predictions.jsonl", "assignments.jsonl", "pool/final.yaml")


@pytest.fixture(autouse=True)
def without_report(no_report):
    """None of these tests reads it."""


@pytest.fixture
def bench(debating, tmp_path):
    return debating(tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory, debating):
    """An evaluation and a training with assignments, in one go each; only read."""
    made = debating(tmp_path_factory.mktemp("whole"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sero.running.job.write_page", lambda page: None)
        made.run(*DEBATED)
        made.run(*TRAINED)
    return made


def read(directory):
    return {name: (directory / name).read_bytes() for name in FILES}


def stopping(number, error):
    """Raises at the `number`-th request of the run, whoever is asked."""
    seen = 0

    def before(request):
        nonlocal seen
        seen += 1
        if seen == number:
            raise error

    return before


# ---- what is written ----------------------------------------------------------------------------


def test_a_line_for_every_item_in_the_order_of_the_predictions(whole, rows):
    directory = whole.directory(*DEBATED)
    lines, done = (rows(directory / f"{n}.jsonl") for n in ("assignments", "predictions"))
    assert [line["item"] for line in lines] == [row["id"] for row in done]
    assert {(line["phase"], line["episode"]) for line in lines} == {("eval", None)}
    for line in lines:
        assert list(line["assignment"]) == line["roles"]
        assert set(line["assignment"].values()) <= {"plain", "careful", "quick"}
        assert line["calls"] >= 4 + 4 * 3 + 4 * 3  # criteria, proposals, reviews of four roles
    assert len({tuple(line["assignment"].values()) for line in lines}) > 1


def test_the_host_plays_what_was_assigned(whole, rows):
    directory = whole.directory(*DEBATED)
    backbone = {"plain": None, "careful": "strong", "quick": None}
    for trace, line in zip(
        rows(directory / "traces.jsonl"), rows(directory / "assignments.jsonl"), strict=True
    ):
        assert "assignment" not in trace["rollout"]
        spoken = [m for m in trace["rollout"]["messages"] if m["role"] in line["roles"]]
        assert spoken
        for message in spoken:
            assert message["backbone"] == backbone[line["assignment"][message["role"]]]


def test_training_has_a_line_for_every_rollout(whole, rows):
    directory = whole.directory(*TRAINED)
    traces = [row for row in rows(directory / "traces.jsonl") if "rollout" in row]
    lines = rows(directory / "assignments.jsonl")
    keys = ("episode", "phase", "item")
    assert [[row[k] for k in keys] for row in lines] == [[row[k] for k in keys] for row in traces]
    phases = Counter(line["phase"] for line in lines)
    assert {"pre", "post", "loo", "eval"} <= set(phases)
    for trace, line in zip(traces, lines, strict=True):
        assert sorted(line["assignment"]) == sorted(trace["rollout"]["team"])


def test_without_an_assigner_there_is_no_file(bench):
    bench.run("method=dmad")
    assert not (bench.directory("method=dmad") / "assignments.jsonl").exists()


def test_reduced_runs_of_leave_one_out_send_only_what_is_new(bench, whole, rows):
    """One candidate fewer in the team: the others' proposals, criteria and reviews are known."""
    bench.run(*TRAINED)
    sent = Counter(
        str((spy.identity.model, spy.key(request)))
        for spy in (bench.spy, *bench.further.values())
        for request in spy.asked
    )
    assert set(sent.values()) == {1}
    traces = rows(bench.directory(*TRAINED) / "traces.jsonl")
    said = [m for t in traces if t["phase"] == "loo" for m in t["rollout"]["messages"]]
    debate = [m for m in said if m["kind"] in ("criteria", "proposal", "review")]
    assert debate
    # each reduced run repeats the debate of its task's base run, and that is most of the calls
    assert sum(not m["cached"] for m in debate) < len(debate) / 2


# ---- a stop anywhere ----------------------------------------------------------------------------


@pytest.mark.parametrize("items", [1, 3, 5])
def test_an_evaluation_that_a_budget_stops_goes_on_to_the_same_end(bench, whole, rows, items):
    done = rows(whole.directory(*DEBATED) / "predictions.jsonl")
    limit = sum(row["calls"] for row in done[:items])
    directory = bench.directory(*DEBATED)
    with pytest.raises(BudgetSpent):
        bench.run(*DEBATED, f"budget.calls={limit}")
    assert len(predicted(directory / "predictions.jsonl")) == items
    assert len(rows(directory / "assignments.jsonl")) == items
    bench.run(*DEBATED)
    assert read(directory) == read(whole.directory(*DEBATED))


@pytest.mark.parametrize("number", [3, 40, 111])
def test_an_evaluation_whose_server_goes_away_goes_on(bench, whole, number):
    with pytest.raises(ServerUnavailable):
        bench.run(*DEBATED, before=stopping(number, ServerUnavailable("away")))
    bench.run(*DEBATED)
    assert read(bench.directory(*DEBATED)) == read(whole.directory(*DEBATED))


@pytest.mark.parametrize("number", [20, 400, 700])
def test_a_training_whose_server_goes_away_goes_on(bench, whole, outcome, number):
    with pytest.raises(ServerUnavailable):
        bench.run(*TRAINED, before=stopping(number, ServerUnavailable("away")))
    directory = bench.directory(*TRAINED)
    assert not (directory / "result.json").exists()
    bench.run(*TRAINED)
    assert read(directory) == read(whole.directory(*TRAINED))
    assert outcome(directory) == outcome(whole.directory(*TRAINED))


@pytest.mark.parametrize(
    ("words", "kept", "further"),
    [
        *((DEBATED, kept, further) for kept in (0, 2) for further in (0, 1)),
        *((TRAINED, kept, 1) for kept in (0, 2)),
        *((words, 6, 0) for words in (DEBATED, TRAINED)),
    ],
)
def test_assignments_cut_behind_the_predictions_are_written_again(
    bench, whole, words, kept, further
):
    """Traces and assignments are durable before predictions: they hold as many lines, or more."""
    shutil.copytree(whole.folder, bench.folder, dirs_exist_ok=True)
    # the copy keeps the directory of the other roster's path
    (found,) = (bench.folder / "runs").glob(f"single/*/{words[0].partition('=')[2]}/toy/seed_42")
    directory = bench.directory(*words)
    directory.parent.mkdir(parents=True, exist_ok=True)
    found.rename(directory)
    resolved = bench.job(*words)[2]
    _own_roster(directory, resolved)
    (directory / "result.json").unlink()
    state = {"state": "running", "reason": None, "phase": None, "episode": None}
    write_json(directory / "status.json", state)
    for name, keep in (("predictions", kept), ("assignments", kept + further)):
        path = directory / f"{name}.jsonl"
        lines = path.read_bytes().splitlines(keepends=True)
        trained = len(lines) - 6
        path.write_bytes(b"".join(lines[: trained + keep]) + b"".join(lines[trained + keep :])[:9])
    bench.run(*words)
    assert read(directory) == read(whole.directory(*words))
    assert bench.spy.asked == []


def _own_roster(directory, resolved):
    """The moved run's configuration names the roster of its new place."""
    config = yaml.safe_load((directory / "config.yaml").read_text())
    config["assign"]["roster"] = resolved["assign"]["roster"]
    config["paths"] = resolved["paths"]
    (directory / "config.yaml").write_text(yaml.safe_dump(config))


def test_a_kill_at_any_write_leaves_what_a_run_goes_on_from(bench, whole, monkeypatch):
    """Each write of an evaluation is followed by a copy of the disk, as a kill would leave it."""
    copies = []

    class Copied(JsonLines):
        def sync(self):
            super().sync()
            copy = bench.folder.with_name(f"{bench.folder.name}-{len(copies)}")
            shutil.copytree(bench.folder / "runs", copy / "runs")
            (copy / "cache").mkdir()
            name = "cache/completions.sqlite"
            with (
                contextlib.closing(sqlite3.connect(bench.folder / name)) as disk,
                contextlib.closing(sqlite3.connect(copy / name)) as copied,
            ):
                disk.backup(copied)
            copies.append(copy)

    with monkeypatch.context() as patch:
        patch.setattr(evaluating, "FLUSH_ITEMS", 2)
        patch.setattr(evaluating, "JsonLines", Copied)
        patch.setattr("sero.running.saved.JsonLines", Copied)
        bench.run(*DEBATED)
    assert len(copies) >= 9  # traces, assignments and predictions of three batches
    for copy in copies[1::2]:
        left = dataclasses.replace(bench, folder=copy)
        left.run(*DEBATED)
        assert read(left.directory(*DEBATED)) == read(whole.directory(*DEBATED))


# ---- failed items -------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [DEBATED, TRAINED])
def test_a_failed_item_is_retried_alone_and_its_lines_replaced_everywhere(
    bench, whole, rows, outcome, words
):
    task = rows(whole.directory(*words) / "predictions.jsonl")[3]["id"]
    config = bench.job(*words)[0]
    prompt = next(t.prompt for t in config.benchmark.build().load().heldout if t.id == task)

    def refused(request):
        if prompt.strip().removesuffix(".") in request.messages[-1].content:
            raise RequestRejected("this prompt is refused", status=400)

    bench.run(*words, before=refused)
    directory = bench.directory(*words)
    (line,) = [one for one in rows(directory / "assignments.jsonl") if one["item"] == task]
    assert line == {"episode": None, "phase": "eval", "item": task, "assignment": None}
    result = read_json(directory / "result.json")
    assert result["failures"] == 1
    bench.run(*words)
    assert read(directory) == read(whole.directory(*words))
    assert outcome(directory) == outcome(whole.directory(*words))


# ---- other inputs -------------------------------------------------------------------------------


def test_a_roster_changed_on_the_way_is_refused(bench):
    with pytest.raises(BudgetSpent):
        bench.run(*DEBATED, "budget.calls=60")
    path = bench.folder / "het.yaml"
    before = path.read_text()
    path.write_text(before.replace("You are quick.", "You are slow."))
    directory = bench.directory(*DEBATED)
    files = {p: p.read_bytes() for p in directory.rglob("*.jsonl")}
    with pytest.raises(RunConflict, match="the starting pool or the roster changed since"):
        bench.run(*DEBATED)
    assert {p: p.read_bytes() for p in directory.rglob("*.jsonl")} == files
    path.write_text(before)
    assert bench.run(*DEBATED).exit_code == 0


def test_a_roster_with_faults_is_refused_before_anybody_is_asked(bench):
    path = bench.folder / "het.yaml"
    path.write_text(path.read_text().replace("backbone: strong", "backbone: stronger"))
    with pytest.raises(ConfigError, match="stronger"):
        bench.run(*DEBATED)
    assert bench.spy is None


def test_a_method_without_roles_takes_no_players(bench):
    with pytest.raises(UserError, match=r"assign\.by: method=cot has no roles"):
        bench.run("method=cot", "assign.by=plain")
    assert bench.spy is None
