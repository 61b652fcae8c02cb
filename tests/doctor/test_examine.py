"""All checks of a sweep: each part of it once, in one order."""

import dataclasses

from sero.config.train_alone import composed_jobs
from sero.doctor import Level, examine

WORDS = ("experiment=single", "encoder=hashing", "backbone=scripted", "logger=none", "method=cot")


def parts(findings):
    return [(f.subject, f.name) for f in findings]


async def look(configs, options):
    return [finding async for finding in examine(configs, options)]


async def test_each_part_of_a_sweep_is_looked_at_once(conf_dir, options, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    jobs = composed_jobs(conf_dir, [*WORDS, "benchmark=toy,naturalplan", "seed=1,2"])
    found = await look([job.config for job in jobs], options)
    assert parts(found) == [
        ("", "versions"),
        ("", "paths.runs"),
        ("", "paths.cache"),
        ("", "tracker"),
        ("benchmark=toy", "data"),
        ("benchmark=naturalplan", "data"),
        ("encoder=hashing", "encoder"),
        ("", "scorers"),
        ("backbone=scripted", "server"),
    ]
    levels = {f.subject or f.name: f.level for f in found}
    assert levels["benchmark=naturalplan"] is Level.FAIL  # nothing is prepared in an empty folder
    assert levels["benchmark=toy"] is Level.OK
    assert levels["scorers"] is Level.SKIPPED
    assert list(tmp_path.iterdir()) == []


async def test_scorers_are_tried_where_a_benchmark_needs_them(run_config, options, quiz):
    slow = quiz(slow=True)
    part = dataclasses.replace(
        run_config.benchmark, choice="slow_quiz", target=type(slow), config=slow.config
    )
    scripted = composed_backbone(run_config)
    config = dataclasses.replace(run_config, benchmark=part, backbone=scripted)
    found = {f.name: f for f in await look([config], options)}
    assert found["scorers"].level is Level.OK


async def test_probes_are_tasks_of_the_benchmark(run_config, options, server):
    backbone = dataclasses.replace(
        run_config.backbone,
        config=dataclasses.replace(run_config.backbone.config, base_url=server.base_url),
    )
    config = dataclasses.replace(run_config, backbone=backbone)
    found = {f.name: f for f in await look([config], options)}
    assert found["flips"].figures["scores"]["n"] == 4
    prompts = {task.prompt for task in run_config.benchmark.build().load().train[:4]}
    assert prompts <= {body["messages"][-1]["content"] for body in server.bodies}


def composed_backbone(config):
    from sero.backbones.scripted import ScriptedBackbone, ScriptedConfig

    answers = ScriptedConfig(name="scripted", replies={}, default="ok")
    return dataclasses.replace(
        config.backbone, choice="scripted", target=ScriptedBackbone, config=answers
    )
