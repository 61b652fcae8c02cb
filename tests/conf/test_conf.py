"""Every file of conf/ is composed and parsed, and the values are those of the specification."""

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sero.config import Composer, composer, parse_config

CONF = Path(__file__).resolve().parents[2] / "conf"
GROUPS = sorted(path.name for path in CONF.iterdir() if path.is_dir())
REAL = ["encoder=hashing", "backbone=scripted"]
NEEDS = {
    **{name: ["benchmark=toy", *REAL] for name in ("cot", "sc", "workflow", "static_dag")},
    **{name: ["benchmark=toy", *REAL] for name in ("debate", "mad", "dmad", "decision_debate")},
    **{f"meta_debate_{host}": ["benchmark=toy", *REAL] for host in ("mad", "dmad", "static_dag")},
    **{f"random_{host}": ["benchmark=toy", *REAL] for host in ("mad", "dmad")},
    **dict.fromkeys(("naturalplan", "olympiadbench", "tablebench", "toy"), REAL),
    **dict.fromkeys(("code_review", "architecture", "hard_math"), REAL),
    "assignment_world": [
        *("benchmark=assignment_world", "backbone=assignment_world", "encoder=hashing")
    ],
    "openai": ["backbone.model=some-model"],
}
"""What a choice cannot be parsed without."""
EVALUATED = (
    *("single", "main", "quickstart", "quickstart_llm", "simulator", "backbone_scaling"),
    *("ablation/no_gate", "sensitivity/pool_size", "assign/code_review", "assign/world"),
)
"""An experiment of each kind: by folder, and by what its defaults list overrides."""


def choices() -> list[tuple[str, str]]:
    """Every (group, choice) there is a file for, but for files others build on."""
    return [
        (group, str(path.relative_to(CONF / group).with_suffix("")))
        for group in GROUPS
        for path in sorted((CONF / group).rglob("*.yaml"))
        if not path.name.startswith("_")
    ]


@pytest.fixture(scope="module")
def train() -> Iterator[Composer]:
    with composer(CONF, "train") as composing:
        yield composing


def check_choice(composing: Composer, group: str, choice: str) -> None:
    """A choice, with what it needs, composes and parses under its own name."""
    composed = composing.compose([f"{group}={choice}", *NEEDS.get(choice, [])])
    config = parse_config(composed.config, composed.choices)
    assert composed.choices[group] == choice
    part = getattr(config, group, None)
    if isinstance(part, str):
        assert part == choice  # an experiment or a row carries its own name
    elif hasattr(part, "choice"):
        assert part.choice == choice


@pytest.mark.parametrize(
    ("group", "choice"),
    [
        (group, choice)
        for group, choice in choices()
        if group != "row" and not choice.startswith(("ablation/", "sensitivity/"))
    ],
)
def test_every_choice_composes_and_parses(train, group, choice):
    """Rows are in `test_rows.py`, the experiments of one factor in `test_experiments.py`."""
    check_choice(train, group, choice)


@pytest.mark.parametrize(
    ("group", "choice"),
    [
        *(one for one in choices() if one[0] == "method" and one[1] != "gptswarm"),
        *(("experiment", name) for name in EVALUATED),
        *(("backbone", name) for name in ("skillworld", "qwen3_8b", "gpt_4o_mini")),
        *(("benchmark", name) for name in ("skillworld", "naturalplan", "hard_math")),
        *(("encoder", "hashing"), ("profile", "hosted"), ("logger", "wandb")),
        *(("row", name) for name in ("gate_8", "published")),
        *(("budget", "unlimited"), ("controller", "mlp")),
    ],
)
def test_choices_compose_and_parse_for_an_evaluation(train, group, choice):
    """Every method and kind of experiment, since `evaluate.yaml` chooses these by itself.

    GPTSwarm has nothing to evaluate without training.
    """
    check_choice(Composer("evaluate"), group, choice)


@pytest.mark.parametrize("group", ["backbone", "benchmark", "method", "controller"])
def test_a_part_is_called_by_the_name_of_its_file(group):
    for path in sorted((CONF / group).glob("[!_]*.yaml")):
        data = yaml.safe_load(path.read_text())
        assert data.get(group, data)["name"] == path.stem


@pytest.mark.parametrize("method", ["static", "sero"])
def test_the_quickstart_is_the_embedded_default(parsed, method):
    config = parsed(f"method={method}")
    assert config.experiment == "quickstart"
    assert config.method.choice == method
    assert (config.gate.warmup, config.early_stop.enabled) == ("strict", False)
    parts = (config.backbone, config.encoder, config.benchmark)
    assert [part.choice for part in parts] == ["skillworld"] * 3
    assert config.repair.always
    assert config.retrieval.family_cover_min == 0.1
    assert config.benchmark.config.world == config.seed == 42
    assert config.logger.mode == "offline"


def test_single_changes_nothing_but_the_name(parsed):
    one = dataclasses.replace(parsed("experiment=single"), experiment="quickstart")
    quick = parsed()
    assert (one.gate.warmup, one.early_stop.enabled) == ("nonharmful", True)
    group = dataclasses.replace(one.logger, group="quickstart")
    assert (
        dataclasses.replace(one, gate=quick.gate, early_stop=quick.early_stop, logger=group)
        == quick
    )


# The table of method.md: key, then the value of each profile.
TABLE = [
    ("train.warmup_epochs", 2, 1),
    ("train.main_epochs", 8, 9),
    ("train.batch", 8, 4),
    ("reinforce.lr", 1e-3, 1e-3),
    ("reinforce.beta", 0.05, 0.08),
    ("reinforce.baseline_decay", 0.9, 0.9),
    ("reinforce.clip", 1.0, 1.0),
    ("policy.bonus", 0.1, 0.15),
    ("credit.mu", 0.1, 0.05),
    ("credit.fast_alpha", 0.5, 0.5),
    ("credit.loo_every", 40, 20),
    ("credit.loo_tasks", 3, 3),
    ("credit.loo_min_pool", 4, 4),
    ("pool.p_min", 4, 3),
    ("pool.p_max", 12, 10),
    ("retrieval.spec_slots", 3, 5),
    ("retrieval.val_slots", 1, 1),
    ("exec.rounds", 1, 1),
    ("guard.max_family_share", 0.6, 0.5),
    ("guard.max_similarity", 0.92, 0.92),
    ("early_stop.enabled", True, True),
    ("early_stop.window", 24, 24),
    ("early_stop.threshold", 0.85, 0.85),
    ("gate.warmup", "nonharmful", "nonharmful"),
    ("gate.tasks", 1, 1),
    ("gate.repeats", 1, 1),
    ("exec.max_tokens", 4096, 4096),
]


@pytest.mark.parametrize(("key", "own", "hosted"), TABLE)
def test_profiles_are_the_published_table(parsed, key, own, hosted):
    section, name = key.split(".")
    for profile, value in (("qwen3_8b", own), ("hosted", hosted)):
        config = parsed("experiment=single", f"profile={profile}")
        assert getattr(getattr(config, section), name) == value


def test_both_profiles_set_the_same_keys_and_no_value_is_given_twice():
    def keys(path: str) -> set[str]:
        data = yaml.safe_load((CONF / path).read_text())
        return {f"{s}.{k}" for s, v in data.items() if isinstance(v, dict) for k in v}

    assert keys("profile/qwen3_8b.yaml") == keys("profile/hosted.yaml")
    assert not keys("profile/hosted.yaml") & keys("method/_role_pool.yaml")


@pytest.mark.parametrize(
    ("overrides", "profile"),
    [
        (("backbone=skillworld",), "qwen3_8b"),
        (("backbone=qwen3_8b",), "qwen3_8b"),
        (("backbone=gpt_4o_mini",), "hosted"),
        (("backbone=gemini_2_5_flash_lite",), "hosted"),
        (("backbone=gpt_4o_mini", "profile=qwen3_8b"), "qwen3_8b"),
        (("profile=hosted", "backbone=qwen3_8b"), "hosted"),
    ],
)
def test_a_backbone_selects_its_profile_unless_told_otherwise(train, overrides, profile):
    composed = train.compose(overrides)
    assert composed.choices["profile"] == profile
    assert composed.config.pool.p_max == {"qwen3_8b": 12, "hosted": 10}[profile]


def test_what_belongs_to_a_world_stays_there(parsed):
    """`repair.always` goes with SkillWorld, the family threshold with its encoder."""
    config = parsed("benchmark=naturalplan", "encoder=hashing", "backbone=scripted")
    assert not config.repair.always
    assert config.retrieval.family_cover_min is None
    assert config.benchmark.config.strict_add
    assert not parsed().benchmark.config.strict_add


def test_real_benchmarks_have_the_published_split(parsed):
    config = parsed("benchmark=naturalplan", "encoder=hashing", "backbone=scripted")
    split = config.benchmark.config
    assert (split.n_train, split.n_heldout, split.split_seed) == (30, 900, 0)
    assert not split.allow_counts
    assert split.source == "data/naturalplan.jsonl"


def test_no_secret_stands_in_a_file(parsed):
    for backbone in ("gpt_4o_mini", "gemini_2_5_flash_lite"):
        name: Any = parsed(f"backbone={backbone}").backbone.config.api_key_env
        assert re.fullmatch(r"[A-Z_]+", name)


@pytest.mark.parametrize(
    ("path", "origin"),
    [("method/_role_pool.yaml", True), ("profile/qwen3_8b.yaml", False), ("common.yaml", False)],
)
def test_every_value_has_a_comment(path, origin):
    """Meaning and unit beside each number, and for the method's where it comes from."""
    text = (CONF / path).read_text().partition("\nhydra:")[0]
    bare = [
        line
        for line in text.splitlines()
        if re.match(r"\s*[a-z_]+:\s*[^\s#]", line)
        and not re.search(r"\s# \w.*\[[SPO]\]$" if origin else r"\s# \w", line)
    ]
    assert bare == []


def test_every_text_file_ends_its_defaults_with_itself():
    """A file that builds on others says where its own values come, so that they win."""
    for path in sorted(CONF.rglob("*.yaml")):
        defaults = (yaml.safe_load(path.read_text()) or {}).get("defaults")
        assert defaults is None or "_self_" in defaults, path


@pytest.mark.parametrize(
    ("backbone", "variable", "seeds", "prices"),
    [
        ("gpt_4o_mini", "OPENAI_API_KEY", True, (0.15, 0.60)),
        ("gemini_2_5_flash_lite", "GEMINI_API_KEY", False, (0.10, 0.40)),
    ],
)
def test_hosted_models(parsed, backbone, variable, seeds, prices):
    config = parsed(f"backbone={backbone}", "benchmark=toy", "encoder=hashing")
    section = config.backbone.config
    assert (section.api_key_env, section.send_seed) == (variable, seeds)
    assert (section.schema_style, section.chat_template_kwargs) == ("strict", {})
    price = section.price
    assert (price.prompt_usd_per_mtok, price.completion_usd_per_mtok) == prices
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", price.as_of)
    assert (config.pool.p_max, config.train.main_epochs) == (10, 9)


def test_a_server_of_ones_own_has_no_price(parsed):
    config = parsed("backbone=qwen3_8b", "benchmark=toy", "encoder=hashing")
    assert not config.backbone.config.price.known
