"""The rows of the controls' table, the experiments that run them, and every switch they name."""

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sero.config import Composed, Composer, RunConfig, check_overrides, composer, parse_config

CONF = Path(__file__).resolve().parents[2] / "conf"
EXPERIMENTS = ("simulator_reference", "simulator")
TABLE = (
    "static",
    "random_evolution",
    "published",
    "published_no_stop",
    "reference",
    "gated_random",
    "credit_heuristic",
    "gate_8",
    "no_gate",
)


@pytest.fixture(scope="module")
def train() -> Iterator[Composer]:
    """Keeps every composition: a sweep's check composes the rows as the tests of each row do."""
    with pytest.MonkeyPatch.context() as patch, composer(CONF, "train") as composing:
        patch.setattr("sero.config.composing.KEPT", 1000)
        yield composing


# Row, method, then what it sets beside the switches of the reference.
ROWS: list[tuple[str, str, dict[str, Any]]] = [
    ("static", "static", {}),
    ("ceiling", "static", {"benchmark.pool": "all_good"}),
    ("random_evolution", "random_evolution", {"random.passes": 1}),
    ("random_evolution_10", "random_evolution", {"random.passes": 10}),
    (
        "published",
        "sero",
        {"gate.warmup": "nonharmful", "early_stop.enabled": True, "early_stop.one_pass": True},
    ),
    ("published_no_stop", "sero", {"gate.warmup": "nonharmful"}),
    ("reference", "sero", {}),
    ("gated_random", "gated_random", {}),
    ("credit_heuristic", "credit_heuristic", {}),
    ("gate_8", "sero", {"gate.tasks": 8}),
    ("gated_random_gate_8", "gated_random", {"gate.tasks": 8}),
    ("no_gate", "sero", {"gate.kind": "none"}),
    ("no_guards", "sero", {"guard.enabled": False}),
    ("no_gate_no_guards", "sero", {"gate.kind": "none", "guard.enabled": False}),
]
SWITCHES = {
    "gate.kind": "published",
    "gate.warmup": "strict",
    "gate.tasks": 1,
    "guard.enabled": True,
    "early_stop.enabled": False,
    "early_stop.one_pass": False,
    "random.passes": 1,
    "benchmark.pool": "seed",
}


def value(config: RunConfig, key: str) -> Any:
    section, name = key.split(".")
    part = getattr(config, section)
    return getattr(getattr(part, "config", part), name)


def test_every_row_is_in_the_list():
    assert {path.stem for path in (CONF / "row").glob("[!_]*.yaml")} == {row for row, *_ in ROWS}


@pytest.mark.parametrize(
    ("experiment", "row", "method", "changes"),
    [
        *((experiment, *row) for experiment in (*EXPERIMENTS, "quickstart") for row in ROWS),
        *(("single", *row) for row in ROWS if row[0] in ("ceiling", "published", "gate_8")),
    ],
)
def test_a_row_means_the_same_in_every_experiment(parsed, experiment, row, method, changes):
    config = parsed(f"row={row}", f"experiment={experiment}")
    assert config.experiment == experiment
    assert (config.row, config.method.choice) == (row, method)
    assert {key: value(config, key) for key in SWITCHES} == {**SWITCHES, **changes}


@pytest.mark.parametrize("experiment", EXPERIMENTS)
@pytest.mark.parametrize("row", [row for row, *_ in ROWS])
def test_rows_differ_in_their_switches_alone(parsed, experiment, row):
    """Everything else is what the reference has: sections, world, backbone."""

    def without_switches(config: RunConfig) -> RunConfig:
        benchmark = config.benchmark
        plain = dataclasses.replace(benchmark.config, pool="seed")
        return dataclasses.replace(
            config,
            row=None,
            method=reference.method,
            benchmark=dataclasses.replace(benchmark, config=plain),
            **{s: getattr(reference, s) for s in ("gate", "guard", "early_stop", "random")},
        )

    reference = parsed("row=reference", f"experiment={experiment}")
    other = parsed(f"row={row}", f"experiment={experiment}")
    assert without_switches(other) == without_switches(reference)


def test_the_command_line_has_the_last_word(parsed):
    config = parsed("row=gate_8", "gate.tasks=4", "method=gated_random")
    assert (config.row, config.gate.tasks, config.method.choice) == ("gate_8", 4, "gated_random")
    assert parsed().row is None


# The configuration line the verified figures belong to (method.md §8.1).
LINE = {
    "benchmark.dim": 32,
    "credit.loo_every": 20,
    "credit.loo_inactive": "zero",
    "credit.new_n": 0,
    "retrieval.family_cover": "off",
    "retrieval.val_slots": 0,
    "retrieval.credit_mode": "raw",
    "repair.always": True,
    "gate.warmup": "strict",
    "early_stop.enabled": False,
    "editor.anchor_types": "specialists",
    "policy.hidden": 64,
    "policy.op_embedding": 16,
    "policy.credit_scale": 10.0,
    "policy.bonus": 0.1,
    "train.batch": 8,
    "reinforce.lr": 1e-3,
    "reinforce.beta": 0.05,
    "pool.p_min": 4,
    "pool.p_max": 12,
}


def test_the_reference_is_configured_as_the_verified_figures_were(parsed):
    config = parsed("row=reference", "experiment=simulator_reference")
    assert {key: value(config, key) for key in LINE} == LINE
    n_train = config.benchmark.config.n_train
    assert (config.train.warmup_epochs + config.train.main_epochs) * n_train == 300
    dims = (config.benchmark, config.backbone, config.encoder)
    assert [part.config.dim for part in dims] == [32] * 3


def test_the_simulator_has_the_products_defaults(parsed):
    """Only the row's switches, and what does not change a result, differ from a single run."""
    config = parsed("row=reference", "experiment=simulator")
    single = parsed("experiment=single")
    same = ("train", "policy", "retrieval", "credit", "pool", "repair", "editor", "benchmark")
    for part in same:
        assert getattr(config, part) == getattr(single, part)


def swept(composed: Composed, key: str) -> list[str]:
    return re.split(r",\s*", composed.sweep[key].strip())


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_the_experiments_sweep_rows_editors_and_worlds_in_parallel(train, experiment):
    composed = train.compose([f"experiment={experiment}"])
    rows = swept(composed, "row")
    assert set(TABLE) | {"no_guards", "no_gate_no_guards", "ceiling"} <= set(rows)
    assert set(rows) <= {row for row, *_ in ROWS}
    assert len(rows) == len(set(rows))
    assert swept(composed, "backbone.editor") == ["benign", "hostile"]
    assert composed.sweep["seed"] == "range(200,208)"
    assert (composed.multirun, composed.choices["logger"]) == (True, "none")
    assert composed.config.progress == "none"
    found = check_overrides(train, [f"experiment={experiment}"])
    assert (found.multirun, found.first.choices["row"]) == (True, rows[0])


def test_the_reference_table_has_ten_passes_of_random_evolution_too(train):
    composed = train.compose(["experiment=simulator_reference"])
    assert "random_evolution_10" in swept(composed, "row")


def test_a_table_is_narrowed_on_the_command_line(train):
    words = ["experiment=simulator_reference", "row=gate_8,static", "seed=203"]
    first = check_overrides(train, words).first
    config = parse_config(first.config, first.choices)
    assert (config.row, config.seed, config.benchmark.config.world) == ("gate_8", 203, 203)
    assert config.backbone.config.editor == "benign"


# Every switch of the controls is one override: what is written, the key, its value.
SINGLE_OVERRIDES: list[tuple[str, str, Any]] = [
    ("gate.kind=none", "gate.kind", "none"),
    ("guard.enabled=false", "guard.enabled", False),
    ("policy.credit_features=false", "policy.credit_features", False),
    ("credit.order_source=stored", "credit.order_source", "stored"),
    ("repair.enabled=false", "repair.enabled", False),
    *((f"retrieval.credit_mode={m}", "retrieval.credit_mode", m) for m in ("minmax", "none")),
    *((f"dag.rule={r}", "dag.rule", r) for r in ("farthest", "credit", "cross_stage")),
    *((f"dag.order={o}", "dag.order", o) for o in ("reverse", "random", "flat")),
    *((f"credit.estimator={e}", "credit.estimator", e) for e in ("clamp", "shapley_mc", "tmc")),
    ("policy.add_target=anchor", "policy.add_target", "anchor"),
    ("reinforce.reward=gain", "reinforce.reward", "gain"),
    ("reinforce.baseline=baseline_first", "reinforce.baseline", "baseline_first"),
    ("random.passes=10", "random.passes", 10),
    ("random.loo=true", "random.loo", True),
]


@pytest.mark.parametrize(
    ("override", "key", "expected"), SINGLE_OVERRIDES, ids=[one for one, *_ in SINGLE_OVERRIDES]
)
def test_every_switch_is_one_override_and_changes_one_value(train, parsed, override, key, expected):
    before = parsed("experiment=single")
    assert value(before, key) != expected
    check_overrides(train, ["experiment=single", override])
    after = parsed("experiment=single", override)
    assert value(after, key) == expected
    section, name = key.split(".")
    part = dataclasses.replace(getattr(after, section), **{name: value(before, key)})
    assert dataclasses.replace(after, **{section: part}) == before
