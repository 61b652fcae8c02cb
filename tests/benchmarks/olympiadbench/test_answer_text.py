r"""Where an answer is found in a response, and its canonical spelling."""

from __future__ import annotations

import time

import pytest

from sero.benchmarks.olympiadbench.answer_text import MAX_LENGTH, canonical, extract

FOUND = [
    # The marker sentence, its boxes, its text.
    (r"So the final answer is \boxed{42}.", "42"),
    ("So the final answer is 42.", "42"),
    ("So the final answer is $42$.", "42"),
    (r"**So the final answer is \boxed{42}.**", "42"),
    (r"**So the final answer is** \boxed{42}", "42"),
    (r"So the final answer is \(\boxed{42}\).", "42"),
    ("So the final answer is:\n\\boxed{42}", "42"),
    ("So the final answer is:\n\n42", "42"),
    ("So the final answer is\n\\[\n42\n\\]", "42"),
    ("So the final answer is:\n$$\n\\boxed{42}\n$$\n", "42"),
    ("So the final answer is given by:\n\\boxed{42}", "42"),
    ("so the FINAL answer is \\boxed{42}", "42"),
    ("So, the final answer is \\boxed{42}", "42"),
    ("So the final answers are \\boxed{4} and \\boxed{2}.", "4, 2"),
    ("So the final answer is .5", ".5"),
    ("So the final answer is $x=1$ or $x=3$.", "x=1, x=3"),
    (r"So the final answer is \boxed 7.", "7"),
    # The last marker counts, and a marker comes before any box.
    (r"So the final answer is \boxed{41}. No. So the final answer is \boxed{42}.", "42"),
    ("\\boxed{7}\nSo the final answer is 8.\nRemember: \\boxed{9} was wrong.", "8"),
    ("\\boxed{7} and so on. Final answer: 6\nSo the final answer is \\boxed{8}.", "8"),
    (r"So the final answer is \boxed{42}. Check: \boxed{6}\cdot\boxed{7}.", "42"),
    # Several boxes are several answers.
    (r"So the final answer is \boxed{1}, \boxed{3}, \boxed{5}.", "1, 3, 5"),
    (r"So the final answer is $x=\boxed{3}$ or $x=\boxed{5}$.", r"3 \text{ or } 5"),
    (r"Thus \boxed{1} and \boxed{3}.", "1, 3"),
    (r"First \boxed{6} then \boxed{7}, hence \boxed{42}", "42"),
    # Boxes that are none, boxes in boxes, escaped braces.
    (r"Put it in \boxed{}: \boxed{42}. I used \boxed as asked.", "42"),
    (r"\boxed{42} and later \boxed{ never closed", "42"),
    (r"\boxed{ oh \boxed{3}", "3"),
    (r"\boxed{\boxed{42}}", r"\boxed{42}"),
    (r"\boxed{\{1,3\}}", r"\{1,3\}"),
    (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
    (r"\fbox{3}", "3"),
    (r"\[ \boxed{42} \]", "42"),
    # Units behind a box stay with it.
    (r"So the final answer is \boxed{9.8}(m/s^2).", "9.8 (m/s^2)"),
    (r"So the final answer is \boxed{9.8} $\mathrm{m/s^2}$.", r"9.8 (\mathrm{m/s^2})"),
    (r"\boxed{2.5}(A), \boxed{0.4}(A)", "2.5 (A), 0.4 (A)"),
    (r"So the final answer is \boxed{4} as required.", "4"),
    (r"So the final answer is $\frac{1}{2}$ km.", r"\frac{1}{2} (km)"),
    # A blank of LaTeX at the end goes whole.
    (r"\boxed{42\,}", "42"),
    (r"\boxed{42\;}", "42"),
    (r"\boxed{42\:}", "42"),
    (r"\boxed{42\ }", "42"),
    (r"\boxed{42\!}", "42"),
    (r"\boxed{42\quad}", "42"),
    (r"\boxed{42\\}", "42"),
    (r"\boxed{42!}", "42!"),
    (r"\boxed{\sqrt{2}\,}", r"\sqrt{2}"),
    (r"\boxed{5\,\mathrm{cm}\,}", r"5\,\mathrm{cm}"),
    (r"\boxed{5}\,\mathrm{cm\,}.", r"5 (\mathrm{cm\,})"),
    (r"$42\,$", "42"),
    (r"$$42$$\,", "42"),
    (r"\[42\ \]\,.", "42"),
    (r"So the final answer is $42\,$.", "42"),
    (r"So the final answer is 42\,.", "42"),
    ("So the final answer is\\;\n\\boxed{42}", "42"),
    (r"So the final answer is $2\ $ and $3\ $.", "2, 3"),
    (r"So the final answer is \boxed{2\ }, \boxed{3\ }.", "2, 3"),
    (r"Hence \boxed{2}\:\text{and}\:\boxed{3}", "2, 3"),
    # Other phrases, when they come after the last box.
    ("\\boxed{41}, but no.\nAnswer: 7", "7"),
    ("**Final Answer**: 7", "7"),
    ("**Final Answer:** $7$", "7"),
    ("**Final Answer**\n\n\\[\n7\n\\]", "7"),
    ("The answer is 4.5. It follows.", "4.5"),
    ("The answer is 12, because 3 times 4 is 12.", "12"),
    ("The final answer is $\\frac{1}{2}$, as claimed.", r"\frac{1}{2}"),
    ("Answer: 5? No.\n\\boxed{6}", "6"),
    # Formulas at the end.
    ("We get\n$42$", "42"),
    ("We get\n\\[ x = 42. \\]", "x = 42."),
    ("We get\n$$42$$.", "42"),
    ("The values are $1$, $3$ and $5$.", "1, 3, 5"),
    ("From $a=1$ we get $b=2$.", "b=2"),
    ("42", "42"),
    ("work\n\n(1, 2)", "(1, 2)"),
    ("work\nx = 3", "x = 3"),
    ("work\nsin(x) + 1", "sin(x) + 1"),
    ("So the final answer is $29.00.", "$29.00"),
]
NOT_FOUND = [
    ("", "no answer in the response"),
    ("Therefore x = 42 as claimed", "no answer in the response"),
    ("The answer cannot be determined.", "no answer in the response"),
    (r"So the final answer is \boxed{}.", "the box is empty or never closes"),
    (r"So the final answer is \boxed{42", "the box is empty or never closes"),
    (r"We have \boxed{", "the only box is empty or never closes"),
    (r"\boxed{41}. So the final answer is \boxed{4", "the box is empty or never closes"),
    ("So the final answer is", "nothing behind the marker"),
    ("So the final answer is .", "nothing behind the marker"),
    ("So the final answer is $$.", "the answer is empty"),
    (rf"\boxed{{{'7' * (MAX_LENGTH + 1)}}}", "4001 characters are no answer"),
]


@pytest.mark.parametrize(("response", "answer"), FOUND, ids=[r for r, _ in FOUND])
def test_answer_is_found(response: str, answer: str) -> None:
    assert extract(response) == (answer, "")


@pytest.mark.parametrize(("response", "reason"), NOT_FOUND, ids=[r[:40] for r, _ in NOT_FOUND])
def test_no_answer_with_a_reason(response: str, reason: str) -> None:
    assert extract(response) == (None, reason)


@pytest.mark.parametrize(
    "spellings",
    [
        (
            "42",
            "42.0",
            "+42",
            "$42$",
            r"\text{42}",
            " 42 .",
            r"\boxed{42}",
            "x=42",
            "４２",
            "42 (km)",
        ),
        (r"42\text{ km}", r"42 \mathrm{~km}", "42 (km)", "42"),
        ("-0.5", "-.5", "−0.50"),
        (r"\frac{1}{2}", r"\dfrac12", "1/2", r"$\tfrac{1}{2}$"),
        ("1,3,5", "5, 3, 1", "1, 3 and 5", "$1$, $5$, $3$", "1;3;5", r"1,\,3,\,5."),
        ("1,000,000", r"1\,000\,000", "1000000", r"1{,}000{,}000"),
        ("60°", r"60^\circ", r"60^{\circ}", r"60\text{ degrees}"),
        ("50%", r"50\%", r"50 \text{ percent}"),
        (r"[\frac{1}{2},8]", r"\left[ \frac12 , 8 \right]"),
        ("x^2+1", "x^{2} + 1", "x²+1"),
        (r"2\pi k", r"2 \pi k", "2π k"),
        ("k\\ge 2", r"k \geqslant 2", "k≥2"),
        ("(1,2), (3,4)", "(3,4),(1,2)"),
    ],
)
def test_canonical_spelling_is_one(spellings: tuple[str, ...]) -> None:
    assert len({canonical(spelling) for spelling in spellings}) == 1
    assert canonical(canonical(spellings[0])) == canonical(spellings[0])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("42", "43"),
        ("42", "-42"),
        ("50", "50%"),
        ("(1,2)", "(2,1)"),
        ("[1,2]", "(1,2)"),
        ("1 2", "12"),
        ("x", "y"),
        ("x<1", "x>1"),
        ("3/4", "4/3"),
        ("2^10", "210"),
        ("x=2y", "2y"),
        ("n(m)", "n"),
        ("100,200", "100200"),
        ("1 or 2", "12"),
    ],
)
def test_different_answers_stay_different(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000,
        "{" * 100_000,
        "\\boxed{" * 14_000,
        "\\boxed{" * 7_000 + "}" * 7_000,
        "\\boxed{1}," * 10_000,
        "$" * 100_000,
        "$1$ " * 25_000,
        "So the final answer is " * 4_000,
        "Answer: " * 12_000,
        " " * 100_000,
        "So " + " " * 100_000,
        "\n" * 100_000,
        "1," * 50_000,
        "\\" * 100_000,
        "\\[" * 50_000,
        "**" * 50_000,
        "1 " * 50_000,
        "\x00" * 100_000,
    ],
    ids=lambda text: text[:12],
)
def test_long_texts_are_read_quickly(text: str) -> None:
    start = time.perf_counter()
    candidate, _ = extract(text)
    canonical(candidate or text[:MAX_LENGTH])
    assert time.perf_counter() - start < 2.0  # a tenth of it on an idle machine
