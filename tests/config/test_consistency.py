import pytest

from sero.config.consistency import contradictions

SOUND = {
    "pool": {"p_min": 4, "p_max": 12},
    "gate": {"tasks": 30},
    "benchmark": {"n_train": 30},
    "early_stop": {"window": 24, "min_episodes": 24},
    "backbone": {
        "backoff_s": 0.5,
        "backoff_max_s": 30.0,
        "context_tokens": 2048,
        "reserve_tokens": 1024,
    },
    "policy": {"operations": ["add", "noop"]},
    "credit": {"estimator": "shapley_mc", "orders": 8, "antithetic": True},
}


def test_a_sound_tree_has_none():
    assert contradictions(SOUND) == []


@pytest.mark.parametrize(
    ("section", "values", "fault"),
    [
        ("pool", {"p_min": 13}, "pool.p_min: got 13, above pool.p_max = 12"),
        ("gate", {"tasks": 31}, "gate.tasks: got 31, above benchmark.n_train = 30"),
        (
            "benchmark",
            {"n_train": {"maths": 12, "physics": 8}},
            "gate.tasks: got 30, above benchmark.n_train = 20",
        ),
        ("early_stop", {"window": 25}, "early_stop.window: got 25, above early_stop.min_episodes"),
        ("backbone", {"backoff_s": 31}, "backbone.backoff_s: got 31, above backbone.backoff_max_s"),
        ("backbone", {"reserve_tokens": 2048}, "backbone.reserve_tokens: got 2048, and"),
        ("credit", {"orders": 7}, "credit.orders: got 7, an odd number. Antithetic orders come in"),
        ("credit", {"orders": 7, "estimator": "tmc"}, "credit.orders: got 7, an odd number"),
        (
            "backbone",
            {"base_url": "http://me:secret@host:8000/v1"},
            "backbone.base_url: holds a user name or password",
        ),
        ("credit", {"fast_weights": {"peer": 0.1}}, "credit.fast_weights.peer: nobody rates"),
        (
            "credit",
            {"peer_ratings": True, "fast_weights": {"peer": 0}},
            "credit.peer_ratings: the ratings would be paid for and decide nothing",
        ),
        (
            "credit",
            {"peer_ratings": True, "fast_weights": {"peer": 0.5}, "order_source": "stored"},
            "credit.peer_ratings: members rate drafts, and with credit.order_source=stored nobody",
        ),
        ("policy", {"operations": ["add"]}, "policy.operations: noop is missing"),
        ("policy", {"operations": ["noop", "noop"]}, "policy.operations: an operation stands"),
    ],
)
def test_each_contradiction_is_named(section, values, fault):
    found = contradictions({**SOUND, section: {**SOUND[section], **values}})
    assert len(found) == 1
    assert "secret" not in found[0]
    assert found[0].startswith(fault)


def test_a_weight_of_peers_has_one_source():
    rated = {"peer_ratings": True, "fast_weights": {"peer": 0.5}, "order_source": "bootstrap"}
    reviewed = {**rated, "peer_ratings": False}
    assign = {"assign": {"by": "meta_debate"}}
    assert contradictions({"credit": rated}) == []
    assert contradictions({"credit": reviewed, **assign}) == []
    assert contradictions({"credit": rated, "assign": {"by": "random"}}) == []
    (two,) = contradictions({"credit": rated, **assign})
    assert two.startswith("credit.peer_ratings: assign.by=meta_debate has its own ratings")
    (none,) = contradictions({"credit": reviewed})
    assert "credit.peer_ratings=true" in none
    assert "assign.by=meta_debate" in none


@pytest.mark.parametrize("change", [{"antithetic": False}, {"estimator": "loo"}])
def test_an_odd_number_of_orders_matters_to_antithetic_pairs_only(change):
    assert contradictions({**SOUND, "credit": {**SOUND["credit"], "orders": 7, **change}}) == []


@pytest.mark.parametrize(
    ("section", "values"),
    [
        ("pool", {"p_min": "abc"}),  # reported as a wrong type
        ("pool", {"p_min": True}),
        ("pool", None),
        ("backbone", {"context_tokens": None, "reserve_tokens": 99999}),
        ("policy", {"operations": "add"}),
    ],
)
def test_what_cannot_be_compared_is_passed_over(section, values):
    tree = {**SOUND, section: {**SOUND[section], **values} if values else values}
    assert contradictions(tree) == []


def test_an_empty_tree_has_none():
    assert contradictions({}) == []
