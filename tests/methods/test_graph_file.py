"""A graph of roles from a file: order, edges, and every fault of it."""

from itertools import pairwise

import pytest

from sero.errors import CardError
from sero.methods.graph_file import load_graph, read_graph
from sero.roles.load import load_pool


def role(name, role_type="specialist", **changes):
    card = {
        "name": name,
        "role_type": role_type,
        "capability_family": name,
        "communication_protocol": "text",
        "system_prompt": [f"You are {name}."],
    }
    return {**card, **changes}


def graph(edges, names="abc", **changes):
    roles = [*map(role, names), role("end", "aggregator", protected=True)]
    return {"roles": roles, "edges": edges, **changes}


def faults_of(raw):
    with pytest.raises(CardError) as caught:
        read_graph(raw, where="graph.yaml")
    return caught.value.faults


def test_a_diamond():
    found = read_graph(
        graph([["a", "b"], ["a", "c"], ["b", "end"], ["c", "end"]]), where="graph.yaml"
    )
    assert [card.name for card in found.order] == ["a", "b", "c"]
    assert found.predecessors == ((), (0,), (0,))
    assert found.feeding == (1, 2)
    assert found.edges == (("a", "b"), ("a", "c"), ("b", "end"), ("c", "end"))
    assert found.terminal.name == "end"


def test_predecessors_come_first_whatever_the_order_of_the_file():
    found = read_graph(graph([["c", "b"], ["b", "a"], ["a", "end"]]), where="graph.yaml")
    assert [card.name for card in found.order] == ["c", "b", "a"]
    assert found.predecessors == ((), (0,), (1,))
    assert found.feeding == (2,)


CHAIN = [["a", "b"], ["b", "c"], ["c", "end"]]


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        (graph(None), "edges: missing"),
        (graph([*CHAIN, ["a"]]), r"edges\[3\]: got \['a'\]"),
        (graph([*CHAIN, ["a", "ennd"]]), r"edges\[3\]: no role 'ennd'; did you mean 'end'"),
        (graph([*CHAIN, ["a", "b"]]), "edges: a -> b stands there 2 times"),
        (graph([*CHAIN, ["end", "a"]]), "edges: end -> a; the terminal speaks last"),
        (graph([*CHAIN, ["b", "a"]]), "edges: a cycle through a, b, c"),
        (graph([["a", "b"], ["b", "end"]]), "c: no edge leads from it"),
        (graph([["a", "b"], ["b", "c"], ["c", "a"]]), "end: no edge leads to the terminal"),
        (graph(CHAIN, edge=1), "edge: unknown field"),
        ([role("a")], "edges: missing"),
    ],
)
def test_faults(raw, fault):
    with pytest.raises(CardError, match=fault):
        read_graph(raw, where="graph.yaml")


@pytest.mark.parametrize("ends", [[], [role("x", "aggregator", protected=True)]])
def test_there_is_one_terminal(ends):
    raw = {"roles": [role("a"), role("end", "aggregator"), *ends], "edges": [["a", "end"]]}
    assert any("a graph has one terminal role" in fault for fault in faults_of(raw))


def test_faults_come_together():
    raw = graph([["a", "x"], ["b"], ["c", "end"]])
    assert len(faults_of(raw)) == 2


@pytest.mark.parametrize("benchmark", ["naturalplan", "olympiadbench", "tablebench", "toy"])
@pytest.mark.parametrize("name", ["workflow", "static_dag"])
def test_packaged_graphs_end_in_the_benchmarks_answer_format(benchmark, name):
    found = load_graph(f"package:{benchmark}/{name}.yaml")
    terminal = load_pool(f"package:{benchmark}/seed_pool.yaml").terminal
    assert found.terminal.communication_protocol == terminal.communication_protocol
    chain = [*(card.name for card in found.order), found.terminal.name]
    if name == "workflow":
        assert found.edges == tuple(pairwise(chain))
    else:
        assert any(len(into) > 1 for into in (*found.predecessors, found.feeding))
