import contextlib
import time

import pytest

from sero.benchmarks.olympiadbench.official_text import (
    MAX_CHARS,
    compared_text,
    items,
    marked_answer,
)

MARK = "So the final answer is "


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        (f"{MARK}3.\nMore text.", "3."),
        (f"{MARK}3\n{MARK}4 ", "4"),
        (f"{MARK}3. {MARK}4", f"3. {MARK}4"),  # one match a line, from its first marker
        (f"<think>{MARK}3</think>\nno marker here", "3</think>"),
        ("so the final answer is 3", "so the final answer is 3"),
        ("So the final answer is:\n3", "So the final answer is:\n3"),
        (f"{MARK}\n3", ""),
        ("", ""),
    ],
)
def test_the_marked_answer_is_the_rest_of_the_last_marked_line(response, answer):
    assert marked_answer(response) == answer


@pytest.mark.parametrize(
    ("text", "compared"),
    [
        # Boxes: all of them, joined by commas, nested braces and boxes included.
        (r"\boxed{3}.", "3"),
        (r"\boxed{1}, \boxed{2} (m)", "1,2"),
        (r"a\boxed{\frac{1}{2}}b", r"\frac{1}{2}"),
        (r"\boxed{\boxed{3}}", r"\boxed{3},3"),
        (r"} \boxed{3}", "3"),
        (r"\boxed{}", ""),
        (r"\boxed{} and $3$", ""),
        (r"\fbox{3}", r"\fbox{3}"),
        # Without a box: what stands between dollars in the last line, else the text.
        ("$1$ is\n$2$ or $x = 3$ .\n\n", "2,x = 3"),
        ("$$3$$", ""),  # two empty formulas
        ("$3", "3"),
        ("about 3.", "about 3"),
        # Clean-up.
        (r"x \in [0, 1]", "[0, 1]"),
        (r"x \in \in 3", ""),
        (r"a \in b \in c", "b "),
        (r"x \in\mathbb{R}", r"x \in\mathbb{R}"),
        (r"\left(1\right)", "(1)"),
        (r"a \leftarrow b", "a arrow b"),
        ("1，2∶3", "1,2:3"),
        (r"\pi \approx 3 \sim 4 \simeq 5", r"\pi = 3 = 4 = 5"),
        (r"f^\prime + g^{\prime}", "f' + g'"),
        (r"90^\circ, 60^{\circ}", r"90, 60^{\circ}"),
        (r"50\%", "50\\"),
        ("50%", "50"),
        ("+5!", "5"),  # the factorial goes, too
        ("3 .", "3 "),
        (r"\mathrm{~m/s} \mathbf{v} \text{x}", r"m/s v \text{x}"),
        (r"\mathrm{a}}", "a}"),
        (r"\mathrm{a", r"\mathrm{a"),
    ],
)
def test_compared_texts(text, compared):
    assert compared_text(text) == compared


@pytest.mark.parametrize("text", [r"\boxed{3", r"\boxed{1} \boxed{{2}", r"\boxed{\boxed{3}"])
def test_a_box_that_does_not_close_is_a_fault(text):
    with pytest.raises(ValueError, match="does not close"):
        compared_text(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1, 3 ,5", ["1", "3", "5"]),
        ("(1,2), [3,4)", ["(1,2)", "[3,4)"]),
        ("{1,2}", ["{1", "2}"]),
        ("1),2,(3", ["1),2,(3"]),  # depth -1 is not 0
        (",1", ["", "1"]),
        ("1,", ["1"]),
        ("1, ", ["1", ""]),
        ("", []),
        (r"x=\pm 2,3", ["x=+ 2", "x=- 2", "3"]),
        (r"\pm a\pm b", ["+ a+ b", "- a- b"]),
        ("是3", ["3"]),
        ("是", []),
    ],
)
def test_items(text, found):
    assert items(text) == found


@pytest.mark.parametrize(
    "text",
    [
        *("{" * 200_000, "}" * 200_000, "\\boxed{" * 30_000, "\\boxed{}" * 30_000),
        *("\\mathrm{" * 30_000, "\\mathrm{" * 30_000 + "}", "$" * 200_001, "$x" * 100_000),
        *(MARK * 10_000, "\\in " * 50_000, "%^\\circ" * 30_000, "," * 200_000, "([" * 100_000),
        *("\\pm," * 50_000, "\n" * 200_000, "是" * 200_000, "+" * 200_000 + "x"),
        "\\boxed{" * 2_000 + "x" + "}" * 2_000,
    ],
)
def test_any_length_takes_linear_time(text):
    start = time.monotonic()
    with contextlib.suppress(ValueError):
        items(compared_text(marked_answer(text)))
    assert time.monotonic() - start < 2


def test_boxes_in_boxes_are_bounded():
    """Twenty thousand nested boxes repeat their contents: 1.6 GB of text."""
    with pytest.raises(ValueError, match="too much"):
        compared_text("\\boxed{" * 20_000 + "}" * 20_000)
    assert len(compared_text("\\boxed{" + "x" * (MAX_CHARS - 1) + "}")) == MAX_CHARS - 1
