"""OlympiadBench's items: both published layouts, every schema trap, and what is not text-only.

The layout of the archive and of evaluation kits has ten columns and none for the subject: there
the subfield tells mathematics from physics, for the two share no label. The dataset's layout adds
`subject`, `modality`, `difficulty`, `question_type`, `language` and nine pictures. Traps: `error`
and `answer_type` may be lists joined by commas, one entry for each answer; nothing is written as
null, as NaN or as an empty text; solutions never leave the file they came in.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from annotated_types import MinLen
from pydantic import (
    AfterValidator,
    BeforeValidator,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)

from sero.validation import did_you_mean, faults_of

MATHS, PHYSICS = "maths", "physics"
SUBFIELDS: Mapping[str, tuple[str, ...]] = {
    MATHS: ("Algebra", "Combinatorics", "Geometry", "Number Theory"),
    PHYSICS: ("Mechanics", "Electromagnetism", "Thermodynamics", "Optics", "Modern Physics"),
}
RAW_COUNTS: Mapping[str, int] = {MATHS: 674, PHYSICS: 236}
"""Published text-only English open-ended items, before the guard."""
COUNTS: Mapping[str, int] = {MATHS: 669, PHYSICS: 228}
"""What the text-only guard leaves of them."""

SUBJECTS: Mapping[str, str] = {MATHS: "Math", PHYSICS: "Physics"}
"""The column `subject` of the dataset's layout."""
_GROUPS: Mapping[str, str] = {
    "math": MATHS,
    "maths": MATHS,
    "mathematics": MATHS,
    "physics": PHYSICS,
}
_WANTED = {
    # field of the dataset's layout: how an accepted value begins, and why another is left out
    "language": ("english", "not in English"),
    "question_type": ("open", "not open-ended"),
    "difficulty": ("competition", "not from a competition"),
    "modality": ("text", "not text-only"),
}
_PICTURES = tuple(f"image_{i}" for i in range(1, 10))
_SHOWS_A_PICTURE = re.compile(r"figure|image|shown below", re.IGNORECASE)

AnswerType = Literal["Numerical", "Expression", "Equation", "Interval", "Tuple"]
Text = Annotated[str, StringConstraints(pattern=r"\S")]


def _absent(value: Any) -> bool:
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, float) and math.isnan(value))


def _none_if_absent(value: Any) -> Any:
    return None if _absent(value) else value


def _entries(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return tuple(part.strip() for part in value.split(",") if part.strip())


def _as_text(value: Any) -> Any:
    if _absent(value):
        return None
    plain_number = isinstance(value, int | float) and not isinstance(value, bool)
    return repr(value) if plain_number else value


def _tolerances(value: str | None) -> str | None:
    for entry in (value or "").split(","):
        try:
            wrong = entry.strip() and not 0 <= float(entry) < math.inf
        except ValueError:
            wrong = True
        if wrong:
            raise ValueError(f"Entry {entry.strip()!r} is not a tolerance such as 1e-2")
    return value


MaybeText = Annotated[str | None, BeforeValidator(_none_if_absent)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One item. A verdict needs the first two fields; whoever is asked, the question and the id.

    Attributes:
        final_answer: the gold, in published data a single text even for several answers.
        answer_type: one entry, or one for each answer.
        error: absolute tolerance, or a comma list of them; an entry may be empty.
        unit: of the answer, which stays outside the box; never checked.
    """

    final_answer: Annotated[tuple[Text, ...], MinLen(1)]
    answer_type: Annotated[tuple[AnswerType, ...], BeforeValidator(_entries), MinLen(1)]
    id: Annotated[int | Text | None, BeforeValidator(_none_if_absent)] = None
    subject: MaybeText = None
    subfield: MaybeText = None
    context: MaybeText = None
    question: MaybeText = None
    is_multiple_answer: Annotated[bool | None, BeforeValidator(_none_if_absent)] = None
    unit: MaybeText = None
    error: Annotated[str | None, BeforeValidator(_as_text), AfterValidator(_tolerances)] = None


FIELDS = tuple(field.name for field in dataclasses.fields(Item))
"""The columns of either layout that are kept; solutions and pictures are not among them."""
_ADAPTER = TypeAdapter(Item)


def read_item(raw: Mapping[str, Any]) -> tuple[Item | None, list[str]]:
    """Check one item given as plain data: the item, or every fault with its path."""
    offered = {name: raw[name] for name in FIELDS if name in raw}
    try:
        item = _ADAPTER.validate_python(offered)
    except ValidationError as error:
        return None, faults_of(error, {"": FIELDS})
    if item.subject is not None and group_of(raw) is None:
        known = list(SUBJECTS.values())
        hint = did_you_mean(item.subject, known)
        return None, [f"subject: got {item.subject!r}; accepted are {', '.join(known)}{hint}"]
    return item, []


def canonical(raw: Mapping[str, Any]) -> dict[str, Any]:
    """An item in one spelling, whichever layout it came in; one with faults cut to its fields."""
    item, _ = read_item(raw)
    if item is None:
        return {name: raw[name] for name in FIELDS if name in raw}
    group = group_of(raw)
    return {
        **dataclasses.asdict(item),
        "subject": SUBJECTS[group] if group else None,
        "is_multiple_answer": bool(item.is_multiple_answer),
        "final_answer": list(item.final_answer),
        "answer_type": ",".join(item.answer_type),
    }


def asking_faults(raw: Mapping[str, Any]) -> list[str]:
    """What an item lacks to be asked, though a given response to it could be scored."""
    faults = [f"{name}: missing" for name in ("id", "question") if _absent(raw.get(name))]
    if group_of(raw) is None and _absent(raw.get("subject")):
        listed = ", ".join(label for labels in SUBFIELDS.values() for label in labels)
        faults.append(
            f"subfield: got {raw.get('subfield')!r}; without a column `subject` it is one of "
            f"{listed}"
        )
    return faults


def group_of(raw: Mapping[str, Any]) -> str | None:
    """`maths` or `physics`: by the subject where there is one, else by the subfield."""
    subject = raw.get("subject")
    if not _absent(subject):
        return _GROUPS.get(str(subject).strip().casefold())
    subfield = str(raw.get("subfield")).strip().casefold()
    return next(
        (
            group
            for group, labels in SUBFIELDS.items()
            if subfield in (label.casefold() for label in labels)
        ),
        None,
    )


def left_out(raw: Mapping[str, Any]) -> str:
    """Why a published item is not part of the text-only English open-ended set, or nothing.

    The guard is the published search for words, blind to their sense (an image charge is left
    out as well). In physics it reads the context too; no solution is ever searched.
    """
    for field, (wanted, why) in _WANTED.items():
        value = raw.get(field)
        if not _absent(value) and not str(value).strip().casefold().startswith(wanted):
            return why
    if any(_is_picture(raw.get(field)) for field in _PICTURES):
        return "it comes with a picture"
    group = group_of(raw)
    read = ("question", "context") if group == PHYSICS else ("question",)
    if group and any(_SHOWS_A_PICTURE.search(str(raw.get(field) or "")) for field in read):
        return f"{group}, the text points to a picture"
    return ""


def _is_picture(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_is_picture(part) for part in value.values())
    return bool(value) and not _absent(value)
