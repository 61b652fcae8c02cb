"""Overrides that a finding names can be pasted behind the command."""

from sero.config.train_alone import composed_jobs

BASE = ("experiment=single", "benchmark=toy", "encoder=hashing")


def test_mends_are_overrides(conf_dir):
    words = [
        *(*BASE, "backbone=qwen3_8b", "backbone.schema_style=none", "backbone.send_seed=false"),
        *("backbone.context_tokens=8192", "backbone.revision=b968826", "backbone.concurrency=1"),
        *("backbone.api_key_env=NAME", "backbone.model=tiny", "+backbone.extra_body.stop=[END]"),
        *("gate.tasks=4", "gate.repeats=2", "gate.warmup=strict", "logger.mode=offline"),
        *("backbone.serve.batch_invariant=true", "paths.cache=/tmp/elsewhere"),
        "~backbone.chat_template_kwargs.enable_thinking",
    ]
    (job,) = composed_jobs(conf_dir, words)
    server = job.config.backbone.config
    assert server.chat_template_kwargs == {}
    assert server.extra_body == {"stop": ["END"]}
    assert (server.schema_style, server.send_seed, server.concurrency) == ("none", False, 1)
    assert (job.config.gate.tasks, job.config.gate.repeats) == (4, 2)


def test_thinking_is_switched_off_where_nothing_said_so(conf_dir):
    off = "+backbone.chat_template_kwargs.enable_thinking=false"
    (job,) = composed_jobs(conf_dir, [*BASE, "backbone=openai", "backbone.model=tiny", off])
    assert job.config.backbone.config.chat_template_kwargs == {"enable_thinking": False}


def test_data_that_are_missing_can_be_generated(conf_dir):
    words = ["benchmark=naturalplan", "benchmark.source=generated", "encoder=hashing"]
    (job,) = composed_jobs(conf_dir, [BASE[0], *words, "backbone=scripted"])
    assert job.config.benchmark.build().name == "naturalplan-generated"
