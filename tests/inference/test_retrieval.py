"""The active team, worked by hand: ρ_r is the first coordinate of a role's vector."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sero.credit import CreditState, PoolState, RoleCredit
from sero.inference.retrieval import (
    cover_distinct,
    cover_floor,
    cover_soft,
    explicit_team,
    ranking_scores,
    retrieve_team,
)
from sero.roles.card import RoleType


@pytest.fixture
def encoder_of(table_encoder):
    """e(x) = (1, 0); a role with ρ has (ρ, √(1 - ρ²))."""

    def make(rho):
        table = {"TASK": (1.0, 0.0)}
        table |= {f"Prompt of {k}.": (r, math.sqrt(1 - r * r)) for k, r in rho.items()}
        return table_encoder(table)

    return make


@pytest.fixture
def retrieve(encoder_of, section):
    """A_t by name for similarities by name; `reserve` keeps one validator out."""

    def run(state, rho, *, reserve=True, credit=None, **changes):
        team = retrieve_team(
            "TASK",
            state,
            encoder_of(rho),
            section("retrieval", **changes),
            section("credit", **(credit or {})),
            reserve,
        )
        return team.names

    return run


class TestSlots:
    POOL = ("r1", "r2", "s1", "s2", "s3", "s4", "v1", "v2", "a1")

    @pytest.fixture
    def rho(self):
        return {
            "r1": 0.1,
            "r2": 0.9,
            "s1": 0.2,
            "s2": 0.5,
            "s3": 0.4,
            "s4": 0.3,
            "v1": 0.0,
            "v2": 0.6,
            "a1": 0.0,
        }

    def test_the_best_of_each_type_in_pool_order_the_aggregator_last(self, retrieve, state_of, rho):
        assert retrieve(state_of(*self.POOL), rho) == ("r2", "s2", "s3", "s4", "v2", "a1")

    @pytest.mark.parametrize(
        ("slots", "team"),
        [
            ({"setup_slots": 0}, ("s2", "s3", "s4", "v2", "a1")),
            ({"setup_slots": 5}, ("r1", "r2", "s2", "s3", "s4", "v2", "a1")),
            ({"spec_slots": 1}, ("r2", "s2", "v2", "a1")),
            ({"spec_slots": 9}, ("r2", "s1", "s2", "s3", "s4", "v2", "a1")),
            ({"val_slots": 0}, ("r2", "s2", "s3", "s4", "a1")),
            ({"setup_slots": 0, "spec_slots": 0, "val_slots": 0}, ("a1",)),
        ],
    )
    def test_slots_bound_each_type(self, retrieve, state_of, rho, slots, team):
        assert retrieve(state_of(*self.POOL), rho, **slots) == team

    def test_types_do_not_compete(self, retrieve, state_of):
        state = state_of("r1", "s1", "s2", "v1", "a1")
        rho = {"r1": -0.9, "s1": 0.9, "s2": 0.8, "v1": -0.9, "a1": 1.0}
        assert retrieve(state, rho, spec_slots=1) == ("r1", "s1", "v1", "a1")

    def test_ties_go_to_the_lower_index(self, retrieve, state_of):
        state = state_of("s3", "s1", "s2", "a1")
        rho = {"s1": 0.5, "s2": 0.5, "s3": 0.5, "a1": 0.0}
        assert retrieve(state, rho, spec_slots=2) == ("s3", "s1", "a1")

    def test_a_pool_without_terminal(self, retrieve, state_of):
        assert retrieve(state_of("s1"), {"s1": 0.5}) == ("s1",)

    def test_the_similarity_of_the_members_is_kept(self, encoder_of, section, state_of, rho):
        team = retrieve_team(
            "TASK",
            state_of(*self.POOL),
            encoder_of(rho),
            section("retrieval"),
            section("credit"),
            True,
        )
        expected = {name: pytest.approx(rho[name]) for name in ("r2", "s2", "s3", "s4", "v2")}
        assert team.similarity == expected
        assert team.aggregator.name == "a1"


class TestReservedValidator:
    @pytest.mark.parametrize(
        ("pool", "val_slots", "reserve", "inside"),
        [
            (("v1",), 1, True, {"v1"}),  # a single one serves in both places
            (("v1", "v2"), 1, True, {"v2"}),
            (("v1", "v2"), 2, True, {"v2"}),  # one of the two stays out
            (("v1", "v2"), 2, False, {"v1", "v2"}),
            (("v1", "v2", "v3"), 2, True, {"v2", "v3"}),
            (("v1", "v2", "v3"), 3, True, {"v2", "v3"}),
            (("v1",), 0, True, set()),
            ((), 1, True, set()),
        ],
    )
    def test_one_stays_out_unless_it_is_the_only_one(
        self, retrieve, state_of, pool, val_slots, reserve, inside
    ):
        rho = {"v1": 0.1, "v2": 0.5, "v3": 0.4, "s1": 0.0, "a1": 0.0}
        team = retrieve(state_of("s1", *pool, "a1"), rho, val_slots=val_slots, reserve=reserve)
        assert {name for name in team if name[0] == "v"} == inside


class TestRanking:
    @pytest.mark.parametrize(
        ("mode", "alpha", "expected"),
        [
            # R = α ρ + (1-α) c
            ("raw", 0.5, [0.45, 0.31, 0.2]),
            ("raw", 1.0, [0.9, 0.6, 0.3]),
            ("raw", 0.0, [0.0, 0.02, 0.1]),
            # c over the candidates: (0, .02, .1) to (0, .2, 1)
            ("minmax", 0.5, [0.45, 0.4, 0.65]),
            ("none", 0.5, [0.9, 0.6, 0.3]),
        ],
    )
    def test_scores(self, mode, alpha, expected):
        got = ranking_scores([0.9, 0.6, 0.3], [0.0, 0.02, 0.1], mode=mode, alpha=alpha)
        assert got == pytest.approx(expected)

    def test_equal_credits_stretch_to_nothing(self):
        got = ranking_scores([0.9, 0.6], [0.3, 0.3], mode="minmax", alpha=0.5)
        assert got == pytest.approx([0.45, 0.3])
        assert ranking_scores([], [], mode="minmax", alpha=0.5) == []

    @pytest.mark.parametrize(
        ("mode", "picked"),
        [
            ("raw", "s2"),  # .20 + .05 = .25 against .35 + 0 = .35 and .30 - .10 = .20
            ("minmax", "s1"),  # stretched to (1, .5, 0): .20 + .5, .35 + .25, .30 + 0
            ("none", "s2"),
        ],
    )
    def test_how_credit_enters(self, retrieve, state_of, mode, picked):
        state = state_of("s1", "s2", "s3", "a1", ema={"s1": 0.1, "s2": 0.0, "s3": -0.1})
        rho = {"s1": 0.4, "s2": 0.7, "s3": 0.6, "a1": 0.0}
        assert retrieve(state, rho, spec_slots=1, credit_mode=mode) == (picked, "a1")

    def test_minmax_looks_at_the_candidates_of_one_type(self, retrieve, state_of):
        # the router's 5.0 would flatten the specialists; by itself s1 stretches to 1
        state = state_of("r1", "s1", "s2", "a1", ema={"r1": 5.0, "s1": 0.1, "s2": 0.0})
        rho = {"r1": 0.0, "s1": 0.4, "s2": 0.7, "a1": 0.0}
        assert retrieve(state, rho, spec_slots=1, credit_mode="minmax") == ("r1", "s1", "a1")

    def test_credit_is_read_with_its_bias_correction(self, retrieve, state_of, pool_of):
        credit = CreditState().updated({"s2": RoleCredit(ema=0.05, n_updates=1)})
        state = PoolState(pool_of("s1", "s2", "a1"), credit)
        rho = {"s1": 0.5, "s2": 0.3, "a1": 0.0}
        # s1 .25; s2 .15 + .025 = .175, corrected .15 + .5 · .05/.1 = .4
        assert retrieve(state, rho, spec_slots=1) == ("s1", "a1")
        corrected = retrieve(state, rho, spec_slots=1, credit={"bias_correction": True})
        assert corrected == ("s2", "a1")


class TestFamilyCover:
    """Six specialists by rank 0 to 5, of families a a b b c d."""

    FAMILIES = "aabbcd"
    ALL = (True,) * 6

    @pytest.mark.parametrize(
        ("matches", "slots", "picks"),
        [
            (ALL, 3, [0, 2, 4]),  # best of a, b and c
            (ALL, 2, [0, 2]),
            (ALL, 5, [0, 2, 4, 5, 1]),  # then the rest by rank
            (ALL, 9, [0, 2, 4, 5, 1, 3]),
            (ALL, 0, []),
            ((True, True, True, True, False, False), 3, [0, 2, 1]),  # c and d do not match
            ((False,) * 6, 3, [0, 1, 2]),  # nobody does: plain top-k
            ((False, True, True, True, True, True), 3, [1, 2, 4]),  # a's best that matches
        ],
    )
    def test_distinct(self, matches, slots, picks):
        assert cover_distinct(range(6), self.FAMILIES, matches, slots) == picks

    @pytest.mark.parametrize(
        ("matches", "slots", "picks"),
        [
            (ALL, 3, [0, 4, 2]),  # 0 1 2: the weaker a gives way to c
            (ALL, 2, [0, 2]),  # 0 1: to b
            (ALL, 4, [0, 4, 2, 5]),  # 0 1 2 3: first the weaker b (3), then the weaker a (1)
            (ALL, 1, [0]),
            ((True, True, True, True, False, False), 3, [0, 1, 2]),  # no unpicked family matches
            ((False,) * 6, 3, [0, 1, 2]),
            ((False, False, False, False, False, True), 3, [0, 5, 2]),
        ],
    )
    def test_soft(self, matches, slots, picks):
        got = cover_soft(range(6), self.FAMILIES, matches, slots)
        assert sorted(got) == sorted(picks)

    def test_soft_gives_up_the_weakest_double_first(self):
        # slots 4 and one matching family outside: of 1 (a) and 3 (b) the weaker 3 goes
        matches = (True, True, True, True, True, False)
        assert cover_soft(range(6), self.FAMILIES, matches, 4) == [0, 1, 2, 4]

    @pytest.mark.parametrize(
        ("minimum", "rel", "floor"),
        [(0.1, 0.5, 0.1), (None, 0.5, 0.4), (None, 1.0, 0.8), (0.0, 0.5, 0.0)],
    )
    def test_the_floor(self, section, minimum, rel, floor):
        cfg = section("retrieval", family_cover_min=minimum, family_cover_rel=rel)
        assert cover_floor([0.2, 0.8], cfg) == pytest.approx(floor)

    @pytest.mark.parametrize(
        ("cover", "minimum", "team"),
        [
            ("off", None, ("s1", "s2", "a1")),
            ("distinct", None, ("s1", "s3", "a1")),  # floor .5 · .8 = .4: b counts
            ("distinct", 0.6, ("s1", "s2", "a1")),  # b's .5 is too low
            ("soft", None, ("s1", "s3", "a1")),
        ],
    )
    def test_in_a_pool(self, card, pool_of, retrieve, cover, minimum, team):
        families = {"s1": "a", "s2": "a", "s3": "b"}
        pool = pool_of("a1")
        for name, family in families.items():
            pool = pool.with_role(card(name, capability_family=family))
        names = retrieve(
            PoolState(pool),
            {"s1": 0.8, "s2": 0.7, "s3": 0.5, "a1": 0.0},
            spec_slots=2,
            family_cover=cover,
            family_cover_min=minimum,
        )
        assert names == team

    def test_routers_and_validators_are_not_covered(self, card, pool_of, retrieve):
        pool = pool_of("a1")
        for name, family in {"r1": "a", "r2": "a", "r3": "b"}.items():
            pool = pool.with_role(card(name, "router", capability_family=family))
        rho = {"r1": 0.8, "r2": 0.7, "r3": 0.6, "a1": 0.0}
        names = retrieve(PoolState(pool), rho, setup_slots=2, family_cover="distinct")
        assert names == ("r1", "r2", "a1")

    @given(
        cards=st.lists(st.tuples(st.sampled_from("abcd"), st.booleans()), max_size=9),
        slots=st.integers(0, 5),
    )
    def test_properties(self, cards, slots):
        families = [family for family, _ in cards]
        matches = [match for _, match in cards]
        ranked = list(range(len(cards)))
        top = ranked[:slots]
        for cover in (cover_distinct, cover_soft):
            picks = cover(ranked, families, matches, slots)
            assert len(picks) == len(set(picks)) == min(slots, len(cards))
            covered = {families[i] for i in picks if matches[i]}
            assert len(covered) >= len({families[i] for i in top if matches[i]})
        distinct = cover_distinct(ranked, families, matches, slots)
        wanted = {family for family, match in cards if match}
        assert len({families[i] for i in distinct} & wanted) >= min(slots, len(wanted))
        soft = {families[i] for i in cover_soft(ranked, families, matches, slots)}
        # either every pick has its own family or no matching family is left out
        assert len(soft) == min(slots, len(cards)) or wanted <= soft


class TestExplicitTeam:
    def test_by_name_in_pool_order_with_the_terminal(self, encoder_of, state_of):
        state = state_of("r1", "s1", "s2", "v1", "v2", "a1", "a2")
        encoder = encoder_of({"s1": 0.25, "s2": 0.5, "v2": 0.75})
        team = explicit_team("TASK", ["v2", "s2", "s1"], state, encoder)
        assert team.names == ("s1", "s2", "v2", "a1")
        assert team.similarity == {"s1": 0.25, "s2": 0.5, "v2": 0.75}

    def test_an_aggregator_is_never_a_member(self, encoder_of, state_of):
        team = explicit_team("TASK", ["a1", "s1"], state_of("s1", "a1"), encoder_of({}))
        assert [card.name for card in team.members] == ["s1"]
        assert team.aggregator.role_type is RoleType.AGGREGATOR

    def test_nobody_but_the_terminal(self, encoder_of, state_of):
        assert explicit_team("TASK", [], state_of("s1", "a1"), encoder_of({})).names == ("a1",)

    def test_a_name_that_is_not_in_the_pool(self, encoder_of, state_of):
        with pytest.raises(KeyError, match="no role 's9' in the pool"):
            explicit_team("TASK", ["s9"], state_of("s1", "a1"), encoder_of({}))
