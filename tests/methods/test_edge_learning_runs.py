"""Edge learning as a job in the simulated world: its files, the verbs, kills, bad configuration."""

import json
import re
import signal
from pathlib import Path

import pytest
import torch

from sero.cli import main
from sero.config import composer, parse_config
from sero.config.variant import resolved_data, run_directory
from sero.errors import ConfigError
from sero.running.job import run_job
from sero.storage import read_json, read_lines

ROOT = Path(__file__).resolve().parents[2]
COMMON = (
    *("experiment=single", "seed=3", "logger=none", "progress=none"),
    *("benchmark.n_train=6", "benchmark.n_heldout=12"),
)
SMALL = (*COMMON, "method=gptswarm", "method.passes=4", "method.graphs=5")
"""24 episodes, gradient steps after 5, 10, 15, 20 and 24."""


@pytest.fixture(scope="module")
def composing():
    with composer(ROOT / "conf", "train") as made:
        yield made


@pytest.fixture(scope="module")
def work(composing):
    def work(folder, *more, base=SMALL):
        words = [*base, *more, *(f"paths.{name}={folder / name}" for name in ("runs", "cache"))]
        composed = composing.compose(words)
        config = parse_config(composed.config, composed.choices)
        directory = run_directory(composed.config, composed.choices, composing)
        outcome = run_job(config, directory, resolved_data(composed.config), train=True)
        assert outcome.exit_code == 0
        return directory

    return work


@pytest.fixture(scope="module")
def finished(tmp_path_factory, work):
    """A run and its seed pool's, with their reports."""
    folder = tmp_path_factory.mktemp("edges")
    work(folder, "method=static", base=COMMON)
    return work(folder)


def test_a_run_leaves_the_files_of_the_contract(finished):
    rows = list(read_lines(finished / "episodes.jsonl"))
    assert [row["episode"] for row in rows] == list(range(1, 25))
    assert [row["episode"] for row in rows if "edge_probabilities" in row] == [5, 10, 15, 20, 24]
    assert len(list(read_lines(finished / "metrics.jsonl"))) == 24
    assert len(list(read_lines(finished / "traces.jsonl"))) == 24 + 12
    seed, final = ((finished / "pool" / name).read_bytes() for name in ("seed.yaml", "final.yaml"))
    assert seed == final
    assert list((finished / "pool").glob("episode_*")) == []
    result = read_json(finished / "result.json")
    assert (result["method"], result["n"], result["failures"]) == ("gptswarm", 12, 0)
    assert result["training_cost"]["calls"] == sum(row["calls"] for row in rows)
    assert (finished / "report.html").is_file()


def test_the_evaluated_graph_is_the_one_the_last_line_tells(finished):
    """Readable with nothing but a JSON reader."""
    last = json.loads((finished / "episodes.jsonl").read_text().splitlines()[-1])
    theta = last["edge_probabilities"]
    state = torch.load(finished / "checkpoint" / "last.pt", weights_only=True)["controller"]
    exact = torch.sigmoid(state["logits"]).tolist()
    assert exact == [theta[a][b] for a, b in state["pairs"]]
    graphs = set()
    for row in read_lines(finished / "traces.jsonl"):
        if row["phase"] != "eval":
            continue
        rollout = row["rollout"]
        order = rollout["order"]
        expected = {
            (a, b) for i, a in enumerate(order) for b in order[i + 1 :] if theta[a][b] > 0.5
        }
        assert {tuple(edge) for edge in rollout["edges"]} == expected
        graphs.add(str(rollout["edges"]))
    assert len(graphs) > 1  # teams and orders differ


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("log", "{run}"), "24 episodes: 24 graphs drawn, 5 gradient steps; state completed"),
        (("log", "{run}", "--last", "1", "--details"), "edges kept, probability above 0.5: "),
        (("view", "{run}"), "report.html"),
        (("diff", "{run}", "0", "24"), "no difference"),
        (("report", "{run}/../../../.."), "Difference to static"),
        (("report", "{run}", "--format", "md"), "| 1 | 12 |"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_every_verb_reads_the_run(finished, capsys, words, found):
    with pytest.raises(SystemExit) as ended:
        main([word.format(run=finished) for word in words])
    out, err = capsys.readouterr()
    assert (ended.value.code, err) == (0, "")
    assert found in out


def test_the_page_shows_the_curves_and_no_warning_about_edits(finished):
    page = (finished / "report.html").read_text()
    assert "mean probability of the learnt edges" in page
    assert "learnt edges above the threshold" in page
    assert "score, mean of 24" in page
    for word in ("before the edit", "reward, mean of"):  # no edit, and the reward is the score
        assert word not in page
    for word in ("p_max", "collapsed", "gradient steps:", "Early stop"):
        assert word not in page.split("<h2>Warnings</h2>")[1].split("<h2>")[0]


def test_a_full_pool_is_no_matter_where_nothing_is_added(tmp_path, work, caplog):
    directory = work(tmp_path, "pool.p_max=8", "pool.p_min=4", "method.passes=1")
    assert "Add is illegal" not in caplog.text
    assert "The pool was full" not in (directory / "report.html").read_text()


def test_two_runs_are_equal_and_a_finished_one_is_left_alone(finished, tmp_path, work, monkeypatch):
    monkeypatch.setattr("sero.running.job.write_page", lambda page: None)
    again = work(tmp_path)
    for name in ("episodes.jsonl", "predictions.jsonl", "metrics.jsonl", "pool/final.yaml"):
        assert (again / name).read_bytes() == (finished / name).read_bytes()
    before = (again / "result.json").stat().st_mtime_ns
    assert work(tmp_path) == again
    assert (again / "result.json").stat().st_mtime_ns == before


def test_another_seed_draws_other_graphs(finished, tmp_path, work, monkeypatch):
    monkeypatch.setattr("sero.running.job.write_page", lambda page: None)
    other = work(tmp_path, "seed=4", "benchmark.world=3", "encoder.world=3", "backbone.world=3")
    ours, theirs = (list(read_lines(run / "episodes.jsonl")) for run in (finished, other))
    assert {row["task"] for row in ours} == {row["task"] for row in theirs}
    assert [row["edges"] for row in ours] != [row["edges"] for row in theirs]


# ---- killed


@pytest.mark.parametrize(
    ("point", "number", "episode"),
    [
        ("pre", 5, None),  # before the first checkpoint
        ("pre", 28, 10),  # between two, a batch open
        ("eval", 9, 24),
    ],
)
def test_a_killed_run_continues_to_the_same_end(
    finished, tmp_path, work, run_apart, monkeypatch, point, number, episode
):
    monkeypatch.setattr("sero.running.job.write_page", lambda page: None)
    words = [*SMALL, *(f"paths.{name}={tmp_path / name}" for name in ("runs", "cache"))]
    assert run_apart(tmp_path, point, number, words) == -signal.SIGKILL
    (killed,) = (tmp_path / "runs").glob("single/*/gptswarm/skillworld/seed_3")
    assert not (killed / "result.json").exists()
    checkpoint = killed / "checkpoint" / "last.pt"
    assert checkpoint.exists() == (episode is not None)
    if episode is not None:
        saved = torch.load(checkpoint, weights_only=True)
        assert saved["progress"]["episode"] == episode

    assert work(tmp_path) == killed

    for name in ("episodes.jsonl", "predictions.jsonl", "metrics.jsonl", "pool/final.yaml"):
        assert (killed / name).read_bytes() == (finished / name).read_bytes(), name
    ours, theirs = (
        torch.load(run / "checkpoint" / "last.pt", weights_only=True) for run in (killed, finished)
    )
    assert torch.equal(ours["controller"]["logits"], theirs["controller"]["logits"])
    for part in ("controller", "progress"):
        assert str(ours[part]) == str(theirs[part])


# ---- configuration


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        (["method.lr=0"], "method.lr: got 0"),
        (["method.graphs=0"], "method.graphs: got 0"),
        (["method.graphs=2.5"], "method.graphs: got 2.5"),
        (["method.passes=0"], "method.passes: got 0"),
        (["method.initial=1"], "method.initial: got 1"),
        (["method.initial=0"], "method.initial: got 0"),
        (["method.threshold=1"], "method.threshold: got 1"),
        (["method.threshold=-0.1"], "method.threshold: got -0.1"),
        (["method.baseline=mean"], "method.baseline: got 'mean'.*'leave_one_out' or 'none'"),
        (["method.graphs=1"], "method.graphs: got 1, and method.baseline=leave_one_out compares"),
        (["dag.order=flat"], "dag.order: flat has no edges, and method=gptswarm learns forward"),
        (["dag.order=random"], "dag.order: random goes against the stages, and method=gptswarm"),
        (["method.lr=0", "method.initial=2"], "2 problem"),
    ],
)
def test_values_out_of_range_are_refused_with_their_keys(composing, changes, fault):
    composed = composing.compose(["method=gptswarm", *changes])
    with pytest.raises(ConfigError, match=fault):
        parse_config(composed.config, composed.choices)


def test_what_fits_together_is_taken(composing):
    composed = composing.compose(["method=gptswarm", "method.graphs=1", "method.baseline=none"])
    cfg = parse_config(composed.config, composed.choices).method.config
    assert (cfg.graphs, cfg.baseline) == (1, "none")


@pytest.mark.parametrize("order", ["flat", "random"])
def test_any_order_is_fine_where_no_edge_is_learnt(composing, order):
    composed = composing.compose(["method=static", f"dag.order={order}"])
    assert parse_config(composed.config, composed.choices).dag.order == order


def test_defaults_are_as_published_but_for_the_marked_ones(composing):
    composed = composing.compose(["method=gptswarm"])
    cfg = parse_config(composed.config, composed.choices).method.config
    assert (cfg.lr, cfg.graphs, cfg.initial, cfg.threshold) == (0.1, 4, 0.5, 0.5)
    assert cfg.baseline == "leave_one_out"
    for profile in ("qwen3_8b", "hosted"):  # as many rollouts as Sero has episodes
        train = composing.compose(["method=gptswarm", f"profile={profile}"]).config.train
        assert cfg.passes == train.warmup_epochs + train.main_epochs
    text = (ROOT / "conf" / "method" / "gptswarm.yaml").read_text()
    values = text.partition("name: gptswarm\n")[2].splitlines()
    assert all(re.search(r"# \w.*\[[PO]\]$", line) for line in values)


def test_edges_that_nobody_learnt_are_not_evaluated():
    with composer(ROOT / "conf", "evaluate") as composing:
        composed = composing.compose([*COMMON, "method=gptswarm"])
        with pytest.raises(ConfigError, match="method: gptswarm answers with what its training"):
            parse_config(composed.config, composed.choices)
