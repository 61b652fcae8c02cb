"""The file of a debate: cards and texts of a user's own, and what is wrong with them."""

import pytest
import yaml

from sero.errors import CardError
from sero.methods.debate_file import Cast, load_cast, load_turns


def role(name, role_type="specialist", **changes):
    card = {
        "name": name,
        "role_type": role_type,
        "capability_family": "debating",
        "communication_protocol": "text",
        "system_prompt": [f"You are {name}."],
    }
    return {**card, **changes}


END = role("end", "aggregator", protected=True, communication_protocol="{output_protocol}")


@pytest.fixture
def written(tmp_path):
    def write(data):
        path = tmp_path / "debate.yaml"
        path.write_text(yaml.safe_dump(data))
        return str(path)

    return write


@pytest.fixture
def cast(toy, tmp_path, written):
    prompt = tmp_path / "single_agent.yaml"
    prompt.write_text("system: |\n  You add {numbers}.\n  Then write the total.\n")

    def load(roles, *, max_prompt_chars=400):
        return load_cast(
            written({"roles": roles, "turns": {"critique": "Now."}}),
            str(prompt),
            toy.Benchmark(),
            temperature=0.25,
            max_prompt_chars=max_prompt_chars,
        )

    return load


def test_cards_get_the_prompt_and_the_format_of_the_benchmark(toy, cast):
    a = role("a", system_prompt=["{single_agent}", "Keep {this} and {output_protocol}."])
    pool = cast([a, role("b", temperature=0.9), END])
    assert pool["a"].system_prompt == (
        "You add {numbers}.",  # filled in once: braces inside stay
        "Then write the total.",
        f"Keep {{this}} and {toy.FORMAT}.",
    )
    assert pool.terminal.communication_protocol == toy.FORMAT
    assert {card.temperature for card in pool} == {0.25}
    both = Cast.of(pool)
    assert ([c.name for c in both.speakers], both.terminal.name) == (["a", "b"], "end")


@pytest.mark.parametrize(
    ("roles", "fault"),
    [
        ([role("a"), role("b")], r"0 aggregator\(s\); a debate has one terminal role"),
        ([role("a"), role("b"), END | {"protected": False}], r"`protected: true`"),
        ([role("a"), role("b", "aggregator"), END], r"2 aggregator\(s\)"),
        ([END, role("a"), role("b")], r"'end' is not the last"),
        ([role("a"), END], r"two speakers and a terminal"),
        ([role("a"), role("a"), END], r"a: 2 cards share this name"),
        ([role("a", system_prompt=["x" * 401]), role("b"), END], r"a\.system_prompt: 401 ch"),
        ([role("a", role_type="critic"), role("b"), END], r"a\.role_type: got 'critic'"),
    ],
)
def test_faults_of_a_cast(cast, roles, fault):
    with pytest.raises(CardError, match=fault):
        cast(roles)


@pytest.mark.parametrize(
    ("turns", "fault"),
    [
        (None, r"turns: missing"),
        ([], r"turns: missing"),
        ({"reply": "a"}, r"turns\.verdict: missing"),
        ({"reply": "a", "verdict": " \n"}, r"turns\.verdict: missing"),
        ({"reply": "a", "verdict": 3}, r"turns\.verdict: missing"),
        ({"reply": "a", "verdict": "b", "verdct": "c"}, r"verdct: unknown turn; did you mean 'ver"),
    ],
)
def test_faults_of_turns(written, turns, fault):
    with pytest.raises(CardError, match=fault):
        load_turns(written({"turns": turns}), ("reply", "verdict"))


def test_turns_come_in_the_order_asked_for(written):
    path = written({"turns": {"verdict": "b", "reply": "a"}, "roles": []})
    assert list(load_turns(path, ("reply", "verdict")).items()) == [
        ("reply", "a"),
        ("verdict", "b"),
    ]
