import pytest

from sero.reporting.differences import compare
from sero.reporting.seeds import (
    find_baselines,
    make_blocks,
    most_runs,
    row_estimate,
    unscored_items,
)
from sero.reporting.statistics import estimate, t_interval


def scored(*values, group="g"):
    return {f"i{n}": (group, value) for n, value in enumerate(values)}


def rows_of(*runs):
    (block,) = make_blocks(runs)
    return block, {row.label: row for row in block.rows}


def test_seeds_are_ordered_as_numbers_and_rows_by_score(run):
    runs = [run("a", 10), run("a", 9), run("b", 9, scored(1.0)), run("a", 9, directory="zz")]
    block, rows = rows_of(*runs)
    assert [row.label for row in block.rows] == ["b", "a"]
    assert list(rows["a"].by_seed) == ["9", "10"]
    # The second run of a row and seed is left out and named, in order of the directories.
    assert [r.directory for r in block.repeated] == ["zz"]


def test_order_of_the_runs_does_not_matter(run):
    runs = [run(name, seed) for name in "abc" for seed in (1, 2)]
    assert make_blocks(runs) == make_blocks(reversed(runs))


@pytest.mark.parametrize(
    "change",
    [
        {"scorer": "exact"},
        {"backbone": "hostile"},
        {"benchmark": "other"},
        {"world": "dim 512"},
        {"data": "other"},
    ],
)
def test_runs_that_differ_in_their_setting_are_apart(run, change):
    assert len(make_blocks([run("a"), run("b", setting=change)])) == 2


def test_labels_tell_rows_apart(run):
    runs = [run("a"), run("a", extra="train.batch-4"), run("b", extra="x" * 50)]
    assert [*rows_of(*runs)[1]] == ["a", "a (train.batch-4)", f"b ({'x' * 27}…)"]
    both = [run("a"), run("a", experiment="main")]
    assert [*rows_of(*both)[1]] == ["main: a", "simulator: a"]
    alike = [run("b", extra="x" * 50), run("b", extra="x" * 51)]
    assert all(row.key.variant in label for label, row in rows_of(*alike)[1].items())


@pytest.mark.parametrize(
    ("data", "over_items", "unit"),
    [
        (("w1", "w2"), False, "worlds"),  # a world per seed
        (("w1", "w1"), True, "seeds"),  # one world, two seeds
        (("", ""), False, "worlds"),  # nothing tells whether the items are the same
    ],
)
def test_the_fingerprint_chooses_the_interval(run, data, over_items, unit):
    block, _ = rows_of(*(run(seed=seed, data=d) for seed, d in enumerate(data)))
    assert (block.over_items, block.unit) == (over_items, unit)


def test_mean_over_worlds(run):
    block, rows = rows_of(*(run(seed=s, items=scored(v, v)) for s, v in ((1, 0.2), (2, 0.6))))
    found = row_estimate(rows["reference"], block)
    assert found == t_interval([0.2, 0.6])
    assert (found.mean, found.n) == (pytest.approx(0.4), 2)


def test_mean_over_items_averages_seeds_first(run):
    first = {"a": ("g", 1.0), "b": ("g", 0.0), "c": ("h", 0.5), "d": ("h", 1.0)}
    second = {"a": ("g", 0.0), "b": ("g", 0.0), "c": ("h", 1.0)}
    block, rows = rows_of(run(seed=1, items=first, data="d"), run(seed=2, items=second, data="d"))
    row = rows["reference"]
    # a (1 + 0) / 2, b 0, c (.5 + 1) / 2; d was not scored by both
    assert row_estimate(row, block) == estimate({"g": [0.5, 0.0], "h": [0.75]})
    assert unscored_items(row, block) == 1


def test_differences_over_worlds_by_hand(run):
    ours = [run("a", s, scored(v, v)) for s, v in ((1, 0.6), (2, 0.8), (3, 0.9), (4, 0.1))]
    base = [run("b", s, scored(v, v)) for s, v in ((1, 0.5), (2, 0.6), (3, 0.6))]
    _, rows = rows_of(*ours, *base)
    found = compare(rows["a"], rows["b"], over_items=False)
    # .1, .2, .3 in the worlds both have
    assert found.estimate.mean == pytest.approx(0.2)
    assert found.estimate.high - 0.2 == pytest.approx(0.24841, abs=1e-5)
    assert found.p == pytest.approx(0.07418, abs=1e-5)
    assert (found.runs, found.wins, found.unpaired, found.left_out) == (3, 3.0, 1, 0)


def test_a_tie_is_half_a_win(run):
    a = [run("a", s, scored(v)) for s, v in ((1, 0.5), (2, 0.6), (3, 0.1))]
    b = [run("b", s, scored(0.5)) for s in (1, 2, 3)]
    _, rows = rows_of(*a, *b)
    assert compare(rows["a"], rows["b"], over_items=False).wins == 1.5


def test_items_only_one_of_the_two_scored_are_left_out_and_counted(run):
    ours = {"x": ("g", 1.0), "y": ("g", 0.0)}
    theirs = {"x": ("g", 0.5), "z": ("g", 0.0)}
    _, rows = rows_of(run("a", 1, ours), run("b", 1, theirs))
    found = compare(rows["a"], rows["b"], over_items=False)
    assert (found.estimate.mean, found.left_out) == (0.5, 2)


def test_the_same_seed_on_other_data_is_not_paired(run):
    _, rows = rows_of(run("a", 1), run("b", 1, data="another world"))
    found = compare(rows["a"], rows["b"], over_items=False)
    assert (found.runs, found.other_data, found.estimate.mean, found.p) == (0, 1, None, None)


def test_differences_over_items_by_hand(run):
    a = [run("a", s, scored(*v), data="d") for s, v in ((1, (1, 1, 1, 0)), (2, (1, 1, 0, 0)))]
    b = [run("b", s, scored(*v), data="d") for s, v in ((1, (0, 0, 1, 0)), (2, (0, 1, 0, 0)))]
    block, rows = rows_of(*a, *b)
    assert block.over_items
    found = compare(rows["a"], rows["b"], over_items=True)
    # per item (1 + 1) / 2, (1 + 0) / 2, 0, 0; per seed .5 and .25
    assert found.estimate == estimate({"g": [1.0, 0.5, 0.0, 0.0]})
    assert (found.runs, found.wins) == (2, 2.0)
    assert found.p == pytest.approx(2 / 4)  # ++ and -- of the four patterns


def test_a_row_of_every_item_right_has_no_width(run):
    runs = [run(name, s, scored(1, 1)) for name in "ab" for s in (1, 2)]
    block, rows = rows_of(*runs)
    found = row_estimate(rows["a"], block)
    assert (found.low, found.high) == (1.0, 1.0)
    same = compare(rows["a"], rows["b"], over_items=block.over_items)
    assert (same.p, same.wins) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("names", "asked", "found"),
    [
        (("static", "reference", "sero"), (), ["reference"]),
        (("static", "sero", "x"), (), ["sero"]),
        (("y", "x"), (), ["x"]),  # none of the usual ones: most runs, then the label
        (("ceiling", "y"), (), ["y"]),
        (("reference", "x"), ("x", "nobody"), ["x"]),
        (("reference", "x"), ("x", "reference", "x"), ["x", "reference"]),
        (("reference", "x"), ("nobody",), []),
        (("reference",), (), []),  # nothing to compare with
    ],
)
def test_baselines(run, names, asked, found):
    block, _ = rows_of(*(run(name) for name in names))
    assert [row.label for row in find_baselines(block, asked)] == found


def test_a_baseline_named_by_its_method_is_the_row_with_most_runs(run):
    runs = [run("gate_8", 1, method="sero"), run("gate_4", 1, method="sero")]
    block, rows = rows_of(*runs, run("gate_8", 2, method="sero"))
    assert find_baselines(block, ("sero",)) == (rows["gate_8"],)
    assert most_runs(block.rows) == rows["gate_8"]


def test_the_ceiling_is_a_row_of_a_simulated_block(run):
    block, rows = rows_of(run("ceiling"), run("static"))
    assert block.ceiling == rows["ceiling"]
    real = {"simulated": False}
    block, _ = rows_of(run("ceiling", setting=real), run("static", setting=real))
    assert block.ceiling is None


def rows_by(run, *names, **changes):
    """Rows of `host · by player`, or of a method as it is."""
    runs = []
    for name in names:
        host, _, by = name.partition(" · by ")
        runs.append(run(host, by=by, **changes))
    return rows_of(*runs)


@pytest.mark.parametrize(
    ("names", "base", "ceiling"),
    [
        (("mad · by random", "mad · by ann", "mad · by oracle"), "mad · by random", True),
        (("mad · by ann", "mad · by bob"), "mad · by ann", False),
        # A random assignment of one host says nothing of another, nor does its oracle bound it.
        (("sero", "static", "cot", "mad · by random", "mad · by oracle"), "sero", False),
        (("cot", "mad · by random"), "cot", False),
        (("dmad · by ann", "mad · by random", "mad · by oracle"), "dmad · by ann", False),
        (("static", "static · by random"), "static", False),
    ],
)
def test_an_assignment_is_measured_to_those_of_its_own_host(run, names, base, ceiling):
    block, _ = rows_by(run, *names)
    assert [row.label for row in find_baselines(block, ())] == [base]
    assert (block.ceiling is not None) is ceiling


def test_a_row_as_it_is_goes_before_one_that_candidates_play(run):
    more = [run("static", seed, by="ann") for seed in (1, 2)]
    block, _ = rows_of(*more, run("static", 1), run("cot", 1))
    assert [row.label for row in find_baselines(block, ())] == ["static"]
    # asked for by name, a random assignment of any host will do
    block, _ = rows_by(run, "cot", "mad · by random")
    assert [row.label for row in find_baselines(block, ["random"])] == ["mad · by random"]


def test_two_rules_of_assignment_are_one_host(run):
    runs = [
        run("mad", by=by, rules=rules, extra=rules)
        for rules in ("argmax", "greedy")
        for by in ("meta_debate", "random")
    ]
    block, _ = rows_of(*runs)
    assert find_baselines(block, ())[0].label == "mad · by random (argmax)"
