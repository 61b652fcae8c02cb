"""The rosters of the package: sound, unlike each other, and silent on the answer's format."""

import pytest

from sero.assignment.checks import roster_warnings
from sero.assignment.load import load_candidates
from sero.assignment.players import DECIDERS
from sero.methods.graph_file import load_graph

SIZES = {"shared": 3, "code_review": 3, "architecture": 3, "hard_math": 2, "assignment_world": 4}


@pytest.mark.parametrize(("folder", "size"), SIZES.items())
def test_a_packaged_roster(folder, size):
    roster = load_candidates(f"package:{folder}/candidates.yaml")
    assert len(roster.candidates) == size
    assert roster.evaluators == roster.candidates
    assert roster_warnings(roster) == ()
    for one in roster.candidates:
        assert one.name not in DECIDERS
        assert one.backbone is None, "it runs on whatever backbone a run has"
        assert one.prompt.strip()
        said = one.prompt.lower()
        for form in ("answer:", "findings", "boxed", "recommendation", "format", "json", "verdict"):
            assert form not in said


def test_the_roles_of_the_review_are_those_of_its_graph():
    roster = load_candidates("package:code_review/candidates.yaml")
    graph = load_graph("package:code_review/static_dag.yaml")
    assert tuple(role.name for role in roster.roles) == graph.pool.names
    assert all(len(role.criteria) == 3 for role in roster.roles)
    assert len(graph.order) == 3
    assert graph.predecessors == ((), (), ()), "reviewers do not hear each other"


def test_the_two_ways_of_doing_maths_differ_in_temperature():
    roster = load_candidates("package:hard_math/candidates.yaml")
    assert [one.temperature for one in roster.candidates] == [0.0, 0.7]
