"""The quickstart with a real model: what it changes, and that its choices fit together."""

from pathlib import Path

import pytest
from omegaconf import OmegaConf

from sero.backbones.local_server import LocalServer
from sero.config import composer, parse_config

CONF = Path(__file__).resolve().parents[2] / "conf"
NAME = "experiment=quickstart_llm"
OWN = {
    "train.warmup_epochs": 1,
    "train.main_epochs": 2,
    "train.batch": 3,
    "exec.max_tokens": 40,
    "retrieval.spec_slots": 2,
    "retrieval.val_slots": 0,
    "dag.order": "flat",
    "repair.enabled": False,
    "credit.loo_every": 10,
    "editor.attempts": 1,
    "editor.max_tokens": 192,
    "evaluate.concurrency": 2,
    **{f"assign.{what}_tokens": 40 for what in ("proposal", "criteria", "review")},
}
"""What the experiment sets beside its parts; those of `assign` follow from exec.max_tokens."""

WORLD = {"repair.always": False, "retrieval.family_cover_min": None}
"""What the simulated world sets, and its absence leaves as the method has it."""


@pytest.fixture(scope="module")
def train():
    with composer(CONF, "train") as composing:
        yield composing


def walk(data, path=""):
    for key, value in data.items():
        if isinstance(value, dict) and value:
            yield from walk(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value


def sections(composing, *overrides):
    """Dotted key to value of everything but the parts, the name and what carries the name."""
    data = OmegaConf.to_container(composing.compose(overrides).config, resolve=True)
    for key in ("backbone", "benchmark", "encoder", "experiment", "logger"):
        data.pop(key)
    return dict(walk(data))


def test_it_differs_from_the_quickstart_only_where_it_says_so(train):
    ours, theirs = sections(train, NAME), sections(train)
    assert ours.keys() == theirs.keys()
    assert {key: ours[key] for key in ours if ours[key] != theirs[key]} == OWN | WORLD


def test_its_parts_are_the_packaged_model_the_toy_and_a_real_encoder(train):
    composed = train.compose([NAME])
    config = parse_config(composed.config, composed.choices)
    parts = (config.backbone, config.encoder, config.benchmark)
    assert [part.choice for part in parts] == ["local", "minilm", "toy"]
    assert config.backbone.target is LocalServer
    local = config.backbone.config
    assert (local.gguf, local.context_tokens, local.reserve_tokens) == (None, 2048, 40)
    assert "say nothing about the quality of roles" in local.note
    # as many items in flight as there are servers
    assert config.evaluate.concurrency == local.replicas == 2


def test_it_has_items_of_every_kind(train):
    composed = train.compose([NAME])
    split = parse_config(composed.config, composed.choices).benchmark.build().load()
    kinds = ("arithmetic", "capitals", "sentiment")
    for tasks, each in ((split.train, 2), (split.heldout, 12)):
        assert [sum(task.group == kind for task in tasks) for kind in kinds] == [each] * 3
