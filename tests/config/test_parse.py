import pytest
from omegaconf import DictConfig, OmegaConf

from sero.config import parse_config
from sero.config.parse import resolve
from sero.credit import FastWeights
from sero.encoders import HashingConfig, HashingEncoder
from sero.errors import ConfigError


def changed(cfg: DictConfig, **values: object) -> DictConfig:
    """A copy of the tree with dotted keys (`__` for the dot) set to plain values."""
    tree = OmegaConf.create(OmegaConf.to_container(cfg, resolve=False))
    for key, value in values.items():
        OmegaConf.update(tree, key.replace("__", "."), value, force_add=True)
    return tree


def faults(cfg: DictConfig) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        parse_config(cfg)
    assert caught.value.exit_code == 2
    return list(caught.value.faults)


def test_the_tree_becomes_typed_records(train):
    composed = train.compose(["encoder=hashing", "policy.operations=[add,noop]"])
    config = parse_config(composed.config, composed.choices)
    assert (config.experiment, config.seed, config.from_pool) == ("quickstart", 42, None)
    assert config.policy.operations == ("add", "noop")
    assert config.credit.fast_weights == FastWeights(
        similarity=0.0, history=0.0, agreement=0.0, validity=0.0, peer=0.0
    )
    assert config.encoder.choice == "hashing"
    assert config.encoder.target is HashingEncoder
    assert config.encoder.config == HashingConfig(dim=512)
    assert config.encoder.build().name == "hashing-512"
    assert config.benchmark.config.world == 42  # ${seed}


def test_without_choices_a_component_is_called_by_its_class(train):
    assert parse_config(train.compose().config).method.choice == "Sero"


@pytest.mark.parametrize(
    ("key", "value", "fault"),
    [
        ("policy__hidden", "abc", "policy.hidden: got 'abc'. Input should be a valid integer"),
        ("policy__hidden", "8", "policy.hidden: got '8'. Input should be a valid integer"),
        ("policy__hidden", 8.5, "policy.hidden: got 8.5. Input should be a valid integer"),
        ("policy__hidden", True, "policy.hidden: got True. Input should be a valid integer"),
        ("policy__hidden", None, "policy.hidden: got None. Input should be a valid integer"),
        ("policy__hidden", 0, "policy.hidden: got 0. Input should be greater than 0"),
        ("guard__enabled", "yes", "guard.enabled: got 'yes'. Input should be a valid boolean"),
        ("guard__enabled", 1, "guard.enabled: got 1. Input should be a valid boolean"),
        ("credit__mu", 2, "credit.mu: got 2. Input should be less than or equal to 1"),
        ("credit__mu", float("nan"), "credit.mu: got nan. Input should be a finite number"),
        ("policy__bonus", float("inf"), "policy.bonus: got inf. Input should be a finite number"),
        ("seed", -1, "seed: got -1. Input should be greater than or equal to 0"),
        ("progress", "fancy", "progress: got 'fancy'. Input should be 'auto', 'bar', 'plain'"),
        ("gate__kind", "racy", "gate.kind: got 'racy'. Input should be 'published' or 'none'"),
        ("policy__hiden", 3, "policy.hiden: unknown field; did you mean 'hidden'?"),
        ("credit__fast_weights__peers", 1, "credit.fast_weights.peers: unknown field; did you"),
        ("gates", {"tasks": 1}, "gates: unknown field; did you mean 'gate'?"),
        ("encoder__dims", 3, "encoder.dims: unknown field; did you mean 'dim'?"),
        ("from_pool", 3, "from_pool: got 3. Input should be a valid string"),
        ("gate__tasks", "${train.bach}", "gate.tasks: got '${train.bach}', which names a value"),
        ("encoder___target_", "nowhere", "encoder._target_: got 'nowhere'; a dotted path"),
        ("encoder___target_", "no.such.Class", "encoder._target_: cannot import no.such.Class:"),
        ("encoder___target_", "pathlib.Path", "encoder._target_: pathlib.Path is not a class with"),
    ],
)
def test_one_fault_is_named_with_its_path(train, key, value, fault):
    cfg = changed(train.compose(["encoder=hashing"]).config, **{key: value})
    found = faults(cfg)
    assert len(found) == 1
    assert found[0].startswith(fault)


@pytest.mark.parametrize(("key", "value"), [("credit__mu", 1), ("policy__bonus", 0)])
def test_a_whole_number_is_a_float(train, key, value):
    cfg = changed(train.compose(["encoder=hashing"]).config, **{key: value})
    section, name = key.split("__")
    read = getattr(getattr(parse_config(cfg), section), name)
    assert (read, type(read)) == (float(value), float)


def test_all_faults_are_reported_together(train):
    cfg = changed(
        train.compose().config,
        policy__hidden="abc",
        gate__taks=1,
        retrieval__alpha=1.5,
        pool__p_min=13,
        exec__max_tokens="???",
    )
    paths = [line.partition(":")[0] for line in faults(cfg)]
    assert sorted(paths) == [
        "exec.max_tokens",
        "gate.taks",
        "policy.hidden",
        "pool.p_min",
        "retrieval.alpha",
    ]


def test_a_missing_group_and_a_missing_section_are_faults(train):
    tree = OmegaConf.to_container(train.compose().config, resolve=False)
    del tree["encoder"], tree["gate"]
    lines = faults(OmegaConf.create(tree))
    assert lines == ["encoder: missing; a part names its class under _target_", "gate: missing"]


def test_parts_that_do_not_fit_are_one_readable_fault_each(train):
    composed = train.compose(["benchmark=naturalplan"])
    with pytest.raises(ConfigError) as caught:
        parse_config(composed.config, composed.choices)
    assert caught.value.faults == (
        "encoder: encoder=skillworld takes world, scenario, dim from the benchmark, and "
        "benchmark=naturalplan has no such values; choose another encoder (encoder=minilm with "
        'pip install -e ".[offline]", or encoder=hashing), or the benchmark it belongs to',
        "backbone: backbone=skillworld takes world, scenario, dim, noise from the benchmark, and "
        "benchmark=naturalplan has no such values; choose another backbone (backbone=qwen3_8b, "
        "openai, local, or scripted for a dry run), or the benchmark it belongs to",
    )


def test_resolve_leaves_out_what_is_missing_or_cannot_be_found():
    cfg = OmegaConf.create({"a": {"b": "${c}", "d": "${x.y}", "e": "???"}, "c": 1, "l": ["${c}"]})
    assert resolve(cfg) == ({"a": {"b": 1}, "c": 1, "l": [1]}, {"a.d": "${x.y}"})
