"""Evaluation resumes at the first open item, costs what it costs, and retries what failed."""

import contextlib
import dataclasses
import shutil
import sqlite3

import pytest

from sero.backbones.base import ChatMessage, Request, request_key
from sero.errors import BudgetSpent, RequestRejected, ServerUnavailable, StorageError
from sero.inference.trace import CallKind, Cost, Rollout, spoken
from sero.running import evaluating
from sero.running.build import assemble, load_inputs
from sero.running.directory import RunDirectory
from sero.running.evaluating import evaluate_run, item_lines_length, predicted
from sero.running.progress import NoProgress
from sero.storage import JsonLines, read_json, write_json

STATIC = "method=static"
ITEMS = [f"test-{i:03d}" for i in range(6)]


@pytest.fixture(autouse=True)
def without_report(no_report):
    """None of these tests reads it."""


def spent(row):
    return Cost(**{name: row[name] for name in ("calls", "prompt_tokens", "completion_tokens")})


def refusing(item, status=400):
    """Refuses every request about one item."""

    def before(request):
        if item in request.messages[-1].content:
            raise RequestRejected("this prompt is refused", status=status)

    return before


# ---- what is kept -------------------------------------------------------------------------------

TRAINED = b'{"episode":1}\n{"episode":2}\n'
EVALUATED = b'{"item":"a"}\n{"item":"bb"}\n{"item":"c"}\n'


@pytest.mark.parametrize(
    ("content", "items", "evaluated"),
    [
        (EVALUATED, 0, 0),
        (EVALUATED, 1, 13),
        (EVALUATED, 2, 27),
        (EVALUATED, 3, 40),
        (EVALUATED, 9, 40),  # written without traces since
        (EVALUATED[:-1], 3, 27),  # torn
        (EVALUATED[:20], 2, 13),
        (EVALUATED[:5], 1, 0),
        (b"", 2, 0),  # evaluate.traces=false
    ],
)
def test_traces_of_kept_predictions_are_kept(tmp_path, content, items, evaluated):
    path = tmp_path / "traces.jsonl"
    path.write_bytes(TRAINED + content)
    assert item_lines_length(path, len(TRAINED), items) == len(TRAINED) + evaluated


def test_without_a_file_there_is_nothing_to_keep(tmp_path):
    assert item_lines_length(tmp_path / "traces.jsonl", 0, 3) == 0
    assert predicted(tmp_path / "predictions.jsonl") == []


@pytest.mark.parametrize(
    ("text", "ids"),
    [("", []), ('{"id":"a"}\n', ["a"]), ('{"id":"a"}\n{"id":"b"}', ["a"]), ('{"id', [])],
)
def test_predicted_items_are_those_with_a_whole_line(tmp_path, text, ids):
    path = tmp_path / "predictions.jsonl"
    path.write_text(text)
    assert predicted(path) == ids


# ---- cut anywhere, it goes on to the same end ---------------------------------------------------


def cut(path, keep, *, torn, behind=0):
    """Keep `behind` bytes and then `keep` lines, and half of the next one if `torn`."""
    raw = path.read_bytes()
    lines = raw[behind:].splitlines(keepends=True)
    kept = raw[:behind] + b"".join(lines[:keep])
    if torn and keep < len(lines):
        kept += lines[keep][: len(lines[keep]) // 2]
    path.write_bytes(kept)


def left_running(directory):
    (directory / "result.json").unlink()
    write_json(
        directory / "status.json",
        {"state": "running", "reason": None, "phase": None, "episode": None},
    )


@pytest.mark.parametrize("kept", [0, 1, 3, 6])
@pytest.mark.parametrize("torn", [False, True])
def test_a_file_cut_anywhere_is_completed(bench, undisturbed, outcome, rows, kept, torn):
    """Traces are durable before predictions: they hold as many lines, or any number more."""
    whole = undisturbed.directory(STATIC)
    for traces in sorted({kept, min(kept + 1, 6), 6}):
        shutil.rmtree(bench.folder)
        shutil.copytree(undisturbed.folder, bench.folder)
        directory = bench.directory(STATIC)
        left_running(directory)
        cut(directory / "predictions.jsonl", kept, torn=torn)
        cut(directory / "traces.jsonl", traces, torn=torn)

        bench.run(STATIC)

        assert outcome(directory) == outcome(whole)
        assert [row["item"] for row in rows(directory / "traces.jsonl")] == ITEMS
        assert bench.spy.asked == []


@pytest.mark.parametrize(("kept", "traces"), [(0, 0), (0, 4), (3, 5), (6, 6)])
@pytest.mark.parametrize("torn", [False, True])
def test_traces_of_training_stay_before_those_of_evaluation(
    bench, undisturbed, outcome, rows, kept, traces, torn
):
    shutil.copytree(undisturbed.folder, bench.folder, dirs_exist_ok=True)
    directory = bench.directory()
    left_running(directory)
    path = directory / "traces.jsonl"
    before, every = path.read_bytes(), rows(path)
    lines = before.splitlines(keepends=True)
    trained = sum(len(lines[i]) for i, row in enumerate(every) if row["phase"] != "eval")
    assert 0 < trained < len(before)
    cut(directory / "predictions.jsonl", kept, torn=torn)
    cut(path, traces, torn=torn, behind=trained)

    bench.run()

    assert outcome(directory) == outcome(undisturbed.directory())
    assert path.read_bytes()[:trained] == before[:trained]
    assert [row["item"] for row in rows(path)] == [row["item"] for row in every]


def test_lines_of_other_items_are_refused(bench, undisturbed):
    shutil.copytree(undisturbed.folder, bench.folder, dirs_exist_ok=True)
    directory = bench.directory(STATIC)
    left_running(directory)
    path = directory / "predictions.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[1] + lines[0])
    with pytest.raises(StorageError, match="does not begin with the held-out items"):
        bench.run(STATIC)
    assert path.read_bytes() == lines[1] + lines[0]
    assert read_json(directory / "status.json")["state"] == "failed"


def test_without_traces_there_are_only_those_of_training(bench, undisturbed, rows):
    bench.run("evaluate.traces=false")
    directory, whole = bench.directory("evaluate.traces=false"), undisturbed.directory()
    assert {row["phase"] for row in rows(directory / "traces.jsonl")} >= {"pre", "post"}
    assert all(row["episode"] is not None for row in rows(directory / "traces.jsonl"))
    name = "predictions.jsonl"
    assert (directory / name).read_bytes() == (whole / name).read_bytes()


# ---- replies, then traces, then predictions -----------------------------------------------------


class Plain:
    """One call per item, and no commit of its own: what is stored, the evaluation stored."""

    def __init__(self, shop):
        self._shop = shop
        self.state = shop.inputs.seed_state

    async def answer(self, prompt, call):
        request = request_of(prompt)
        completion = await self._shop.backbone.generate(request)
        said = spoken("solo", CallKind.AGGREGATE, completion, trimmed=0)
        bare = Rollout.without_terminal(("solo",), {})
        return dataclasses.replace(bare, messages=(said,), answer=completion.text, reason="")


def request_of(prompt):
    return Request(
        messages=(ChatMessage("user", prompt),), temperature=0.0, max_tokens=64, sample_index=(0,)
    )


async def test_a_line_is_written_when_its_replies_and_its_trace_are_durable(
    bench, tmp_path, monkeypatch, rows
):
    config, _, _ = bench.job(STATIC)
    shop = assemble(config, load_inputs(config))
    shop = dataclasses.replace(shop, method=Plain(shop))
    prompts = {task.id: task.prompt for task in shop.split.heldout}
    cache = tmp_path / "cache" / "completions.sqlite"
    run = RunDirectory(tmp_path / "run")
    seen = []

    class Checked(JsonLines):
        def append(self, record):
            item = record["id"] if "id" in record else record["item"]
            key = request_key(shop.backbone.identity, request_of(prompts[item]))
            with contextlib.closing(sqlite3.connect(cache)) as other:
                query = "SELECT COUNT(*) FROM completions WHERE key = ?"
                assert other.execute(query, (key,)).fetchone() == (1,), item
            if "id" in record:
                assert item in [row["item"] for row in rows(run.traces)]
            seen.append(item)
            super().append(record)

    monkeypatch.setattr(evaluating, "JsonLines", Checked)
    monkeypatch.setattr(evaluating, "FLUSH_ITEMS", 2)
    traces = Checked(run.traces)
    await evaluate_run(
        shop,
        run,
        traces,
        None,
        NoProgress(),
        run_seed=1,
        concurrency=2,
        check_budget=lambda cost: None,
    )
    a, b, c, d, e, f = ITEMS
    assert seen == [a, b, a, b, c, d, c, d, e, f, e, f]
    traces.close()
    await shop.backbone.close()


def test_a_kill_at_any_write_finds_every_reply_in_the_cache(
    bench, undisturbed, outcome, monkeypatch, rows
):
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
                disk.backup(copied)  # what another process would read now
            copies.append(copy)

    with monkeypatch.context() as patch:
        patch.setattr(evaluating, "FLUSH_ITEMS", 2)
        patch.setattr(evaluating, "JsonLines", Copied)
        patch.setattr("sero.running.saved.JsonLines", Copied)
        bench.run(STATIC)
    done = []
    for copy in copies:
        left = dataclasses.replace(bench, folder=copy)
        directory = left.directory(STATIC)
        done.append(len(predicted(directory / "predictions.jsonl")))
        if not done[-1] or done[-1] == (done[-2] if len(done) > 1 else 0):
            continue

        # The same work again behind this cache asks nothing about an item with a line.
        places = f"paths.runs={copy / 'again'}"
        left.run(STATIC, places)
        for item in ITEMS[: done[-1]]:
            assert left.spy.of_item(item) == []
        left.run(STATIC)
        assert outcome(directory) == outcome(undisturbed.directory(STATIC))
    assert [n for i, n in enumerate(done) if n and n != done[i - 1]] == [2, 4, 6]


def test_lines_a_full_disk_refused_are_not_written_twice(
    bench, undisturbed, outcome, monkeypatch, rows
):
    """The disk refuses once, and takes what is tried again on the way out."""
    full = True

    class Full(JsonLines):
        def sync(self):
            nonlocal full
            if full and self.path.name == "predictions.jsonl":
                full = False
                raise StorageError("the disk is full")
            super().sync()

    with monkeypatch.context() as patch:
        patch.setattr(evaluating, "FLUSH_ITEMS", 2)
        patch.setattr(evaluating, "JsonLines", Full)
        with pytest.raises(StorageError):
            bench.run(STATIC)
    directory = bench.directory(STATIC)
    assert predicted(directory / "predictions.jsonl") == ITEMS[:2]
    bench.run(STATIC)
    assert outcome(directory) == outcome(undisturbed.directory(STATIC))


# ---- the budget ---------------------------------------------------------------------------------


def costs_of(undisturbed, rows, unit):
    """What training cost, and each held-out item, in calls or tokens."""

    def amount(row):
        cost = spent(row)
        return cost.calls if unit == "calls" else cost.prompt_tokens + cost.completion_tokens

    directory = undisturbed.directory()
    trained = sum(amount(row) for row in rows(directory / "episodes.jsonl"))
    return trained, [amount(row) for row in rows(directory / "predictions.jsonl")]


@pytest.mark.parametrize(
    ("unit", "items"), [("calls", 0), ("calls", 1), ("calls", 5), ("tokens", 1)]
)
def test_the_budget_counts_training_and_evaluation(
    bench, undisturbed, outcome, status_of, rows, unit, items
):
    trained, costs = costs_of(undisturbed, rows, unit)
    limit = trained + sum(costs[:items])
    directory = bench.directory()
    with pytest.raises(
        BudgetSpent, match=rf"budget.{unit}: {limit:,} spent of {limit:,}"
    ) as caught:
        bench.run(f"budget.{unit}={limit}")
    assert caught.value.exit_code == 75
    assert predicted(directory / "predictions.jsonl") == ITEMS[:items]
    assert len(rows(directory / "episodes.jsonl")) == 12
    assert not (directory / "result.json").exists()
    status = status_of(directory)
    assert (status["state"], status["phase"], status["episode"]) == ("interrupted", "eval", 12)
    assert str(caught.value) == status["reason"]

    # The same budget again leaves everything as it is and asks nothing.
    before = outcome(directory)
    with pytest.raises(BudgetSpent):
        bench.run(f"budget.{unit}={limit}")
    assert outcome(directory) == before
    assert bench.spy.asked == []

    bench.run(f"budget.{unit}={limit + sum(costs[items:])}")
    assert outcome(directory) == outcome(undisturbed.directory())
    assert status_of(directory)["state"] == "completed"


@pytest.mark.parametrize(("unit", "short"), [("calls", 0), ("calls", 1), ("tokens", 1)])
def test_a_budget_spent_by_the_last_item_is_enough(bench, undisturbed, rows, unit, short):
    """The limit is looked at before an item: one that is left over lets the whole item in."""
    trained, costs = costs_of(undisturbed, rows, unit)
    limit = trained + sum(costs) - short
    assert bench.run(f"budget.{unit}={limit}").exit_code == 0
    result = read_json(bench.directory() / "result.json")
    assert result["n"] == 6
    # Finished is finished, whatever the budget says now.
    assert bench.run(f"budget.{unit}=1").exit_code == 0


# ---- failed items -------------------------------------------------------------------------------


def test_a_failed_item_is_marked_left_out_and_retried_alone(
    bench, undisturbed, outcome, status_of, rows
):
    bad = ITEMS[2]
    directory, whole = bench.directory(STATIC), undisturbed.directory(STATIC)
    assert bench.run(STATIC, before=refusing(bad)).exit_code == 0
    asked = len(bench.spy.asked)
    failed, healthy = rows(directory / "predictions.jsonl"), rows(whole / "predictions.jsonl")
    assert failed[:2] + failed[3:] == healthy[:2] + healthy[3:]
    assert failed[2] == {
        **dict.fromkeys(("answer", "score")),
        "id": bad,
        "group": healthy[2]["group"],
        "subgroup": "",
        "response": "",
        "reason": "",
        "failure": "RequestRejected: this prompt is refused",
        "metrics": {},
        **dict.fromkeys(("calls", "prompt_tokens", "completion_tokens"), 0),
    }
    trace = rows(directory / "traces.jsonl")[2]
    assert (trace["item"], trace["score"], trace["rollout"]) == (bad, None, None)
    result = read_json(directory / "result.json")
    assert (result["n"], result["failures"]) == (5, 1)
    scores = [row["score"] for row in failed if row["score"] is not None]
    assert result["mean_score"] == pytest.approx(sum(scores) / 5, abs=1e-12)
    assert result["calls"] == sum(row["calls"] for row in failed)
    assert status_of(directory)["state"] == "completed"

    assert bench.run(STATIC).exit_code == 0
    assert bench.spy.asked
    assert bench.spy.of_item(bad) == bench.spy.asked
    assert outcome(directory) == outcome(whole)
    result, healthy_result = (read_json(path / "result.json") for path in (directory, whole))
    assert result["requests"] == asked + len(bench.spy.asked)
    varying = ("requests", "cache_hits", "wall_s")
    assert {**result, **dict.fromkeys(varying)} == {**healthy_result, **dict.fromkeys(varying)}

    bench.spy = None
    bench.run(STATIC)  # finished now
    assert bench.spy is None


def test_an_item_that_fails_again_stays_failed(bench, rows, status_of):
    directory = bench.directory(STATIC)
    for _ in range(2):
        bench.run(STATIC, before=refusing(ITEMS[0]))
        assert read_json(directory / "result.json")["failures"] == 1
        assert [row["id"] for row in rows(directory / "predictions.jsonl")] == ITEMS
        assert status_of(directory)["state"] == "completed"
        assert bench.spy.of_item(ITEMS[0])


def test_a_run_without_any_score_is_no_success(bench, undisturbed, outcome):
    directory = bench.directory(STATIC)
    assert bench.run(STATIC, before=refusing("test-")).exit_code == 75
    result = read_json(directory / "result.json")
    assert (result["n"], result["failures"], result["mean_score"]) == (0, 6, None)
    assert bench.run(STATIC).exit_code == 0
    assert outcome(directory) == outcome(undisturbed.directory(STATIC))


def test_a_retry_keeps_traces_of_training_and_of_the_other_items(bench, undisturbed, outcome, rows):
    bench.run(before=refusing(ITEMS[5]))
    bench.run()
    directory = bench.directory()
    assert outcome(directory) == outcome(undisturbed.directory())
    assert bench.spy.of_item(ITEMS[5]) == bench.spy.asked


def test_a_retry_that_was_interrupted_is_taken_up_again(bench, undisturbed, outcome, status_of):
    """The server goes away during the retry; the same command tries once more, not the third."""
    directory = bench.directory(STATIC)
    bench.run(STATIC, before=refusing(ITEMS[1]))
    before = outcome(directory)

    def away(request):
        raise ServerUnavailable("no server at http://127.0.0.1:9")

    with pytest.raises(ServerUnavailable):
        bench.run(STATIC, before=away)
    assert outcome(directory) == before
    assert status_of(directory)["state"] == "interrupted"
    bench.run(STATIC)
    assert outcome(directory) == outcome(undisturbed.directory(STATIC))
    assert read_json(directory / "result.json")["failures"] == 0


def test_an_evaluation_interrupted_beside_a_failed_item_goes_on_behind_it(
    bench, undisturbed, outcome, rows
):
    """The failed line stands until the run is finished; then it is retried."""
    directory = bench.directory(STATIC)
    costs = [row["calls"] for row in rows(undisturbed.directory(STATIC) / "predictions.jsonl")]
    limit = sum(costs[:4]) - costs[1]
    with pytest.raises(BudgetSpent):
        bench.run(STATIC, f"budget.calls={limit}", before=refusing(ITEMS[1]))
    assert predicted(directory / "predictions.jsonl") == ITEMS[:4]
    bench.run(STATIC)
    assert bench.spy.of_item(ITEMS[1]) == []
    assert read_json(directory / "result.json")["failures"] == 1
    bench.run(STATIC)
    assert outcome(directory) == outcome(undisturbed.directory(STATIC))


@pytest.mark.parametrize("status", [401, 404])
def test_a_refusal_of_everybody_stops_the_run(bench, undisturbed, outcome, status_of, status):
    directory = bench.directory(STATIC)
    with pytest.raises(RequestRejected):
        bench.run(STATIC, before=refusing(ITEMS[3], status))
    # What stands before it in the split is kept; a line behind it would be a gap.
    done = predicted(directory / "predictions.jsonl")
    assert done == ITEMS[: len(done)]
    assert len(done) <= 3
    assert status_of(directory)["state"] == "interrupted"
    bench.run(STATIC)
    assert outcome(directory) == outcome(undisturbed.directory(STATIC))
