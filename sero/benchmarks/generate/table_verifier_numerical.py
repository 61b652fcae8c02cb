"""The verifier's rules for fact-checking and numerical questions, on decimals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal

from sero.benchmarks.generate.table_reader import Sheet, Slots, to_date, to_number, two_places


def _yes(holds: bool) -> str:
    return "Yes" if holds else "No"


def _sum(sheet: Sheet, header: str, rows: list[int]) -> Decimal:
    return sum(sheet.numbers(header, rows), Decimal())


def _mean(sheet: Sheet, header: str, rows: list[int]) -> Decimal:
    return _sum(sheet, header, rows) / len(rows)


def _ranked(sheet: Sheet, header: str, word: str = "highest") -> list[int]:
    values = sheet.numbers(header, sheet.every())
    if len(set(values)) < len(values):
        raise ValueError("a tie")
    return sorted(sheet.every(), key=values.__getitem__, reverse=word == "highest")


def _extreme(sheet: Sheet, slots: Slots, header: str = "col", word: str = "extreme") -> int:
    rows = sheet.meeting(slots.get("where", ""))
    return sheet.extreme(sheet.numbers(slots[header], rows), rows, slots[word])


def _cell(sheet: Sheet, header: str, row: int) -> str:
    """A cell as an answer gives it: a number without separators, a text as it stands."""
    text = sheet.texts(header)[row] or ""
    value = to_number(text)
    return text if value is None else f"{value}{'%' if text.endswith('%') else ''}"


def _row_of_value(sheet: Sheet, slots: Slots) -> str:
    wanted = to_number(slots["value"])
    values = sheet.numbers(slots["col"], sheet.every())
    if values.count(wanted or Decimal()) != 1:
        raise ValueError("not one row with this value")
    return sheet.names()[values.index(wanted or Decimal())]


def _claim_value(sheet: Sheet, slots: Slots) -> str:
    row = sheet.row(slots["name"])
    return _yes(sheet.number(slots["col"], row) == to_number(slots["value"]))


def _row_and_category(sheet: Sheet, slots: Slots) -> str:
    row = _extreme(sheet, slots)
    return f"{sheet.names()[row]}, {sheet.texts(slots['cat'])[row]}"


def _known(sheet: Sheet, slots: Slots) -> str:
    values = [v for v in map(to_number, sheet.texts(slots["col"])) if v is not None]
    return two_places(sum(values, Decimal()) / len(values))


def _spread(sheet: Sheet, slots: Slots) -> str:
    values = sheet.numbers(slots["col"], sheet.every())
    return two_places(max(values) - min(values))


def _pair(sheet: Sheet, slots: Slots) -> tuple[Decimal, Decimal]:
    """The column's numbers of the two rows a question names."""
    first, second = (
        sheet.number(slots["col"], sheet.row(slots[slot])) for slot in ("name", "name2")
    )
    return first, second


def _ratio(sheet: Sheet, slots: Slots) -> str:
    first, second = _pair(sheet, slots)
    return two_places(first / second)


def _after_change(sheet: Sheet, slots: Slots) -> str:
    sign = {"grew": 1, "fell": -1}[slots["verb"]]
    before = sheet.number(slots["col"], sheet.row(slots["name"]))
    return two_places(before + sign * before * int(slots["n"]) / 100)


def _row_sum(sheet: Sheet, slots: Slots) -> str:
    row = sheet.row(slots["name"])
    return two_places(sheet.number(slots["col"], row) + sheet.number(slots["other"], row))


def _gap(sheet: Sheet, slots: Slots) -> str:
    higher, lower = _pair(sheet, slots)
    return two_places(higher - lower)


def _higher_of_two(sheet: Sheet, slots: Slots) -> str:
    first, second = _pair(sheet, slots)
    name = slots["name"] if first > second else slots["name2"]
    return f"{name}, {two_places(abs(first - second))}"


def _group_gap(sheet: Sheet, slots: Slots) -> str:
    groups = sheet.texts(slots["cat"])
    first, second = (
        _mean(sheet, slots["col"], [i for i in sheet.every() if groups[i] == slots[slot]])
        for slot in ("value", "value2")
    )
    return two_places(abs(first - second))


def _above_row(sheet: Sheet, slots: Slots) -> str:
    border = sheet.number(slots["col"], sheet.row(slots["name"]))
    names = zip(sheet.names(), sheet.numbers(slots["col"], sheet.every()), strict=True)
    return ", ".join(name for name, value in names if value > border)


def _count_between(sheet: Sheet, slots: Slots) -> str:
    low, high = Decimal(slots["low"]), Decimal(slots["high"])
    return str(sum(low <= v <= high for v in sheet.numbers(slots["col"], sheet.every())))


def _count_above_average(sheet: Sheet, slots: Slots) -> str:
    centre = _mean(sheet, slots["col"], sheet.every())
    return str(sum(v > centre for v in sheet.numbers(slots["col"], sheet.every())))


def _count_missing(sheet: Sheet, slots: Slots) -> str:
    cells = sheet.texts(slots["col"])
    return str(sum(to_number(cell) is None and to_date(cell) is None for cell in cells))


def _rates(sheet: Sheet, slots: Slots) -> list[Decimal]:
    tops, bottoms = (sheet.numbers(slots[s], sheet.every()) for s in ("top", "bottom"))
    return [top / bottom for top, bottom in zip(tops, bottoms, strict=True)]


def _scaled(value: Decimal, slots: Slots) -> str:
    return two_places(100 * value) + "%" if slots["scale"] else two_places(value)


def _rate_pooled(sheet: Sheet, slots: Slots) -> str:
    top, bottom = (_sum(sheet, slots[slot], sheet.every()) for slot in ("top", "bottom"))
    return _scaled(top / bottom, slots)


def _two_years(sheet: Sheet, slots: Slots) -> tuple[Decimal, Decimal]:
    first, last = (sheet.number(slots["col"], sheet.row(slots[y])) for y in ("y1", "y2"))
    return first, last


def _growth(sheet: Sheet, slots: Slots) -> str:
    first, last = _two_years(sheet, slots)
    return two_places((last - first) * 100 / first) + "%"


def _index(sheet: Sheet, slots: Slots) -> str:
    first, last = _two_years(sheet, slots)
    return two_places(last * 100 / first)


def _yearly_change(sheet: Sheet, slots: Slots) -> str:
    first, last = _two_years(sheet, slots)
    return two_places((last - first) / (int(slots["y2"]) - int(slots["y1"])))


def _strongest_rise(sheet: Sheet, slots: Slots) -> str:
    by_year = {int(name): sheet.number(slots["col"], i) for i, name in enumerate(sheet.names())}
    years = sorted(by_year)
    rises = {years[i]: by_year[years[i]] - by_year[years[i - 1]] for i in range(1, len(years))}
    best = [year for year in rises if rises[year] == max(rises.values())]
    if len(best) > 1 or rises[best[0]] <= 0:
        raise ValueError("no strongest rise")
    return str(best[0])


def _average_of_span(sheet: Sheet, slots: Slots) -> str:
    inside = range(int(slots["y1"]), int(slots["y2"]) + 1)
    rows = [i for i, name in enumerate(sheet.names()) if int(name) in inside]
    return two_places(_mean(sheet, slots["col"], rows))


def _average_age(sheet: Sheet, slots: Slots) -> str:
    rows = sheet.meeting(slots["where"])
    ages = [int(slots["y1"]) - since for since in sheet.numbers(slots["col"], rows)]
    return two_places(sum(ages, Decimal()) / len(ages))


def _days_apart(sheet: Sheet, slots: Slots) -> str:
    days = [to_date(sheet.texts(slots["col"])[sheet.row(slots[s])]) for s in ("name", "name2")]
    if days[0] is None or days[1] is None:
        raise ValueError("no date in the cell")
    return str(abs((days[1] - days[0]).days))


def _share_of_total(sheet: Sheet, slots: Slots) -> str:
    part = _sum(sheet, slots["col"], sheet.meeting(slots["where"]))
    return two_places(100 * part / _sum(sheet, slots["col"], sheet.every())) + "%"


def _needed_to_reach(sheet: Sheet, slots: Slots) -> str:
    goal = sheet.number(slots["col"], _extreme(sheet, slots, "other"))
    return two_places(goal - sheet.number(slots["col"], sheet.row(slots["name"])))


def _group_extreme(sheet: Sheet, slots: Slots) -> str:
    groups = sheet.texts(slots["cat"])
    names = sorted({name or "" for name in groups})
    totals = [
        _sum(sheet, slots["col"], [i for i in sheet.every() if groups[i] == name]) for name in names
    ]
    return names[sheet.extreme(totals, range(len(names)), slots["extreme"])]


def _named(row: int, sheet: Sheet) -> str:
    return sheet.names()[row]


NUMERICAL_RULES: Mapping[str, Callable[[Sheet, Slots], str]] = {
    "row_of_value": _row_of_value,
    "cell_of_row": lambda t, s: _cell(t, s["col"], t.row(s["name"])),
    "claim_value": _claim_value,
    "extreme_row": lambda t, s: _named(_extreme(t, s), t),
    "claim_extreme": lambda t, s: _yes(_extreme(t, s) == t.row(s["name"])),
    "category_of_extreme": lambda t, s: _cell(t, s["cat"], _extreme(t, s)),
    "extreme_in_group": lambda t, s: _named(_extreme(t, s), t),
    "row_and_category": _row_and_category,
    "claim_same_row": lambda t, s: _yes(_extreme(t, s) == _extreme(t, s, "other", "extreme2")),
    "claim_count": lambda t, s: _yes(len(t.meeting(s["where"])) == int(s["n"])),
    "total": lambda t, s: two_places(_sum(t, s["col"], t.meeting(s["where"]))),
    "average": lambda t, s: two_places(_mean(t, s["col"], t.meeting(s["where"]))),
    "average_known": _known,
    "total_of_two": lambda t, s: two_places(
        _sum(t, s["col"], t.every()) + _sum(t, s["other"], t.every())
    ),
    "spread": _spread,
    "top_sum": lambda t, s: two_places(_sum(t, s["col"], _ranked(t, s["col"])[: int(s["n"])])),
    "ratio": _ratio,
    "after_change": _after_change,
    "row_sum": _row_sum,
    "gap": _gap,
    "higher_of_two": _higher_of_two,
    "group_gap": _group_gap,
    "above_row": _above_row,
    "count_where": lambda t, s: str(len(t.meeting(s["where"]))),
    "count_between": _count_between,
    "count_distinct": lambda t, s: str(len(set(t.texts(s["cat"])))),
    "count_above_average": _count_above_average,
    "count_missing": _count_missing,
    "rate_of_row": lambda t, s: _scaled(_rates(t, s)[t.row(s["name"])], s),
    "rate_extreme": lambda t, s: _named(t.extreme(_rates(t, s), t.every(), s["extreme"]), t),
    "rate_pooled": _rate_pooled,
    "growth": _growth,
    "index": _index,
    "yearly_change": _yearly_change,
    "strongest_rise": _strongest_rise,
    "average_of_span": _average_of_span,
    "years_apart": lambda t, s: str(abs(_pair(t, s)[0] - _pair(t, s)[1])),
    "average_age": _average_age,
    "days_apart": _days_apart,
    "other_of_extreme": lambda t, s: _cell(t, s["other"], _extreme(t, s)),
    "share_of_total": _share_of_total,
    "average_of_top": lambda t, s: two_places(
        _mean(t, s["other"], _ranked(t, s["col"])[: int(s["n"])])
    ),
    "needed_to_reach": _needed_to_reach,
    "nth": lambda t, s: _named(_ranked(t, s["col"])[int(s["n"]) - 1], t),
    "place_of": lambda t, s: str(_ranked(t, s["col"]).index(t.row(s["name"])) + 1),
    "first_three": lambda t, s: ", ".join(
        t.names()[i] for i in _ranked(t, s["col"], s["extreme"])[:3]
    ),
    "group_extreme": _group_extreme,
}
"""The rule of each kind of question, named as in the wordings."""
