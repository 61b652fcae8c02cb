"""Golds of generated table items against plain loops over floats, a third way to reach them."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from sero.benchmarks.generate.table_reader import read_question
from sero.benchmarks.generate.tables import generate_tablebench

Item = dict[str, Any]


@pytest.fixture(scope="module")
def items() -> list[Item]:
    return [i for level in (1, 3, 5) for i in generate_tablebench(204, seed=5, difficulty=level)]


def rows_of(item: Item) -> list[dict[str, str]]:
    """Rows as dictionaries with lower-case keys, the totals row left out."""
    headers = [header.lower() for header in item["table"]["columns"]]
    key = name_key(item)
    rows = [dict(zip(headers, row, strict=True)) for row in item["table"]["data"]]
    return [row for row in rows if str(row[key]).lower() != "total"]


def name_key(item: Item) -> str:
    first, second = item["table"]["columns"][:2]
    return str(second if first.lower() == "entry" else first).lower()


def as_float(cell: str) -> float:
    return float(re.sub("[,% ]", "", cell).replace("\u2212", "-"))


def of_kind(items: Sequence[Item], *kinds: str) -> Iterator[tuple[str, Mapping[str, str], Item]]:
    for item in items:
        kind, slots = read_question(item["qsubtype"], item["question"])
        if kind in kinds:
            yield kind, slots, item


def test_counts_and_means_agree_with_a_plain_loop(items: list[Item]) -> None:
    seen = Counter()
    for kind, slots, item in of_kind(items, "count_between", "average", "average_of_span"):
        column = slots["col"].lower()
        if kind == "count_between":
            low, high = float(slots["low"]), float(slots["high"])
            n = sum(low <= as_float(row[column]) <= high for row in rows_of(item))
            assert item["answer"] == str(n)
        elif kind == "average_of_span" or not slots["where"]:
            values = []
            for row in rows_of(item):
                if kind == "average" or (
                    int(slots["y1"]) <= int(row[name_key(item)]) <= int(slots["y2"])
                ):
                    values.append(as_float(row[column]))
            assert float(item["answer"]) == pytest.approx(sum(values) / len(values), abs=0.0051)
        seen[kind] += 1
    assert min(seen.values()) > 5
    assert len(seen) == 3


def test_rankings_agree_with_a_plain_loop(items: list[Item]) -> None:
    seen = Counter()
    for kind, slots, item in of_kind(items, "first_three", "place_of", "strongest_rise"):
        column, key = slots["col"].lower(), name_key(item)
        rows = rows_of(item)
        by_value = sorted(rows, key=lambda row: -as_float(row[column]))
        if kind == "place_of":
            names = [row[key] for row in by_value]
            assert item["answer"] == str(1 + names.index(slots["name"]))
        elif kind == "first_three":
            best = by_value if slots["extreme"] == "highest" else by_value[::-1]
            assert item["answer"] == ", ".join(row[key] for row in best[:3])
        else:
            rows.sort(key=lambda row: int(row[key]))
            rises = [
                (as_float(rows[i][column]) - as_float(rows[i - 1][column]), rows[i][key])
                for i in range(1, len(rows))
            ]
            assert item["answer"] == max(rises)[1]
        seen[kind] += 1
    assert len(seen) == 3


def test_coefficients_and_deviations_agree_with_a_plain_loop(items: list[Item]) -> None:
    seen = Counter()
    for kind, slots, item in of_kind(items, "correlation", "deviation", "cause"):
        if slots.get("where"):
            continue
        ys = [as_float(row[slots["col"].lower()]) for row in rows_of(item)]
        n = len(ys)
        my = sum(ys) / n
        syy = sum((y - my) ** 2 for y in ys)
        if kind == "deviation":
            divisor = n - 1 if "n - 1" in slots["deviation"] else n
            assert float(item["answer"]) == pytest.approx((syy / divisor) ** 0.5, abs=0.0051)
        else:
            xs = [as_float(row[slots["a"].lower()]) for row in rows_of(item)]
            mx = sum(xs) / n
            sxx = sum((x - mx) ** 2 for x in xs)
            r = sum((x - mx) * (y - my) for x, y in zip(xs, ys, strict=True)) / (sxx * syy) ** 0.5
            shown = re.findall(r"-?[0-9]\.[0-9]{2}(?![0-9])", item["answer"])[-1]
            assert float(shown) == pytest.approx(r, abs=0.0051)
            if kind == "correlation":
                size = "No" if abs(r) < 0.3 else "Weak" if abs(r) < 0.7 else "Strong"
                assert item["answer"].startswith(size)
                assert ("negative" in item["answer"]) == (r < -0.3)
                assert min(abs(abs(r) - limit) for limit in (0.3, 0.7)) > 0.0299
        seen[kind] += 1
    assert len(seen) == 3


def test_planted_anomalies_are_the_far_values(items: list[Item]) -> None:
    """All other values of a column lie within a factor of two of each other."""
    words = {"No anomalies": 0, "There is one": 1, "There are two": 2, "There are three": 3}
    for _, _, item in of_kind(items, "odd_values"):
        n = next(n for start, n in words.items() if item["answer"].startswith(start))
        found = 0
        for column in rows_of(item)[0]:
            cells = [row[column] or "" for row in rows_of(item)]
            if column == "entry" or not re.fullmatch(r"[0-9,.]+%?", cells[0]):
                continue
            values = sorted(as_float(c) for c in cells if re.fullmatch(r"[0-9,.]+%?", c))
            middle = values[len(values) // 2]
            found += sum(v > 2 * middle or v < middle / 2 for v in values)
        assert found == n
