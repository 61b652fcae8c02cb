"""Whether the server holds an answer to a JSON Schema, or only takes the request."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError

from sero.backbones.base import Completion, OutputSchema
from sero.backbones.server_config import OpenAIServerConfig
from sero.doctor.bounding import one_line
from sero.doctor.failures import mend_of, said_of
from sero.doctor.finding import Finding, fail, ok, skipped, warn
from sero.doctor.probing import Prober, probe
from sero.errors import RequestRejected, SeroError

# Asked without a word of JSON, so that only a server that knows the schema answers in it.
TEXT = "Write one short sentence about the sea."
MAX_TOKENS = 64
NONE = "backbone.schema_style=none"
SHOWN_CHARS = 40


@dataclass(frozen=True)
class Sea:
    """What the probe's schema describes."""

    __pydantic_config__ = ConfigDict(strict=True, extra="forbid")

    colour: Literal["blue", "green", "grey"]
    calm: bool


SCHEMA = OutputSchema(
    name="sea",
    text=json.dumps(
        {
            "type": "object",
            "properties": {
                "colour": {"type": "string", "enum": ["blue", "green", "grey"]},
                "calm": {"type": "boolean"},
            },
            "required": ["colour", "calm"],
            "additionalProperties": False,
        },
        separators=(",", ":"),
    ),
)
_CHECKER = TypeAdapter(Sea)


async def check_schema(prober: Prober, cfg: OpenAIServerConfig | None) -> Finding:
    """One request under a schema; `cfg` is None for a backbone that is no server."""
    if cfg is not None and cfg.schema_style == "none":
        return skipped("schema", f"none is sent ({NONE}): cards are asked for by the prompt alone")
    try:
        found = await prober.ask(probe(TEXT, MAX_TOKENS, schema=SCHEMA))
    except RequestRejected as refused:
        if not refused.blames_the_request:
            return fail("schema", said_of(refused), mend_of(refused, cfg))
        strict = cfg is not None and cfg.schema_style == "json_schema"
        mend = f"backbone.schema_style=strict (hosted models), or {NONE}" if strict else NONE
        return fail("schema", f"the server refuses a JSON Schema: {said_of(refused)}", mend)
    except SeroError as error:
        return fail("schema", said_of(error), mend_of(error, cfg))
    return judge(found)


def judge(found: Completion) -> Finding:
    """The verdict on an answer that should obey the schema."""
    text = one_line(found.text)
    shown = repr(text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 1] + "…")
    try:
        json.loads(found.text)
    except (ValueError, RecursionError):
        if found.finish_reason == "length" and found.text.lstrip()[:1] == "{":
            return warn(
                "schema",
                f"JSON that was cut at {MAX_TOKENS} tokens: {shown}",
                f"update the server, or {NONE}",
            )
        return fail("schema", f"the server ignores the JSON Schema and answers {shown}", NONE)
    try:
        _CHECKER.validate_json(found.text)
    except ValidationError:
        return fail("schema", f"JSON, but not of the schema asked for: {shown}", NONE)
    return ok("schema", f"obeyed: {shown}")
