"""Values that are right by themselves and contradict each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sero.assignment.players import META_DEBATE


def contradictions(data: Mapping[str, Any]) -> list[str]:
    """Lines on pairs of keys that cannot hold together.

    Args:
        data: the composed tree as plain data; values of a wrong type are passed over, since they
            are reported as such.
    """
    faults = []

    def number(path: str) -> float | None:
        value: Any = data
        for part in path.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if isinstance(value, Mapping):  # a number for each group
            parts = list(value.values())
            value = sum(parts) if all(isinstance(n, int) for n in parts) else None
        fits = isinstance(value, int | float) and not isinstance(value, bool)
        return value if fits else None

    def at_most(small: str, large: str, reason: str) -> None:
        low, high = number(small), number(large)
        if low is not None and high is not None and low > high:
            faults.append(f"{small}: got {low:g}, above {large} = {high:g}. {reason}")

    at_most("pool.p_min", "pool.p_max", "The lower bound of the pool exceeds the upper one")
    at_most("gate.tasks", "benchmark.n_train", "The gate draws its tasks from the training split")
    at_most("early_stop.window", "early_stop.min_episodes", "The first test needs a full window")
    at_most("backbone.backoff_s", "backbone.backoff_max_s", "The first pause exceeds the longest")

    context, reserve = number("backbone.context_tokens"), number("backbone.reserve_tokens")
    if context is not None and reserve is not None and reserve >= context:
        faults.append(
            f"backbone.reserve_tokens: got {reserve:g}, and backbone.context_tokens = {context:g} "
            "leaves no room for a prompt. Lower exec.max_tokens"
        )
    backbone = data.get("backbone")
    url = backbone.get("base_url") if isinstance(backbone, Mapping) else None
    if isinstance(url, str) and "@" in url.partition("//")[2].partition("/")[0]:
        faults.append(
            "backbone.base_url: holds a user name or password, which every run directory would "
            "keep. Name an environment variable in backbone.api_key_env instead"
        )
    faults += _peer_faults(data, number("credit.fast_weights.peer"))
    credit = data.get("credit")
    if isinstance(credit, Mapping) and credit.get("estimator") in ("shapley_mc", "tmc"):
        orders = number("credit.orders")
        if credit.get("antithetic") is True and orders is not None and orders % 2:
            faults.append(
                f"credit.orders: got {orders:g}, an odd number. Antithetic orders come in pairs; "
                "give an even number, or credit.antithetic=false"
            )
    method, dag = data.get("method"), data.get("dag")
    if isinstance(method, Mapping) and "graphs" in method:
        if method.get("baseline") == "leave_one_out" and number("method.graphs") == 1:
            faults.append(
                "method.graphs: got 1, and method.baseline=leave_one_out compares a graph with the "
                "step's others. Give 2 or more, or method.baseline=none"
            )
        order = dag.get("order") if isinstance(dag, Mapping) else None
        if order in ("flat", "random"):
            why = "has no edges" if order == "flat" else "goes against the stages"
            faults.append(
                f"dag.order: {order} {why}, and method={method.get('name')} learns forward edges. "
                "Choose credit or reverse"
            )
    policy = data.get("policy")
    operations = policy.get("operations") if isinstance(policy, Mapping) else None
    if isinstance(operations, list):
        if "noop" not in operations:
            faults.append("policy.operations: noop is missing. It is the one edit always allowed")
        if len(operations) > len({str(operation) for operation in operations}):
            faults.append("policy.operations: an operation stands there twice")
    return faults


def _peer_faults(data: Mapping[str, Any], weight: float | None) -> list[str]:
    """Lines on who rates the roles: one source at most, and one exactly where a weight reads it."""
    assign, credit = data.get("assign"), data.get("credit")
    reviewed = isinstance(assign, Mapping) and assign.get("by") == META_DEBATE
    if not isinstance(credit, Mapping) or credit.get("peer_ratings") is not True:
        if not weight or reviewed:
            return []
        return [
            "credit.fast_weights.peer: nobody rates the roles of this run; use 0, or "
            "credit.peer_ratings=true, by which members rate each other's drafts, or "
            f"assign.by={META_DEBATE}, whose reviews are the ratings"
        ]
    faults = []
    if weight == 0:
        faults.append(
            "credit.peer_ratings: the ratings would be paid for and decide nothing, since "
            "credit.fast_weights.peer = 0. Give it a weight, or use credit.peer_ratings=false"
        )
    if credit.get("order_source") == "stored":
        faults.append(
            "credit.peer_ratings: members rate drafts, and with credit.order_source=stored nobody "
            "drafts. Use credit.order_source=bootstrap, or credit.peer_ratings=false"
        )
    if reviewed:
        faults.append(
            f"credit.peer_ratings: assign.by={META_DEBATE} has its own ratings, and "
            "credit.fast_weights.peer weighs one source. Use credit.peer_ratings=false, or "
            "another assign.by"
        )
    return faults
