"""The five contracts, one by one and together (method.md §1, §4.8)."""

from dataclasses import replace

import pytest

from sero.evolution.contracts import (
    aggregation,
    capability,
    communication,
    contract_report,
    output,
    report_for_task,
    static_contracts,
    validation,
)
from sero.inference.graph import Dag, DagConfig, build_dag
from sero.roles.pool import RolePool

FIVE = ("capability", "communication", "validation", "aggregation", "output")


def changed(pool, name, **fields):
    return RolePool(tuple(replace(c, **fields) if c.name == name else c for c in pool))


def test_the_seed_pool_keeps_all_five_in_their_order(toy):
    report = static_contracts(toy.seed_pool(), toy.terms())
    assert tuple(c.name for c in report) == FIVE
    assert all(c.holds and c.reasons == () for c in report)


def test_each_fault_breaks_its_contract_and_no_other(toy):
    pool, terms = toy.seed_pool(), toy.terms()
    faults = {
        "capability": (pool.without_role("guesser"), "no role covers family 'guessing'"),
        "communication": (
            changed(pool, "adder", communication_protocol=" \n"),
            "'adder' has an empty communication protocol",
        ),
        "aggregation": (
            changed(pool, "scribe", protected=False),
            "aggregator 'scribe' is not protected",
        ),
        "output": (
            changed(pool, "scribe", communication_protocol="any text"),
            "'scribe' does not own the answer format 'ANSWER: <number>'",
        ),
    }
    for name, (faulty, reason) in faults.items():
        broken = {c.name: c.reasons for c in static_contracts(faulty, terms) if not c.holds}
        assert broken == {name: (reason,)}


def test_a_lost_validator_breaks_validation_and_its_family(toy):
    broken = static_contracts(toy.seed_pool().without_role("checker"), toy.terms())
    assert {c.name: c.reasons for c in broken if not c.holds} == {
        "capability": ("no role covers family 'checking'",),
        "validation": ("0 validator(s), at least 1 needed",),
    }


def test_a_lost_terminal_is_seen_by_every_contract_it_concerns(toy):
    pool = toy.seed_pool().without_role("scribe")
    dag = Dag(order=(pool["router"], pool["adder"]), predecessors=((), (0,)))
    broken = {c.name: c.reasons for c in contract_report(pool, toy.terms(), dag) if not c.holds}
    assert broken == {
        "capability": ("no role covers family 'answering'",),
        "communication": ("no aggregator: the messages reach nobody",),
        "aggregation": ("0 aggregators, exactly one is needed",),
        "output": ("no aggregator owns the answer format",),
    }


def test_capability_names_every_missing_family_in_the_order_of_the_seed_pool(toy):
    pool = toy.seed_pool().without_role("guesser").without_role("router")
    assert capability(pool, toy.terms().seed_families).reasons == (
        "no role covers family 'planning'",
        "no role covers family 'guessing'",
    )


@pytest.mark.parametrize(("minimum", "holds"), [(0, True), (1, True), (2, False)])
def test_validation_counts_validators(toy, minimum, holds):
    assert validation(toy.seed_pool(), minimum).holds is holds


def test_no_validator_is_needed_when_none_is_reserved(toy):
    assert validation(toy.seed_pool().without_role("checker"), 0).holds


def test_two_terminals_break_aggregation_once_for_the_count_and_once_unprotected(toy):
    pool = toy.seed_pool().with_role(toy.card("second", "aggregator", "answering"))
    assert aggregation(pool).reasons == (
        "2 aggregators, exactly one is needed",
        "aggregator 'second' is not protected",
    )


def test_the_terminal_may_say_more_than_the_format(toy):
    pool = changed(
        toy.seed_pool(), "scribe", communication_protocol=f"Two sentences, then {toy.FORMAT}"
    )
    assert output(pool, toy.FORMAT).holds


def test_an_edge_that_goes_back_breaks_communication(toy):
    pool = toy.seed_pool()
    order = (pool["router"], pool["adder"], pool["guesser"])
    forward = Dag(order=order, predecessors=((), (0,), (0, 1)))
    assert communication(pool, forward).holds
    # 2 -> 1 and the loop 1 -> 1: neither goes forward
    backward = Dag(order=order, predecessors=((), (1, 2), ()))
    assert communication(pool, backward).reasons == (
        "edge from 'adder' to 'adder' does not go forward",
        "edge from 'guesser' to 'adder' does not go forward",
    )


@pytest.mark.parametrize("rule", ["nearest", "farthest", "credit", "cross_stage"])
def test_every_dag_that_is_built_keeps_communication(toy, rule):
    pool = toy.seed_pool()
    cfg = DagConfig(rule=rule, order="credit", b_out=None, b_in=None)
    order = pool.cards[:-1]
    fast = {c.name: 0.1 * i for i, c in enumerate(order)}
    assert communication(pool, build_dag(order, fast, cfg)).holds


def test_without_terms_a_pool_is_judged_by_itself(toy):
    pool = toy.seed_pool().without_role("guesser").without_role("checker")
    broken = {c.name for c in static_contracts(pool) if not c.holds}
    assert broken == {"validation"}  # one validator is always expected, any answer format will do


def test_the_report_for_a_task_asks_nobody(toy):
    roll = toy.roller()
    pool = toy.seed_pool().without_role("guesser")
    report = report_for_task(toy.tasks()[0], toy.state(pool), toy.terms(), roll)
    assert [c.name for c in report if not c.holds] == ["capability"]
    assert roll.parts.backbone.requests == []


def test_the_report_for_a_task_bears_a_pool_without_terminal(toy):
    pool = toy.seed_pool().without_role("scribe")
    report = report_for_task(toy.tasks()[0], toy.state(pool), toy.terms(), toy.roller())
    assert [c.name for c in report if c.holds] == ["validation"]
