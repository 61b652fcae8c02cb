import pytest
import yaml

from sero.reporting.formats import Format, render_report
from sero.reporting.hindsight import comparator_table, hindsight_lines, hindsights
from sero.reporting.results import make_report
from sero.reporting.seeds import find_baselines, make_blocks, row_estimate
from sero.reporting.table import score_table

REAL = {"simulated": False, "data": "d", "world": ""}


def items(*values):
    return {f"i{n}": ("g", value) for n, value in enumerate(values)}


@pytest.fixture
def block_of(run):
    """`{by: {seed: scores}}` to the block of their runs, a world per seed unless on one split."""

    def make(rows, *, split=None):
        places = {} if split is None else {"data": split, "setting": REAL}
        (block,) = make_blocks(
            run("mad", seed, items(*values), by=by, **places)
            for by, seeds in rows.items()
            for seed, values in seeds.items()
        )
        return block

    return make


WORLDS = {
    "meta_debate": {1: (0.75, 0.75), 2: (0.5, 1.0)},
    "random": {1: (0.5, 0.5), 2: (0.5, 0.5)},
    "ann": {1: (0.5, 0.75), 2: (0.25, 0.25)},
    "bob": {1: (0.25, 0.25), 2: (0.5, 0.75)},
}


def test_rows_are_called_after_who_plays(block_of):
    block = block_of(WORLDS)
    labels = {row.label for row in block.rows}
    assert labels == {f"mad · by {by}" for by in WORLDS}
    (base,) = find_baselines(block, ())
    assert base.label == "mad · by random"
    (base,) = find_baselines(block, ["bob"])
    assert base.label == "mad · by bob"


def test_in_worlds_of_their_own_the_best_is_chosen_for_each(block_of):
    block = block_of(WORLDS)
    (found,) = hindsights(block)
    # .625 by ann in world 1, .625 by bob in world 2; neither has .5 on average
    assert row_estimate(found.best, block).mean == pytest.approx(0.625)
    assert found.chosen == "ann in 1, bob in 1 worlds"
    assert found.best.label == "mad · best uniform, in hindsight"
    against = {base.label: d for _, base, d in found.differences(block)}
    assert against[found.best.label].estimate.mean == pytest.approx(0.125)
    assert against["mad · by random"].estimate.mean == pytest.approx(0.25)
    assert against[found.best.label].wins == 2


def test_on_one_split_one_candidate_is_chosen_for_all_seeds(block_of):
    block = block_of(WORLDS, split="d")
    (found,) = hindsights(block)
    # ann .4375 and bob .4375: a tie goes by name
    assert found.chosen == "ann"
    assert {run.row.by for run in found.best.runs} == {"ann"}
    assert row_estimate(found.best, block).mean == pytest.approx(0.4375)


def test_it_is_shown_below_the_rows_and_marked(block_of):
    block = block_of(WORLDS)
    found = hindsights(block)
    estimates = [row_estimate(row, block) for row in block.rows]
    table = score_table(block, estimates, [one.shown(block) for one in found])
    # both worlds .625: no spread
    assert table.rows[-1] == (
        *("mad · best uniform, in hindsight", "2", "2", "0.625", "0.625 to 0.625", "0.000", "0"),
    )
    assert len(table.rows) == 5
    (remark,) = [note for note in table.notes if "No method and no claim" in note]
    assert (
        "ann in 1, bob in 1 worlds, chosen within each of the worlds knowing the scores of its own "
        "2 items"
    ) in remark
    table = comparator_table(block, found)
    assert [row[:4] for row in table.rows] == [
        ("mad · by meta_debate", "mad · best uniform, in hindsight", "2", "+0.125"),
        ("mad · by meta_debate", "mad · by random", "2", "+0.250"),
    ]
    assert table.title == "Dynamic assignment against its comparators · SIMULATED"
    assert "p" not in table.columns
    assert "chosen within each of the worlds." in table.notes[0]


def test_slugs_that_were_cut_hide_nothing(run):
    """Who plays takes a part of the slug, so that less of the rest is left."""
    runs = [
        run("mad", 1, items(0.5), by=by, extra=extra, rules=rules)
        for rules, mode in (("1f", "argmax"), ("2f", "greedy"))
        for by, extra in (
            ("ann", f"assign.mode-{mode}+gate.ta"),
            ("bob", f"assign.mode-{mode}+gate.ta"),
            ("meta_debate", f"assign.mode-{mode[:2]}"),
        )
    ]
    (block,) = make_blocks(runs)
    assert {row.label for row in block.rows if row.key.by == "meta_debate"} == {
        *("mad · by meta_debate (assign.mode-argmax+gate.ta)",),
        *("mad · by meta_debate (assign.mode-greedy+gate.ta)",),
    }
    assert {row.label.partition(" [")[0] for row in block.rows if row.key.by == "ann"} == {
        "mad · by ann (gate.ta)"
    }


@pytest.mark.parametrize(
    "rows",
    [
        {"ann": {1: (0.5,)}, "meta_debate": {1: (0.5,)}, "random": {1: (0.5,)}},  # one uniform row
        {"": {1: (0.5,)}, "random": {1: (0.5,)}, "oracle": {1: (0.5,)}},
        {"ann": {1: (0.5,)}, "bob": {2: (0.5,)}},  # nothing both have
    ],
)
def test_with_nothing_to_choose_between_there_is_none(block_of, rows):
    block = block_of(rows)
    assert hindsights(block) == ()
    assert comparator_table(block, ()).rows == ()


def test_worlds_that_a_candidate_lacks_are_left_out(block_of):
    rows = {**WORLDS, "bob": {2: (0.5, 0.75)}}
    (found,) = hindsights(block_of(rows))
    assert [run.seed for run in found.best.runs] == ["2"]
    assert found.chosen == "bob"


def test_two_methods_are_kept_apart(run):
    runs = [
        run(method, 1, items(value), by=by, method=method)
        for method, value in (("mad", 0.25), ("dmad", 0.5))
        for by in ("ann", "bob", "meta_debate")
    ]
    (block,) = make_blocks(runs)
    found = hindsights(block)
    assert [one.best.label for one in found] == [
        *("dmad · best uniform, in hindsight", "mad · best uniform, in hindsight")
    ]
    assert [len(one.dynamic) for one in found] == [1, 1]
    assert all(one.random == () for one in found)


def test_the_oracle_is_the_ceiling_of_a_simulated_block(block_of):
    block = block_of({**WORLDS, "oracle": {1: (1.0, 1.0), 2: (1.0, 1.0)}})
    assert block.ceiling is not None
    assert block.ceiling.label == "mad · by oracle"


def test_sentences_for_a_small_sweep(block_of):
    first, second = hindsight_lines(block_of(WORLDS))
    assert first == (
        "mad · best uniform, in hindsight: 0.625, 95 % CI 0.625 to 0.625, n = 2 worlds (ann in 1, "
        "bob in 1 worlds, chosen within each of the worlds knowing the scores of its own 2 items; "
        "the fewer the items, the more it flatters: no method, no claim)"
    )
    assert second.startswith(
        "mad · by meta_debate minus mad · best uniform, in hindsight: +0.125, 95 % CI"
    )


@pytest.mark.parametrize("kind", Format)
def test_every_format_says_it(make_run, kind):
    directories = []
    for by, value in (("ann", 0.25), ("bob", 0.5), ("meta_debate", 0.75)):
        for seed in (1, 2):
            where = make_run(
                method="mad",
                seed=seed,
                variant=f"assign.by-{by}-abcdef",
                scores=items(value, value),
                data=f"world {seed}",
                episodes=[],
            )
            config = yaml.safe_load((where / "config.yaml").read_text())
            (where / "config.yaml").write_text(yaml.safe_dump({**config, "assign": {"by": by}}))
            directories.append(where)
    text = " ".join(render_report(make_report(directories), kind).replace("\\_", "_").split())
    assert text.count("best uniform, in hindsight") >= 3
    assert "No method and no claim" in text
    assert "by meta_debate" in text
    assert "assign.by" not in text.replace(str(directories[0]), "")


def test_over_items_the_best_is_chosen_in_each_resample(block_of):
    """Ann is right on the first half of 20 items, Bob on the second, Meta-Debate on all."""
    halves = {"ann": (1.0,) * 10 + (0.0,) * 10, "bob": (0.0,) * 10 + (1.0,) * 10}
    rows = {by: dict.fromkeys((1, 2), values) for by, values in halves.items()}
    block = block_of({**rows, "meta_debate": {1: (1.0,) * 20, 2: (1.0,) * 20}}, split="d")
    (found,) = hindsights(block)
    best, fixed = found.estimate(block), row_estimate(found.best, block)
    assert (best.mean, best.n) == (0.5, 20) == (fixed.mean, fixed.n)
    # The better of k and 20 - k right ones varies less than k alone.
    assert best.high - best.low < 0.8 * (fixed.high - fixed.low)
    ((_, base, difference),) = found.differences(block)
    assert base is found.best
    assert difference.estimate.mean == 0.5
    assert difference.estimate.low == pytest.approx(1.0 - best.high)
    assert difference.estimate.high == pytest.approx(1.0 - best.low)
    assert (difference.runs, difference.wins) == (2, 2)

    table = score_table(block, [row_estimate(r, block) for r in block.rows], [found.shown(block)])
    assert table.rows[-1][3:5] == ("0.500", f"{best.low:.3f} to {best.high:.3f}")
    (remark,) = [note for note in table.notes if "No method and no claim" in note]
    assert "ann, chosen knowing these scores of 20 items, anew in each resample" in remark
    assert "chosen anew in each resample." in comparator_table(block, (found,)).notes[0]


NAMED = {  # method, by: as experiment=main names them, beside overrides of `mad`
    ("meta_debate_mad", "meta_debate"): 0.75,
    ("random_mad", "random"): 0.5,
    ("mad", "ann"): 0.25,
    ("mad", "bob"): 0.5,
}


def test_methods_of_other_names_are_assignments_of_their_host(run):
    runs = [
        run(method, seed, items(value, value), by=by, host="mad")
        for (method, by), value in NAMED.items()
        for seed in (1, 2)
    ]
    others = [run("dmad", seed, items(0.5, 0.5), by="ann") for seed in (1, 2)]
    (block,) = make_blocks([*runs, *others])
    (found,) = hindsights(block)
    assert found.best.label == "mad · best uniform, in hindsight"
    assert [(row.label, base.label) for row, base, _ in found.differences(block)] == [
        ("meta_debate_mad", "mad · best uniform, in hindsight"),
        ("meta_debate_mad", "random_mad"),
    ]
    assert [d.estimate.mean for *_, d in found.differences(block)] == [0.25, 0.25]


def test_candidates_with_a_method_file_each_have_one_host(run):
    runs = [
        run(f"{by}_mad", 1, items(value), by=by, host="mad")
        for by, value in (("ann", 0.25), ("bob", 0.5), ("meta_debate", 0.75))
    ]
    (block,) = make_blocks(runs)
    (found,) = hindsights(block)
    assert found.best.label == "mad · best uniform, in hindsight"


def test_one_assignment_under_two_names_hides_nothing(run):
    again = ("mad", "meta_debate")
    rows = {**NAMED, again: 0.75}
    runs = [run(method, 1, items(v), by=by, host="mad") for (method, by), v in rows.items()]
    (found,) = hindsights(make_blocks(runs)[0])
    assert {row.label for row in found.dynamic} == {"mad · by meta_debate", "meta_debate_mad"}
    # under one name they are told apart by something the setting does not hold: nothing is chosen
    twice = [run("mad", 1, items(0.5), by="ann", host="mad", extra="odd")]
    assert hindsights(make_blocks([*runs, *twice])[0]) == ()
