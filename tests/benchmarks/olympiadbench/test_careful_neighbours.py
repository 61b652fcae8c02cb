r"""Golds of every kind in the two tables beside this: other forms of them, and near misses."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from sero.benchmarks.olympiadbench.careful_judge import decide
from sero.benchmarks.olympiadbench.careful_text import tidy

GROUPS = [
    group
    for name in ("careful_neighbours.yaml", "careful_idioms.yaml")
    for group in yaml.safe_load((Path(__file__).parent / name).read_text(encoding="utf-8"))
]


def judged(group: Mapping[str, Any], answer: str) -> bool:
    """The verdict without a worker process."""
    gold = group["gold"]
    if tidy(answer) and tidy(answer) == tidy(gold):
        return True
    return decide(
        answer,
        gold,
        group.get("kind", "Numerical"),
        group.get("error"),
        group.get("unit"),
        group.get("several", False),
    )


@pytest.mark.parametrize("group", GROUPS, ids=[group["gold"] for group in GROUPS])
def test_neighbours_of_a_gold(group: Mapping[str, Any]) -> None:
    refused = [answer for answer in group["right"] if not judged(group, answer)]
    accepted = [answer for answer in group["wrong"] if judged(group, answer)]
    assert (refused, accepted) == ([], [])


def test_the_table_is_large_and_goes_both_ways() -> None:
    right = sum(len(group["right"]) for group in GROUPS)
    wrong = sum(len(group["wrong"]) for group in GROUPS)
    assert right > 400
    assert wrong > 400
