"""Shapley values on tables of worths: worked games, the axioms, and the law of the error."""

import os
from itertools import combinations, permutations
from math import factorial, sqrt
from types import MappingProxyType

import numpy as np
import pytest

from sero.evolution.shapley import (
    draw_orders,
    exact_shapley,
    marginals,
    permutation_shapley,
    scan,
)
from sero.seeding import rng_for

ABC = ("a", "b", "c")


def table(players, worth):
    """v(S) of every coalition, by a function of the set."""
    return {
        frozenset(chosen): float(worth(set(chosen)))
        for size in range(len(players) + 1)
        for chosen in combinations(players, size)
    }


def gloves(held):
    """One left glove (a), two right ones (b, c): a pair is worth 1."""
    return "a" in held and ("b" in held or "c" in held)


GLOVES = table(ABC, gloves)
OWN = {"a": 1.0, "b": -2.0, "c": 4.0}


def random_table(players, seed):
    rng = rng_for(seed, "game")
    return table(players, lambda held: rng.uniform(-1, 1))


def slow_shapley(worths, players):
    """The mean marginal over every order, by walking all n! of them."""
    total = dict.fromkeys(players, 0.0)
    for order in permutations(players):
        for i, player in enumerate(order):
            before = frozenset(order[:i])
            total[player] += worths[before | {player}] - worths[before]
    return {player: value / factorial(len(players)) for player, value in total.items()}


class TestExact:
    @pytest.mark.parametrize(
        ("players", "worth", "phi"),
        [
            # a completes the pair in 4 of 6 orders (not when first), b in abc alone, c in acb
            (ABC, gloves, {"a": 2 / 3, "b": 1 / 6, "c": 1 / 6}),
            # redundancy: leave-one-out would say 0 twice
            (("a", "b"), lambda s: bool(s), {"a": 0.5, "b": 0.5}),
            # additive: everybody gets their own
            (ABC, lambda s: sum(OWN[x] for x in s), OWN),
            # c is a dummy
            (ABC, lambda s: {"a", "b"} <= s, {"a": 0.5, "b": 0.5, "c": 0.0}),
            (("a",), lambda s: 3 * len(s) + 1, {"a": 3.0}),
            ((), lambda s: 1, {}),
        ],
    )  # fmt: skip
    def test_worked_games(self, players, worth, phi):
        assert exact_shapley(table(players, worth), players) == pytest.approx(phi, abs=1e-12)

    @pytest.mark.parametrize("n", [2, 3, 5, 6])
    def test_agrees_with_the_slow_loop(self, n):
        players = tuple("abcdef"[:n])
        worths = random_table(players, n)
        assert exact_shapley(worths, players) == pytest.approx(
            slow_shapley(worths, players), abs=1e-12
        )

    def test_ten_players_at_most(self):
        players = tuple("abcdefghij")
        phi = exact_shapley(table(players, len), players)
        assert phi == pytest.approx(dict.fromkeys(players, 1.0))
        with pytest.raises(ValueError, match="exact_shapley got 11 players; it takes at most 10"):
            exact_shapley({}, (*players, "k"))


class TestOrders:
    def test_each_is_a_permutation_and_all_occur_equally_often(self):
        orders = draw_orders(ABC, 6000, antithetic=False, rng=rng_for(1, "orders"))
        counts = {order: orders.count(order) for order in permutations(ABC)}
        assert sum(counts.values()) == 6000
        # binomial, sd 29: five of them
        assert all(abs(count - 1000) < 145 for count in counts.values())

    def test_antithetic_orders_are_followed_by_their_reverse(self):
        orders = draw_orders(tuple("abcde"), 8, antithetic=True, rng=rng_for(1, "orders"))
        assert len(orders) == 8
        assert all(orders[i + 1] == orders[i][::-1] for i in range(0, 8, 2))
        assert len(set(orders)) > 2

    def test_they_come_in_pairs(self):
        with pytest.raises(ValueError, match="got 3 antithetic orders; they come in pairs"):
            draw_orders(ABC, 3, antithetic=True, rng=rng_for(1))

    def test_of_nobody(self):
        assert draw_orders((), 2, antithetic=True, rng=rng_for(1)) == [(), ()]


class TestScan:
    """v(∅) = 0, v(a) = .6, v(ab) = .95, v(abc) = 1 along the order a, b, c."""

    WORTHS = MappingProxyType({frozenset("abc"[:n]): v for n, v in enumerate((0, 0.6, 0.95, 1))})

    @pytest.mark.parametrize(
        ("tol", "prefixes", "gains"),
        [
            (0.0, ["", "a", "ab", "abc"], [0.6, 0.35, 0.05]),
            (0.05, ["", "a", "ab", "abc"], [0.6, 0.35, 0.05]),  # |1 - .95| is not below .05
            (0.06, ["", "a", "ab"], [0.6, 0.35, 0.0]),
            (0.5, ["", "a"], [0.6, 0.0, 0.0]),
            (1.1, [""], [0.0, 0.0, 0.0]),
        ],
    )
    def test_truncation(self, tol, prefixes, gains):
        assert list(scan(ABC, self.WORTHS, tol=tol)) == [frozenset(p) for p in prefixes]
        found = marginals(ABC, self.WORTHS, tol=tol)
        assert list(found.values()) == pytest.approx(gains, abs=1e-12)
        assert tuple(found) == ABC

    def test_a_scan_waits_for_each_worth(self):
        """The caller fills the table in while it walks along."""
        worths = {frozenset("abc"): 1.0}
        asked = []
        for prefix in scan(ABC, worths, tol=0.06):
            asked.append(prefix)
            worths.setdefault(prefix, self.WORTHS[prefix])
        assert asked == [frozenset(p) for p in ("", "a", "ab")]

    def test_no_scan_is_cut_when_the_tolerance_is_zero(self):
        flat = table(ABC, lambda held: 1)
        assert len(list(scan(ABC, flat, tol=0.0))) == 4


class TestPermutationEstimate:
    def test_worked_by_hand(self):
        """abc gives b the pair, bca gives it to a: means a .5, b .5, c 0.

        sd of (0, 1) is sqrt(.5), over sqrt(2): a standard error of .5.
        """
        got = permutation_shapley(GLOVES, ABC, ["abc", "bca"], antithetic=False)
        assert got.phi == {"a": 0.5, "b": 0.5, "c": 0.0}
        assert got.stderr == pytest.approx({"a": 0.5, "b": 0.5, "c": 0.0})

    def test_a_pair_is_one_sample(self):
        """abc is completed by b and cba by a: a .5, b .5. acb by c, bca by a: a .5, c .5.

        b is .5 and 0, sd sqrt(.125), over sqrt(2): a standard error of .25; a is .5 twice.
        """
        orders = ["abc", "cba", "acb", "bca"]
        got = permutation_shapley(GLOVES, ABC, orders, antithetic=True)
        assert got.phi == {"a": 0.5, "b": 0.25, "c": 0.25}
        assert got.stderr == pytest.approx({"a": 0.0, "b": 0.25, "c": 0.25})

    @pytest.mark.parametrize(("orders", "antithetic"), [(["abc"], False), (["abc", "cba"], True)])
    def test_one_sample_has_no_standard_error(self, orders, antithetic):
        assert permutation_shapley(GLOVES, ABC, orders, antithetic=antithetic).stderr == {}

    def test_all_orders_give_the_exact_value(self):
        players = tuple("abcd")
        worths = random_table(players, 3)
        got = permutation_shapley(worths, players, list(permutations(players)), antithetic=False)
        assert got.phi == pytest.approx(exact_shapley(worths, players), abs=1e-12)

    @pytest.mark.parametrize("antithetic", [False, True])
    def test_any_orders_share_out_the_whole(self, antithetic):
        """Efficiency: the φ of one task add up to v(N) - v(∅), whatever was drawn."""
        players = tuple("abcde")
        worths = random_table(players, 4)
        orders = draw_orders(players, 6, antithetic=antithetic, rng=rng_for(2))
        got = permutation_shapley(worths, players, orders, antithetic=antithetic)
        whole = worths[frozenset(players)] - worths[frozenset()]
        assert sum(got.phi.values()) == pytest.approx(whole, abs=1e-12)

    def test_two_players_and_a_pair_are_exact(self):
        worths = random_table(("a", "b"), 5)
        orders = draw_orders(("a", "b"), 4, antithetic=True, rng=rng_for(3))
        got = permutation_shapley(worths, ("a", "b"), orders, antithetic=True)
        assert got.phi == pytest.approx(exact_shapley(worths, ("a", "b")), abs=1e-12)
        assert got.stderr == pytest.approx({"a": 0.0, "b": 0.0}, abs=1e-12)

    def test_truncation_gives_the_rest_nothing(self):
        """v(a) is all there is: whoever comes behind a gets 0 without being looked at."""
        worths = table(ABC, lambda held: "a" in held)
        got = permutation_shapley(worths, ABC, ["abc", "cab"], antithetic=False, tol=0.01)
        assert got.phi == {"a": 1.0, "b": 0.0, "c": 0.0}
        partial = {k: v for k, v in worths.items() if k in (*map(frozenset, ("", "a", "c", "ac")),)}
        partial[frozenset(ABC)] = 1.0
        assert permutation_shapley(partial, ABC, ["abc", "cab"], antithetic=False, tol=0.01) == got


def mean_error(worths, players, exact, n_orders, *, antithetic, repetitions, seed):
    """Mean |estimate - exact| over players and repetitions, and the mean standard error."""
    rng = rng_for(seed, "repetitions", n_orders)
    errors, claimed = [], []
    for _ in range(repetitions):
        orders = draw_orders(players, n_orders, antithetic=antithetic, rng=rng)
        got = permutation_shapley(worths, players, orders, antithetic=antithetic)
        errors += [abs(got.phi[p] - exact[p]) for p in players]
        claimed += got.stderr.values()
    return float(np.mean(errors)), float(np.mean(np.square(claimed)))


@pytest.mark.parametrize("antithetic", [False, True])
def test_the_error_falls_as_one_over_the_root_of_the_orders(antithetic):
    """Factor 2 per factor 4, in a game of its own: 200 repetitions leave a few per cent."""
    players = tuple("abcde")
    worths = random_table(players, 6)
    exact = exact_shapley(worths, players)
    errors = [
        mean_error(
            worths, players, exact, m, antithetic=antithetic, repetitions=200, seed=1
        )[0]
        for m in (4, 16, 64)
    ]  # fmt: skip
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.15)
    assert errors[1] / errors[2] == pytest.approx(2, rel=0.15)


@pytest.mark.parametrize("antithetic", [False, True])
def test_standard_errors_tell_the_true_spread(antithetic):
    """E|ε| = sqrt(2/π) sd for a normal ε, so the mean error follows from the claimed variance."""
    players = tuple("abcd")
    worths = random_table(players, 7)
    exact = exact_shapley(worths, players)
    error, variance = mean_error(
        worths, players, exact, 32, antithetic=antithetic, repetitions=300, seed=2
    )
    assert error == pytest.approx(sqrt(2 / np.pi) * sqrt(variance), rel=0.1)


REDUNDANT = (("good-a", "good", 0), ("good-b", "good", 0), ("good-c", "good", 4),
             ("harm-d", "harmful", 1), ("med-e", "medium", 3))  # fmt: skip


@pytest.mark.slow
async def test_redundant_roles_and_the_error_law_in_the_simulated_world(simulated):
    """Two good roles of one family: leave-one-out sees little in either, Shapley what they bring.

    Verified outcomes: LOO .029 and .036, Shapley .076 and .083; mean absolute error of the
    estimator .0105, .0054, .0024 for 4, 16, 64 orders. Five worlds, 30 held-out tasks each, 60
    under `SERO_FULL_SIZE=1`.
    """
    n_tasks = 60 if os.environ.get("SERO_FULL_SIZE") else 30
    names = tuple(name for name, *_ in REDUNDANT)
    loo, exact, errors = [], [], {4: [], 16: [], 64: []}
    for key in range(200, 205):
        world = simulated(key)
        state = world.team_with(*(world.card(*truth) for truth in REDUNDANT))
        worths = {}
        for size in range(len(names) + 1):
            for team in combinations(names, size):
                worths[frozenset(team)] = await world.mean_score(
                    state, world.split.heldout[:n_tasks], team_names=team
                )
        phi = exact_shapley(worths, names)
        whole = frozenset(names)
        loo.append([worths[whole] - worths[whole - {name}] for name in names])
        exact.append([phi[name] for name in names])
        for m, found in errors.items():
            found.append(
                mean_error(worths, names, phi, m, antithetic=False, repetitions=30, seed=key)[0]
            )
    loo, exact = np.mean(loo, axis=0), np.mean(exact, axis=0)
    assert np.all((loo[:2] > 0.01) & (loo[:2] < 0.05))
    assert np.all((exact[:2] > 0.06) & (exact[:2] < 0.11))
    assert np.all(exact[:2] > 2 * loo[:2])
    assert exact[3] < min(exact[0], exact[1], exact[2], exact[4])  # the harmful role comes last
    law = {m: float(np.mean(found)) for m, found in errors.items()}
    assert law[4] / law[16] == pytest.approx(2, rel=0.2)
    assert law[16] / law[64] == pytest.approx(2, rel=0.2)
    assert law[4] == pytest.approx(0.0105, rel=0.4)
