"""The distribution over graphs: what may be drawn, the exact gradient, its state."""

import io
import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sero.evolution.edge_logits import (
    EdgeLogits,
    edge_loss,
    forward,
    log_prob,
    mean_entropy,
    ordered_pairs,
    utility_advantages,
)
from sero.inference.graph import dag_along
from sero.roles.card import RoleType
from sero.seeding import rng_for

A, B, V = "a", "b", "v"
PAIRS = ((A, B), (A, V), (B, A), (B, V))
"""Two specialists and a validator."""


def logits_of(pairs=PAIRS, **changes):
    own = {"initial": 0.5, "lr": 0.1, "graphs": 4, "baseline": "leave_one_out"}
    return EdgeLogits(pairs, **{**own, **changes})


def logit(p):
    return math.log(p / (1 - p))


# ---- pairs and candidates


def test_pairs_go_within_a_stage_or_to_a_later_one_and_never_to_the_terminal(toy):
    cards = [toy.card("v", "validator"), toy.card("x"), toy.card("end", "aggregator")]
    cards += [toy.card("start", "router"), toy.card("y")]
    assert ordered_pairs(cards) == (
        *(("x", "v"), ("x", "y")),
        *(("start", "v"), ("start", "x"), ("start", "y")),
        *(("y", "v"), ("y", "x")),
    )


@pytest.mark.parametrize(
    ("order", "flags"),
    [
        ((A, B, V), (True, True, False, True)),
        ((B, A, V), (False, True, True, True)),
        ((B, V), (False, False, False, True)),  # a is not in the team
        ((A, "somebody"), (False, False, False, False)),
        ((), (False, False, False, False)),
    ],
)
def test_candidates_are_the_pairs_of_the_team_that_go_forward(order, flags):
    assert forward(PAIRS, order) == flags


@settings(deadline=None)  # the first optimiser of a process takes seconds
@given(st.permutations(list(RoleType)[:3] * 2), st.integers(0, 2**32 - 1), st.integers(0, 6))
def test_a_dag_along_a_sample_has_the_candidates_that_were_kept(toy, types, seed, size):
    pool = [toy.card(f"r{i}", kind) for i, kind in enumerate(types)]
    order = sorted(pool, key=lambda card: card.role_type.stage)[:size]
    pairs = ordered_pairs(pool)
    kept = logits_of(pairs).sample(np.random.default_rng(seed))
    dag = dag_along(order, kept)
    drawn = {(order[i].name, order[j].name) for i, j in dag.edges}
    flags = forward(pairs, [card.name for card in order])
    candidates = {pair for pair, flag in zip(pairs, flags, strict=True) if flag}
    assert drawn == kept & candidates
    assert len(candidates) == len(order) * (len(order) - 1) // 2
    assert all(i < j for i, j in dag.edges)


# ---- sampling


def test_a_sample_follows_the_probabilities():
    learnt = logits_of(initial=0.2)
    drawn = [learnt.sample(rng_for(1, "edges", k)) for k in range(4000)]
    for pair in PAIRS:
        share = sum(pair in kept for kept in drawn) / len(drawn)
        assert abs(share - 0.2) < 4 * math.sqrt(0.2 * 0.8 / 4000)
    assert drawn[:9] == [learnt.sample(rng_for(1, "edges", k)) for k in range(9)]


def test_only_edges_above_the_threshold_are_likely():
    learnt = logits_of(initial=0.5)
    assert learnt.likely(0.5) == frozenset()  # above, not at
    assert learnt.likely(0.49) == frozenset(PAIRS)
    assert learnt.to_data() == {A: {B: 0.5, V: 0.5}, B: {A: 0.5, V: 0.5}}


# ---- log-probability, advantages


def test_the_log_probability_counts_candidates_alone():
    logits = torch.tensor([logit(0.9), logit(0.3), logit(0.6), logit(0.2)], dtype=torch.float64)
    kept = torch.tensor([[True, False, True, True], [False, False, False, False]])
    candidates = torch.tensor([[True, True, False, False], [True, False, True, True]])
    got = log_prob(logits, kept, candidates)
    # .9 · (1 - .3), and (1 - .9) · (1 - .6) · (1 - .2)
    assert torch.allclose(got.exp(), torch.tensor([0.63, 0.032], dtype=torch.float64))
    assert log_prob(logits, kept, torch.zeros_like(kept)).tolist() == [0.0, 0.0]


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"pass \(P,\), \(M, P\) and \(M, P\)"):
        log_prob(torch.zeros(3), torch.zeros(2, 4).bool(), torch.zeros(2, 4).bool())
    with pytest.raises(ValueError, match=r"pass \(M,\) with M ≥ 1"):
        utility_advantages([], "none")


@pytest.mark.parametrize(
    ("utilities", "baseline", "expected"),
    [
        ([1.0, 0.0, 0.5], "none", [1.0, 0.0, 0.5]),
        # others' means: (0 + .5)/2 = .25, (1 + .5)/2 = .75, (1 + 0)/2 = .5
        ([1.0, 0.0, 0.5], "leave_one_out", [0.75, -0.75, 0.0]),
        ([0.4, 0.4, 0.4], "leave_one_out", [0.0, 0.0, 0.0]),
        ([0.7], "leave_one_out", [0.0]),
        ([0.7], "none", [0.7]),
    ],
)
def test_advantages(utilities, baseline, expected):
    assert utility_advantages(utilities, baseline).tolist() == pytest.approx(expected)


# ---- the estimator


def every_graph(order):
    """All graphs over the candidates of an order, as rows of flags, and the candidates."""
    candidates = forward(PAIRS, order)
    places = [i for i, flag in enumerate(candidates) if flag]
    rows = []
    for choice in itertools.product([False, True], repeat=len(places)):
        row = [False] * len(PAIRS)
        for i, kept in zip(places, choice, strict=True):
            row[i] = kept
        rows.append(row)
    return rows, candidates


@pytest.mark.parametrize("baseline", ["none", "leave_one_out"])
@pytest.mark.parametrize("m", [2, 3])
def test_the_expected_step_is_the_exact_gradient(baseline, m):
    """Over all M-tuples of graphs, each with its probability; the tasks have different orders."""
    rng = np.random.default_rng(5)
    probabilities = np.array([0.7, 0.2, 0.5, 0.6])
    logits = torch.tensor([logit(p) for p in probabilities], dtype=torch.float64)
    logits.requires_grad_()
    tasks = [every_graph(order) for order in ((A, B, V), (B, A, V), (B, V))[:m]]
    utilities = [rng.random(len(rows)) for rows, _ in tasks]

    def chance(row, candidates):
        each = np.where(row, probabilities, 1 - probabilities)
        return float(np.prod(each[list(candidates)]))

    # dE/dl_e = θ_e (1 - θ_e) (E[u | e] - E[u | not e]), averaged over the tasks
    exact = np.zeros(len(PAIRS))
    for (rows, candidates), u in zip(tasks, utilities, strict=True):
        for e in range(len(PAIRS)):
            if not candidates[e]:
                continue
            for row, value in zip(rows, u, strict=True):
                others = chance(row, [c and i != e for i, c in enumerate(candidates)])
                slope = probabilities[e] * (1 - probabilities[e]) * (1 if row[e] else -1)
                exact[e] += slope * others * value / m

    expected = np.zeros(len(PAIRS))
    numbered = [range(len(rows)) for rows, _ in tasks]
    total = 0.0
    for choice in itertools.product(*numbered):
        drawn = [rows[k] for (rows, _), k in zip(tasks, choice, strict=True)]
        flags = [candidates for _, candidates in tasks]
        scores = [u[k] for u, k in zip(utilities, choice, strict=True)]
        p = math.prod(chance(row, c) for row, c in zip(drawn, flags, strict=True))
        loss = edge_loss(
            logits,
            torch.tensor(drawn),
            torch.tensor(flags),
            utility_advantages(scores, baseline),
        )
        (gradient,) = torch.autograd.grad(loss, logits)
        expected -= p * gradient.numpy()
        total += p
    assert total == pytest.approx(1.0)
    assert np.abs(exact).max() > 0.01
    np.testing.assert_allclose(expected, exact, atol=1e-12)


@pytest.mark.parametrize("baseline", ["none", "leave_one_out"])
@pytest.mark.parametrize("best", [frozenset({(A, B), (B, V)}), frozenset(), frozenset(PAIRS)])
def test_the_best_graph_is_found(baseline, best):
    """u = share of the candidates that are as in the best graph; orders alternate."""
    learnt = logits_of(baseline=baseline, graphs=8)
    orders = ((A, B, V), (B, A, V))
    for k in range(8 * 200):
        order = orders[k % 2]
        kept = learnt.sample(rng_for(3, "edges", k))
        flags = forward(PAIRS, order)
        right = [
            (pair in kept) == (pair in best) for pair, c in zip(PAIRS, flags, strict=True) if c
        ]
        learnt.record(kept, order, sum(right) / len(right))
        if learnt.due:
            learnt.update()
    assert learnt.likely(0.5) == best
    assert mean_entropy(learnt.probabilities) < 0.2


# ---- batches and state


def test_a_step_comes_with_every_m_th_graph_and_empties_the_batch():
    learnt = logits_of(graphs=2)
    learnt.record(frozenset({(A, B)}), (A, B), 1.0)
    assert not learnt.due
    learnt.record(frozenset(), (A, B), 0.0)
    assert learnt.due
    found = learnt.update()
    # A = ±1: L = -(log ½ - log ½)/2 = 0; dL/dl = -(½ · 1 + (-½) · (-1))/2 = -½ on one pair
    assert found == {
        "edges/loss": pytest.approx(0.0),
        "edges/grad_norm": pytest.approx(0.5),
        "edges/frac_zero_std": 0.0,
    }
    assert not learnt.due
    assert learnt.update() == {}
    # Adam's first step is the step size, whatever the gradient; pairs without one stay
    theta = learnt.probabilities
    assert theta[0] == pytest.approx(1 / (1 + math.exp(-0.1)))
    assert theta[1:].tolist() == [0.5, 0.5, 0.5]


@pytest.mark.parametrize(
    ("baseline", "utilities"),
    [("leave_one_out", [0.6, 0.6]), ("leave_one_out", [0.6]), ("none", [0.0, 0.0])],
)
def test_a_batch_that_says_nothing_moves_nothing(baseline, utilities):
    learnt = logits_of(baseline=baseline, graphs=2)
    for kept, u in ((frozenset(PAIRS), 1.0), (frozenset(), 0.2)):
        learnt.record(kept, (A, B, V), u)
    learnt.update()  # Adam has a momentum now
    before = learnt.probabilities.copy()
    for u in utilities:
        learnt.record(frozenset(PAIRS), (A, B, V), u)
    assert learnt.update() == {
        "edges/loss": 0.0,
        "edges/grad_norm": 0.0,
        "edges/frac_zero_std": 1.0,
    }
    assert learnt.probabilities.tolist() == before.tolist()
    assert not learnt.due


def test_a_score_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="utility nan"):
        logits_of().record(frozenset(), (A, B), math.nan)


def test_a_pool_of_one_speaker_has_nothing_to_learn():
    learnt = logits_of((), graphs=2, baseline="none")
    assert learnt.sample(rng_for(1, "edges", 1)) == frozenset()
    for u in (1.0, 0.5):
        learnt.record(frozenset(), (A,), u)
    assert learnt.update()["edges/grad_norm"] == 0.0
    assert (learnt.to_data(), mean_entropy(learnt.probabilities)) == ({}, 0.0)


def through_a_file(state):
    raw = io.BytesIO()
    torch.save(state, raw)
    return torch.load(io.BytesIO(raw.getvalue()), weights_only=True)


def test_a_restored_snapshot_goes_on_bit_for_bit():
    def go(learnt, steps):
        for k in steps:
            kept = learnt.sample(rng_for(9, "edges", k))
            learnt.record(kept, ((A, B, V), (B, A, V))[k % 2], (k * 7 % 5) / 4)
            if learnt.due:
                learnt.update()

    whole = logits_of(graphs=3)
    go(whole, range(20))
    for cut in range(20):
        first = logits_of(graphs=3)
        go(first, range(cut))
        again = logits_of(graphs=3)
        again.restore(through_a_file(first.state()))
        go(again, range(cut, 20))
        assert again.probabilities.tobytes() == whole.probabilities.tobytes()
        assert str(again.state()) == str(whole.state())


def test_a_snapshot_is_no_view_and_belongs_to_its_pairs():
    learnt = logits_of(graphs=1, baseline="none")
    state = learnt.state()
    learnt.record(frozenset(PAIRS), (A, B, V), 1.0)
    learnt.update()
    assert torch.equal(state["logits"], torch.zeros(4, dtype=torch.float64))
    with pytest.raises(ValueError, match="the pool that a run starts from may not change"):
        logits_of(PAIRS[:2]).restore(state)


def test_entropy():
    assert mean_entropy(np.array([0.5, 0.5])) == pytest.approx(math.log(2))
    assert mean_entropy(np.array([0.0, 1.0])) == pytest.approx(0.0, abs=1e-12)
    # -(.9 ln .9 + .1 ln .1) = .32508
    assert mean_entropy(np.array([0.9])) == pytest.approx(0.32508, abs=1e-5)
