from pathlib import Path

import pytest
import yaml

from sero.backbones.vllm_config import VLLMServerConfig
from sero.config import composer, parse_config
from sero.config.backbone_alone import compose_backbone
from sero.errors import ConfigError

CONF = Path(__file__).resolve().parents[2] / "conf"
SERVED = sorted(
    path.stem
    for path in (CONF / "backbone").glob("[!_]*.yaml")
    if set(yaml.safe_load(path.read_text()).get("defaults", [])[:1]) & {"_vllm", "qwen3_8b"}
)
pytestmark = pytest.mark.usefixtures("train")  # one search path, whose files are composed once


def faults(*overrides):
    with pytest.raises(ConfigError) as error:
        compose_backbone(CONF, overrides)
    return list(error.value.faults)


def test_there_is_something_to_serve():
    assert [
        *("qwen3_0_6b", "qwen3_14b", "qwen3_1_7b", "qwen3_32b", "qwen3_4b", "qwen3_8b"),
        "smollm2_vllm",
    ] == SERVED


@pytest.mark.parametrize("name", SERVED)
def test_a_backbone_alone_is_that_of_a_run(name):
    alone = compose_backbone(CONF, [f"backbone={name}"])
    with composer(CONF, "train") as composing:
        composed = composing.compose([f"backbone={name}"])
    run = parse_config(composed.config, composed.choices)
    assert alone.backbone == run.backbone
    assert isinstance(alone.backbone.config, VLLMServerConfig)
    assert (alone.dry_run, alone.log) == (False, f"cache/serve/{name}.log")


def test_overrides_reach_the_backbone():
    alone = compose_backbone(
        CONF,
        [
            *("backbone=qwen3_4b", "backbone.serve.dtype=float16", "exec.max_tokens=512"),
            *("paths.cache=/c", "dry_run=true"),
        ],
    )
    config = alone.backbone.config
    assert (config.serve.dtype, config.reserve_tokens) == ("float16", 512)
    assert (alone.dry_run, alone.log) == (True, "/c/serve/qwen3_4b.log")


def test_every_fault_of_a_line_is_told():
    assert faults(
        *("backbone=qwen3_8b", "dryrun=true", "backbone.serve.dtyp=x"),
        *("backbone.serve.max_num_seqs=0", "backbone.serve.gpu_memory_utilization=1.5"),
    ) == [
        "dryrun: unknown key; did you mean 'dry_run'?",
        "backbone.serve.dtyp: unknown key; did you mean 'backbone.serve.dtype'?",
        "backbone.serve.max_num_seqs: got 0. Input should be greater than 0",
        "backbone.serve.gpu_memory_utilization: got 1.5. Input should be less than or equal to 1",
    ]


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ((), "backbone: none chosen; write backbone=NAME, there are "),
        (("backbone=qwen3_9b",), "backbone: no choice 'qwen3_9b'; there are "),
        (("backbone=qwen3_8b,qwen3_4b",), "one backbone at a time; start the script twice"),
    ],
)
def test_which_backbone(overrides, said):
    (fault,) = faults(*overrides)
    assert fault.startswith(said)
