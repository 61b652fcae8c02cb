"""Sweeps over rules: what no rule moves is one row, and every rule is measured to it."""

import pytest
import yaml

from sero.reporting.figures import read_figures
from sero.reporting.formats import Format, render_report
from sero.reporting.hindsight import hindsights
from sero.reporting.results import make_report
from sero.reporting.seeds import make_blocks


def items(*values):
    return {f"i{n}": ("g", value) for n, value in enumerate(values)}


@pytest.fixture
def two_rules(run):
    """A sweep over argmax and greedy, who plays, and two seeds."""
    return [
        run(
            *("mad", seed, items(value, value)),
            directory=f"{mode}/{by}/{seed}",
            by=by,
            extra=f"assign.mode-{mode}",
            rules=mode,
            reuse=reuse,
            answers=f"{by} {mode if by == 'meta_debate' else reuse if by == 'random' else ''}",
        )
        for mode, reuse, dynamic in (("argmax", True, 0.75), ("greedy", False, 0.5))
        for by, value in (
            ("ann", 0.25),
            ("bob", 0.375),
            ("random", 0.125),
            ("meta_debate", dynamic),
        )
        for seed in (1, 2)
    ]


def test_what_no_rule_moves_stands_there_once(two_rules):
    (block,) = make_blocks(two_rules)
    assert [row.label.partition(" [")[0] for row in block.rows] == [
        *("mad · by meta_debate (assign.mode-argmax)", "mad · by meta_debate (assign.mode-greedy)"),
        *("mad · by bob", "mad · by ann"),
        *("mad · by random (assign.mode-argmax)", "mad · by random (assign.mode-greedy)"),
    ]
    assert [(run.row.by, run.row.rules, run.seed) for run in block.equal] == [
        (by, "greedy", seed) for by in ("ann", "bob") for seed in ("1", "2")
    ]
    assert block.repeated == ()


def rows_of(run, *given):
    """Row to the directories of its runs, and what was left out; given as (rule, seed, answers)."""
    runs = [
        run("mad", seed, by="ann", extra=mode, answers=answers, directory=f"{mode}/{seed}")
        for mode, seed, answers in given
    ]
    (block,) = make_blocks(runs)
    rows = {row.key.extra: [str(one.directory) for one in row.runs] for row in block.rows}
    assert block.repeated == ()
    return rows, [str(one.directory) for one in block.equal]


def test_rows_are_merged_whole(run):
    given = [("greedy", 1, "x"), ("greedy", 2, "x"), ("argmax", 2, "x"), ("argmax", 3, "x")]
    rows, equal = rows_of(run, *given)
    assert rows == {"greedy": ["greedy/1", "greedy/2", "argmax/3"]}
    assert equal == ["argmax/2"]


def test_a_row_that_is_another_in_one_run_stands_alone(run):
    whole = [("argmax", 1, "x"), ("argmax", 2, "y")]
    rows, equal = rows_of(run, *whole, ("greedy", 1, "x"))
    assert rows == {"argmax": ["argmax/1", "argmax/2"], "greedy": ["greedy/1"]}
    rows, equal = rows_of(run, *whole, ("greedy", 1, "y"), ("greedy", 2, "x"))
    assert (len(rows), equal) == (2, [])


def test_rows_that_change_alike_from_seed_to_seed_are_one(run):
    given = [(mode, seed, f"pool {seed}") for mode in ("argmax", "greedy") for seed in (1, 2)]
    rows, equal = rows_of(run, *given)
    assert rows == {"argmax": ["argmax/1", "argmax/2"]}
    assert equal == ["greedy/1", "greedy/2"]


@pytest.mark.parametrize(
    ("simulated", "one", "other", "left_out"),
    [
        (True, {}, {"benchmark": {"name": "skillworld", "world": 5}}, 0),
        (False, {"backbone": {"context_tokens": 2048}}, {"backbone": {"context_tokens": 8192}}, 0),
        (False, {"backbone": {"concurrency": 2}}, {"backbone": {"concurrency": 8}}, 1),
        (False, {"train": {"checkpoint_every": 2}}, {"train": {"checkpoint_every": 8}}, 1),
    ],
)
def test_runs_are_one_by_what_moves_their_answers(make_run, simulated, one, other, left_out):
    directories = []
    for mode, sections in (("argmax", one), ("greedy", other)):
        where = make_run(variant=f"assign.mode-{mode}-abcdef", simulated=simulated, episodes=[])
        config = yaml.safe_load((where / "config.yaml").read_text())
        config |= {"assign": {"by": "ann", "mode": mode, "roster": "two.yaml"}, **sections}
        (where / "config.yaml").write_text(yaml.safe_dump(config))
        directories.append(where)
    (block,) = make_blocks([read_figures(where) for where in directories])
    assert (len(block.rows), len(block.equal)) == (2 - left_out, left_out)


def test_every_rule_is_measured_to_the_best_uniform_one(two_rules):
    (block,) = make_blocks(two_rules)
    (found,) = hindsights(block)
    assert found.best.label == "mad · best uniform, in hindsight"
    assert [
        (row.key.rules, base.key.by, base.key.rules, d.estimate.mean)
        for row, base, d in found.differences(block)
    ] == [
        ("argmax", found.best.key.by, "argmax", 0.375),
        ("argmax", "random", "argmax", 0.625),
        ("greedy", found.best.key.by, "argmax", 0.125),
        ("greedy", "random", "greedy", 0.375),
    ]


def test_a_rule_run_without_uniform_rows_of_its_own_has_those_of_its_roster(two_rules):
    kept = [one for one in two_rules if one.row.by == "meta_debate" or one.row.rules == "argmax"]
    (found,) = hindsights(make_blocks(kept)[0])
    assert [row.key.rules for row in found.dynamic] == ["argmax", "greedy"]
    assert len(found.uniform) == 2


def test_other_candidates_are_compared_apart(run):
    runs = [
        run("mad", 1, items(value), by=by, roster=roster, extra=f"assign.roster-{roster}")
        for roster in ("one", "two")
        for by, value in (("ann", 0.25), ("bob", 0.5), ("meta_debate", 0.75))
    ]
    found = hindsights(make_blocks(runs)[0])
    assert [one.best.key.roster for one in found] == ["one", "two"]
    assert [len(one.dynamic) for one in found] == [1, 1]


def test_the_report_says_what_was_left_out(make_run):
    directories = []
    for mode in ("argmax", "margin"):
        for by, value in (("ann", 0.25), ("bob", 0.5), ("meta_debate", 0.75)):
            variant = f"assign.by-{by}+assign.mode-{mode}-abcdef"
            where = make_run(method="mad", variant=variant, scores=items(value), episodes=[])
            config = yaml.safe_load((where / "config.yaml").read_text())
            section = {"by": by, "mode": mode, "roster": "two.yaml"}
            (where / "config.yaml").write_text(yaml.safe_dump({**config, "assign": section}))
            directories.append(where)
    text = " ".join(render_report(make_report(directories), Format.TEXT).split())
    assert "2 run(s) by ann, bob left out: they differ from a run of the same row" in text
    assert "ann (assign.mode" not in text
    for mode in ("argmax", "margin"):
        row = f"mad · by meta_debate (assign.mode-{mode})"
        assert f"{row} mad · best uniform, in hindsight 1 +0.250" in text
