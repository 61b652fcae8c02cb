"""A JSON Schema cut down to what hosted models accept under `strict`.

OpenAI's strict mode wants every property required and every object closed, and refuses bounds on
lengths ("'maxLength' is not permitted"); Gemini counts such bounds against a budget of its own. A
reply is checked again where it comes in, so a bound left out here refuses the card there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

KEPT = frozenset({"type", "enum", "const", "description", "properties", "items", "anyOf"})
"""Keywords every strict dialect reads."""


@lru_cache(maxsize=8)
def strict_text(text: str) -> str:
    """A schema's canonical JSON in the strict subset, as JSON."""
    return json.dumps(strict(json.loads(text)), separators=(",", ":"))


def strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema in the strict subset: bounds and patterns left out, no property left optional."""
    found: dict[str, Any] = {key: schema[key] for key in schema if key in KEPT}
    if "enum" in found and "type" not in found:
        found["type"] = "string"
    if "properties" in found:
        found["properties"] = {name: strict(sub) for name, sub in found["properties"].items()}
        found["required"] = list(found["properties"])
        found["additionalProperties"] = False
    if "items" in found:
        found["items"] = strict(found["items"])
    if "anyOf" in found:
        found["anyOf"] = [strict(sub) for sub in found["anyOf"]]
    return found
