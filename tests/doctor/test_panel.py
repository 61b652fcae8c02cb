"""Every backbone of a run is looked at under its own name, and mends name its own keys."""

import dataclasses

import pytest

from sero.config.train_alone import composed_jobs
from sero.doctor import Level, examine
from sero.doctor.data import check_data
from sero.doctor.finding import fail
from sero.doctor.panel import Seat, seats
from sero.errors import ConfigError

WORDS = (
    *("experiment=single", "encoder=hashing", "backbone=scripted", "logger=none", "method=mad"),
    *("benchmark=toy", "exec.max_tokens=256"),
)
STRONG = ("+backbones.strong.file=openai", "+backbones.strong.model=tiny")


@pytest.fixture
def look(conf_dir, options, monkeypatch, tmp_path):
    """`await look(*overrides)`: every finding of these jobs, in order."""
    monkeypatch.setattr("sero.doctor.probing.PAUSE_S", 0.0)
    monkeypatch.chdir(tmp_path)

    async def look(*overrides):
        jobs = composed_jobs(conf_dir, [*WORDS, *overrides])
        return [finding async for finding in examine([job.config for job in jobs], options)]

    return look


@pytest.fixture
def roster(tmp_path):
    def write(text):
        path = tmp_path / "roster.yaml"
        path.write_text(text)
        return f"assign.roster={path}"

    return write


def of(subject, findings):
    return {finding.name: finding for finding in findings if finding.subject == subject}


async def test_a_further_backbone_is_asked_as_the_runs_own_is(look, server):
    found = await look(
        *STRONG,
        f"+backbones.strong.base_url={server.base_url}",
        "+backbones.strong.context_tokens=4096",
        "+backbones.strong.revision=r1",
    )
    assert of("backbone=scripted", found)["server"].level is Level.SKIPPED
    strong = of("backbones.strong=openai", found)
    assert {"reachable", "model", "completion", "schema", "context", "flips"} <= set(strong)
    assert not [finding for finding in strong.values() if finding.level is Level.FAIL]
    assert server.bodies


async def test_a_further_backbone_that_is_away_fails_under_its_name(look, closed_port):
    found = await look(*STRONG, f"+backbones.strong.base_url=http://127.0.0.1:{closed_port}/v1")
    reachable = of("backbones.strong=openai", found)["reachable"]
    assert reachable.level is Level.FAIL
    assert reachable.mend == "vllm serve tiny, or ++backbones.strong.base_url=URL of where it runs"


async def test_what_starts_a_server_names_its_file(look, closed_port):
    url = f"http://127.0.0.1:{closed_port}/v1"
    found = await look("+backbones.big.file=qwen3_32b", f"+backbones.big.base_url={url}")
    assert of("backbones.big=qwen3_32b", found)["reachable"].mend == (
        f"python scripts/serve_backbone.py backbone=qwen3_32b backbone.base_url={url}"
    )


async def test_a_fault_of_the_server_is_mended_where_it_is_set(look, server):
    server.refuse = {"seed": (400, "no seeds here")}
    server.models = [{"id": "other", "max_model_len": 2048}]
    found = await look(*STRONG, f"+backbones.strong.base_url={server.base_url}")
    strong = of("backbones.strong=openai", found)
    assert strong["model"].mend == "++backbones.strong.model=other"
    assert strong["seed"].mend == "++backbones.strong.send_seed=false"


async def test_each_backbone_of_a_sweep_is_looked_at_once(look):
    found = await look("+backbones.a.file=scripted", "+backbones.b.file=scripted", "seed=1,2")
    subjects = [finding.subject for finding in found if finding.name == "server"]
    assert subjects == ["backbone=scripted", "backbones.a=scripted", "backbones.b=scripted"]


async def test_candidates_with_request_options_are_asked_with_them(look, roster, server):
    text = "candidates: [{name: a}, {name: b, backbone: strong, request: {top_k: 5}}]"
    found = await look(
        *STRONG,
        f"+backbones.strong.base_url={server.base_url}",
        "assign.by=meta_debate",
        roster(text),
    )
    (subject,) = {f.subject for f in found if f.subject.startswith("backbones.strong#")}
    assert of(subject, found)["completion"].level is Level.OK
    assert {body.get("top_k") for body in server.bodies} == {None, 5}
    roles = of("method=mad", found)["roles"]
    assert roles.level is Level.OK
    assert "3 roles for 2 candidate(s), 2 evaluator(s), by meta_debate" in roles.said


async def test_a_roster_that_cannot_be_used_is_told_before_anybody_is_asked(look, roster):
    with pytest.raises(ConfigError) as caught:
        await look("assign.by=b", roster("candidates: [{name: a, backbone: strong}]"))
    assert "assign.by: got 'b'" in str(caught.value)
    assert "speak through backbone 'strong'" in str(caught.value)


async def test_a_role_that_the_method_lacks_is_a_failure(look, roster):
    text = "candidates: [{name: a}]\nroles: [{name: nobody, description: A role of no method.}]"
    found = await look("assign.by=a", roster(text))
    roles = of("method=mad", found)["roles"]
    assert roles.level is Level.FAIL
    assert "roles.nobody: the method has no such role" in roles.said
    assert "\n" not in roles.said
    assert of("backbone=scripted", found)


async def test_a_pool_without_its_backbone_is_a_failure(look, tmp_path, run_config):
    from sero.roles.load import card_to_data
    from sero.running.saved import dump_yaml

    cards = [card_to_data(card) for card in run_config.benchmark.build().seed_pool()]
    path = tmp_path / "pool.yaml"
    path.write_text(dump_yaml({"roles": [{**cards[0], "backbone": "x"}, *cards[1:]]}))
    found = await look("method=static", f"benchmark.seed_pool={path}")
    assert "speak through backbone 'x'" in of("method=static", found)["roles"].said


@pytest.mark.parametrize(
    ("name", "mend", "placed"),
    [
        (None, "backbone.model=x", "backbone.model=x"),
        ("a", "backbone.model=x", "++backbones.a.model=x"),
        ("a#012345", "backbone.model=x", "++backbones.a.model=x"),
        ("#012345", "backbone.model=x", "backbone.model=x"),
        ("a", "+backbone.extra_body.k=1", "++backbones.a.extra_body.k=1"),
        ("a", "look at backbone.extra_body.stop", "look at backbones.a.extra_body.stop"),
        (
            "a",
            "restart it, or backbone.concurrency=1",
            "restart it, or ++backbones.a.concurrency=1",
        ),
        (
            "a",
            "'~backbone.extra_body.k'",
            "conf/backbone/FILE.yaml without extra_body.k, and ++backbones.a.file=FILE",
        ),
        (
            "a",
            "python scripts/serve_backbone.py backbone=f backbone.base_url=u",
            "python scripts/serve_backbone.py backbone=f backbone.base_url=u",
        ),
    ],
)
async def test_keys_stand_where_this_backbone_has_them(run_config, name, mend, placed):
    data = await check_data(run_config.benchmark)
    seat = Seat(name=name, part=run_config.backbone, config=run_config, data=data)
    assert seat.about(fail("model", "said", mend)).mend == placed


async def test_one_part_under_two_names_has_two_seats(run_config):
    data = await check_data(run_config.benchmark)
    config = dataclasses.replace(run_config, backbones={"a": run_config.backbone})
    found = seats([config, run_config], [(run_config.benchmark, data)])
    assert [seat.subject for seat in found] == ["backbone=openai", "backbones.a=openai"]
    assert found[1].config.backbone == run_config.backbone
