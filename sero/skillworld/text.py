"""How the world's texts look, written and read: cases, messages, answers, reports.

Readers take any text: what is not there is not found, and nothing is raised.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sero.roles.load import load_yaml
from sero.skillworld.world import Case
from sero.storage import dumps

_FIELD = re.compile(r"\{(\w+)\}")
_CASE = re.compile(r"Ledger case ((?:train|test)-[0-9]{1,9})\b")
_HEAD = re.compile(
    r"(?:VERDICT: (?:ok|revise)\n)?Sheet ([a-z]{1,32}), case ((?:train|test)-[0-9]{1,9})\b"
)
_SHEET = re.compile(r"[Mm]ethod sheet ([a-z]{1,32})\b")
_FACT = re.compile(r"\bc([0-9]{1,2}) {0,4}= {0,4}([0-9]{4})\b")
_ASKED = re.compile(r"\bc([0-9]{1,2}) = <number>")
_ANSWER = "Answer:"
NO_SHEET = "unknown"


@cache
def data(path: str) -> Mapping[str, Any]:
    """A file of `sero/prompts` as plain data."""
    found: Mapping[str, Any] = load_yaml(f"package:{path}")
    return found


def fill(text: str, **values: object) -> str:
    """Fill `{name}` fields once."""
    return _FIELD.sub(lambda match: str(values.get(match[1], match[0])), text)


# ---- cases and facts


def case_prompt(case: Case) -> str:
    """The task prompt of a case: id, required facts in order, answer format."""
    first, *others = [f"c{k}" for k in case.required]
    asked = "; ".join(f"c{k} = <number>" for k in case.required)
    return fill(
        data("skillworld/task.yaml")["prompt"],
        id=case.id,
        order=", ".join([first, *(f"then {name}" for name in others)]),
        format=fill(data("skillworld/task.yaml")["format"], facts=asked),
    )


def output_protocol() -> str:
    """The answer format the terminal role must own."""
    text: str = data("skillworld/task.yaml")["output_protocol"]
    return text


def read_case_id(text: str) -> str | None:
    """The id of the case a prompt is about."""
    found = _CASE.search(text)
    return found[1] if found else None


def read_asked(prompt: str) -> tuple[int, ...]:
    """Q as the prompt's answer format names it."""
    return tuple(dict.fromkeys(int(k) for k in _ASKED.findall(prompt)))


def read_facts(text: str) -> dict[int, str]:
    """Facts stated in a text, `c4 = 4821`; the last statement of a fact counts."""
    return {int(k): value for k, value in _FACT.findall(text)}


def read_answer(text: str) -> dict[int, str] | None:
    """The facts of the last `Answer:` line; None without such a line."""
    _, marker, rest = text.rpartition(_ANSWER)
    return read_facts(rest.partition("\n")[0]) if marker else None


def read_sheet_code(text: str) -> str | None:
    """The first method sheet a card's text names, damaged or not."""
    found = _SHEET.search(text)
    return found[1] if found else None


# ---- messages


@dataclass(frozen=True, slots=True)
class Message:
    """What a role said: its sheet, the case, and the facts it states."""

    sheet: str
    case_id: str
    facts: Mapping[int, str]


def write_message(sheet: str, case: Case, signs: Sequence[int]) -> str:
    """A specialist's message; a sign of 0 states nothing."""
    lines = [f"c{k} = {value}" for k, value in _stated(case, signs)]
    return "\n".join((_head(sheet, case), *(lines or ("nothing to state",))))


def write_setup(sheet: str, case: Case) -> str:
    """A router's message: the order, no fact."""
    return f"{_head(sheet, case)}\nSetup: {' then '.join(f'c{k}' for k in case.required)}"


def write_answer(sheet: str, case: Case, values: Sequence[str]) -> str:
    """The aggregator's message: a value for every required fact."""
    facts = "; ".join(f"c{k} = {v}" for k, v in zip(case.required, values, strict=True))
    return f"{_head(sheet, case)}\n{_ANSWER} {facts}"


def write_report(sheet: str, case: Case, changes: Sequence[int]) -> str:
    """A validator's report: the verdict, then the facts it would change (sign of the new value)."""
    lines = [f"c{k} = {value}" for k, value in _stated(case, changes)]
    verdict = "VERDICT: revise" if lines else "VERDICT: ok"
    return "\n".join((verdict, _head(sheet, case), *lines))


def write_ratings(ratings: Sequence[int]) -> str:
    """A peer's ratings of drafts, in the order shown."""
    key = data("shared/peer_rating.yaml")["key"]
    return dumps({fill(key, number=n): rating for n, rating in enumerate(ratings, 1)})


def read_message(text: str) -> Message | None:
    """A message or report read back; None for a text that does not begin like one."""
    found = _HEAD.match(text)
    return Message(found[1], found[2], read_facts(text)) if found else None


def signs_of(facts: Mapping[int, str], case: Case) -> list[int]:
    """Facts as signs over Q: 1 the right value, -1 any other, 0 not stated."""
    signs = []
    for k, right in zip(case.required, case.right, strict=True):
        value = facts.get(k)
        signs.append(0 if value is None else 1 if value == right else -1)
    return signs


def _head(sheet: str, case: Case) -> str:
    return f"Sheet {sheet}, case {case.id}"


def _stated(case: Case, signs: Sequence[int]) -> Iterable[tuple[int, str]]:
    for k, sign, right, wrong in zip(case.required, signs, case.right, case.wrong, strict=True):
        if sign:
            yield k, right if sign > 0 else wrong
