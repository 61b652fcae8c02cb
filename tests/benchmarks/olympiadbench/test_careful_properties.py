r"""Properties of the careful judge: total on any text, order of answers, symmetric forms."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import example, given, settings
from hypothesis import strategies as st

from sero.benchmarks.olympiadbench.answer_text import canonical, extract
from sero.benchmarks.olympiadbench.careful_judge import decide

FRAGMENTS = (
    *(
        "\\frac",
        "\\sqrt",
        "\\boxed",
        "\\text",
        "\\left",
        "\\right",
        "\\pm",
        "\\cup",
        "\\in",
        "\\pi",
    ),
    *("\\infty", "\\binom", "\\sum", "\\lfloor", "\\rfloor", "\\le", "\\ne", "\\circ", "\\over"),
    *("\\mathbb", "\\{", "\\}", "\\", "$", "$$", "\\[", "\\]", "{", "}", "(", ")", "[", "]", "^"),
    *(
        "_",
        "+",
        "-",
        "*",
        "/",
        "=",
        "<",
        ">",
        ",",
        ";",
        ":",
        ".",
        "!",
        "%",
        "°",
        "|",
        "'",
        "~",
        " ",
    ),
    *("0", "1", "2", "42", "0.5", "1e3", "x", "y", "n", "e", "i", "f(x)", "sin", "ln", "R", "Z"),
    *(
        "or",
        "and",
        "km",
        "for all",
        "So the final answer is ",
        "Final answer: ",
        "\n",
        "{1}",
        "{2}",
    ),
)
NOISE = st.lists(st.sampled_from(FRAGMENTS), max_size=25).map("".join)
TEXTS = st.one_of(st.text(max_size=60), NOISE)
KINDS = st.sampled_from(["Numerical", "Expression", "Tuple", "Interval", "Equation", "", "Other"])
UNITS = st.sampled_from([None, "%", "km", "m/s^2", "^{\\circ}", "$\\mathrm{~cm}^{2}$", "?"])
FEW = settings(deadline=None, max_examples=25)
SOME = settings(deadline=None, max_examples=150)
NUMBERS = st.fractions(min_value=-50, max_value=50, max_denominator=12)


def tex(value: Fraction) -> str:
    return (
        str(value)
        if value.denominator == 1
        else rf"\frac{{{value.numerator}}}{{{value.denominator}}}"
    )


def right(answer: str, gold: str, kind: str = "Numerical", several: bool = False) -> bool:
    return decide(answer, gold, kind, None, None, several)


@SOME
@given(TEXTS)
@example("\\boxed{" * 500 + "}" * 500)
@example("So the final answer is")
@example("So the final answer is \\boxed{}")
@example("$" * 301)
def test_reading_is_total(text: str) -> None:
    candidate, reason = extract(text)
    assert (candidate is None) == bool(reason)
    if candidate is not None:
        assert candidate.strip()
        assert isinstance(canonical(candidate), str)


@SOME
@given(TEXTS, TEXTS, KINDS, UNITS, st.sampled_from([None, "0.1", "1e-2,", "x"]), st.booleans())
def test_judging_is_total(
    answer: str, gold: str, kind: str, unit: str | None, error: str | None, several: bool
) -> None:
    assert decide(answer, gold, kind, error, unit, several) in (True, False)


@FEW
@given(st.lists(NUMBERS, min_size=1, max_size=4, unique=True), st.data())
def test_order_of_several_answers_is_irrelevant(
    values: list[Fraction], data: st.DataObject
) -> None:
    gold = ", ".join(map(tex, values))
    order = data.draw(st.permutations(values))
    assert right(", ".join(map(str, order)), gold, several=True)
    assert not right(", ".join(map(tex, [*values, Fraction(99)])), gold, several=True)
    assert len(values) == 1 or not right(", ".join(map(tex, values[1:])), gold, several=True)


@FEW
@given(st.lists(NUMBERS, min_size=2, max_size=4, unique=True), st.data())
def test_order_of_a_tuple_is_relevant(values: list[Fraction], data: st.DataObject) -> None:
    gold = "$(" + ", ".join(map(tex, values)) + ")$"
    for order in (values, data.draw(st.permutations(values))):
        answer = rf"\left({', '.join(map(str, order))}\right)"
        assert right(answer, gold, "Tuple") == (order == values)


@FEW
@given(NUMBERS, NUMBERS)
def test_numbers_in_any_form(gold: Fraction, answer: Fraction) -> None:
    a, b = answer.numerator, answer.denominator
    for form in (
        tex(answer),
        f"{a}/{b}",
        f"{a + b}/{b}-1",
        f"{7 * a}/{7 * b}",
        rf"{a}\cdot {b}^{{-1}}",
    ):
        assert right(form, tex(gold)) == (gold == answer)
        assert right(tex(gold), form) == (gold == answer)
    assert right(rf"{100 * answer}\%", tex(gold)) == (gold == answer)


@FEW
@given(st.lists(st.integers(-6, 6), min_size=2, max_size=4), st.sampled_from("xnab"))
def test_factored_and_expanded_polynomials_agree(roots: list[int], letter: str) -> None:
    factored = "".join(
        f"({letter}-{root})" if root >= 0 else f"({letter}+{-root})" for root in roots
    )
    coefficients = [1]
    for root in roots:
        shifted = [*coefficients, 0]
        coefficients = [s - root * c for s, c in zip(shifted, [0, *coefficients], strict=True)]
    expanded = "+".join(
        f"({c}){letter}^{{{len(roots) - i}}}" for i, c in enumerate(coefficients) if c
    )
    assert right(factored, expanded, "Expression")
    assert right(expanded, factored, "Expression")
    assert not right(expanded + "+1", factored, "Expression")
    assert not right(factored, expanded + "-2", "Expression")


@FEW
@given(st.integers(1, 9), st.integers(-9, 9), st.integers(-9, 9), NUMBERS.filter(bool))
def test_an_equation_may_be_rearranged_and_scaled(a: int, b: int, c: int, k: Fraction) -> None:
    gold = f"{a}x+({b})y={c}"
    assert right(f"({k * a})x+({k * b})y=({k * c})", gold, "Equation")
    assert right(f"{c}-({b})y={a}x", gold, "Equation")
    assert not right(f"{a}x+({b})y={c + 1}", gold, "Equation")
    assert not right(f"{a}x+({b - 1})y={c}", gold, "Equation")


@FEW
@given(st.lists(st.integers(-40, 40), min_size=2, max_size=6, unique=True), st.data())
def test_parts_of_a_union_in_any_order(ends: list[int], data: st.DataObject) -> None:
    ends = sorted(ends)[: len(ends) // 2 * 2]
    brackets = st.tuples(st.sampled_from("(["), st.sampled_from(")]"))
    parts = [
        "{0[0]}{1},{2}{0[1]}".format(data.draw(brackets), *ends[i : i + 2])
        for i in range(0, len(ends), 2)
    ]
    gold = r" \cup ".join(parts)
    shuffled = r"\cup".join(data.draw(st.permutations(parts)))
    assert right(shuffled, gold, "Interval")
    swapped = parts[0].translate(str.maketrans("([", "[("))
    assert not right(r"\cup".join([swapped, *parts[1:]]), gold, "Interval")
    widened = rf"{gold} \cup ({ends[-1] + 1},{ends[-1] + 2})"
    assert not right(widened, gold, "Interval")
    pierced = rf"({gold}) \setminus \{{{ends[0]}\}}"
    assert right(pierced, gold, "Interval") == parts[0].startswith("(")
