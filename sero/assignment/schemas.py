"""The JSON Schemas replies are asked to obey.

All of them close every object and require every property, as strict servers demand; a server that
takes no bounds gets them without (`backbone.schema_style=strict`). Replies are checked again.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from sero.assignment.roster import (
    MAX_CRITERIA,
    MAX_CRITERION_CHARS,
    MAX_SCORE,
    MIN_CRITERIA,
    MIN_SCORE,
)
from sero.backbones.base import OutputSchema
from sero.roles.card import MAX_NAME_CHARS
from sero.storage import dumps

MAX_REVISED_CHARS = 1200
"""A role's description as a model may rewrite it."""


def closed(properties: dict[str, Any]) -> dict[str, Any]:
    """An object of the subset that strict servers take: closed, every property required."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


_CRITERIA = {
    "type": "array",
    "minItems": MIN_CRITERIA,
    "maxItems": MAX_CRITERIA,
    "items": closed(
        {
            "name": {"type": "string", "minLength": 1, "maxLength": MAX_NAME_CHARS},
            "description": {"type": "string", "minLength": 1, "maxLength": MAX_CRITERION_CHARS},
            "lower_is_better": {"type": "boolean"},
        }
    ),
}
CRITERIA_SCHEMA = OutputSchema("criteria", dumps(closed({"criteria": _CRITERIA})))
REVISION_SCHEMA = OutputSchema(
    "revised_role",
    dumps(
        closed(
            {
                "description": {"type": "string", "minLength": 1, "maxLength": MAX_REVISED_CHARS},
                "criteria": _CRITERIA,
            }
        )
    ),
)


@cache
def review_schema(n_proposals: int, n_criteria: int) -> OutputSchema:
    """`{"proposal_1": {"c1": 4, ...}, ...}`: a whole number for each criterion of each proposal."""
    score = {"type": "integer", "enum": list(range(MIN_SCORE, MAX_SCORE + 1))}
    scores = closed({f"c{c}": score for c in range(1, n_criteria + 1)})
    every = closed({proposal_key(number): scores for number in range(1, n_proposals + 1)})
    return OutputSchema("review", dumps(every))


def proposal_key(number: int) -> str:
    """How a reply names the proposal that was shown under a number."""
    return f"proposal_{number}"
