from pathlib import Path

import pytest

from sero.config import composer, parse_config
from sero.config.overrides import check_overrides
from sero.errors import ConfigError

CONF = Path(__file__).resolve().parents[3] / "conf"


@pytest.fixture(scope="module")
def configured():
    """The benchmark's section under further overrides."""
    with composer(CONF, "train") as composing:

        def compose(*overrides):
            words = ["benchmark=olympiadbench", "encoder=hashing", "backbone=scripted", *overrides]
            composed = check_overrides(composing, words).first
            return parse_config(composed.config, composed.choices).benchmark

        yield compose


def test_the_published_split_is_the_default(configured):
    section = configured().config
    assert section.n_train == {"maths": 12, "physics": 8}
    assert (section.n_heldout, section.split_seed, section.allow_counts) == (877, 0, False)
    assert (section.scorer, section.strict_add) == ("careful", False)
    assert section.source == "data/olympiadbench.jsonl"


@pytest.mark.parametrize(
    ("override", "n_train"),
    [
        ("benchmark.n_train=6", 6),
        ("benchmark.n_train.maths=3", {"maths": 3, "physics": 8}),
        ("benchmark.n_train={maths:1,physics:2}", {"maths": 1, "physics": 2}),
        ("benchmark.n_train=6,12", 6),
    ],
)
def test_the_training_split_is_a_number_or_one_for_each_group(configured, override, n_train):
    assert configured(override).config.n_train == n_train


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("benchmark.n_train=0", "benchmark.n_train: got 0"),
        ("benchmark.n_train=some", "benchmark.n_train: got 'some'"),
        ("benchmark.n_train.maths=0", "benchmark.n_train.maths: got 0"),
        ("benchmark.n_train.chemistry=1", "benchmark.n_train.chemistry: unknown key"),
        ("benchmark.scorer=strict", "benchmark.scorer: got 'strict'"),
    ],
)
def test_wrong_values_are_told_with_their_key(configured, override, told):
    with pytest.raises(ConfigError, match=told):
        configured(override)


def test_the_section_builds_the_benchmark(configured):
    benchmark = configured("benchmark.source=generated", "benchmark.n_heldout=null").build()
    assert (benchmark.name, benchmark.scorer) == ("olympiadbench-generated", "careful")
