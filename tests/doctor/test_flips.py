"""The share and its interval, and what the crowd's figures say."""

import dataclasses

import pytest

from sero.backbones.vllm_config import VLLMServerConfig
from sero.config.train_alone import composed_jobs
from sero.doctor import Level
from sero.doctor.flip_findings import flip_findings, flip_mend
from sero.doctor.flips import Flips, Share

FLIPS = Flips(
    texts=Share(k=1, n=8),
    scores=None,
    again=0,
    crowd=16,
    failures=(),
    alone_s=0.5,
    alone_tokens_s=20.0,
    crowd_tokens_s=140.0,
)


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [
        # none of n: 1 - 0.025^(1/n); all of n: 0.025^(1/n)
        (0, 8, 0.0, 0.36942),
        (8, 8, 0.63058, 1.0),
        (0, 0, 0.0, 1.0),
        # tables of Clopper and Pearson
        (1, 10, 0.00253, 0.44502),
    ],
)
def test_the_exact_interval(k, n, low, high):
    assert Share(k=k, n=n).interval == pytest.approx((low, high), abs=1e-4)


def test_a_share_says_its_n():
    assert Share(k=1, n=10).of("texts") == "1 of 10 texts (95 % interval 0.003 to 0.445)"


def test_the_findings_of_a_crowd(run_config):
    flip, speed = flip_findings(FLIPS, run_config.backbone.config, 64)
    assert (flip.name, flip.level) == ("flips", Level.WARN)
    assert "in a crowd of 16, at 64 tokens at most" in flip.said
    assert speed.said == "0.50 s a call alone (20 new tokens/s); 140 new tokens/s in a crowd of 16"


def test_a_crowd_is_not_larger_than_the_bound_on_calls(run_config):
    cfg = dataclasses.replace(run_config.backbone.config, concurrency=4)
    found = flip_findings(FLIPS, cfg, 64)
    assert all("a crowd of 4" in finding.said for finding in found)
    assert found[0].figures["crowd"] == 4


def test_what_lowers_flips_depends_on_where_they_come_from(run_config):
    cfg = run_config.backbone.config
    assert flip_mend(FLIPS, cfg).startswith("backbone.concurrency=1")
    assert "even alone" in flip_mend(dataclasses.replace(FLIPS, again=1), cfg)


def test_a_vllm_server_of_ones_own_can_be_batch_invariant(conf_dir):
    words = ["experiment=single", "benchmark=toy", "encoder=hashing", "backbone=qwen3_8b"]
    (job,) = composed_jobs(conf_dir, words)
    cfg = job.config.backbone.config
    assert isinstance(cfg, VLLMServerConfig)
    mend = flip_mend(FLIPS, cfg).partition(" ")[0]
    assert mend == "backbone.serve.batch_invariant=true"
    (again,) = composed_jobs(conf_dir, [*words, mend])
    assert "batch_invariant" not in flip_mend(FLIPS, again.config.backbone.config)
