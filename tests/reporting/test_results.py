import json
from pathlib import Path

import pytest
import yaml

from sero.errors import UserError
from sero.reporting.results import make_report


def rewrite(path: Path, **changes) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def scores(*values):
    return {f"i{n}": ("g", value) for n, value in enumerate(values)}


@pytest.fixture
def world_runs(make_run):
    """A factory: `name: {seed: score of both items}` to runs in a world per seed."""

    def make(**rows):
        made = []
        for name, by_seed in rows.items():
            for seed, value in by_seed.items():
                directory = make_run(
                    method="sero",
                    seed=seed,
                    variant=f"row-{name}-abcdef",
                    scores=scores(value, value),
                    data=f"world {seed}",
                )
                config = yaml.safe_load((directory / "config.yaml").read_text())
                (directory / "config.yaml").write_text(yaml.safe_dump(config | {"row": name}))
                made.append(directory)
        return made

    return make


def warnings_of(report) -> str:
    return "\n".join(line for section in report.sections for line in section.warnings)


def test_one_block_has_its_tables_and_points(world_runs):
    rows = {"reference": {1: 0.5, 2: 0.75}, "static": {1: 0.25, 2: 0.25}}
    report = make_report(world_runs(**rows))
    (section,) = report.sections
    assert section.title == (
        "quickstart · skillworld · backbone skillworld-1 · scorer partial · SIMULATED"
    )
    assert [table.title for table in section.tables] == [
        "Held-out score · SIMULATED",
        "Difference to reference · SIMULATED",
        "Score against logical calls · SIMULATED",
        "Pools and ground truth · SIMULATED",
    ]
    assert [(p.number, p.calls, p.score.mean) for p in section.points] == [
        (1, 1234.0, 0.625),
        (2, 1234.0, 0.25),
    ]
    assert report.complete


def test_warnings_of_few_and_unequal_worlds(world_runs):
    rows = {"reference": {1: 0.5, 2: 0.75}, "static": {1: 0.25}, "no_gate": {1: 0.5, 2: 0.5}}
    found = warnings_of(make_report(world_runs(**rows)))
    assert "one seed only (static)" in found
    assert "fewer than 10 worlds (2 at most)" in found
    assert "differences over those both have (reference, no_gate: 1, 2; static: 1)" in found


def test_ten_equal_worlds_need_no_warning(world_runs):
    worlds = {seed: 0.5 + seed / 100 for seed in range(10)}
    report = make_report(world_runs(reference=worlds, static=dict.fromkeys(worlds, 0.25)))
    assert not warnings_of(report)
    assert not report.notes


def test_unequal_items_are_flagged(make_run):
    runs = [
        make_run(method="sero", seed=1, scores=scores(1.0, 0.0)),
        make_run(method="sero", seed=2, scores=scores(1.0, None)),
        make_run(method="static", seed=1, scores=scores(1.0, 0.0, 0.5)),
        make_run(method="static", seed=2, scores=scores(1.0, 0.0, 0.5)),
    ]
    found = warnings_of(make_report(runs))
    # i1 failed in seed 2, i2 was no item of either
    assert "sero: unequal item sets, 2 item(s) that it did not score in every seed" in found
    assert "static: unequal" not in found
    # i2 in seed 1, i1 and i2 in seed 2
    assert "static against sero: unequal item sets, 3 item(s)" in found
    assert "failed items are left out" in found


def test_other_worlds_under_the_same_seed_are_flagged(make_run):
    runs = [make_run(method=m, seed=s, data=f"{m}{s}") for m in ("sero", "static") for s in (1, 2)]
    found = warnings_of(make_report(runs))
    assert "static against sero: 2 seed(s) left out, the two runs have different data" in found
    assert "nothing in common to compare" in found


@pytest.mark.parametrize(
    ("file", "change", "field"),
    [
        ("result.json", {"scorer": "exact"}, "scorer (exact, partial)"),
        ("result.json", {"backbone": "other"}, "backbone (other, skillworld-1)"),
        ("result.json", {"simulated": True}, "simulated (False, True)"),
        (
            "manifest.json",
            {"backbones": {"a": {"id": "m", "revision": "r"}}},
            "backbone (skillworld-1, skillworld-1; a: m (revision r))",
        ),
        ("manifest.json", {"benchmark": {"data_sha256": "d1"}}, "data fingerprint (d0, d1)"),
    ],
)
def test_what_must_not_be_mixed_is_set_apart_and_said(make_run, file, change, field):
    runs = [make_run(method=method, simulated=False) for method in ("sero", "static")]
    rewrite(runs[1] / file, **change)
    report = make_report(runs)
    assert len(report.sections) == 2
    assert any(f"differ in {field}" in note for note in report.notes)


@pytest.mark.parametrize(("revision", "pairs"), [("r1", 1), ("r2", 0)])
def test_runs_with_other_weights_behind_a_further_backbone_are_not_paired(
    make_run, revision, pairs
):
    runs = [make_run(method=method, simulated=False) for method in ("sero", "static")]
    for run, name in zip(runs, ("r1", revision), strict=True):
        rewrite(run / "manifest.json", backbones={"a": {"id": "m", "revision": name}})
    titles = [table.title for part in make_report(runs).sections for table in part.tables]
    assert titles.count("Difference to sero") == pairs


def test_a_second_run_of_a_seed_is_named(make_run, tmp_path):
    first = make_run()
    moved = tmp_path / "moved"
    first.rename(moved)
    report = make_report([moved, make_run()])
    assert f"another run of seed 42: {first}" in warnings_of(report)


def test_failed_runs_are_listed_and_make_it_incomplete(make_run):
    failed = make_run(method="static", result=False, state="failed")
    rewrite(failed / "status.json", reason="server\n  gone")
    report = make_report([make_run(), failed])
    assert not report.complete
    assert report.unusable.title.endswith(": 1")
    assert report.unusable.rows == ((str(failed), "failed", "server gone"),)


def test_nothing_finished(make_run):
    report = make_report([make_run(result=False, state="interrupted")], ["whatever"])
    assert (report.sections, report.complete) == ((), False)


def test_a_baseline_nobody_has(world_runs):
    runs = world_runs(reference={1: 0.5}, static={1: 0.5})
    with pytest.raises(UserError, match="--baseline nobody: no such row; the runs have reference"):
        make_report(runs, ["nobody"])


def test_several_baselines_and_a_block_without_them(world_runs, make_run):
    runs = world_runs(reference={1: 0.5}, static={1: 0.5}, gate_8={1: 0.5})
    real = [make_run(method=method, simulated=False) for method in ("a", "b")]
    report = make_report([*runs, *real], ["static", "gate_8"])
    titles = [table.title for section in report.sections for table in section.tables]
    assert "Difference to static · SIMULATED" in titles
    assert "Difference to gate_8 · SIMULATED" in titles
    assert "no row here is called static or gate_8" in warnings_of(report)
