"""`conf/assign.yaml`: Meta-Debate's section and a backbone for each name of a roster."""

import re
from pathlib import Path

import pytest

from sero.assignment.rules import AssignMode
from sero.config import composer
from sero.config.assign_alone import compose_assignment
from sero.errors import ConfigError

CONF = Path(__file__).resolve().parents[2] / "conf"
BACKBONES = sorted(
    path.stem for path in (CONF / "backbone").glob("*.yaml") if not path.name.startswith("_")
)
pytestmark = pytest.mark.usefixtures("train")  # one search path, whose files are composed once
NEEDS = {"openai": ["backbone.model=some-model"], "local": ["exec.max_tokens=1024"]}


def faults(*overrides, names=(None,)):
    with pytest.raises(ConfigError) as error:
        compose_assignment(CONF, overrides, names)
    return list(error.value.faults)


def test_the_shipped_values():
    found = compose_assignment(CONF, [], [])
    section = found.assign
    assert (section.mode, section.min_score, section.max_revisions) == (AssignMode.GREEDY, 2.5, 1)
    assert (section.exclude_self, section.self_margin) == (False, 1.0)
    assert (section.severity_correction, section.review) == (False, "joint")
    assert section.criteria_attempts == 3
    tokens = (section.proposal_tokens, section.criteria_tokens, section.review_tokens)
    assert tokens == (found.exec.max_tokens,) * 3
    assert found.backbones == {}


def test_shared_values_are_those_of_a_run():
    with composer(CONF, "train") as composing:
        run = composing.compose().config
    alone = compose_assignment(CONF, [], [])
    assert (alone.seed, alone.paths.cache) == (run.seed, run.paths.cache)
    assert alone.exec.max_tokens == run.exec.max_tokens


@pytest.mark.parametrize("name", [*NEEDS, "scripted", "gpt_4o_mini", "qwen3_8b"])
def test_a_backbone_of_each_kind_can_be_chosen(name):
    found = compose_assignment(CONF, [f"backbone={name}", *NEEDS.get(name, [])], [None])
    assert found.backbones[None].choice == name


def test_every_other_backbone_can_be_named_by_a_roster():
    names = [name for name in BACKBONES if name not in NEEDS and not name.endswith("world")]
    found = compose_assignment(CONF, [], names)
    assert {name: part.choice for name, part in found.backbones.items()} == {n: n for n in names}


def test_each_name_of_a_roster_is_composed_by_itself():
    found = compose_assignment(
        CONF,
        ["backbone=scripted", "backbone.default=x", "exec.max_tokens=99", "assign.mode=margin"],
        [None, "gpt_4o_mini", "qwen3_8b"],
    )
    parts = found.backbones
    assert {key: part.choice for key, part in parts.items()} == {
        None: "scripted",
        "gpt_4o_mini": "gpt_4o_mini",
        "qwen3_8b": "qwen3_8b",
    }
    assert parts[None].config.default == "x"
    assert parts["qwen3_8b"].config.reserve_tokens == 99  # what is not the backbone's holds for all
    assert found.assign.mode is AssignMode.MARGIN


@pytest.mark.parametrize(
    ("override", "value"), [("false", False), ("true", True), ("auto", "auto")]
)
def test_three_ways_to_exclude_self(override, value):
    found = compose_assignment(CONF, [f"assign.exclude_self={override}"], [])
    assert found.assign.exclude_self == value


def test_every_fault_of_a_line_is_told():
    told = faults("backbone=scripted", "assign.mod=x", "assign.min_score=9", "assign.mode=best")
    assert told[:2] == [
        "assign.mod: unknown key; did you mean 'assign.mode'?",
        "assign.mode: got 'best'. Input should be 'greedy', 'argmax', 'margin' or 'hungarian'",
    ]
    assert told[2].startswith("assign.min_score: got 9")
    (line,) = faults()
    assert line.startswith("backbone: none chosen, and a candidate or evaluator names none")
    assert "gpt_4o_mini" in line
    (line,) = faults("backbone=scriptd")
    assert line.endswith("did you mean 'scripted'?")


def test_values_that_contradict_each_other():
    (line,) = faults("backbone=local", "exec.max_tokens=4096")
    assert line.startswith("backbone.reserve_tokens: got 4096")


def test_backbones_that_do_not_exist_are_told_together():
    told = faults(names=("qwen", "gpt_4o_mni"))
    assert len(told) == 2
    assert told[0].startswith("backbone: no choice 'qwen'")
    assert told[1].endswith("did you mean 'gpt_4o_mini'?")


@pytest.mark.parametrize("text", ["assign.by=random", "++assign.roster=mine.yaml"])
def test_what_belongs_to_a_run_is_refused(text):
    assert faults("backbone=scripted", text) == [
        f"{text}: belongs to a run; here Meta-Debate decides, and the roster is the first argument"
    ]


@pytest.mark.parametrize("text", ["+benchmark=skillworld", "budget.calls=9"])
def test_what_nothing_here_reads_is_refused(text):
    part = re.split(r"[.=]", text.lstrip("+"))[0]
    assert faults("backbone=scripted", text, "assign.mod=1") == [
        f"{text}: belongs to a run; there is no {part} here. What counts is backbone, assign, "
        "seed, exec, paths",
        "assign.mod: unknown key; did you mean 'assign.mode'?",
    ]


def test_a_world_is_given_where_no_benchmark_gives_it():
    assert faults("backbone=assignment_world") == [
        "backbone.world: a run takes it from its benchmark; here write backbone=assignment_world "
        "backbone.world=VALUE, for a roster that names no such backbone"
    ]
    found = compose_assignment(CONF, ["backbone=assignment_world", "backbone.world=3"], [None])
    assert found.backbones[None].config.world == 3


def test_one_at_a_time():
    assert faults("backbone=scripted", "assign.mode=greedy,argmax") == ["one assignment at a time"]


def test_every_value_has_a_comment_with_its_source():
    text = (CONF / "assign_section.yaml").read_text()
    values = [line for line in text.splitlines() if re.match(r"  [a-z_]+:", line)]
    assert len(values) == 14
    assert [line for line in values if not re.search(r"  # \w.*\[[SPO]\]$", line)] == []
    (mode,) = [line for line in values if line.startswith("  mode:")]
    for marked in ("greedy over pairs [S]", "keeps the candidate) [S]", "largest sum) [O]"):
        assert marked in mode  # method.md §5 states greedy and margin; hungarian is ours
