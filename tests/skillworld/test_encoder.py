import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sero.skillworld import SkillWorldEncoder
from sero.skillworld.cards import named_card, seed_pool
from sero.skillworld.sheet import Kind, Truth
from sero.skillworld.text import (
    case_prompt,
    write_answer,
    write_message,
    write_report,
    write_setup,
)


@pytest.fixture
def encoder(tools):
    return tools.encoder()


@pytest.fixture
def roles(world):
    """Thirty cards of each family, none with the same sheet."""
    return [
        [
            named_card(world, f"{k}/{i}", Truth(kind=Kind.GOOD, family=k), noise=0.0)
            for i in range(30)
        ]
        for k in range(6)
    ]


def code_of(card):
    return card.prompt_text.split()[-1].rstrip(".")


def test_every_vector_is_a_unit_float32(world, encoder):
    case = world.case("test-000")
    texts = [
        case_prompt(case),
        write_message("aaaaaaaaaaaa", case, [1, -1, 0]),
        write_report("aaaaaaaaaaaa", case, [1, 0, 0]),
        "words of no world",
        *(card.prompt_text for card in seed_pool(world, noise=0.0)),
    ]
    for text in texts:
        vector = encoder.encode(text)
        assert vector.dtype == np.float32
        assert vector.shape == (32,)
        assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-6)
    assert not encoder.encode(" \n").any()


def test_roles_are_close_to_the_tasks_that_need_them(world, encoder, roles):
    """|ΣU|² = 3 and |ξ/4|² = 2 give the task √5; |U|² = 1 and |ξ/8|² = 1/2 the role √1.5:
    a required family has cosine 1/√7.5 = 0.365, another 0.
    """
    near, far = [], []
    for i in range(60):
        case = world.case(f"test-{i}")
        query = encoder.encode(case_prompt(case))
        for k in range(6):
            rho = [float(encoder.encode(card.prompt_text) @ query) for card in roles[k]]
            (near if k in case.required else far).extend(rho)
    assert np.mean(near) == pytest.approx(0.365, abs=0.04)
    assert np.mean(far) == pytest.approx(0.0, abs=0.04)


def test_cards_of_one_family_are_alike_but_no_duplicates(encoder, roles):
    """The cosine of two cards of a family is 1/1.5 = 0.667, below the duplicate bound of 0.92."""
    vectors = np.array([encoder.encode(card.identity_text) for card in roles[2]])
    cosines = (vectors @ vectors.T)[np.triu_indices(30, 1)]
    assert cosines.mean() == pytest.approx(0.667, abs=0.06)
    assert cosines.max() < 0.92


def test_quality_does_not_show(world, encoder):
    """A harmful card has the same geometry as a good one: its family's direction and its noise."""
    for kind in (Kind.GOOD, Kind.MEDIUM, Kind.HARMFUL):
        cards = [
            named_card(world, f"{kind}/{i}", Truth(kind=kind, family=2), noise=0.0)
            for i in range(100)
        ]
        along = [encoder.encode(c.prompt_text) @ world.directions.right[2] for c in cards]
        assert np.mean(along) == pytest.approx(1 / np.sqrt(1.5), abs=0.05)


def test_identity_and_prompt_text_have_one_vector(world, encoder):
    for card in seed_pool(world, noise=0.0):
        np.testing.assert_array_equal(
            encoder.encode(card.identity_text), encoder.encode(card.prompt_text)
        )


def test_infrastructure_and_distractor(world, encoder):
    pool, space = seed_pool(world, noise=0.0), world.directions
    for name, direction in (
        ("router", space.router),
        ("validator", space.validator),
        ("aggregator", space.aggregator),
        ("seed-4", space.right.sum(axis=0) / np.sqrt(6)),
    ):
        np.testing.assert_allclose(encoder.encode(pool[name].prompt_text), direction, atol=1e-6)


def test_a_message_is_its_speaker_and_its_facts(world, encoder):
    case, card = world.case("test-000"), seed_pool(world, noise=0.0)["seed-1"]
    space, (a, b, _) = world.directions, case.required
    role = encoder.encode(card.prompt_text).astype(float)
    expected = 0.5 * role + space.right[a] + space.wrong[b]
    text = write_message(code_of(card), case, [1, -1, 0])
    np.testing.assert_allclose(encoder.encode(text), expected / np.linalg.norm(expected), atol=1e-6)


def test_a_message_without_facts_is_its_speaker(world, encoder):
    case, pool = world.case("test-000"), seed_pool(world, noise=0.0)
    for card, text in (
        (pool["seed-1"], write_message(code_of(pool["seed-1"]), case, [0, 0, 0])),
        (pool["router"], write_setup(code_of(pool["router"]), case)),
    ):
        np.testing.assert_allclose(
            encoder.encode(text), encoder.encode(card.prompt_text), atol=1e-6
        )


def test_an_observation_adds_the_answer_to_the_task(world, encoder):
    case = world.case("test-000")
    space, (a, b, c) = world.directions, case.required
    prompt = case_prompt(case)
    query = encoder.encode(prompt).astype(float)
    answer = write_answer("aaaaaaaaaaaa", case, [case.right[0], case.wrong[1], case.right[2]])
    facts = (space.right[a] + space.wrong[b] + space.right[c]) / np.sqrt(3)
    expected = (query + facts) / np.linalg.norm(query + facts)
    for shown in (answer, answer.partition("\n")[2]):
        np.testing.assert_allclose(
            encoder.encode(f"{prompt}\n\nAnswer: {shown[:200]}"), expected, atol=1e-6
        )
    for empty in ("", "no idea"):
        np.testing.assert_array_equal(
            encoder.encode(f"{prompt}\n\nAnswer: {empty}"), encoder.encode(prompt)
        )


def test_right_and_wrong_facts_point_apart(world, encoder):
    case = world.case("test-000")
    right, wrong = (encoder.encode(write_message("aaaaaaaaaaaa", case, [s] * 3)) for s in (1, -1))
    assert float(right @ wrong) == pytest.approx(0.0, abs=1e-6)  # the speaker is unknown: no part


@pytest.mark.parametrize("dim", [32, 512])
def test_mean_cosines_do_not_depend_on_the_dimension(dim, world, tools, roles):
    encoder = tools.encoder(dim=dim)
    needing = [world.case(f"test-{i}") for i in range(0, 300, 3)]  # group g04 needs f0
    queries = np.array([encoder.encode(case_prompt(case)) for case in needing])
    cards = np.array([encoder.encode(card.prompt_text) for card in roles[0]])
    assert (cards @ queries.T).mean() == pytest.approx(0.365, abs=0.04)


def test_vectors_do_not_depend_on_order_and_name_their_world(world, tools):
    texts = [case_prompt(world.case(f"test-{i}")) for i in range(5)]
    texts += [card.prompt_text for card in seed_pool(world, noise=0.0)]
    first, second = tools.encoder(), tools.encoder()
    forward = [first.encode(t).tobytes() for t in texts]
    assert forward == [second.encode(t).tobytes() for t in reversed(texts)][::-1]
    names = {tools.encoder(*args).name for args in ((7,), (8,), (7, "saturated"))}
    assert len(names | {tools.encoder(dim=64).name}) == 4


def test_remembered_vectors_are_read_only(world, encoder):
    vector = encoder.encode(case_prompt(world.case("test-000")))
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 1.0


ENCODER = SkillWorldEncoder(SkillWorldEncoder.Config(world=7, scenario="default", dim=32))


@given(st.text())
def test_any_text_has_a_vector(text):
    for whole in (text, "Sheet abc, case test-1\n" + text, "Ledger case test-1 " + text):
        norm = float(np.linalg.norm(ENCODER.encode(whole)))
        assert norm == pytest.approx(1.0 if whole.strip() else 0.0, abs=1e-5)


def test_misleaders_match_every_case_about_as_well_as_the_right_card(world, encoder):
    """|unit(ΣU)|² = 1 and |ξ/5|² = 32/25 give √2.28; its cosine with a case is
    3/√6/√5/√2.28 = 0.363 in the mean, where a card of a required family has 0.365.
    """
    cards = [
        named_card(world, f"m/{i}", Truth(kind=Kind.MISLEADER, family=0), noise=0.0)
        for i in range(60)
    ]
    cases = [encoder.encode(case_prompt(world.case(f"test-{i:03d}"))) for i in range(60)]
    cosines = [float(encoder.encode(c.prompt_text) @ case) for c in cards for case in cases]
    assert np.mean(cosines) == pytest.approx(0.363, abs=0.03)
