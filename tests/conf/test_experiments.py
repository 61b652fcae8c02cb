"""Every experiment is main with one factor changed, and its sweep says which."""

import itertools
from pathlib import Path

import pytest
import yaml
from omegaconf import OmegaConf

from sero.assignment.load import load_candidates
from sero.config import composer, parse_config

CONF = Path(__file__).resolve().parents[2] / "conf"
EXPERIMENTS = CONF / "experiment"
BENCHMARKS = ["naturalplan", "olympiadbench", "tablebench"]
METHODS = [
    *("cot", "sc", "workflow", "static_dag", "static", "random_evolution", "sero"),
    *("gated_random", "credit_heuristic", "gptswarm"),
    *("debate", "mad", "dmad"),
    *("meta_debate_mad", "random_mad", "meta_debate_dmad", "random_dmad"),
]
FACTORS = {
    "ablation/no_gate": {"gate.kind": "none"},
    "ablation/no_guards": {"guard.enabled": False},
    "ablation/no_credit_features": {"policy.credit_features": False},
    "ablation/no_bootstrap_order": {"credit.order_source": "stored"},
    "ablation/no_repair": {"repair.enabled": False},
}
"""What an experiment sets that sweeps no factor."""


def names(folder: str) -> list[str]:
    return [f"{folder}/{path.stem}" for path in sorted((EXPERIMENTS / folder).glob("*.yaml"))]


def sweep_of(name: str) -> dict[str, list[str]]:
    """Swept keys and their values, those of main included."""
    params: dict[str, str] = {}
    for one in dict.fromkeys(("main", name)):
        data = yaml.safe_load((EXPERIMENTS / f"{one}.yaml").read_text())
        params |= data["hydra"]["sweeper"]["params"]
    return {key: [v.strip() for v in str(text).split(",")] for key, text in params.items()}


def jobs_of(name: str) -> list[dict[str, str]]:
    sweep = sweep_of(name)
    return [dict(zip(sweep, values, strict=True)) for values in itertools.product(*sweep.values())]


@pytest.fixture(scope="module")
def flat():
    """Dotted key to value of the tree of an experiment's job."""

    known = {}

    def compose(name, job):
        overrides = [f"{key}={value}" for key, value in job.items()]
        if (name, *overrides) not in known:
            known[name, *overrides] = composed(name, overrides)
        return known[name, *overrides]

    def composed(name, overrides):
        found = composing.compose([f"experiment={name}", *overrides])
        assert parse_config(found.config, found.choices).experiment == name
        return dict(walk(OmegaConf.to_container(found.config, resolve=True)))

    with composer(CONF, "train") as composing:
        yield compose


def walk(data, path=""):
    for key, value in data.items():
        if isinstance(value, dict) and value:
            yield from walk(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value


def differences(before, after):
    return {
        key: after.get(key)
        for key in sorted({*before, *after})
        if before.get(key) != after.get(key)
        and key not in ("experiment", "seed")
        and not key.startswith("logger.")
    }


def test_main_is_the_whole_table():
    sweep = sweep_of("main")
    assert sweep == {"benchmark": BENCHMARKS, "method": METHODS, "seed": ["42", "43", "44"]}
    assert len(jobs_of("main")) == 17 * 3 * 3


def test_main_is_the_published_setting(flat):
    found = flat("main", {"benchmark": "naturalplan", "method": "sero", "seed": "42"})
    assert found["encoder.model"].endswith("jina-embeddings-v2-small-en")
    assert found["backbone.model"] == "Qwen/Qwen3-8B"
    published = {
        "gate.warmup": "nonharmful",
        "gate.tasks": 1,
        "early_stop.enabled": True,
        "benchmark.strict_add": True,
        "benchmark.source": "data/naturalplan.jsonl",
        "benchmark.split_seed": 0,
        "train.warmup_epochs": 2,
        "train.main_epochs": 8,
    }
    assert {key: found[key] for key in published} == published


@pytest.mark.parametrize(
    ("method", "benchmark"),
    [
        *((method, BENCHMARKS[0]) for method in METHODS),
        *itertools.product(("sero", "static_dag"), BENCHMARKS[1:]),
    ],
)
def test_every_method_and_every_benchmark_of_the_table_composes(flat, method, benchmark):
    """A star of the table: each choice is a file of its own group."""
    found = flat("main", {"benchmark": benchmark, "method": method, "seed": "43"})
    assert (found["benchmark.name"], found["method.name"]) == (benchmark, method)


ONE_FACTOR = [*names("ablation"), *names("sensitivity"), "controller_scaling"]


@pytest.mark.parametrize("name", ONE_FACTOR)
def test_only_the_named_factor_differs_from_main(flat, name):
    sweep = sweep_of(name)
    assert sweep.pop("benchmark") == BENCHMARKS
    assert sweep.pop("method") == ["sero"]
    assert sweep.pop("seed") == ["44"]
    assert len(sweep) == (name not in FACTORS)
    for values in itertools.product(*sweep.values()):
        job = {"benchmark": "tablebench", "method": "sero", "seed": "44"}
        main = flat("main", job)
        factor = dict(zip(sweep, values, strict=True))
        found = differences(main, flat(name, {**job, **factor}))
        expected = FACTORS.get(name) or {
            key: yaml.safe_load(value) for key, value in factor.items()
        }
        assert found == expected, "a factor whose value is main's own changes nothing"


def test_every_ablation_that_is_wanted_is_there():
    assert {name.partition("/")[2] for name in names("ablation")} == {
        *("no_gate", "no_guards", "no_credit_features", "no_bootstrap_order", "no_repair"),
        *("dag_rule", "dag_order", "credit_estimator"),
    }


def test_the_size_sweep_varies_the_backbone_alone(flat):
    """Every size has the hosted profile and a port of its own; main's profile is another one."""
    jobs = [job for job in jobs_of("backbone_scaling") if job["benchmark"] == "tablebench"]
    assert {job["seed"] for job in jobs} == {"43"}
    trees = [flat("backbone_scaling", job) for job in jobs if job["method"] == "sero"]
    assert [tree["backbone.model"].partition("-")[2] for tree in trees] == [
        *("0.6B", "1.7B", "4B", "8B", "14B", "32B")
    ]
    for tree in trees[1:]:
        keys = set(differences(trees[0], tree))
        assert keys == {"backbone.name", "backbone.model", "backbone.base_url"}
    hosted = dict(walk(yaml.safe_load((CONF / "profile" / "hosted.yaml").read_text())))
    assert {key: trees[0][key] for key in hosted} == hosted
    assert len({tree["backbone.base_url"] for tree in trees}) == 6


@pytest.mark.parametrize(
    ("name", "method", "benchmark", "candidates"),
    [
        ("code_review", "static_dag", "code_review", ["tracer", "attacker", "maintainer"]),
        (
            "architecture",
            "decision_debate",
            "architecture",
            ["enthusiast", "firefighter", "accountant"],
        ),
        ("math", "dmad", "hard_math", ["careful", "exploring"]),
    ],
)
def test_a_worked_example_compares_assignments_and_nothing_else(
    flat, name, method, benchmark, candidates
):
    data = yaml.safe_load((EXPERIMENTS / "assign" / f"{name}.yaml").read_text())
    (swept,) = data["hydra"]["sweeper"]["params"].items()
    assert swept == ("assign.by", ",".join(("meta_debate", "random", *candidates)))
    trees = [flat(f"assign/{name}", {"assign.by": by}) for by in swept[1].split(",")]
    for tree in trees:
        assert differences(trees[0], tree).keys() <= {"assign.by"}
    assert (trees[0]["method.name"], trees[0]["benchmark.name"]) == (method, benchmark)
    roster = load_candidates(trees[0]["assign.roster"])
    assert [one.name for one in roster.candidates] == candidates
    assert all(one.backbone is None for one in roster.candidates)


def test_every_worked_example_is_there():
    assert names("assign") == [
        *("assign/architecture", "assign/code_review", "assign/math", "assign/world")
    ]


def test_the_assignment_world_is_swept_over_assignments_and_worlds(flat):
    data = yaml.safe_load((EXPERIMENTS / "assign" / "world.yaml").read_text())
    sweep = data["hydra"]["sweeper"]["params"]
    assert sweep["seed"] == "range(0,10)", "ten worlds, as many as a claim in simulation needs"
    names = sweep["assign.by"].split(",")
    trees = [flat("assign/world", {"assign.by": by, "seed": "7"}) for by in names]
    for tree in trees:
        assert differences(trees[0], tree).keys() <= {"assign.by"}
        assert tree["benchmark.world"] == tree["backbone.world"] == 7
    roster = load_candidates(trees[0]["assign.roster"])
    candidates = [one.name for one in roster.candidates]
    assert names == ["meta_debate", "random", *candidates, "oracle"]
