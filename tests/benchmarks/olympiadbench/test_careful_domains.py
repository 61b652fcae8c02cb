r"""Remarks that take only some of a set's numbers."""

from __future__ import annotations

import time

import pytest

from sero.benchmarks.olympiadbench.careful_congruences import same_congruence
from sero.benchmarks.olympiadbench.careful_domains import names_set, narrows, without_least
from sero.benchmarks.olympiadbench.careful_items import answer_lists
from sero.benchmarks.olympiadbench.careful_text import plain


@pytest.mark.parametrize(
    ("gold", "answer", "expected"),
    [
        ("[2,5]", r"2\le x\le 5", False),
        ("[2,5]", r"2\le x\le 5, x\in\mathbb{R}", False),
        ("[2,5]", r"2\le x\le 5, x\in\mathbb{Z}", True),
        ("[2,5]", r"\{x\in\mathbb{Q}\mid 2\le x\le 5\}", True),
        ("[2,5]", r"2\le x\le 5, x\in\mathbb{R}^+", False),
        ("[-2,5]", r"-2\le x\le 5, x\in\mathbb{R}^+", True),
        (r"x\in[2,5]", r"x\in[2,5], x\in\mathbb{Z}", True),
        (r"2\le x\le 5, x\in\mathbb{Z}", r"2\le x\le 5, x\in\mathbb{Z}", False),
        ("[0,n]", r"[0,n], n\in\mathbb{N}", False),
        ("[0,n]", r"0\le x\le n, x\in\mathbb{N}", True),
        (r"n\ge 4", r"n\ge 4, n\in\mathbb{N}", False),
        (r"x\ge 4", r"x\ge 4, x\in\mathbb{N}", True),
        ("(2,5)", r"2<x<5 \text{ where } x\ne 3", True),
        ("(2,a)", r"2<x<a \text{ where } a>2", False),
    ],
)
def test_integers_narrow_a_real_set(gold: str, answer: str, expected: bool) -> None:
    assert narrows(plain(gold), plain(answer)) is expected


def test_sets_are_known_by_their_signs() -> None:
    assert names_set(plain(r"(0,1)\cup\{3\}"))
    assert not names_set(plain("(0,1)"))


@pytest.mark.parametrize(
    ("gold", "answer", "left"),
    [
        ("2n", r"2n, n \ge 3", "2n"),
        ("2n", r"2n, n \ge 4", r"2n, n \ge 4"),
        ("2x", r"2x, x \ge 1", r"2x, x \ge 1"),
        (r"2n (n \ge 9)", "2n, n > 8", "2n"),
        (r"2x (x \ge 9)", "2x, x > 8", "2x, x > 8"),
        ("f(n) = n", r"f(k) = k, k \ge 1", "f(k) = k"),
        ("5", "5 = n, n > 2", "5 = n, n > 2"),
    ],
)
def test_a_least_value_goes_only_where_it_says_nothing_new(
    gold: str, answer: str, left: str
) -> None:
    assert without_least(plain(gold), plain(answer))[1] == plain(left)


@pytest.mark.parametrize("run", [" ", ",", ", ", "for ", "∧ ", "mod ", "(n", "n > 1 "])
def test_long_runs_are_read_in_linear_time(run: str) -> None:
    text = run * (20_000 // len(run)) + "{"
    started = time.process_time()
    without_least(text, text)
    answer_lists(text)
    same_congruence(text, text)
    assert time.process_time() - started < 5
