"""TableBench's items: the schema, its traps, and the layouts the data come in.

Traps of the published files: ids are not unique (one stands under two subtypes), a table comes
as an object or as JSON in a text, cells and answers as texts, in older revisions as numbers,
missing cells as null, and the prompt-variant files hold each item once for every instruction.
Stored instructions and model outputs never leave this module.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from annotated_types import MinLen
from pydantic import (
    AfterValidator,
    BeforeValidator,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)

from sero.benchmarks.files import raise_faults, read_jsonl, read_text
from sero.benchmarks.item_benchmark import Row
from sero.benchmarks.tablebench.subtypes import SUBTYPES
from sero.errors import DataError
from sero.validation import did_you_mean, faults_of

FIELDS = ("id", "qtype", "qsubtype", "table", "question", "answer")
FILE = "TableBench.jsonl"
_VARIANT = "instruction_type"


def _as_text(value: Any) -> Any:
    """Numbers as the text the current release has for them."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _as_object(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"a text that is not JSON: {error}") from None


def _encodable(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair in it; not a text") from None
    return value


Text = Annotated[str, BeforeValidator(_as_text), AfterValidator(_encodable)]
Shown = Annotated[Text, StringConstraints(pattern=r"\S")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    columns: Annotated[tuple[Text, ...], MinLen(1)]
    data: Annotated[tuple[tuple[Text | None, ...], ...], MinLen(1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One item; a verdict needs no id, question or table, a prompt needs the last two."""

    qtype: Text
    qsubtype: Text
    answer: Shown
    id: Text | None = None
    question: Text | None = None
    table: Annotated[Table | None, BeforeValidator(_as_object)] = None

    def faults(self) -> list[str]:
        subtype = SUBTYPES.get(self.qsubtype)
        if subtype is None:
            hint = did_you_mean(self.qsubtype, SUBTYPES)
            return [
                f"qsubtype: got {self.qsubtype!r}{hint or '; accepted are ' + ', '.join(SUBTYPES)}"
            ]
        found = []
        if self.qtype != subtype.qtype:
            found.append(f"qtype: got {self.qtype!r}; {self.qsubtype} belongs to {subtype.qtype}")
        if self.table is not None:
            width = len(self.table.columns)
            found += [
                f"table.data[{i}]: {len(row)} cells; there are {width} columns"
                for i, row in enumerate(self.table.data)
                if len(row) != width
            ]
        return found


_ITEM = TypeAdapter(Item)
_KNOWN = {"": FIELDS, "table": ("columns", "data")}


def read_item(raw: Mapping[str, Any], where: str) -> Item:
    """Check one item given as plain data; fields of no concern are passed over.

    Raises:
        DataError: with every fault of the item.
    """
    offered = {key: value for key, value in raw.items() if key in FIELDS}
    try:
        item: Item = _ITEM.validate_python(offered)
    except ValidationError as error:
        faults = faults_of(error, _KNOWN)
    else:
        faults = item.faults()
        if not faults:
            return item
    raise DataError(f"{where}: {'; '.join(faults)}", faults)


def plain_item(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The item as the current release has it, whatever revision it came from.

    Raises:
        DataError: with every fault of the item.
    """
    item = read_item(raw, "item")
    return {name: value for name, value in dataclasses.asdict(item).items() if value is not None}


def incomplete(raw: Mapping[str, Any]) -> list[str]:
    """What an item lacks to be asked, a fault each."""
    return [f"{name}: missing" for name in ("id", "question", "table") if not raw.get(name)]


def once_each(rows: Iterable[Row]) -> list[Row]:
    """Rows without the repetitions of the prompt-variant files; others stay, however alike."""
    kept: list[Row] = []
    seen: dict[tuple[str, ...], None] = {}
    for where, raw in rows:
        if _VARIANT in raw:
            content = tuple(json.dumps(raw.get(name)) for name in FIELDS)
            if content in seen:
                continue
            seen[content] = None
        kept.append((where, raw))
    return kept


def read_source(path: Path) -> list[Row]:
    """The items of `TableBench.jsonl`, of a prompt-variant file, of a JSON array, or of a folder.

    Raises:
        DataError: nothing there, or damaged, with every fault.
    """
    if path.is_dir():
        return read_source(_file_in(path))
    if not path.exists():
        raise DataError(f"{path}: no such file or folder")
    if path.suffix == ".json":
        return once_each(_array(path))
    lines, faults = read_jsonl(path)
    raise_faults(path, faults)
    return once_each((f"line {number}", raw) for number, raw in lines)


def _file_in(folder: Path) -> Path:
    file = folder / FILE
    if file.exists():
        return file
    there = ", ".join(sorted(p.name for p in folder.glob("*.json*"))) or "no JSON file"
    raise DataError(f"{folder}: {FILE} is not in this folder ({there}). Name a file of it.")


def _array(path: Path) -> list[Row]:
    try:
        found = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not JSON: {error}") from None
    if not isinstance(found, list):
        raise DataError(f"{path}: got {type(found).__name__}; an array of items is accepted")
    rows: list[Row] = []
    faults: list[str] = []
    for i, raw in enumerate(found):
        if isinstance(raw, dict):
            rows.append((f"[{i}]", raw))
        else:
            faults.append(f"[{i}]: got {type(raw).__name__}; an item is an object")
    raise_faults(path, faults)
    return rows
