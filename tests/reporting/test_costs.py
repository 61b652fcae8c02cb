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


def test_odd_records_count_what_they_hold():
    traces = [
        {"phase": "pre", "rollout": None},
        {"phase": "edit", "messages": "none"},
        {"phase": "edit", "messages": [{"prompt_tokens": None}, "x"]},
    ]
    costs = sum_costs(traces)
    assert list(costs.by_phase) == ["edit"]
    assert (costs.by_role["editor"].calls, costs.by_role["editor"].tokens) == (1, 0)
