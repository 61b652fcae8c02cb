"""Learned edges by hand, and the page that shows them."""

import json

import yaml

from sero.reporting.edges import learned_edges, mean_and_likely, threshold
from sero.reporting.html import write_report

THETA = {"router": {"a": 0.6, "b": 0.61}, "a": {"b": 0.2}}


def test_kept_edges_are_strictly_above_the_threshold():
    found = learned_edges(THETA, {"method": {"threshold": 0.6}})
    assert [(e.source, e.target, e.kept) for e in found] == [
        ("router", "b", True),
        ("router", "a", False),
        ("a", "b", False),
    ]
    assert threshold({"method": "gptswarm"}) == 0.5


def test_mean_and_likely():
    mean, likely, n = mean_and_likely(THETA)
    assert (round(mean, 6), likely, n) == (0.47, 2, 3)


def test_the_page_has_the_edges_and_no_acceptance(make_run, add_episodes, evil):
    first = add_episodes(1)[0]
    drawn = {"phase": "edges", "action": "sample", "verdict": "unchanged", "committed": False}
    drawn["edge_probabilities"] = {"router" + evil: {"a": 0.71}}
    directory = make_run(method="gptswarm", episodes=[{**first, **drawn}])
    page = write_report(directory).read_text()
    assert "<h2>Learned edges</h2>" in page
    assert '<td>a</td><td class="n">0.710</td><td>kept</td>' in page
    assert "<script" not in page
    assert "<th>operation</th>" not in page
    assert "<h2>Edits</h2>" not in page
    assert "acceptance, mean of" not in page
    config = yaml.safe_load((directory / "config.yaml").read_text())
    config["method"] = {"name": "gptswarm", "threshold": 0.8}
    (directory / "config.yaml").write_text(json.dumps(config))
    assert '<td class="n">0.710</td><td></td>' in write_report(directory).read_text()
