"""Workflow and Static DAG: who sees what, and nothing else happens."""

import pytest
import yaml

from sero.backbones.base import CallContext, Phase
from sero.backbones.scripted import ScriptedBackbone
from sero.credit import PoolState
from sero.methods.handwritten import HandwrittenConfig, HandwrittenGraph

CALL = CallContext(run_seed=1, phase=Phase.EVAL, episode=None, item="sum-0")


def role(name, role_type="specialist", **changes):
    card = {
        "name": name,
        "role_type": role_type,
        "capability_family": f"family-{name}",
        "communication_protocol": "text",
        "system_prompt": [f"You are {name}."],
    }
    return {**card, **changes}


@pytest.fixture
def build(toy, make_lab, tmp_path):
    def build(edges, names, backbone):
        roles = [*map(role, names), role("end", "aggregator", protected=True)]
        path = tmp_path / "graph.yaml"
        path.write_text(yaml.safe_dump({"roles": roles, "edges": edges}))
        cfg = HandwrittenConfig(name="workflow", graph=str(path))
        start = HandwrittenGraph.start(cfg, toy.Benchmark())
        lab = make_lab(backbone)
        return start, HandwrittenGraph(cfg, lab=lab, state=PoolState(start.pool))

    return build


def speaking():
    return ScriptedBackbone(lambda request: f"<said by {request.role}>")


def seen(backbone, name):
    """The user message of a role's one request."""
    (request,) = [r for r in backbone.requests if r.role == name]
    return request.messages[-1].content


def test_role_k_of_a_chain_sees_role_k_minus_1_alone(toy, build):
    backbone = speaking()
    _, method = build([["a", "b"], ["b", "c"], ["c", "end"]], "abc", backbone)
    rollout = toy.run(method.answer("The task.", CALL))
    assert [r.role for r in backbone.requests] == ["a", "b", "c", "end"]
    assert seen(backbone, "a") == "The task."
    for before, name in zip("abc", ["b", "c", "end"], strict=True):
        assert seen(backbone, name) == (
            f"The task.\n\n### Message from {before} (family-{before})\n<said by {before}>"
        )
    assert rollout.answer == "<said by end>"
    assert rollout.levels == (0, 1, 2)
    assert [m.kind for m in rollout.messages] == ["message"] * 3 + ["aggregate"]


def test_branches_see_their_predecessor_and_the_terminal_sees_its_own(toy, build):
    backbone = speaking()
    edges = [["a", "b"], ["a", "c"], ["b", "d"], ["c", "d"], ["d", "end"]]
    _, method = build(edges, "abcd", backbone)
    rollout = toy.run(method.answer("The task.", CALL))
    for name in ("b", "c"):
        assert "from a" in seen(backbone, name)
        assert seen(backbone, name).count("### Message") == 1
    assert seen(backbone, "d").index("from b") < seen(backbone, "d").index("from c")
    assert seen(backbone, "end").count("### Message") == 1
    assert rollout.edges == tuple(map(tuple, edges))
    assert rollout.levels == (0, 1, 1, 2)
    assert rollout.cost.calls == 5


def test_nothing_else_happens(toy, build):
    """No draft, no fast credit, no repair: an unreadable answer stays one."""
    backbone = speaking()
    _, method = build([["a", "end"]], "a", backbone)
    rollout = toy.run(method.answer("The task.", CALL))
    assert len(backbone.requests) == 2
    assert (rollout.fast, rollout.similarity, rollout.validator) == ({}, {}, None)
    assert method.planned_episodes(30) == 0


def test_edges_are_part_of_what_a_run_starts_from(build):
    chain, _ = build([["a", "b"], ["b", "end"]], "ab", speaking())
    fork, _ = build([["a", "end"], ["b", "end"]], "ab", speaking())
    assert chain.pool == fork.pool
    assert chain.more != fork.more
