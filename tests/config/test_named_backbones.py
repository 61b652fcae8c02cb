"""Further backbones: each has a file and values of its own, and changes nothing of the run."""

import pytest

from sero.config import comparable, parse_config, resolved_data
from sero.config.variant import variant
from sero.errors import ConfigError

SINGLE = ("experiment=single", "backbone=scripted", "benchmark=toy", "encoder=hashing")


@pytest.fixture
def config_of(train):
    """The configuration of one command line."""

    def make(*overrides):
        composed = train.compose([*SINGLE, *overrides])
        return parse_config(composed.config, composed.choices)

    return make


@pytest.fixture
def named(train):
    """The variant of one command line."""

    def make(*overrides):
        composed = train.compose([*SINGLE, *overrides])
        return variant(composed.config, composed.choices, train)

    return make


def test_a_name_brings_the_file_of_that_name(config_of):
    own = config_of("backbone=qwen3_32b").backbone
    part = config_of("+backbones.qwen3_32b={}").backbones["qwen3_32b"]
    assert (part.choice, part.target, part.config) == ("qwen3_32b", own.target, own.config)


def test_another_name_gives_its_file_and_its_values(config_of):
    found = config_of(
        "+backbones.strong.file=scripted", "+backbones.strong.default='yes, sir'"
    ).backbones
    assert list(found) == ["strong"]
    assert (found["strong"].choice, found["strong"].config.default) == ("scripted", "yes, sir")
    merged = config_of(
        "+backbones.a={file: qwen3_8b, chat_template_kwargs: {style: short}}"
    ).backbones["a"]
    assert merged.config.chat_template_kwargs == {"enable_thinking": False, "style": "short"}


def test_none_are_further_unless_asked_for(config_of):
    assert config_of().backbones == {}


@pytest.mark.parametrize("file", ["gpt_4o_mini", "gemini_2_5_flash_lite", "qwen3_8b"])
def test_the_profile_stays_that_of_the_runs_own(config_of, file):
    """A file of conf/backbone chooses the profile of the run whose own backbone it is."""
    bare = config_of()
    found = config_of(f"+backbones.{file}={{}}")
    sections = ("train", "reinforce", "policy", "credit", "pool", "retrieval", "guard", "exec")
    assert [getattr(found, name) for name in sections] == [getattr(bare, name) for name in sections]
    if file != "qwen3_8b":
        hosted = config_of(f"backbone={file}")
        assert hosted.train != bare.train  # so the choice would have shown


def test_a_value_taken_from_the_own_section_is_taken_from_where_it_stands(config_of):
    """serve.max_model_len is ${backbone.context_tokens} in the files of vLLM."""
    config = config_of(
        "backbone=qwen3_8b",
        "backbone.context_tokens=10000",
        "+backbones.qwen3_32b.context_tokens=20000",
        "+backbones.copy.file=qwen3_32b",
    )
    assert config.backbone.config.serve.max_model_len == 10000
    assert config.backbones["qwen3_32b"].config.serve.max_model_len == 20000
    assert config.backbones["copy"].config.serve.max_model_len == 32768
    assert {part.config.reserve_tokens for part in config.backbones.values()} == {4096}


def test_a_whole_tree_stays_as_it_is(train):
    from sero.config.named_backbones import with_named_backbones

    tree = train.compose([*SINGLE, "+backbones.strong.file=scripted"]).config
    again = with_named_backbones(tree, train)
    assert resolved_data(again) == resolved_data(tree)
    assert parse_config(again).backbones["strong"].choice == "scripted"


def test_every_fault_is_told_with_its_path(faults_of_line):
    faults = faults_of_line(
        *SINGLE,
        "+backbones.qwen3_32b.bas_url=x",
        "+backbones.qwen3_32b.concurrency=many",
        "+backbones.qwen3_23b={}",
        "+backbones.strong=scripted",
        "+backbones.own.file=scripted",
        "+backbones.odd.file=scripted",
        "+backbones.odd.name='${nowhere.x}'",
        "budget.calls=lots",
    )
    starts = sorted(fault.partition(": ")[0] for fault in faults)
    assert starts == [
        "backbones.odd",
        "backbones.own",
        "backbones.qwen3_23b",
        "backbones.qwen3_32b.bas_url",
        "backbones.qwen3_32b.concurrency",
        "backbones.strong",
        "budget.calls",
    ]
    told = dict(fault.split(": ", 1) for fault in faults)
    assert "did you mean 'base_url'?" in told["backbones.qwen3_32b.bas_url"]
    assert "no file conf/backbone/qwen3_23b.yaml" in told["backbones.qwen3_23b"]
    assert "did you mean 'qwen3_32b'?" in told["backbones.qwen3_23b"]
    assert "write {} or {KEY: VALUE}" in told["backbones.strong"]
    assert "another name" in told["backbones.own"]
    assert "nowhere.x" in told["backbones.odd"]


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("backbones=scripted", "backbones: got 'scripted'; write {NAME: {KEY: VALUE}}"),
        ("backbones=[scripted]", "backbones=[scripted]"),
        ("backbones.strong.file=scripted", "write +backbones.strong.file=..., which adds it"),
        ("+backbones.a.file=_vllm", "no file conf/backbone/_vllm.yaml"),
        ("+backbones={no good: {}}", "a name has letters, digits, _ and -"),
        (
            "+backbones.a={file: openai, model: m, base_url: 'http://me:secret@host/v1'}",
            "backbones.a.base_url: holds a user name or password",
        ),
    ],
)
def test_what_is_no_further_backbone_is_told(faults_of_line, word, said):
    (fault,) = faults_of_line(*SINGLE, word)
    assert said in fault
    assert "secret" not in fault


def test_a_key_that_hydra_does_not_know_wants_a_plus(faults_of_line):
    """The value stands in the backbone's file, and Hydra has read the name alone."""
    (fault,) = faults_of_line(
        *SINGLE, "+backbones.strong.file=scripted", "backbones.strong.default=no"
    )
    assert "write +backbones.strong.default" in fault


def test_how_it_is_reached_is_no_variant(train, named):
    server = ("+backbones.strong.file=openai", "+backbones.strong.model=m")
    moved = (
        "+backbones.strong.base_url=http://elsewhere:1/v1",
        "+backbones.strong.api_key_env=KEY",
        "+backbones.strong.concurrency=1",
        "+backbones.strong.timeout_s=1",
        "+backbones.strong.max_retries=0",
    )
    assert named(*server, *moved) == named(*server)
    kept = comparable(resolved_data(train.compose([*SINGLE, *server, *moved]).config))
    assert not {"base_url", "concurrency", "timeout_s"} & set(kept["backbones"]["strong"])
    assert named(*server, "+backbones.strong.revision=r2") != named(*server)
    assert named(*server[:1], "+backbones.strong.model=n") != named(*server)


def test_the_slug_says_its_file_and_not_its_values(named):
    slug = named("+backbones.strong.file=qwen3_32b")
    assert "+backbones.strong-qwen3_32b+" in slug
    assert "_target_" not in slug
    assert named("+backbones.qwen3_32b={}") == named("+backbones.qwen3_32b.file=qwen3_32b")


def test_faults_are_an_error_of_the_configuration(config_of):
    with pytest.raises(ConfigError, match=r"backbones\.nobody: no file"):
        config_of("+backbones.nobody={}")
