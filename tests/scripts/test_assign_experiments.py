"""The worked examples of Meta-Debate against a scripted server, as a user starts them."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import gold_server
import pytest
import train
import warm_job
import yaml
from chat_server import serving

from sero.assignment.load import load_candidates
from sero.config.front import launch

CRITERIA = {
    "criteria": [
        {
            "name": f"Point {word}",
            "description": f"Says the {word} thing.",
            "lower_is_better": False,
        }
        for word in ("one", "two", "three", "four", "five")
    ]
}


@dataclass
class PanelServer(gold_server.GoldServer):
    """Candidates and reviewers. Whoever is meant for a role says what is right in it.

    Attributes:
        strategies: name of a candidate to its prompt.
        meant: name of a role to the candidate who is right in it; reviewers know that one.
        sums: by role and candidate, what ten whole scores of two reviewers add up to, instead.
    """

    strategies: Mapping[str, str] = field(default_factory=dict)
    meant: Mapping[str, str] = field(default_factory=dict)
    sums: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def reply(self, body: dict) -> str:
        system, user = (body["messages"][i]["content"] for i in (0, -1))
        me = next(name for name, prompt in self.strategies.items() if prompt in system)
        if user.startswith("You are acting as "):
            return f"This is how {me} would play."
        if user.startswith("Write the criteria"):
            return json.dumps(CRITERIA)
        if user.startswith("Evaluate each candidate's suitability for the "):
            return json.dumps(self.scores(user, me))
        role = system.splitlines()[0].removeprefix("You are ").removesuffix(".")
        prompt = max((p for p in self.answers if user.startswith(p)), key=len)
        heard = user.removeprefix(prompt)
        right = self.meant[role] == me and "astray" not in heard
        said = self.answers[prompt].right if right else self.answers[prompt].wrong
        return f"{'Sure.' if right else 'All went astray.'}\n{said}"

    def scores(self, user: str, me: str) -> dict[str, dict[str, int]]:
        first, _, rest = user.partition("\n")
        role = re.match(r"Evaluate each candidate's suitability for the (.+?) role", first)[1]
        reversed_ = [
            said.endswith("lower is better")
            for said in re.findall(r"c\d = [^(]+\(([^)]+)\)", first)
        ]
        found = {}
        shown = re.findall(r"^=== proposal (\d+) \w+ ===\nThis is how (\S+) would", rest, re.M)
        for number, author in shown:
            if self.sums:
                low, more = divmod(self.sums[role][author], 10)
                place = 5 * list(self.strategies).index(me)
                row = [low + (place + c < more) for c in range(5)]
            else:
                row = [5 if self.meant[role] == author else 2] * len(reversed_)
            found[f"proposal_{number}"] = {
                f"c{c}": 6 - value if turned else value
                for c, (value, turned) in enumerate(zip(row, reversed_, strict=True), 1)
            }
        return found


RECORD = (
    "Recommendation: B\nVerdict: It is the safer way.\nArguments for: Less can break.\n"
    "Arguments against: It takes longer.\nConfidence: 0.75"
)


def answers_of(task, wrong: str):
    """A response that scores 1, and one that scores 0."""
    faults = task.reference.get("faults")
    if "answer" in task.reference:
        right = f"So the final answer is \\boxed{{{task.reference['answer']}}}."
    elif faults is None:
        right = RECORD
    else:
        listed = "\n".join(f"- {line}: {kind}" for line, kind in faults)
        right = f"Findings:\n{listed or 'none'}"
    return gold_server.Answers(right=right, wrong=wrong)


@dataclass
class Example:
    """A worked example before its server."""

    name: str
    server: PanelServer
    folder: Path

    def words(self, *more: str) -> list[str]:
        return [
            *(f"experiment=assign/{self.name}", "backbone=openai", "backbone.model=scripted"),
            *(f"backbone.base_url={self.server.url}", "backbone.max_retries=0", "logger=none"),
            *("progress=none", f"paths.runs={self.folder / 'runs'}"),
            *(f"paths.cache={self.folder / 'cache'}", *more),
        ]

    def run(self, *more: str) -> int:
        """One job."""
        return warm_job.run(*self.words(*more))

    def sweep(self, *more: str) -> int:
        """The command line as a user gives it, with the table at its end."""
        return launch(train.CONF, "train", train.job, ["train.py", *self.words(*more)])

    def results(self) -> dict[str, dict]:
        """`assign.by` to result.json."""
        found = {}
        for path in (self.folder / "runs").glob(f"assign/{self.name}/*/*/*/seed_42/result.json"):
            config = yaml.safe_load(path.with_name("config.yaml").read_text())
            found[config["assign"]["by"]] = json.loads(path.read_text()) | {"at": path.parent}
        return found

    def lines(self, by: str) -> list[dict]:
        """assignments.jsonl of a run."""
        text = (self.results()[by]["at"] / "assignments.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def example(tmp_path):
    """`example(name, wrong)`, the packaged candidates taking turns in being meant for a role."""
    server = PanelServer()
    with serving(server):

        def make(name: str, wrong: str) -> Example:
            words = [f"experiment=assign/{name}", "backbone=scripted", "assign.by=meta_debate"]
            config, _, _ = warm_job.configured(*words)
            benchmark = config.benchmark.build()
            server.answers = {
                task.prompt: answers_of(task, wrong) for task in benchmark.load().heldout
            }
            roster = load_candidates(config.assign.roster)
            server.strategies = {one.name: one.prompt.strip() for one in roster.candidates}
            names = list(server.strategies)
            target = config.method.target
            roles = target.start(config.method.config, benchmark).pool.names
            server.meant = {role: names[i % len(names)] for i, role in enumerate(roles)}
            return Example(name, server, tmp_path)

        yield make


def compare(played: Example, *, n_roles: int, n_items: int, asked: int) -> None:
    """Finished runs of Meta-Debate and of one candidate, right in some roles, in every role.

    Args:
        asked: logical calls of Meta-Debate for an item.
    """
    first = next(iter(played.server.strategies))
    found = played.results()
    assert set(found) == {"meta_debate", first}
    assert {row["n"] for row in found.values()} == {n_items}
    chosen = [line["assignment"] for line in played.lines("meta_debate")]
    assert chosen == [played.server.meant] * n_items
    alone = [line["assignment"] for line in played.lines(first)]
    assert alone == [dict.fromkeys(played.server.meant, first)] * n_items
    assert len(played.server.meant) == n_roles
    assert found["meta_debate"]["mean_score"] == 1.0
    assert found[first]["mean_score"] == 0.0
    assert found["meta_debate"]["calls"] == n_items * asked + found[first]["calls"]


def test_code_review(example, capfd):
    """Criteria are given: I J proposals on an excerpt, I E reviews; a row for each."""
    played = example("code_review", "Findings:\n- 1: dead-code\n- 2: secret")
    assert played.sweep("assign.by=meta_debate,tracer") == 0
    compare(played, n_roles=4, n_items=3, asked=4 * 3 + 4 * 3)
    users = [body["messages"][-1]["content"] for body in played.server.bodies]
    kinds = Counter(user.partition(" ")[0] for user in users)
    # a reviewer whose prompt is the same under both assignments is asked once
    assert kinds == {"You": 3 * 12, "Evaluate": 3 * 12, "Review": 3 * (4 + 4 - 1)}
    for user in users:
        assert ("- misleading-name: " in user) == (not user.startswith("You"))
        assert ("first 400 of" in user) == (not user.startswith("Review"))

    rows = [line.split() for line in capfd.readouterr().out.splitlines() if "completed" in line]
    assert [("meta_debate" in row, "tracer" in row) for row in rows] == [
        (True, False),
        (False, True),
    ]


def test_math(example):
    """Criteria, proposals and reviews of four roles by two candidates, each at its temperature."""
    played = example("math", "So the final answer is \\boxed{123456}.")
    for by in ("meta_debate", "careful"):
        assert played.run(f"assign.by={by}") == 0
    compare(played, n_roles=4, n_items=4, asked=4 + 4 * 2 + 4 * 2)
    found = played.results()
    assert found["meta_debate"]["metrics"]["confidence"] == {"n": 4, "mean": 1.0}
    # the one who hears a mistake gives in, until all agree on what is wrong: no proof
    assert found["careful"]["metrics"]["confidence"] == {"n": 4, "mean": 1.0}
    seen = set()
    for body in played.server.bodies:
        system = body["messages"][0]["content"]
        role = re.match(r"You are (.+)\.\n", system)
        if role:
            me = next(n for n, prompt in played.server.strategies.items() if prompt in system)
            assert body["temperature"] == {"careful": 0.0, "exploring": 0.7}[me]
            seen.add((role[1], me))
    assert seen == {*played.server.meant.items(), *((r, "careful") for r in played.server.meant)}


def test_a_random_assignment_asks_nobody(example):
    played = example("code_review", "Findings: none")
    assert played.run("assign.by=random") == 0
    assert played.results()["random"]["calls"] == 3 * 4
    drawn = [tuple(line["assignment"].values()) for line in played.lines("random")]
    assert {name for row in drawn for name in row} <= set(played.server.strategies)
    assert len({name for row in drawn for name in row}) > 1


MATRIX = {
    # means of role and candidate: ten whole scores each, two reviewers by five criteria
    "advocate": {"A": 43, "B": 38, "C": 35},
    "critic": {"A": 36, "B": 44, "C": 39},
    "judge": {"A": 34, "B": 37, "C": 46},
}


def test_the_matrix_of_the_architecture_makes_a_b_and_c_advocate_critic_and_judge(
    example, tmp_path
):
    """Rows A, B, C = [4.3 3.6 3.4], [3.8 4.4 3.7], [3.5 3.9 4.6] over advocate, critic, judge."""
    played = example("architecture", "I recommend nothing.")
    strategies = {name: f"You are candidate {name} and argue your way." for name in "ABC"}
    roster = tmp_path / "roster.yaml"
    candidates = [{"name": name, "prompt": prompt} for name, prompt in strategies.items()]
    roster.write_text(yaml.safe_dump({"candidates": candidates, "evaluators": ["A", "B"]}))
    played.server.strategies = strategies
    played.server.sums = MATRIX
    meant = {"advocate": "A", "critic": "B", "judge": "C"}
    played.server.meant = meant
    assert played.run("assign.by=meta_debate", f"assign.roster={roster}") == 0

    lines = played.lines("meta_debate")
    assert len(lines) == 3
    for line in lines:
        assert line["assignment"] == meant
        assert line["rule"] == "greedy"
        assert line["means"] == [
            pytest.approx([total / 10 for total in row.values()]) for row in MATRIX.values()
        ]
        assert [hearing["criteria_source"] for hearing in line["hearings"]] == ["generated"] * 3
    result = played.results()["meta_debate"]
    assert result["metrics"]["stated_confidence"] == {"n": 3, "mean": 0.75}
    assert (result["mean_score"], result["scorer"]) == (1.0, "complete_record")

    # three rounds: present and rebut, refine, judge
    text = (result["at"] / "traces.jsonl").read_text()
    for trace in map(json.loads, text.splitlines()):
        said = [
            m
            for m in trace["rollout"]["messages"]
            if m["kind"] in ("message", "aggregate", "judge")
        ]
        assert [(m["role"], m["round"]) for m in said] == [
            *(("advocate", 1), ("critic", 1), ("advocate", 2), ("critic", 2)),
            ("judge", 3),
        ]
