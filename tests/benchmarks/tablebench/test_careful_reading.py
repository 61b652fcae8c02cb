import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sero.benchmarks.tablebench.careful_reading import final_answer


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("Final Answer: 7", "7"),
        ("final answer: 7", "7"),
        ("FINAL ANSWER:7", "7"),
        ("Final  Answers : Nelt, Ovar", "Nelt, Ovar"),
        ("Final Answer：7", "7"),
        ("**Final Answer:** 7", "7"),
        ("**Final Answer**: 7", "7"),
        ("__Final Answer:__ 7", "7"),
        ("### Final Answer: 7", "7"),
        ("**Final Answer: 7**", "7**"),
        ("`Final Answer: 7`", "7`"),
        ("- Final Answer: -7", "-7"),
        ("So the final answer: 7", "7"),
        ("Final Answer:\n7", "7"),
        ("Final Answer:\n\n  7 \n\nThat is all.", "7"),
        ("**Final Answer: **\n7", "7"),
        ("Final Answer:\n```\n7\n```", "7"),
        ("Final Answer:\nOne line\nand the next.\n\nA note.", "One line and the next."),
        ("Final Answer: 7\nThis is the sum.", "7"),
        ("Final Answer:\n- 12763", "12763"),  # a bullet is no minus sign
        ("Final Answer:\n-12763", "-12763"),
        ("Final Answer:\n* Nelt\n* Ovar", "Nelt, Ovar"),
        ("Final Answer:\n- Nelt\nand Ovar", "- Nelt and Ovar"),
        ("Final Answer: 7\r\n", "7"),
        ("Final Answer: 1\nFinal Answer: 2", "2"),
        ("Final Answer: 1, no, Final Answer: 2", "2"),
        ("Final Answer: 7\n\nThe final answer: 7 is a sum.", "7"),  # words of a sentence
        ("The final answer: 1 is a guess.\nfinal answer: 7", "7"),
        ("Final Answer: 7\nWait, correction. My final answer: 8", "8"),
        ("final answer: 7\nso the final answer: New York Giants.", "New York Giants."),
        ("Final Answer: 1\n- **final answer:** 7", "7"),
        ("Final Answer: 1\n2. FINAL ANSWER: 7", "7"),
        ("Final Answer: 1\nFinal Answer:", "1"),
        ("Final Answer: 1\n**Final Answer:**\n", "1"),
        (r"Final Answer: \boxed{7}", "7"),
        (r"Final Answer: \boxed{7}\,", "7"),
        (r"Final Answer: \boxed{7\;}", "7"),
        (r"Final Answer: 7\ ", "7"),
        (r"Final Answer: \boxed{\text{Nelt}\ }.", "Nelt"),
        (r"Final Answer: $\boxed{\text{Nelt}}$.", "Nelt"),
        (r"Final Answer: $12.5\%$", "$12.5%$"),
        (r"Final Answer: \boxed{1{,}204}", "1,204"),
        (r"Final Answer: \boxed{7} or \boxed{8}", "7} or \\boxed{8"),
        ("final  answer\u200b: 7", "7"),
    ],
)
def test_what_stands_behind_the_last_marker(response, answer):
    assert final_answer(response) == answer


@pytest.mark.parametrize(
    "response",
    [
        "",
        "7",
        "The final answer is 7.",
        "Answer: 7",
        "Final Answer 7",
        "Semifinal answer: 7",
        "Final Answer:",
        "Final Answer: **",
        "Final Answer:\n\n",
        r"\boxed{7}",
    ],
)
def test_no_marker_or_nothing_behind_it_is_no_answer(response):
    assert final_answer(response) is None


@settings(deadline=None, max_examples=200)
@given(
    response=st.text(), answer=st.from_regex(r"[a-z0-9]{1,9}( [a-z0-9]{1,9}){0,3}", fullmatch=True)
)
def test_a_marked_last_line_is_read_whatever_stands_before(response, answer):
    assert final_answer(f"{response}\nFinal Answer: {answer}") == answer
