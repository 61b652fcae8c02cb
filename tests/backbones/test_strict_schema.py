"""The schema of a card, as hosted models take it under `strict`."""

import json
from dataclasses import replace

import pytest

from sero.backbones.server_config import schema_to_send
from sero.backbones.strict_schema import strict, strict_text
from sero.roles.card import RoleType
from sero.roles.load import add_card_schema, card_from_json

REFUSED = {
    *("pattern", "format", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems"),
    *("minimum", "maximum", "multipleOf", "default", "oneOf", "allOf", "not", "$ref"),
}
"""Keywords that OpenAI or Gemini refuse, or have refused, under `strict`."""


def parts(schema):
    """The schema and every schema in it."""
    yield schema
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]
    if "items" in schema:
        inner.append(schema["items"])
    for sub in inner:
        yield from parts(sub)


def test_the_card_schema_obeys_the_strict_subset():
    schema = json.loads(strict_text(json.dumps(add_card_schema(max_prompt_chars=4000))))
    for part in parts(schema):
        assert not REFUSED & set(part)
        assert "type" in part
        if part["type"] == "object":
            assert part["additionalProperties"] is False
            assert part["required"] == list(part["properties"])
    assert schema["properties"]["role_type"] == {
        "enum": [role_type.value for role_type in RoleType],
        "type": "string",
    }
    assert set(schema["properties"]) == set(add_card_schema(max_prompt_chars=4000)["properties"])


def test_what_obeys_the_strict_schema_is_still_checked_at_the_door():
    card = {
        "name": "n",
        "role_type": "specialist",
        "capability_family": "Not A Label",
        "capability_tags": [],
        "communication_protocol": "text",
        "system_prompt": ["Work."],
        "temperature": 0,
    }
    found, faults = card_from_json(json.dumps(card), max_prompt_chars=400)
    assert found is None
    assert any("capability_family" in fault for fault in faults)
    found, faults = card_from_json(
        json.dumps(card | {"capability_family": "a-label"}), max_prompt_chars=400
    )
    assert (found.temperature, faults) == (0.0, ())


def test_nested_objects_and_choices_are_closed_too():
    found = strict(
        {
            "type": "object",
            "properties": {
                "a": {"anyOf": [{"type": "string", "minLength": 1}, {"type": "null"}]},
                "b": {"type": "object", "properties": {"c": {"type": "integer", "minimum": 0}}},
            },
        }
    )
    assert found["properties"]["a"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert found["properties"]["b"] == {
        "type": "object",
        "properties": {"c": {"type": "integer"}},
        "required": ["c"],
        "additionalProperties": False,
    }
    assert found["required"] == ["a", "b"]


@pytest.mark.parametrize("style", ["json_schema", "strict", "none"])
def test_the_style_decides_what_is_sent(config, request_of, schema, style):
    bounded = replace(schema, text='{"type":"string","maxLength":3}')
    request = request_of(schema=bounded)
    sent = schema_to_send(config("http://h/v1", schema_style=style), request)
    assert (
        sent
        == {
            "json_schema": '{"type":"string","maxLength":3}',
            "strict": '{"type":"string"}',
            "none": None,
        }[style]
    )
    assert schema_to_send(config("http://h/v1", schema_style=style), request_of()) is None
