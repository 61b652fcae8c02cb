import hashlib
import json
import re
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sero.benchmarks.generate.olympiad import families, generate, verify
from sero.benchmarks.generate.olympiad_family import combination, decimal, fraction, polynomial
from sero.benchmarks.olympiadbench.items import FIELDS, asking_faults, group_of, left_out, read_item
from sero.errors import DataError

LEVELS = (1, 2, 3, 4, 5)
ONE_OF_EACH = generate(len(families()), seed=7, difficulty=3)
NAMES = [family.name for family in families()]


def gold(item):
    (text,) = item["final_answer"]
    return text


@pytest.mark.parametrize("level", LEVELS)
def test_the_verifier_finds_the_gold_right_from_the_question_alone(level):
    for item in generate(4 * len(families()), seed=0, difficulty=level):
        asked = {name: item[name] for name in ("context", "question", "error")}
        assert verify(asked, gold(item)), item


@pytest.mark.parametrize("level", LEVELS)
def test_items_have_the_published_schema(level):
    items = generate(70, seed=1, difficulty=level)
    assert [item["id"] for item in items] == list(range(1, 71))
    for item in items:
        assert set(item) == {*FIELDS, "solution"} - {"subject"}
        checked, faults = read_item(item)
        assert checked is not None, faults
        assert not asking_faults(item)
        assert left_out(item) == ""
        assert json.loads(json.dumps(item)) == item
        if checked.error and "," in checked.error:
            assert len(checked.answer_type) == checked.error.count(",") + 1


def test_every_kind_of_answer_is_there():
    items = generate(200, seed=0, difficulty=4)
    groups = Counter(group_of(item) for item in items)
    assert groups["maths"] > groups["physics"] > 60
    kinds = {(group_of(i), kind) for i in items for kind in i["answer_type"].split(",")}
    every = {"Numerical", "Expression", "Equation", "Interval", "Tuple"}
    assert kinds == {(group, kind) for group in ("maths", "physics") for kind in every}
    for field in ("unit", "error", "is_multiple_answer"):
        assert {group_of(item) for item in items if item[field]} == {"maths", "physics"}
    assert {item["subfield"] for item in items} == {
        *("Algebra", "Combinatorics", "Geometry", "Number Theory"),
        *("Mechanics", "Electromagnetism", "Thermodynamics", "Optics", "Modern Physics"),
    }
    assert any(item["context"] for item in items if group_of(item) == "physics")
    assert not any(item["context"] for item in items if group_of(item) == "maths")


@pytest.mark.parametrize("level", [1, 5])
def test_all_questions_are_different(level):
    items = generate(3000, seed=0, difficulty=level)
    assert len({(item["context"], item["question"]) for item in items}) == 3000


def test_a_family_that_runs_out_is_told():
    with pytest.raises(DataError, match="lower n or raise difficulty"):
        generate(100_000, seed=0, difficulty=1)


def test_items_are_byte_stable():
    text = json.dumps(generate(len(families()), seed=0, difficulty=3))
    assert hashlib.sha256(text.encode()).hexdigest() == DIGEST
    assert generate(50, seed=3, difficulty=2) == generate(120, seed=3, difficulty=2)[:50]
    assert generate(50, seed=3, difficulty=2) != generate(50, seed=4, difficulty=2)


DIGEST = "bafe3383119479cb0ffa2c8775122463ec71726f7f4201505943e9cb537f63c4"


def test_difficulty_scales_the_problems():
    def size(level):
        items = generate(350, seed=0, difficulty=level)
        return sum(int(n) for i in items for n in re.findall(r"\d+", i["question"])) / len(items)

    sizes = [size(level) for level in LEVELS]
    assert sizes == sorted(sizes)
    assert sizes[-1] > 2 * sizes[0]


# The verifiers


def broken(item):
    """The gold with one thing changed: a number, a sign, a bracket, an answer less or more."""
    text = gold(item)
    numbers = list(re.finditer(r"\d+", text))
    for match in numbers[:1] if item["error"] else numbers:
        for other in (int(match[0]) + 1, 7 * int(match[0]) + 2):
            yield text[: match.start()] + str(other) + text[match.end() :]
    for old, new in (("[", "("), ("]", ")"), ("\\cup", "\\cap"), ("+", "-"), ("=", "=-1+")):
        if old in text:
            yield text.replace(old, new, 1)
    if item["answer_type"] == "Interval":
        yield text.replace("(", "[").replace(")", "]").replace("[-\\infty", "(-\\infty")
    else:
        yield f"{text.rstrip('$')},1$" if text.endswith("$") else f"{text},1"
    yield text.replace("$", "", 1).partition(",")[0]
    yield text.replace("$", "$-", 1) if "$" in text else f"-{text}"
    yield from ("", "no idea", "$", "x", "(", "\\frac{1}{0}", "1" * 600, "(" * 400, "9^{9^{9}}")


@pytest.mark.parametrize("item", ONE_OF_EACH, ids=NAMES)
def test_the_verifier_refuses_a_broken_gold(item):
    refused = [answer for answer in broken(item) if not verify(item, answer)]
    # a changed sign or bracket may be no change of meaning, nine junk texts are never right
    assert len(refused) >= 9 + 2


# Right answers in another form, one question of each kind written out.
FORMS = [
    ("Determine all real values of $x$ for which $2 x^{2}-x-3=0$.", "-1, 1.5", True),
    ("Determine all real values of $x$ for which $2 x^{2}-x-3=0$.", "x=\\frac32,x=-1", True),
    ("Determine all real values of $x$ for which $2 x^{2}-x-3=0$.", "-1", False),
    ("Determine all real values of $x$ for which $2 x^{2}-x-3=0$.", "-1,-1", False),
    ("Determine all real values of $x$ for which $2 x^{2}-x-3=0$.", "-1,\\frac{3}{2},2", False),
    (
        "Determine the set of all real numbers $x$ with $x^{2}-2 x-1 \\leqslant 0$.",
        "\\left[1-\\sqrt{2}, 1+\\sqrt{2}\\right]",
        True,
    ),
    (
        "Determine the set of all real numbers $x$ with $x^{2}-2 x-1 \\leqslant 0$.",
        "(1-\\sqrt{2},1+\\sqrt{2})",
        False,
    ),
    (
        "Determine the set of all real numbers $x$ with $x^{2}-1 > 0$.",
        "(1,\\infty)\\cup(-\\infty,-1)",
        True,
    ),
    (
        "Determine the set of all real numbers $x$ with $x^{2}-1 > 0$.",
        "(-\\infty,1)\\cup(1,\\infty)",
        False,
    ),
    ("Determine the set of all real numbers $x$ with $x^{2}-1 > 0$.", "(-1,1)", False),
    ("Determine the set of all real numbers $x$ with $x^{2}-1 > 0$.", "(-\\infty,\\infty)", False),
    (
        "Determine $(x,y)$, given that these real numbers satisfy $x+y=3$, $x-y=2$.",
        "(2.5,\\frac{1}{2})",
        True,
    ),
    (
        "Determine $(x,y)$, given that these real numbers satisfy $x+y=3$, $x-y=2$.",
        "(.5,2.5)",
        False,
    ),
    (
        "Express $\\sum_{k=1}^{n}\\left(2 k-1\\right)$ in closed form in terms of $n$.",
        "n \\cdot n",
        True,
    ),
    (
        "Express $\\sum_{k=1}^{n}\\left(2 k-1\\right)$ in closed form in terms of $n$.",
        "n^2+1",
        False,
    ),
    ("Express $\\sum_{k=1}^{n}\\left(2 k-1\\right)$ in closed form in terms of $n$.", "m^2", False),
    (
        "Find a closed form, in terms of $n$, of the sum of $2^{k}+2 k$ over the integers $k$ from "
        "$1$ to $n$.",
        "2^{n+1}-2+n(n+1)",
        True,
    ),
    (
        "Determine all functions of the form $f(x)=a x+b$ with real $a$ and $b$ such that "
        "$f(f(x))=4 x+3$ for every real number $x$.",
        "f(x)=-2x-3, f(x)=1+2x",
        True,
    ),
    (
        "Determine all functions of the form $f(x)=a x+b$ with real $a$ and $b$ such that "
        "$f(f(x))=4 x+3$ for every real number $x$.",
        "2x+1,1+2x",
        False,
    ),
    (
        "Find an equation, in $x$ and $y$, of the set of all points in the plane that are as far "
        "from $(0,0)$ as from $(2,2)$.",
        "y=2-x",
        True,
    ),
    (
        "Find an equation, in $x$ and $y$, of the set of all points in the plane that are as far "
        "from $(0,0)$ as from $(2,2)$.",
        "(x+y-2)^2=0",
        False,
    ),
    (
        "Find an equation, in $x$ and $y$, of the circle that has the segment from $(0,0)$ to "
        "$(2,0)$ as a diameter.",
        "x^2+y^2=2x",
        True,
    ),
    (
        "Find an equation, in $x$ and $y$, of the circle that has the segment from $(0,0)$ to "
        "$(2,0)$ as a diameter.",
        "x^2+y^2=1",
        False,
    ),
    (
        "Two sides of a triangle have the lengths $3$ and $5$. Which values can the length of the "
        "median to the third side take? Give the set of all of them.",
        "(1, 4)",
        True,
    ),
    (
        "Two sides of a triangle have the lengths $3$ and $5$. Which values can the length of the "
        "median to the third side take? Give the set of all of them.",
        "(2, 8)",
        False,
    ),
    # 6 + 7 y = 20 and so on: (8, 1), (1, 2) are all positive solutions of x + 7 y = 15
    ("How many pairs $(x,y)$ of positive integers satisfy $1 x+7 y=15$?", "2", True),
    (
        "A path from $(0,0)$ to $(2,2)$ consists of unit steps to the right and upwards. How many "
        "such paths do not pass through $(1,1)$?",
        "2",  # six paths in all, two to the middle and two from it
        True,
    ),
    (
        "A triangle has the vertices $(0,0)$, $(4,0)$ and $(0,4)$. How many points with integer "
        "coordinates lie strictly inside it?",
        "3",  # (1,1), (1,2), (2,1)
        True,
    ),
    (
        "The point $(0,0)$ is reflected in the line $x+y=2$. Determine the coordinates of the "
        "point that results.",
        "(2,2)",
        True,
    ),
    (
        "A positive integer leaves the remainders $2$,$3$ when it is divided by $3$,$5$, in this "
        "order. Find the smallest such integer.",
        "8",
        True,
    ),
    (
        "A particle of mass $2 m$ and charge $2 q$ starts from rest and crosses a voltage of "
        "$2 U$. It stays slow.\nExpress its de Broglie wavelength by $h$, $m$, $q$ and $U$.",
        "\\lambda=\\frac{h}{4\\sqrt{mqU}}",  # the momentum is sqrt(2 * 2m * 2q * 2U)
        True,
    ),
    (
        "All resistors of a network have the resistance $R$. A chain of $2$ of them is connected "
        "in parallel with a chain of $2$, and the two together are in series with a chain of "
        "$1$.\nFind the resistance of the whole in terms of $R$.",
        "2R",
        True,
    ),
    (
        "A battery has an electromotive force of $3\\,\\mathrm{V}$ and an inner resistance of "
        "$2\\,\\Omega$.\nFor which load resistances, in ohms, does the load take up at least "
        "$1\\,\\mathrm{W}$?",
        "[1,4]",  # at 1 ohm a current of 1 A, at 4 ohms half of it: 1 W both times
        True,
    ),
    (
        "A sample holds $80$ nuclei of an isotope with a half-life of $3$ days. How many of them "
        "are expected to decay within $9$ days?",
        "70",
        True,
    ),
]


@pytest.mark.parametrize(("text", "answer", "right"), FORMS)
def test_the_verifier_reads_other_forms(text, answer, right):
    context, _, question = text.rpartition("\n")
    item = {"context": context or None, "question": question, "error": None}
    assert verify(item, answer) is right


@pytest.mark.parametrize(
    ("answer", "right"), [("1.48", False), ("1.49", True), ("1.51", True), ("1.52", False)]
)
def test_a_tolerance_is_kept(answer, right):
    """5 * 1.5^2 - 5 * 1.5 = 3.75, so it takes 1.5 s."""
    item = {
        "context": "A stone is thrown straight up at $5\\,\\mathrm{m/s}$ from the edge of a cliff, "
        "$3.75\\,\\mathrm{m}$ above the sea. Take $g=10\\,\\mathrm{m/s^{2}}$ and neglect the air.",
        "question": "After how many seconds does the stone reach the sea?",
        "error": "1e-2",
    }
    assert verify(item, answer) is right


def test_a_foreign_question_is_refused():
    with pytest.raises(ValueError, match="no family"):
        verify({"context": None, "question": "What is it?", "error": None}, "1")


TOKENS = [*"0123456789()[]{}+-*/^,=.$ xn", "\\frac", "\\sqrt", "\\cup", "\\infty", "\\cdot", "\\pi"]


@settings(deadline=None, max_examples=200)
@given(
    item=st.sampled_from(ONE_OF_EACH),
    answer=st.one_of(st.text(), st.lists(st.sampled_from(TOKENS)).map("".join)),
)
def test_the_verifier_is_total(item, answer):
    assert verify(item, answer) in (True, False)


# Writing


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (7, "7"),
        (Fraction(-7), "-7"),
        (Fraction(7, 2), "\\frac{7}{2}"),
        (Fraction(-7, 2), "-\\frac{7}{2}"),
    ],
)
def test_fractions(number, text):
    assert fraction(number) == text


@pytest.mark.parametrize(
    ("number", "places", "text"),
    [
        (Fraction(1, 3), 2, "0.33"),
        (Fraction(-2, 3), 1, "-0.7"),
        (Fraction(5, 2), 0, "3"),
        (Fraction(5, 2), 3, "2.5"),
        (Fraction(1, 8), 2, "0.13"),  # half away from zero
        (Fraction(-1, 30), 1, "0"),
        (100, 1, "100"),
        (100, 0, "100"),
    ],
)
def test_decimals(number, places, text):
    assert decimal(number, places) == text


def test_polynomials():
    assert polynomial([2, -1, 0, Fraction(-3, 2)], "x") == "2 x^{3}-x^{2}-\\frac{3}{2}"
    assert polynomial([-1, 1], "n") == "-n+1"
    assert polynomial([5], "n") == "5"
    assert combination([(0, "x"), (1, "y"), (-1, ""), (3, "z")]) == "y-1+3 z"
    assert combination([(0, "x")]) == "0"
