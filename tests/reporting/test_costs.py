from sero.reporting.costs import sum_costs
from sero.reporting.records import read_run


def test_sums_per_phase_and_role(make_run):
    costs = sum_costs(read_run(make_run()).traces())
    pre, edit = costs.by_phase["pre"], costs.by_phase["edit"]
    # Three real calls of 10 + 2 tokens; the counterfactual text costs nothing.
    assert (pre.calls, pre.prompt_tokens, pre.completion_tokens) == (3, 30, 6)
    assert (pre.cache_hits, pre.retries, pre.truncated, pre.trimmed) == (1, 2, 1, 1)
    assert pre.latency_s == 1.0
    assert (edit.calls, edit.tokens) == (1, 150)
    # The dearest first: editor 150, solver 24, scribe 12.
    assert [(name, s.tokens) for name, s in costs.by_role.items()] == [
        ("editor", 150),
        ("solver", 24),
        ("scribe", 12),
    ]


def test_a_candidate_called_like_a_role_is_not_added_to_it():
    said = {"prompt_tokens": 1, "completion_tokens": 0}
    kinds = ["criteria", "proposal", "proposal", "review", "judge", "rating"]
    messages = [{"role": "judge", "kind": kind, **said} for kind in kinds]
    costs = sum_costs([{"phase": "eval", "rollout": {"messages": messages}}])
    # The rating is one member's of its team; nobody outside the pool speaks it.
    assert {name: spent.calls for name, spent in costs.by_role.items()} == {
        "judge": 2,
        "candidate judge": 2,
        "evaluator judge": 2,
    }
    assert costs.by_phase["eval"].calls == 6


def test_odd_records_count_what_they_hold():
    traces = [
        {"phase": "pre", "rollout": None},
        {"phase": "edit", "messages": "none"},
        {"phase": "edit", "messages": [{"prompt_tokens": None, "kind": []}, "x"]},
    ]
    costs = sum_costs(traces)
    assert list(costs.by_phase) == ["edit"]
    assert (costs.by_role["editor"].calls, costs.by_role["editor"].tokens) == (1, 0)
