"""The checks of a live server: which are made, in which order, and what each one sends."""

import asyncio
import dataclasses
import re

import pytest

from sero.backbones.scripted import ScriptedBackbone, ScriptedConfig
from sero.config import Component
from sero.doctor import Level
from sero.doctor.failures import start_command
from sero.doctor.flips import Scoring
from sero.doctor.server import Patient, check_backbone, most_calls

OK, WARN, FAIL, SKIPPED = Level
HEALTHY = (
    *("reachable", "key", "model", "revision", "version", "seed", "completion", "content"),
    *("finish", "thinking", "usage", "schema", "context", "long prompt", "flips", "speed"),
    *("gate", "retries", "calls"),
)


async def test_a_healthy_server_is_all_ok(examined, server, options):
    found = await examined()
    assert tuple(found) == HEALTHY
    assert {f.level for f in found.values()} == {OK}
    assert not any(f.mend for f in found.values())
    assert found["version"].said == "vLLM 0.32.0"
    assert found["context"].said == "4096 of the server's 4096 tokens are used"
    # a first one, a schema, three long ones, four alone, four and four fillers at once
    assert found["calls"].figures["sent"] == len(server.bodies) == 1 + 1 + 3 + 4 + 8
    assert len(server.bodies) <= most_calls(options)
    assert all(body["temperature"] == 0.0 and "seed" in body for body in server.bodies)


async def test_nobody_there_ends_the_checks(examined, closed_port):
    found = await examined({"base_url": f"http://127.0.0.1:{closed_port}/v1"})
    assert [(f.name, f.level) for f in found.values()] == [
        ("reachable", FAIL),
        ("completion", SKIPPED),
    ]
    assert f"http://127.0.0.1:{closed_port}/v1 does not answer" in found["reachable"].said


async def test_a_server_that_hangs_is_a_finding_within_the_deadline(examined, server, monkeypatch):
    monkeypatch.setattr("sero.doctor.failures.LOOK", "look")

    async def hang(body):
        await asyncio.sleep(60)

    monkeypatch.setattr(server, "_answer", hang)
    found = await examined(deadline_s=0.3)
    assert found["completion"].said == "no answer within 0.3 s"
    assert "--deadline" in found["completion"].mend
    assert found["further"].level is SKIPPED


async def test_the_other_checks_go_on_without_what_is_refused(examined, server):
    server.refuse = {"seed": (400, "no seeds")}
    found = await examined()
    assert {f.name for f in found.values() if f.level is not OK} == {"seed"}
    assert set(found) == set(HEALTHY)


async def test_a_model_that_thinks_as_asked_is_ok(examined, server):
    server.message = {"reasoning": "Hm."}
    found = await examined({"chat_template_kwargs": {"enable_thinking": True}})
    assert found["thinking"].level is OK
    server.message = {"content": None, "reasoning": "Hm."}
    found = await examined({"chat_template_kwargs": {"enable_thinking": True}})
    assert (found["thinking"].level, found["thinking"].mend[:10]) == (WARN, "--tokens N")


async def test_no_schema_is_sent_where_none_is_wanted(examined, server):
    found = await examined({"schema_style": "none"})
    assert found["schema"].level is SKIPPED
    assert not any("response_format" in body for body in server.bodies)


async def test_a_prompt_of_full_length_is_sent_when_asked_for(examined, server):
    server.models = [{"id": "tiny", "max_model_len": 8192}]
    await examined({"context_tokens": 8192}, deep=True)
    # (8192 - 256) · 3 characters, less the system prompt
    longest = max(len(body["messages"][-1]["content"]) for body in server.bodies)
    assert longest == (8192 - 256) * 3 - len(server.bodies[0]["messages"][0]["content"])


async def test_a_long_prompt_is_no_longer_than_the_servers_context(examined, server):
    server.models = [{"id": "tiny", "max_model_len": 512}]
    await examined({"context_tokens": None}, deep=True)
    longest = max(len(body["messages"][-1]["content"]) for body in server.bodies)
    assert longest == (512 - 256) * 3 - len(server.bodies[0]["messages"][0]["content"])


async def test_a_long_prompt_that_takes_too_long_is_only_slow(examined, server):
    server.slow_chars = 2000
    found = await examined(deadline_s=0.5, probes=0)
    assert (found["long prompt"].level, found["completion"].level) == (WARN, OK)
    assert found["long prompt"].mend.startswith("--deadline")


async def test_no_probes_no_crowd(examined, server):
    found = await examined(probes=0)
    assert found["flips"].level is SKIPPED
    assert "gate" not in found
    assert len(server.bodies) == 5


async def test_flips_are_counted_and_give_the_gates_table(examined, server):
    # every second probe depends on the crowd
    def text(question, in_flight, number):
        odd = any(topic in question for topic in ("mountain", "winter"))
        return f"crowd {in_flight > 1}" if odd else "calm"

    server.text = text
    found = await examined()
    flips = found["flips"].figures
    assert (flips["texts"]["k"], flips["texts"]["n"], flips["again_alone"]) == (2, 4, 0)
    # Clopper and Pearson of 2 of 4
    assert flips["texts"]["interval"] == pytest.approx((0.0676, 0.9324), abs=1e-4)
    gate = found["gate"]
    assert gate.figures["flip_rate"] == 0.5
    assert (gate.level, gate.figures["recommended"]) == (WARN, None)
    assert any("Only fewer flips help" in line for line in gate.details)


async def test_scores_are_compared_where_tasks_are_known(examined, server, run_config):
    benchmark = run_config.benchmark.build()
    tasks = benchmark.load().train[:4]
    golds = {task.prompt: task.reference["answer"] for task in tasks}

    def text(question, in_flight, number):
        # the first task's answer is lost in a crowd, the second's only worded anew
        if question == tasks[0].prompt and in_flight > 1:
            return "I do not know."
        end = " Sure." if question == tasks[1].prompt and in_flight > 1 else ""
        return f"Answer: {golds.get(question, 'x')}{end}"

    server.text = text
    found = await examined(scoring=Scoring(benchmark=benchmark, tasks=tasks))
    figures = found["flips"].figures
    assert (figures["texts"]["k"], figures["scores"]["n"]) == (2, 4)
    assert figures["scores"]["k"] == 1 + _changes_the_score(benchmark, tasks[1], golds)
    assert found["gate"].figures["of"] == "scores"


def _changes_the_score(benchmark, task, golds):
    scores = [
        benchmark.score(benchmark.parse(task.prompt, text), task).value
        for text in (f"Answer: {golds[task.prompt]}", f"Answer: {golds[task.prompt]} Sure.")
    ]
    return scores[0] != scores[1]


async def test_answers_that_were_cut_are_not_scored(examined, server, run_config):
    benchmark = run_config.benchmark.build()
    server.finish = "length"
    scoring = Scoring(benchmark=benchmark, tasks=benchmark.load().train)
    found = await examined(scoring=scoring)
    assert found["flips"].figures["scores"]["n"] == 0


async def test_a_key_is_never_shown(examined, server, monkeypatch):
    secret = "sk-of-nobody-0123456789"
    monkeypatch.setenv("SERO_TEST_KEY", secret)
    server.key = "another"
    address = re.sub("//", f"//{secret}@", server.base_url) + f"?token={secret}"
    for changes in ({"api_key_env": "SERO_TEST_KEY"}, {"base_url": address}):
        found = await examined(changes)
        assert found["key"].level is FAIL
        assert secret not in repr(found)
    server.key = secret
    found = await examined({"api_key_env": "SERO_TEST_KEY"})
    assert {f.level for f in found.values()} == {OK}
    server.status, server.said = 400, f"bad {secret}"
    found = await examined({"api_key_env": "SERO_TEST_KEY"})
    assert "bad ***" in found["completion"].said
    assert secret not in repr(found)


async def test_an_address_that_is_none_is_a_fault_of_settings(examined):
    found = await examined({"base_url": "ftp://nowhere"})
    assert [(f.name, f.level) for f in found.values()] == [("settings", FAIL)]
    assert "base_url: not an http or https address" in found["settings"].said


async def test_a_backbone_without_a_server_is_skipped(run_config, options):
    config = ScriptedConfig(name="scripted", replies={}, default="ok")
    part = Component(choice="scripted", target=ScriptedBackbone, config=config)
    patient = Patient(config=dataclasses.replace(run_config, backbone=part), scoring=None)
    (found,) = [f async for f in check_backbone(patient, options)]
    assert (found.name, found.level) == ("server", SKIPPED)
    assert "scripted answers by itself" in found.said


async def test_any_other_backbone_is_asked_by_its_own_protocol(run_config, options):
    class Own(ScriptedBackbone):
        """Not a server, and not simulated."""

    class Wrapped:
        def __init__(self, config):
            self._inner = Own(lambda request: "Paris.")
            self.identity, self.max_prompt_chars = self._inner.identity, None
            self.generate, self.close = self._inner.generate, self._inner.close

    part = Component(choice="own", target=Wrapped, config=None)
    patient = Patient(config=dataclasses.replace(run_config, backbone=part), scoring=None)
    found = {f.name: f.level async for f in check_backbone(patient, options)}
    assert found == {
        **dict.fromkeys(("completion", "content", "finish", "thinking", "usage"), OK),
        "schema": FAIL,
        **dict.fromkeys(("flips", "speed", "gate", "retries", "calls"), OK),
    }


@pytest.mark.parametrize(
    ("serves", "key", "command"),
    [
        (True, None, "python scripts/serve_backbone.py backbone=qwen3_8b backbone.base_url=URL"),
        (False, None, "vllm serve tiny, or backbone.base_url=URL of where it runs"),
        (False, "KEY", "check backbone.base_url and the network"),
    ],
)
def test_how_a_server_is_started(run_config, serves, key, command):
    cfg = dataclasses.replace(run_config.backbone.config, api_key_env=key)
    assert start_command(cfg, "qwen3_8b", "URL", serves=serves) == command


@pytest.mark.parametrize(
    ("version", "props", "said"),
    [
        ({"version": "0.32.0"}, None, "vLLM 0.32.0"),
        (None, {"build_info": "b9-abc"}, "llama.cpp b9-abc"),
        ({"version": 3}, {"build_info": None}, "not told; Server: Python/"),
    ],
)
async def test_what_the_server_is(examined, server, version, props, said):
    server.version, server.props = version, props
    found = await examined(probes=0)
    assert found["version"].level is OK
    assert found["version"].said.startswith(said)


async def test_a_list_of_models_that_never_comes_is_no_answer(examined, server):
    server.models_after_s = 60.0
    found = await examined(deadline_s=0.3)
    assert found["reachable"].said.endswith("does not answer: no answer in time")


async def test_a_key_that_the_server_lists_is_not_shown(examined, server, monkeypatch):
    secret = "sk-of-nobody-0123456789"
    monkeypatch.setenv("SERO_TEST_KEY", secret)
    server.models = [{"id": f"m {secret}"}]
    server.version = {"version": secret}
    found = await examined({"api_key_env": "SERO_TEST_KEY"})
    assert "there are m ***" in found["model"].said
    assert found["version"].said == "vLLM ***"
    assert secret not in repr(found)


async def test_a_long_list_of_models_is_read_to_its_end(examined, server):
    server.models = [{"id": f"m{i}", "note": "x" * 1000} for i in range(2000)] + [{"id": "tiny"}]
    found = await examined()
    assert (found["model"].level, found["model"].said) == (OK, "tiny is served")


async def test_long_and_strange_names_are_cut(examined, server):
    server.models = [{"id": "a\x1b[31m" + "b" * 10_000}]
    found = await examined()
    assert f"there are a?[31m{'b' * 73}…" in found["model"].said
    assert found["model"].mend == "backbone.model=NAME of one of them"


async def test_a_context_beyond_any_is_none(examined, server):
    server.models = [{"id": "tiny", "max_model_len": 10**400}]
    server.counted = 10**400
    found = await examined()
    assert found["context"].said == "the server does not tell; backbone.context_tokens=4096"
