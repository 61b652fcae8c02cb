"""The two doors where role cards come in as text: YAML from people, JSON from a backbone."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from sero.errors import CardError
from sero.roles.card import (
    MAX_LABEL_CHARS,
    MAX_NAME_CHARS,
    MAX_PROTOCOL_CHARS,
    MAX_TAGS,
    RoleCard,
    RoleType,
)
from sero.roles.plain_yaml import parse_yaml
from sero.roles.pool import RolePool
from sero.validation import did_you_mean, faults_of

_CARD = TypeAdapter(RoleCard)
_FIELDS = tuple(field.name for field in dataclasses.fields(RoleCard))
_REQUIRED = tuple(
    field.name for field in dataclasses.fields(RoleCard) if field.default is dataclasses.MISSING
)
MAX_JSON_CHARS = 100_000
MAX_JSON_STARTS = 64
_NOT_FROM_MODELS = frozenset({"protected", "parent", "created_at", "backbone"})
_MAX_REASONS = 16
CREDIT_FIELD = "credit"
"""Key of a role's credit block in a saved pool; read by `sero.credit`, not part of the card."""


def card_faults(
    raw: Any, *, prefix: str, max_prompt_chars: int
) -> tuple[RoleCard | None, list[str]]:
    """Check one card given as plain data: the card, or every fault with its path."""
    if not isinstance(raw, Mapping):
        return None, [f"{prefix}: got {type(raw).__name__}; a role card is a mapping"]
    data: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in raw.items()}
    prompt = data.get("system_prompt")
    if isinstance(prompt, str):
        data["system_prompt"] = tuple(prompt.splitlines())
    faults = _prompt_faults(data.get("system_prompt"), f"{prefix}.system_prompt", max_prompt_chars)
    try:
        card = _CARD.validate_python(data)
    except ValidationError as error:
        return None, faults_of(error, {"": _FIELDS}, prefix) + faults
    return (None, faults) if faults else (card, [])


def _prompt_faults(lines: Any, where: str, max_chars: int) -> list[str]:
    """What is wrong with a prompt's length; anything but lines of text is left to the schema."""
    if not isinstance(lines, tuple) or not all(isinstance(line, str) for line in lines):
        return []
    text = "\n".join(lines)
    if not text.strip():
        return [f"{where}: empty; write what the role reads and produces"]
    if len(text) > max_chars:
        return [f"{where}: {len(text)} characters; at most {max_chars} (schema.max_prompt_chars)"]
    return []


def card_from_json(text: str, *, max_prompt_chars: int) -> tuple[RoleCard | None, tuple[str, ...]]:
    """A backbone's reply as a card: the first JSON object in it, or the reasons it is none.

    Protection, lineage and backbone are dropped, whatever the reply says: people grant the one,
    the editor writes the others. The reasons go into records and the next prompt, so a reply
    that is nothing but faults gets the first few and a count.
    """
    raw = first_json_object(text)
    if raw is None:
        return None, ("reply: no JSON object in it",)
    offered = {key: value for key, value in raw.items() if key not in _NOT_FROM_MODELS}
    card, faults = card_faults(offered, prefix="card", max_prompt_chars=max_prompt_chars)
    if len(faults) > _MAX_REASONS:
        rest = len(faults) - _MAX_REASONS
        faults = [*faults[:_MAX_REASONS], f"card: {rest} more problem(s) of this kind"]
    return card, tuple(faults)


def first_json_object(text: str) -> dict[str, Any] | None:
    """The first complete JSON object in a text, fenced or not; None if there is none."""
    return next(json_objects(text), None)


def json_objects(text: str) -> Iterator[dict[str, Any]]:
    """The complete JSON objects of a text in order, none inside another.

    Bounded, as the text is a model's: of its first 100,000 characters, and at 64 braces, whether
    what begins there is an object or not.
    """
    text = text[:MAX_JSON_CHARS]
    decoder = json.JSONDecoder()
    start = text.find("{")
    for _ in range(MAX_JSON_STARTS):
        if start < 0:
            return
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            value, end = None, start + 1
        if isinstance(value, dict):
            yield value
        start = text.find("{", end)


def pool_from_data(raw: Any, *, where: str, max_prompt_chars: int = 4000) -> RolePool:
    """A pool from plain data (`{roles: [...]}` or a list of cards).

    Raises:
        CardError: every fault of every card, and duplicate names, together.
    """
    rows = raw.get("roles") if isinstance(raw, Mapping) else raw
    if not isinstance(rows, Sequence) or isinstance(rows, str) or not rows:
        raise CardError(where, ["roles: missing; a pool file is a list of cards under 'roles:'"])
    faults: list[str] = []
    if isinstance(raw, Mapping):
        faults += [
            f"{key}: unknown field{did_you_mean(str(key), ('roles', 'comment'))}"
            for key in raw
            if key not in ("roles", "comment")
        ]
    cards: list[RoleCard] = []
    names: list[str] = []
    for i, row in enumerate(rows):
        name = row.get("name") if isinstance(row, Mapping) else None
        named = isinstance(name, str) and bool(name.strip()) and len(name) <= MAX_NAME_CHARS
        prefix = str(name) if named else f"roles[{i}]"
        names += [prefix] if named else []
        offered = (
            {key: value for key, value in row.items() if key != CREDIT_FIELD}
            if isinstance(row, Mapping)
            else row
        )
        card, found = card_faults(offered, prefix=prefix, max_prompt_chars=max_prompt_chars)
        faults += found
        if card is not None:
            cards.append(card)
    counted = Counter(names)
    faults += [f"{name}: {n} cards share this name" for name, n in counted.items() if n > 1]
    if faults:
        raise CardError(where, faults)
    return RolePool(tuple(cards))


def load_yaml(path: Path | str) -> Any:
    """Parse a YAML file of the user's, or `package:<path under sero/prompts>`.

    Raises:
        CardError: no such file, not readable, not YAML, a key that stands twice in one mapping, or
            aliases that make more of it than anybody writes.
    """
    name = str(path)
    try:
        if name.startswith("package:"):
            text = (resources.files("sero.prompts") / name.removeprefix("package:")).read_text(
                "utf-8"
            )
        else:
            text = Path(name).read_text(encoding="utf-8")
        found, faults = parse_yaml(text)
    except FileNotFoundError:
        raise CardError(name, ["no such file"]) from None
    except IsADirectoryError:
        raise CardError(name, ["a directory; name a YAML file"]) from None
    except OSError as error:
        raise CardError(name, [f"cannot be read: {error.strerror}"]) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise CardError(name, [f"not readable as YAML: {error}"]) from None
    if faults:
        raise CardError(name, faults)
    return found


def load_pool(path: Path | str, *, max_prompt_chars: int = 4000) -> RolePool:
    """The cards of a pool file; a `credit:` block beside them is left to `sero.credit`.

    Raises:
        CardError: with every fault of the file.
    """
    return pool_from_data(load_yaml(path), where=str(path), max_prompt_chars=max_prompt_chars)


def card_to_data(card: RoleCard) -> dict[str, Any]:
    """A card as plain data for YAML or JSON, defaults left out."""
    data: dict[str, Any] = {}
    for field in dataclasses.fields(card):
        value = getattr(card, field.name)
        if field.name in _REQUIRED or value != field.default:
            plain = value.value if isinstance(value, RoleType) else value
            data[field.name] = list(plain) if isinstance(plain, tuple) else plain
    return data


def add_card_schema(*, max_prompt_chars: int) -> dict[str, Any]:
    """The JSON Schema an Add reply is asked to obey.

    Written for structured decoding: flat, closed, every string and list bounded, because an
    unbounded string can run to `max_tokens`. The patterns carry bounds of their own, for some
    decoders read a pattern and then no `maxLength`. What obeys the schema is a card, unless a
    text in it is blank or holds a NUL, which no pattern that every decoder reads can say.
    """
    label = {
        "type": "string",
        "pattern": "^[a-z0-9]{1,20}(-[a-z0-9]{1,20}){0,3}$",
        "maxLength": MAX_LABEL_CHARS,
    }
    # n lines of k characters and the n - 1 line ends between them: n (k + 1) - 1 <= the maximum
    lines = min(12, (max_prompt_chars + 1) // 2)
    line_chars = min(300, (max_prompt_chars + 1) // lines - 1)
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [
            "name",
            "role_type",
            "capability_family",
            "communication_protocol",
            "system_prompt",
        ],
        "properties": {
            "name": {
                "type": "string",
                "pattern": "^[A-Za-z0-9]{1,30}([ _-][A-Za-z0-9]{1,30}){0,5}$",
                "maxLength": MAX_NAME_CHARS,
            },
            "role_type": {"enum": [role_type.value for role_type in RoleType]},
            "capability_family": label,
            "capability_tags": {"type": "array", "items": label, "maxItems": MAX_TAGS},
            "communication_protocol": {
                "type": "string",
                "minLength": 1,
                "maxLength": min(400, MAX_PROTOCOL_CHARS),
            },
            "system_prompt": {
                "type": "array",
                "minItems": 1,
                "maxItems": lines,
                "items": {"type": "string", "minLength": 1, "maxLength": line_chars},
            },
            "temperature": {"type": "number", "minimum": 0, "maximum": 1},
        },
    }
