r"""Remarks that take only some of a set's numbers."""

from __future__ import annotations

import pytest

from sero.benchmarks.olympiadbench.careful_domains import names_set, narrows
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
