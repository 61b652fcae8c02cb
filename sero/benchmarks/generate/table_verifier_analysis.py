"""The verifier's rules for analysis questions, on decimals and centred sums."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal

from sero.benchmarks.generate import table_wordings as wordings
from sero.benchmarks.generate.table_reader import Sheet, Slots, to_number, two_places

_REAL, _NONE = Decimal("0.85"), Decimal("0.2")
"""A factor counts from here on, and is none up to there; nothing may lie between."""
_FAR = 4
"""Times above or below its column's median where a value is out of place."""


def _correlation(a: Sequence[Decimal], b: Sequence[Decimal]) -> Decimal:
    mean_a, mean_b = sum(a, Decimal()) / len(a), sum(b, Decimal()) / len(b)
    from_a, from_b = [x - mean_a for x in a], [y - mean_b for y in b]
    shared = sum((x * y for x, y in zip(from_a, from_b, strict=True)), Decimal())
    squares = [sum((x * x for x in part), Decimal()) for part in (from_a, from_b)]
    return shared / (squares[0].sqrt() * squares[1].sqrt())


def _between(sheet: Sheet, a: str, b: str, rows: Sequence[int]) -> Decimal:
    return _correlation(sheet.numbers(a, rows), sheet.numbers(b, rows))


def _coefficient(r: Decimal) -> str:
    return format(r.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP), "f")


def _effect(sheet: Sheet, a: str, target: str) -> int:
    """1 or -1 for an effect, 0 for none.

    Raises:
        ValueError: neither clear.
    """
    r = _between(sheet, a, target, sheet.every())
    if _NONE < abs(r) < _REAL:
        raise ValueError(f"r = {r:.3f} is neither an effect nor none")
    return 0 if abs(r) <= _NONE else 1 if r > 0 else -1


def _factors(sheet: Sheet, slots: Slots) -> str:
    names = [slots[slot] for slot in "abc"]
    return ", ".join(a for a in names if _effect(sheet, a, slots["col"])) or wordings.NO_IMPACT


def _direction(sheet: Sheet, slots: Slots) -> str:
    phrases = {1: wordings.POSITIVE_IMPACT, -1: wordings.NEGATIVE_IMPACT, 0: wordings.NO_IMPACT}
    return phrases[_effect(sheet, slots["a"], slots["col"])]


def _correlated(sheet: Sheet, slots: Slots) -> str:
    rows = sheet.meeting(slots.get("where", ""))
    if "name" in slots:
        rows.remove(sheet.row(slots["name"]))
    r = _between(sheet, slots["a"], slots["col"], rows)
    if any(abs(abs(r) - Decimal(limit)) < Decimal("0.03") for limit in ("0.3", "0.7")):
        raise ValueError(f"r = {r:.3f} is close to the limit of a class")
    if abs(r) < Decimal("0.3"):
        return f"No correlation, {_coefficient(r)}"
    strength = "Weak" if abs(r) < Decimal("0.7") else "Strong"
    sign = "positive" if r > 0 else "negative"
    return f"{strength} {sign} correlation, {_coefficient(r)}"


def _by_year(sheet: Sheet, slots: Slots) -> dict[int, Decimal]:
    names = sheet.names()
    return {int(names[i]): sheet.number(slots["col"], i) for i in sheet.every()}


def _line(sheet: Sheet, slots: Slots) -> tuple[int, Decimal, Decimal] | None:
    """The latest year, its value and the change per year of a column exactly on a line."""
    points = _by_year(sheet, slots)
    first, last = min(points), max(points)
    slope = (points[last] - points[first]) / (last - first)
    for year, value in points.items():
        if abs(points[first] + slope * (year - first) - value) > Decimal("1e-20"):
            return None
    return last, points[last], slope


def _ahead(sheet: Sheet, slots: Slots, *years: str) -> list[Decimal]:
    """The line's change from the latest year to some years, behind its value there."""
    found = _line(sheet, slots)
    if found is None:
        raise ValueError("the column is not on a line")
    last, value, slope = found
    return [value, *(slope * (int(slots[year]) - last) for year in years)]


def _forecast(sheet: Sheet, slots: Slots) -> str:
    value, change = _ahead(sheet, slots, "y1")
    return two_places(value + change)


def _forecast_two(sheet: Sheet, slots: Slots) -> str:
    value, first, second = _ahead(sheet, slots, "y1", "y2")
    return f"{two_places(value + first)}, {two_places(value + second)}"


def _tendency(sheet: Sheet, slots: Slots) -> str:
    found = _line(sheet, slots)
    if found is not None:
        return wordings.RISING if found[2] > 0 else wordings.FALLING
    points = _by_year(sheet, slots)
    if abs(_correlation([Decimal(y) for y in points], list(points.values()))) > _NONE:
        raise ValueError("neither a line nor without a trend")
    return wordings.NO_TREND


def _deviation(values: Sequence[Decimal], slots: Slots) -> Decimal:
    divisor = len(values) - ("n - 1" in slots["deviation"])
    centre = sum(values, Decimal()) / len(values)
    return (sum(((v - centre) ** 2 for v in values), Decimal()) / divisor).sqrt()


def _values(sheet: Sheet, slots: Slots) -> list[Decimal]:
    return sheet.numbers(slots["col"], sheet.meeting(slots["where"]))


def _mean_and_deviation(sheet: Sheet, slots: Slots) -> str:
    values = _values(sheet, slots)
    centre = sum(values, Decimal()) / len(values)
    return f"{two_places(centre)}, {two_places(_deviation(values, slots))}"


def _median(values: Sequence[Decimal]) -> Decimal:
    ranked = sorted(values)
    return (ranked[(len(ranked) - 1) // 2] + ranked[len(ranked) // 2]) / 2


def _median_and_range(sheet: Sheet, slots: Slots) -> str:
    values = _values(sheet, slots)
    return f"{two_places(_median(values))}, {two_places(max(values) - min(values))}"


def _wider_column(sheet: Sheet, slots: Slots) -> str:
    spreads = [
        (_deviation(sheet.numbers(slots[slot], sheet.every()), slots), slots[slot])
        for slot in ("col", "other")
    ]
    if spreads[0][0] == spreads[1][0]:
        raise ValueError("a tie")
    spread, header = max(spreads)
    return f"{header}, {two_places(spread)}"


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _odd(sheet: Sheet, headers: Sequence[str]) -> str:
    found: list[tuple[int, int, str]] = []
    for header in headers:
        values = [to_number(cell) for cell in sheet.texts(header)]
        known = [v for v in values if v is not None]
        if len(known) < len(values) / 2 or header == sheet.headers[sheet.key]:
            continue
        middle = _median(known)
        for row, value in enumerate(values):
            if value is None or middle / _FAR <= value <= middle * _FAR:
                continue
            side = "high" if value > middle else "low"
            cell = (sheet.texts(header)[row] or "").replace(",", "")
            text = wordings.ANOMALY.format(
                col=header, value=cell, name=sheet.names()[row], side=side
            )
            found.append((row, sheet.headers.index(header), text))
    texts = [text for _, _, text in sorted(found)]
    if not texts:
        return wordings.NO_ANOMALY
    if len(texts) == 1:
        return wordings.ONE_ANOMALY.format(items=texts[0])
    count = {2: "two", 3: "three"}[len(texts)]
    return wordings.ANOMALIES.format(count=count, items=_listed(texts))


def _odd_values(sheet: Sheet, slots: Slots) -> str:
    return _odd(sheet, [h for h in sheet.headers if h.lower() != "entry"])


def _cause(sheet: Sheet, slots: Slots) -> str:
    r = _between(sheet, slots["a"], slots["col"], sheet.every())
    if _NONE < abs(r) < Decimal("0.8"):
        raise ValueError(f"r = {r:.3f} neither shows nor excludes a cause")
    sentence = wordings.CAUSE_UP if r > 0 else wordings.CAUSE_DOWN
    if abs(r) <= _NONE:
        sentence = wordings.NO_CAUSE
    return sentence.format(a=slots["a"], col=slots["col"], r=_coefficient(r))


def _stronger_cause(sheet: Sheet, slots: Slots) -> str:
    found = [
        (_between(sheet, slots[slot], slots["col"], sheet.every()), slots[slot])
        for slot in ("a", "b")
    ]
    found.sort(key=lambda pair: abs(pair[0]))
    (s, faint), (r, strong) = found
    if abs(r) - abs(s) < Decimal("0.3"):
        raise ValueError("no clear difference")
    return wordings.STRONGER_CAUSE.format(
        strong=strong, faint=faint, col=slots["col"], r=_coefficient(r), s=_coefficient(s)
    )


def _plain(cell: str | None) -> str:
    return (cell or "").replace(",", "").replace("\u2212", "-").replace("- ", "-")


def _shape(sheet: Sheet) -> dict[str, str]:
    own = (sheet.headers[sheet.key], *(h for h in sheet.headers if h.lower() == "entry"))
    headers = _listed([h for h in sheet.headers if h not in own])
    return {"n": str(len(sheet.rows)), "headers": headers}


def _describe_rows(sheet: Sheet, slots: Slots) -> str:
    values = sheet.numbers(slots["col"], sheet.every())
    high, low = (sheet.extreme(values, sheet.every(), word) for word in ("highest", "lowest"))
    cells, names = sheet.texts(slots["col"]), sheet.names()
    return wordings.ROWS_SENTENCE.format(
        nouns=slots["nouns"],
        col=slots["col"],
        high=names[high],
        low=names[low],
        top=_plain(cells[high]),
        bottom=_plain(cells[low]),
        **_shape(sheet),
    )


def _describe_groups(sheet: Sheet, slots: Slots) -> str:
    counts: dict[str, int] = {}
    for text in sheet.texts(slots["cat"]):
        counts[text or ""] = counts.get(text or "", 0) + 1
    order = sorted(counts.items(), key=lambda pair: -pair[1])
    groups = _listed([f"{n} '{name}'" for name, n in order])
    return wordings.GROUPS_SENTENCE.format(
        nouns=slots["nouns"], cat=slots["cat"], groups=groups, **_shape(sheet)
    )


ANALYSIS_RULES: Mapping[str, Callable[[Sheet, Slots], str]] = {
    "factors": _factors,
    "direction": _direction,
    "correlation": _correlated,
    "correlation_without": _correlated,
    "forecast": _forecast,
    "forecast_two": _forecast_two,
    "forecast_rise": lambda t, s: two_places(_ahead(t, s, "y1")[1]),
    "tendency": _tendency,
    "deviation": lambda t, s: two_places(_deviation(_values(t, s), s)),
    "mean_and_deviation": _mean_and_deviation,
    "median_and_range": _median_and_range,
    "wider_column": _wider_column,
    "odd_values": _odd_values,
    "odd_in_column": lambda t, s: _odd(t, [s["col"]]),
    "cause": _cause,
    "stronger_cause": _stronger_cause,
    "describe_rows": _describe_rows,
    "describe_groups": _describe_groups,
}
"""The rule of each kind of analysis question, named as in the wordings."""
