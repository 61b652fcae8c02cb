import pytest

from sero.reporting.page import gather, pool_lines, pool_states
from sero.reporting.rows import read_row


def test_gather_counts_and_orders(make_run):
    scores = {"a": ("g2", 1.0), "b": ("g1", 0.0), "c": ("g1", 0.5), "d": ("g1", None)}
    page = gather(read_row(make_run(scores=scores)))
    assert (page.overall.n, page.failures) == (3, 1)
    assert page.overall.mean == 0.5
    assert [(name, e.mean, e.n) for name, e in page.groups] == [("g1", 0.25, 2), ("g2", 1.0, 1)]
    assert [p.id for p in page.failed] == ["d"]
    assert page.outcomes == (("–", 2), ("wrong", 1))
    assert page.edits.counts == {"unchanged": 1, "committed": 1, "rejected": 1}
    assert [e.episode for e in page.edits.committed] == [2]
    assert page.edits.reasons == (("rejected", "family_lost", 1), ("rejected", "no_gain", 1))
    assert page.edits.last == 3
    assert "predictions.jsonl" in page.files


def test_the_seed_pool_stands_beside(make_run):
    """Same variant, benchmark and seed: (1 - .5) + (0 - .5) + (.5 - 0) over 3 items."""
    ours = {"a": ("g", 1.0), "b": ("g", 0.0), "c": ("g", 0.5)}
    theirs = {"a": ("g", 0.5), "b": ("g", 0.5), "c": ("g", 0.0)}
    run = make_run(scores=ours)
    assert gather(read_row(run)).baseline is None
    static = make_run(method="static", scores=theirs)
    found = gather(read_row(run)).baseline
    assert found is not None
    assert found.mean == pytest.approx(1 / 3)
    assert found.difference.mean == pytest.approx(0.5 / 3)
    assert gather(read_row(static)).baseline is None
    (static / "predictions.jsonl").write_text("{}\n")
    assert gather(read_row(run)).baseline is None


def test_curves_are_what_was_recorded(make_run):
    page = gather(read_row(make_run()))
    by_title = {curve.title: list(curve.values) for curve in page.curves}
    # Commits 0, 1, 0: means so far 0, 1/2, 1/3.
    assert by_title["acceptance, mean of 24"] == [0.0, 0.5, 1 / 3]
    assert by_title["reward, mean of 24"] == [0.0, 0.125, 0.25 / 3]
    assert by_title["pool size, roles"] == [4.0, 5.0, 5.0]
    assert by_title["largest family share"] == [0.25] * 3
    assert "baseline, reward units" not in by_title


def test_a_run_without_training_has_no_curves(make_run):
    page = gather(read_row(make_run(episodes=[])))
    assert page.curves == ()
    assert page.edits.last == 0


def test_pool_lines_before_and_after(make_run):
    directory = make_run()
    lines = pool_lines(*pool_states(directory))
    assert [line.change for line in lines] == ["", "", "", "", "added"]
    assert (lines[1].card.name, lines[1].ema, lines[1].loo) == ("solver", 0.01, 0.02)
    seed = directory / "pool" / "seed.yaml"
    final = directory / "pool" / "final.yaml"
    whole = final.read_text()
    final.write_text(seed.read_text())
    seed.write_text(whole)
    changes = [line.change for line in pool_lines(*pool_states(directory))]
    assert changes == ["", "", "", "", "removed"]
    final.unlink()  # still training: the latest commit stands in
    assert [line.change for line in pool_lines(*pool_states(directory))] == [""] * 5
    for path in (directory / "pool").iterdir():
        path.unlink()
    assert pool_lines(*pool_states(directory)) == ()
