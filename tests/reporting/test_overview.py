"""One table over benchmarks: a row for each method, a column for each benchmark."""

from dataclasses import replace

import pytest

from sero.reporting.figures import Setting
from sero.reporting.overview import overviews
from sero.reporting.seeds import make_blocks

REAL = Setting(benchmark="b1", backbone="m", scorer="careful", simulated=False, data="d1", world="")


@pytest.fixture
def on(run):
    """A run of a method on a benchmark: `on("b1", "sero", 42, 0.5, ...)`."""

    def make(benchmark, name, seed, *values, **changes):
        setting = replace(REAL, benchmark=benchmark, data=f"data of {benchmark}", **changes)
        items = {f"i{n}": ("g", value) for n, value in enumerate(values)}
        made = run(name, seed, items, data=setting.data)
        return replace(made, setting=setting)

    return make


def table_of(*runs):
    (found,) = overviews(make_blocks(runs))
    return found


def test_a_row_for_every_method_and_a_column_for_every_benchmark(on):
    found = table_of(
        on("b1", "sero", 1, 1.0, 1.0),
        on("b2", "sero", 1, 0.5, 0.5),
        on("b1", "cot", 1, 0.0, 0.0),
        on("b2", "cot", 1, 0.5, 0.5),
        on("b2", "sc", 1, 0.75, 0.75),
    )
    assert found.columns == ("row", "b1", "b2", "mean")
    # Complete rows first, by their mean (1 + .5) / 2 and (0 + .5) / 2; one without b1 has none.
    assert found.rows == (
        ("sero", "1.000 (0.158 to 1.000)", "0.500 (0.500 to 0.500)", "0.750"),
        ("cot", "0.000 (0.000 to 0.842)", "0.500 (0.500 to 0.500)", "0.250"),
        ("sc", "–", "0.750 (0.750 to 0.750)", "–"),
    )
    assert found.title.endswith("backbone m · scorer careful")


def test_seeds_are_averaged_by_item_before_the_items_are_resampled(on):
    found = table_of(
        on("b1", "sero", 1, 1.0, 0.0),
        on("b1", "sero", 2, 0.0, 1.0),
        on("b2", "sero", 1, 0.5),
        on("b2", "sero", 2, 0.5),
    )
    # Each item .5 on average, so nothing varies over items.
    assert found.rows[0][1] == "0.500 (0.500 to 0.500)"


@pytest.mark.parametrize("change", [{"scorer": "official"}, {"backbone": "n"}])
def test_another_scorer_or_backbone_never_shares_the_table(on, change):
    runs = [on(b, "sero", 1, 1.0) for b in ("b1", "b2")]
    runs += [on(b, "sero", 1, 0.0, **change) for b in ("b1", "b2")]
    first, second = overviews(make_blocks(runs))
    assert {first.rows[0][-1], second.rows[0][-1]} == {"1.000", "0.000"}


def test_another_experiment_is_another_row(on):
    """Sero and an ablation of it have one name and are two settings."""
    plain = on("b1", "sero", 1, 0.5)
    changed = on("b2", "sero", 1, 0.1)
    changed = replace(changed, row=replace(changed.row, experiment="ablation/no_gate"))
    found = table_of(plain, changed)
    assert len(found.rows) == 2
    assert {row[-1] for row in found.rows} == {"–"}
    assert any("no_gate" in row[0] for row in found.rows)


def test_overrides_whose_labels_are_cut_alike_are_two_rows(on):
    runs = []
    for benchmark, tail in (("b1", "x"), ("b2", "y")):
        made = on(benchmark, "sero", 1, 0.5)
        key = replace(made.row, extra="a" * 40 + tail, variant="a" * 40 + tail)
        runs.append(replace(made, row=key))
    assert len(table_of(*runs).rows) == 2


def test_two_states_of_one_benchmark_are_two_columns(on):
    one = on("b1", "sero", 1, 1.0)
    other = replace(one, setting=replace(one.setting, data="other"), data="other")
    found = table_of(one, other)
    assert found.columns == ("row", "b1 (data data of )", "b1 (data other)", "mean")
    assert found.rows[0][-1] == "–", "no benchmark counts twice in a mean"


def test_one_benchmark_needs_no_overview(on):
    assert overviews(make_blocks([on("b1", "sero", 1, 1.0), on("b1", "cot", 1, 0.0)])) == ()
