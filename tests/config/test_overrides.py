from pathlib import Path

import pytest

from sero.config import check_overrides

CONF = Path(__file__).resolve().parents[2] / "conf"

BACKBONES = ", ".join(
    sorted(f.stem for f in (CONF / "backbone").glob("*.yaml") if f.name[0] != "_")
)


def test_four_faults_at_once_are_all_named(faults_of_line):
    faults = faults_of_line(
        "gate.taks=8", "policy.hidden=abc", "credit.mu=2", "backbone=qwen3_9b", "seed=7"
    )
    assert faults == [
        f"backbone: no choice 'qwen3_9b'; there are {BACKBONES}; did you mean 'qwen3_8b'?",
        "gate.taks: unknown key; did you mean 'gate.tasks'?",
        "policy.hidden: got 'abc'. Input should be a valid integer",
        "credit.mu: got 2. Input should be less than or equal to 1",
    ]


@pytest.mark.parametrize(
    ("override", "fault"),
    [
        ("hidden=3", "hidden: unknown key; did you mean 'policy.hidden'?"),
        ("metod=sero", "metod: unknown key; did you mean 'method'?"),
        ("xyzzy=1", "xyzzy: unknown key; an open mapping takes a new one as +xyzzy=..."),
        ("policy.hidden.deep=1", "policy.hidden.deep: unknown key; did you mean 'policy.hidden'?"),
        ("+pool.p_mid=3", "pool.p_mid: unknown field; did you mean 'p_min'?"),
        ("++pool.p_mid=3", "pool.p_mid: unknown field; did you mean 'p_min'?"),
        ("+pool.p_min=3", "+pool.p_min=3: Could not append to config."),
        ("~pool.p_min", "pool.p_min: missing"),
        ("~pool.p_mid", "~pool.p_mid: Could not delete from config."),
        ("~logger", "logger: missing"),
        ("+method=static", "method: has a choice already; write method=static"),
        ("logger=_wandb", "logger: no choice '_wandb'; there are none, wandb"),
        ("method=_role_pool", "method: no choice '_role_pool'; there are cot, credit_heuristic, "),
        ("experiment=single,quickstart", "experiment: got 'experiment=single,quickstart'; one"),
        ("seed=interval(0,1)", "seed=interval(0,1): cannot be read"),
        ("seed=[1", "seed=[1: cannot be read"),
        ("seed", "seed: cannot be read"),
        ("hydra.nonsense=1", "hydra.nonsense=1: Could not override 'hydra.nonsense'"),
        ("hydra/launcher=no_such", "hydra/launcher=no_such: "),
        ("hydra.launcher.n_jobs=2", "hydra.launcher.n_jobs=2: Could not override"),
        ("row=refrence", "row: no choice 'refrence'; there are ceiling, credit_heuristic, "),
        ("seed=1,x,3", "seed: got 'x'. Input should be a valid integer"),
        ("seed=range(-1,2)", "seed: got -1. Input should be greater than or equal to 0"),
        ("gate.tasks=choice(1,0)", "gate.tasks: got 0. Input should be greater than 0"),
        ("logger=none,wandbb", "logger: no choice 'wandbb'; there are none, wandb; did you"),
        ("pool.p_min=4,13", "pool.p_min: got 13, above pool.p_max = 12"),
        ("backbone=skillworld,openai", "backbone.model: missing"),
    ],
)
def test_one_fault_of_a_command_line(faults_of_line, override, fault):
    faults = faults_of_line(override)
    assert len(faults) == 1
    assert faults[0].startswith(fault)


@pytest.mark.parametrize(
    "overrides",
    [
        (),
        ("pool.p_min=3", "pool.p_max=10", "seed=range(0,5)"),
        ("credit.mu=1", "retrieval.family_cover_min=null", "policy.operations=[add,noop]"),
        ("backbone=gpt_4o_mini", "+backbone.extra_body.top_p=0.9", "+backbone.extra_body.n=1"),
        ("backbone=openai", "backbone.model=some/model:8b", "'backbone.base_url=http://h:1/v1'"),
        ("encoder=hashing,minilm", "hydra.sweep.dir=elsewhere"),
        ("++gate.tasks=8",),
        ("benchmark.world=5", "benchmark.scenario=saturated"),
        ("row=reference,gate_8", "experiment=single"),
        # a key of a launcher that the experiment, or another override, chooses
        ("experiment=simulator", "row=reference,gate_8", "hydra.launcher.n_jobs=2"),
        ("hydra.launcher.n_jobs=2", "hydra/launcher=joblib"),
        ("experiment=simulator", "row=reference", "hydra/launcher=basic"),
    ],
)
def test_good_command_lines_have_no_fault(faults_of_line, overrides):
    assert faults_of_line(*(text.strip("'") for text in overrides)) == []


def test_keys_are_checked_against_the_chosen_groups(faults_of_line):
    assert faults_of_line("benchmark.scenario=default") == []
    faults = faults_of_line("benchmark=naturalplan", "benchmark.scenario=x", "backbone=scripted")
    assert faults[0].startswith("benchmark.scenario: unknown key")


def test_keys_that_only_a_swept_choice_has_are_explained(faults_of_line):
    sweep = "backbone=openai,qwen3_8b"
    assert faults_of_line(sweep, "backbone.model=m") == [
        "backbone.model: only a swept choice has this key; write it as a sweep of one value, "
        "backbone.model=choice(m)"
    ]
    assert faults_of_line(sweep, "backbone.model=choice(m)") == []


@pytest.mark.parametrize(
    ("overrides", "multirun"),
    [
        ((), True),  # the quickstart carries a sweep
        (("experiment=single",), False),
        (("experiment=single", "seed=1,2"), True),
        (("experiment=single", "policy.operations=[add,noop]"), False),
    ],
)
def test_a_sweep_is_noticed(train, overrides, multirun):
    assert check_overrides(train, overrides).multirun is multirun


def test_the_first_composition_is_that_of_the_first_job(train):
    first = check_overrides(train, ["seed=5,6"]).first
    assert (first.config.seed, first.choices["method"]) == (5, "static")
    narrowed = check_overrides(train, ["seed=5,6", "method=sero"]).first
    assert narrowed.choices["method"] == "sero"


def test_files_of_a_search_path_are_left_to_hydra(tmp_path, faults_of_line):
    (tmp_path / "method").mkdir()
    (tmp_path / "method" / "mine.yaml").write_text("defaults: [sero]\n")
    assert faults_of_line(f"hydra.searchpath=['file://{tmp_path}']", "method=mine") == []
    assert faults_of_line(f"hydra.searchpath=['file://{tmp_path}']", "method=yours") == [
        "In 'common': Could not find 'method/yours'"
    ]
