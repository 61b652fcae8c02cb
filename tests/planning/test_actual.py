"""min ≤ actual ≤ max, and equal where the plan says exact: plans against runs that are done."""

import os

import pytest

METHODS = (
    *("cot", "sc", "workflow", "static_dag", "static", "random_evolution", "sero"),
    *("gated_random", "credit_heuristic", "gptswarm"),
)
DEBATES = ("debate", "mad", "dmad")
EXACT = ("cot", "sc", "workflow", "static_dag", "debate", "dmad")
ITEMS = (
    *("backbone=scripted", "encoder=hashing", "benchmark.source=generated"),
    *("benchmark.generated.n=40", "benchmark.generated.difficulty=1", "exec.max_tokens=1024"),
    *("benchmark.n_train=4", "benchmark.n_heldout=4", "train.warmup_epochs=1"),
    *("train.main_epochs=1", "credit.loo_every=4", "early_stop.enabled=false"),
)
WORLD = (
    *("benchmark.n_train=5", "benchmark.n_heldout=4", "train.warmup_epochs=1"),
    *("train.main_epochs=3", "credit.loo_every=5", "early_stop.enabled=false"),
)
RATED = ("credit.peer_ratings=true", "credit.fast_weights.peer=0.5")


BENCHMARKS = ("naturalplan", "olympiadbench", "tablebench")
OF_EVERY_KIND = ("workflow", "mad", "sero")
"""Steps in an order, a debate, a pool that is trained."""


def every_pair():
    """Every method on `toy` and one of each kind on the others; all on all in full size."""
    whole = os.environ.get("SERO_FULL_SIZE")
    chosen = (*METHODS, *DEBATES) if whole else OF_EVERY_KIND
    yield from (("toy", method) for method in (*METHODS, *DEBATES))
    yield from ((benchmark, method) for benchmark in BENCHMARKS for method in chosen)


@pytest.mark.parametrize(("benchmark", "method"), list(every_pair()))
def test_every_method_on_every_benchmark_with_items(carried_out, method, benchmark):
    """A star of the pairs; `SERO_FULL_SIZE=1` runs all 52."""
    done = carried_out(f"benchmark={benchmark}", f"method={method}", *ITEMS)
    assert done.outside() == []
    assert done.plan.total.exact == (method in EXACT)
    if method in EXACT:
        assert done.calls["eval"] == done.plan.total.low
        assert done.result["requests"] == done.plan.sent.low


@pytest.mark.parametrize("method", [m for m in METHODS if m not in EXACT])
def test_every_method_of_the_simulated_world(carried_out, method):
    assert carried_out(f"method={method}", *WORLD).outside() == []


@pytest.mark.parametrize(
    "changes",
    [
        ("gate.tasks=3", "gate.repeats=2"),
        ("gate.kind=none", "guard.enabled=false", "seed=3"),
        ("guard.enabled=false", "repair.reserved=false", "retrieval.val_slots=2"),
        ("credit.estimator=clamp", "credit.causal=true"),
        ("credit.estimator=clamp", "credit.loo_sequential=true", "retrieval.val_slots=2"),
        ("credit.estimator=shapley_mc", "credit.orders=4"),
        ("credit.estimator=tmc", "credit.loo_sequential=true", "credit.orders=2"),
        ("credit.order_source=stored", "exec.rounds=2", "repair.always=false"),
        (*RATED, "credit.estimator=clamp", "credit.causal=true"),
        (*RATED, "method=gptswarm", "exec.rounds=2"),
        ("repair.enabled=false", "credit.loo_every=3", "credit.loo_min_pool=9"),
        ("early_stop.enabled=true", "early_stop.window=4", "early_stop.min_episodes=6"),
        ("pool.p_max=8", "pool.p_min=6", "backbone.editor=hostile"),
        ("policy.operations=[noop]",),
        ("method=random_evolution", "random.passes=3", "random.loo=true"),
        ("method=random_evolution", "pool.p_max=8", "random.passes=2"),
        ("method=gptswarm", "method.initial=0.9", "exec.rounds=2", "credit.order_source=stored"),
        ("method=gptswarm", "method.passes=3", "repair.always=false", "retrieval.val_slots=2"),
    ],
    ids=" ".join,
)
def test_the_simulated_world_under_other_rules(carried_out, changes):
    assert carried_out("method=gated_random", *WORLD, *changes).outside() == []


@pytest.mark.parametrize(("benchmark", "method"), [("toy", "sero"), ("naturalplan", "static")])
def test_ratings_by_members(carried_out, benchmark, method):
    """No reply holds a rating; what is asked for is planned all the same."""
    done = carried_out(f"benchmark={benchmark}", f"method={method}", *ITEMS, *RATED)
    assert done.outside() == []


def test_ratings_are_exact_where_nobody_checks(carried_out):
    done = carried_out("method=static", *WORLD, *RATED, "repair.enabled=false")
    assert done.outside() == []
    assert done.plan.total.exact
    assert done.result["calls"] == done.plan.total.low


def test_where_no_edit_is_possible_and_nobody_checks_training_is_exact(carried_out):
    done = carried_out(
        "method=sero", *WORLD, "policy.operations=[noop]", "repair.enabled=false", "gate.tasks=4"
    )
    assert done.outside() == []
    assert done.plan.total.exact
    assert done.result["calls"] == done.plan.total.low


def test_learning_edges_is_exact_where_nobody_checks(carried_out):
    done = carried_out("method=gptswarm", *WORLD, "method.passes=2", "repair.enabled=false")
    assert done.outside() == []
    assert done.plan.total.exact
    assert done.result["calls"] == done.plan.total.low
