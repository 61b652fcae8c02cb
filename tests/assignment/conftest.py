"""A roster of letters, a configuration, and a panel whose reviewers say what a table says."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from sero.assignment.config import AssignConfig
from sero.assignment.roster import Candidate, DebateRole, Roster, Seat
from sero.assignment.rules import AssignMode
from sero.backbones.base import CallContext, Phase, Request
from sero.backbones.scripted import ScriptedBackbone

CRITERIA = {
    "criteria": [
        {"name": f"Point {n}", "description": f"Says the {word} thing.", "lower_is_better": lower}
        for n, word, lower in ((1, "first", False), (2, "second", False), (3, "third", True))
    ]
}
"""Three usable criteria; less is better on the last."""


class Society:
    """Plays everybody: proposals carry their author's name, reviews the scores of a table.

    Args:
        scores: from 1 to 5, more is better; by role, candidate and, if nested so deep, evaluator.
            None leaves the score out.
        after: the table from the moment a role was described anew, by its index.
        replies: text that a request's prompt begins with, or a kind, to the reply instead.
    """

    def __init__(self, roster: Roster, scores, *, after=None, replies=None):
        self.roster = roster
        self.scores = scores
        self.after = after or {}
        self.replies = replies or {}
        self.backbone = ScriptedBackbone(self.reply, name="society")
        self.panel = dict.fromkeys(roster.seats, self.backbone)
        self.roles = [role.name for role in roster.roles]
        self.candidates = [candidate.name for candidate in roster.candidates]
        self.evaluators = [evaluator.name for evaluator in roster.evaluators]

    @property
    def requests(self) -> list[Request]:
        return self.backbone.requests

    def kinds(self) -> list[str]:
        return [self.kind_of(request) for request in self.requests]

    def kind_of(self, request: Request) -> str:
        prompt = request.messages[-1].content
        starts = {
            "criteria": "Write the criteria",
            "revision": "Rewrite the description",
            "proposal": "You are acting as",
            "review": "Evaluate each candidate",
        }
        return next(kind for kind, start in starts.items() if prompt.startswith(start))

    def reply(self, request: Request) -> Any:
        kind = self.kind_of(request)
        if kind in self.replies:
            made = self.replies[kind]
            return made(request) if callable(made) else made
        if kind == "criteria":
            return json.dumps(CRITERIA)
        if kind == "revision":
            return json.dumps({"description": "Described anew at length.", **CRITERIA})
        prompt = request.messages[-1].content
        if kind == "proposal":
            role = re.match(r"You are acting as (.+?)\. ", prompt)
            assert role is not None
            return f"This is how {request.role} would play {role[1]}."
        return json.dumps(self.grades(prompt, request.role))

    def grades(self, prompt: str, evaluator: str) -> dict[str, Any]:
        found = re.match(r"Evaluate each candidate's suitability for the (.+?) role", prompt)
        assert found is not None
        role = self.roles.index(found[1])
        table = self.after[role] if "Described anew" in prompt else self.scores[role]
        criteria = re.findall(r"(c\d) = [^()]+\(([^()]+)\)", prompt.partition("\n")[0])
        entries = {}
        for number, name in re.findall(
            r"^=== proposal (\d+) \w+ ===\nThis is how (\S+) would play", prompt, re.MULTILINE
        ):
            cell = table[self.candidates.index(name)]
            value = cell[self.evaluators.index(evaluator)] if isinstance(cell, list) else cell
            if value is not None:
                entries[f"proposal_{number}"] = {
                    key: 6 - value if said.endswith("; lower is better") else value
                    for key, said in criteria
                }
        return entries


@pytest.fixture
def society() -> Callable[..., Society]:
    return Society


@pytest.fixture
def make_roster() -> Callable[..., Roster]:
    """`make_roster(2, 3)`: roles r0, r1; candidates A, B, C, who judge unless told otherwise."""

    def make(n_roles: int, n_candidates: int, evaluators=None, **changes) -> Roster:
        roles = tuple(
            DebateRole(name=f"r{i}", description=f"Role {i} of the hand-made table.")
            for i in range(n_roles)
        )
        candidates = tuple(
            Candidate(name="ABCDEFG"[j], prompt=f"Strategy {j}.") for j in range(n_candidates)
        )
        values = {"roles": roles, "candidates": candidates, "evaluators": evaluators or candidates}
        return Roster(**{**values, **changes})

    return make


@pytest.fixture
def cfg() -> Callable[..., AssignConfig]:
    """The shipped values, with changes."""

    def make(**changes) -> AssignConfig:
        values = {
            "mode": AssignMode.GREEDY,
            "min_score": 2.5,
            "max_revisions": 1,
            "exclude_self": False,
            "self_margin": 1.0,
            "severity_correction": False,
            "review": "joint",
            "excerpt_chars": None,
            "criteria_attempts": 3,
            "proposal_tokens": 100,
            "criteria_tokens": 200,
            "review_tokens": 300,
        }
        return AssignConfig(**{**values, **changes})

    return make


@pytest.fixture
def call() -> CallContext:
    return CallContext(run_seed=7, phase=Phase.EVAL, episode=None, item="item-1")


@pytest.fixture
def seat() -> Seat:
    """The run's own backbone."""
    return Seat(None)
