import itertools
import json
from pathlib import Path

import pytest
import yaml

from sero.reporting.entries import Spending
from sero.reporting.figures import RowKey, RunFigures, Unusable, read_figures, row_key
from sero.reporting.hindsight import hindsights
from sero.reporting.records import read_run
from sero.reporting.seeds import make_blocks
from sero.roles.load import card_to_data
from sero.skillworld.cards import seed_pool
from sero.skillworld.world import WorldSpec, world_for


def rewrite(path: Path, **changes) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def reconfigure(directory: Path, **changes) -> None:
    path = directory / "config.yaml"
    config = yaml.safe_load(path.read_text()) | changes
    path.write_text(yaml.safe_dump(config, sort_keys=False))


def save_pool(directory: Path, cards) -> None:
    data = {"roles": [card_to_data(card) for card in cards]}
    (directory / "pool" / "final.yaml").write_text(yaml.safe_dump(data))


def test_the_figures_of_a_run(make_run):
    directory = make_run(scores={"a": ("g", 1.0), "b": ("g", 0.5), "c": ("g", None)})
    training = {"calls": 1000, "prompt_tokens": 1, "completion_tokens": 2}
    rewrite(directory / "result.json", training_cost=training)
    found = read_figures(directory)
    assert isinstance(found, RunFigures)
    assert (found.score, found.failures, found.seed, found.data) == (0.75, 1, "42", "d0")
    assert (found.calls, found.tokens) == (1234, 1_230_000)
    assert found.training == Spending(calls=1000, prompt_tokens=1, completion_tokens=2)
    assert found.evaluation is None  # an older result
    # One of three episodes committed, one ran its candidate; five roles in the final pool.
    assert (found.commits, found.candidates, found.roles) == (1, 1, 5)
    assert found.lost_aggregator is False


def test_a_run_without_training_has_no_commits_and_maybe_no_pool(make_run):
    directory = make_run(method="static", episodes=[])
    (directory / "pool" / "final.yaml").unlink()
    found = read_figures(directory)
    assert (found.commits, found.candidates, found.roles) == (None, None, None)
    assert (found.harmful, found.lost_aggregator) == (None, None)


@pytest.fixture
def world_run(make_run):
    """A run whose final pool is the seed pool of world 3, and that pool."""
    directory = make_run()
    world = {"name": "skillworld", "world": 3, "scenario": "default", "dim": 32, "noise": 0.0}
    reconfigure(directory, benchmark=world)
    pool = seed_pool(world_for(WorldSpec(key=3, scenario="default", dim=32)), noise=0.0)
    save_pool(directory, pool)
    return directory, pool


def test_harmful_roles_are_read_from_the_world(world_run):
    found = read_figures(world_run[0])
    # The seed pool holds one harmful specialist and the distractor.
    assert (found.harmful, found.lost_aggregator) == (2, False)
    assert found.setting.world == "scenario default, dim 32, noise 0"


def test_a_lost_aggregator_is_seen(world_run):
    directory, pool = world_run
    save_pool(directory, [card for card in pool if card is not pool.terminal])
    found = read_figures(directory)
    assert (found.lost_aggregator, found.roles) == (True, len(pool) - 1)


@pytest.mark.parametrize("changed", [{"dim": 2}, {"scenario": "none"}, {"world": "x"}])
def test_a_world_that_is_none_has_no_harmful_roles(world_run, changed):
    directory, _ = world_run
    benchmark = yaml.safe_load((directory / "config.yaml").read_text())["benchmark"]
    reconfigure(directory, benchmark=benchmark | changed)
    assert read_figures(directory).harmful is None


def test_the_data_of_a_real_benchmark_is_part_of_its_setting(make_run):
    simulated = read_figures(make_run(seed=1))
    real = read_figures(make_run(seed=2, simulated=False))
    assert (simulated.setting.data, real.setting.data) == ("", "d0")
    assert real.harmful is None


def test_what_moves_the_answers_of_a_real_model_is_part_of_its_setting(make_run):
    directory = make_run(simulated=False)
    plain = read_figures(directory).setting.backbone
    manifest = json.loads((directory / "manifest.json").read_text())
    revision = "0123456789abcdef" * 4
    manifest["backbone"] = {**manifest.get("backbone", {}), "revision": revision}
    (directory / "manifest.json").write_text(json.dumps(manifest))
    reconfigure(
        directory,
        backbone={"name": "openai", "chat_template_kwargs": {"enable_thinking": False}}
        | {"extra_body": {"top_p": 0.9}, "schema_style": "strict"},
    )
    name = plain.partition(" (")[0]
    assert read_figures(directory).setting.backbone == (
        f"{name} (revision 0123456789ab, enable_thinking=false, top_p=0.9, schema_style=strict)"
    )


@pytest.mark.parametrize("score", [float("nan"), float("inf"), 2.0, -1.0])
def test_a_score_outside_its_range_makes_a_run_damaged(make_run, score):
    directory = make_run()
    path = directory / "predictions.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[0]["score"] = score
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = read_figures(directory)
    assert isinstance(found, Unusable)
    assert found.state == "damaged"
    assert "predictions.jsonl:1" in found.reason


@pytest.mark.parametrize(
    ("row", "variant", "name", "extra"),
    [
        (None, "base-4f53cd", "sero", ""),
        (None, "base", "sero", ""),
        (None, "gate.tasks-8-ab12cd", "sero", "gate.tasks-8"),
        (None, "row-gate_8+backbone.editor-hostile-ab12cd", "gate_8", ""),
        (None, "backbone-openai+row-gate_8+train.batch-4-ab12cd", "gate_8", "train.batch-4"),
        ("no_gate", "row-no_ga-ab12cd", "no_gate", ""),  # a slug cut short
        ({"name": "no_gate"}, "base-ab12cd", "no_gate", ""),
    ],
)
def test_what_a_row_is_called(make_run, row, variant, name, extra):
    directory = make_run(variant=variant)
    reconfigure(directory, row=row)
    assert row_key(read_run(directory)) == RowKey(
        experiment="quickstart", method="sero", variant=variant, name=name, extra=extra
    )


@pytest.mark.parametrize(
    ("made", "status", "state", "reason"),
    [
        ({"result": False}, {"state": "failed", "reason": "no server"}, "failed", "no server"),
        ({"result": False}, {"state": "running"}, "running", "not finished in phase eval"),
        # An old result beside a later attempt does not count.
        ({}, {"state": "interrupted"}, "interrupted", "not finished"),
        ({"scores": {"a": ("g", None)}}, {}, "completed", "no held-out item was scored, 1 failed"),
    ],
)
def test_runs_that_give_no_figures_say_why(make_run, made, status, state, reason):
    directory = make_run(**made)
    rewrite(directory / "status.json", **status)
    found = read_figures(directory)
    assert isinstance(found, Unusable)
    assert found.state == state
    assert reason in found.reason


@pytest.mark.parametrize("name", ["result.json", "predictions.jsonl", "pool/final.yaml"])
def test_a_damaged_run_does_not_stop_the_others(make_run, name):
    directory = make_run()
    (directory / name).write_text("[1]\n")
    found = read_figures(directory)
    assert isinstance(found, Unusable)
    assert found.state == "damaged"
    assert name in found.reason


@pytest.mark.parametrize(
    ("variant", "by", "extra"),
    [
        ("assign.by-random-abcdef", "random", ""),
        (
            "assign.by-random+assign.mode-argmax+backbone-openai-abcdef",
            "random",
            "assign.mode-argmax",
        ),
        ("evaluate+assign.by-bob+gate.tasks-8-abcdef", "bob", "evaluate+gate.tasks-8"),
        ("assign.mode-argmax-abcdef", None, "assign.mode-argmax"),
    ],
)
def test_who_plays_the_roles_is_no_further_override(make_run, variant, by, extra):
    directory = make_run(method="mad", variant=variant)
    reconfigure(directory, assign={"by": by, "mode": "argmax"})
    key = row_key(read_run(directory))
    assert (key.name, key.by, key.extra) == ("mad", by or "", extra)


@pytest.fixture
def key_of(make_run):
    """A factory of the keys of runs whose roles candidates play: `key_of(by, method=..., ...)`."""
    made = itertools.count()

    def make(by, *, method="mad", seed=1, mode="argmax", variant="", **sections) -> RowKey:
        variant = f"{variant or next(made)}-abcdef"
        directory = make_run(method=method, seed=seed, variant=variant)
        reconfigure(directory, assign={"by": by, "mode": mode}, **sections)
        return row_key(read_run(directory))

    return make


def test_rows_that_differ_in_who_plays_alone_share_host_and_rules(key_of):
    ann = key_of("ann")
    same = [
        key_of("bob"),
        key_of("ann", seed=2, backbone={"name": "other"}),
        key_of("ann", row="another_name", experiment="another"),
        key_of("random", method="random_mad"),  # of a file that differs in these two alone
    ]
    assert {(key.host, key.rules) for key in same} == {(ann.host, ann.rules)}
    greedy = key_of("ann", mode="greedy")
    assert greedy.host == ann.host
    assert greedy.rules != ann.rules
    assert key_of("ann", method="dmad", pool={"p_max": 3}).host != ann.host
    assert key_of("ann", benchmark={"name": "skillworld", "n_heldout": 5}).host != ann.host
    assert (key_of(None).host, key_of(None).rules) == ("", "")


def test_worlds_of_seeds_are_one_host(key_of):
    """Benchmark, backbone and encoder of a simulated run all name its world."""

    def host(seed, *, flip=False):
        names = ("benchmark", "encoder")
        sections = {name: {"world": seed, "dim": 32, "scenario": "default"} for name in names}
        if flip:  # another order of the keys says nothing else
            sections = {name: dict(reversed(section.items())) for name, section in sections.items()}
        return key_of("ann", seed=seed, **sections).host

    assert host(1) == host(2) == host(2, flip=True)


def test_rows_of_unequal_seeds_are_assignments_of_one_host(make_run):
    """The row's key is that of its lowest seed: 1 for Meta-Debate, 2 for the candidates."""
    directories = []
    for by, seeds in (("meta_debate", (1, 2)), ("ann", (2, 3)), ("bob", (2,))):
        for seed in seeds:
            where = make_run(method="mad", seed=seed, variant=f"assign.by-{by}-abcdef")
            world = {"world": seed, "dim": 32, "scenario": "default"}
            sections = {"benchmark": {"name": "skillworld", **world}, "encoder": world}
            reconfigure(where, assign={"by": by}, **sections)
            directories.append(where)
    (block,) = make_blocks(map(read_figures, directories))
    assert block.one_host
    (found,) = hindsights(block)
    assert [row.label for row in found.dynamic] == ["mad · by meta_debate"]


@pytest.mark.parametrize(
    ("method", "by", "variant", "title", "host_title"),
    [
        ("mad", "random", "assign.by-random", "mad · by random", "mad"),
        ("meta_debate_mad", "meta_debate", "base", "meta_debate_mad", "mad"),
        ("random_mad", "random", "method.rounds-2", "random_mad", "mad"),
        ("ann_mad", "ann", "base", "ann_mad", "mad"),
        (
            *("meta_debate_mad", "random", "assign.by-random"),
            *("meta_debate_mad · by random", "meta_debate_mad"),
        ),
        # the name says random for another reason
        (
            *("random_evolution", "random", "assign.by-random"),
            *("random_evolution · by random", "random_evolution"),
        ),
        # of an experiment's file: the name does not say it
        ("mad", "meta_debate", "base", "mad · by meta_debate", "mad"),
    ],
)
def test_a_name_that_says_who_plays_is_not_doubled(key_of, method, by, variant, title, host_title):
    key = key_of(by, method=method, variant=variant)
    assert (key.title, key.host_title) == (title, host_title)
