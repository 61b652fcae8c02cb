"""Each fault of a live server is named, with the key or command that mends it."""

import pytest

from sero.doctor import Level

WARN, FAIL = Level.WARN, Level.FAIL
THINKING_OFF = {"chat_template_kwargs": {"enable_thinking": False}}
SLOT = {"build_info": "b9", "default_generation_settings": {"n_ctx": 2048}}


@pytest.mark.parametrize(
    ("faults", "changes", "name", "level", "mend"),
    [
        ({"models_status": 503}, {}, "reachable", FAIL, "vllm serve tiny"),
        ({"key": "k"}, {}, "key", FAIL, "backbone.api_key_env=NAME"),
        ({}, {"api_key_env": "SERO_TEST_UNSET"}, "key", FAIL, "export SERO_TEST_UNSET=..."),
        ({}, {"model": "tinny"}, "model", WARN, "backbone.model=tiny"),
        ({"models": [{"id": "a"}, {"id": "b"}]}, {}, "model", WARN, "backbone.model=NAME"),
        ({"models_status": 404}, {}, "model", WARN, "backbone.base_url=URL"),
        ({"models": {"id": 3}}, {}, "model", WARN, "backbone.base_url=URL"),
        ({}, {"revision": "unknown"}, "revision", WARN, "backbone.revision=COMMIT"),
        ({}, {"revision": "main"}, "revision", WARN, "backbone.revision=COMMIT"),
        ({}, {"revision": ""}, "revision", WARN, "backbone.revision=COMMIT"),
        (
            {},
            {"revision": "stable", "api_key_env": "PATH"},  # a variable that is always set
            "revision",
            WARN,
            "backbone.revision=DATE",
        ),
        ({"version": {"version": "0.32.0+cpu"}}, {}, "version", WARN, "backbone.send_seed=false"),
        ({"refuse": {"seed": (400, "no seeds")}}, {}, "seed", FAIL, "backbone.send_seed=false"),
        (
            {"refuse": {"chat_template_kwargs": (400, "unknown field")}},
            THINKING_OFF,
            "chat_template_kwargs",
            FAIL,
            "'~backbone.chat_template_kwargs.enable_thinking'",
        ),
        (
            {"refuse": {"top_k": (422, "unknown field")}},
            {"extra_body": {"top_k": 1}},
            "extra_body",
            FAIL,
            "'~backbone.extra_body.top_k'",
        ),
        ({"status": 500}, {}, "completion", FAIL, "look at the server's log"),
        ({"status": 502}, {}, "completion", FAIL, "behind the proxy"),
        ({"status": 429}, {"concurrency": 64}, "completion", FAIL, "backbone.concurrency=16"),
        ({"status": 404}, {}, "completion", FAIL, "backbone.model=NAME"),
        ({"status": 400}, {}, "completion", FAIL, "backbone.extra_body"),
        ({"status": 401}, {}, "completion", FAIL, "backbone.api_key_env=NAME"),
        ({"close": 9}, {}, "completion", FAIL, "look at the server's log"),
        ({"whole": b'{"choices"'}, {}, "completion", FAIL, "backbone.base_url=URL"),
        ({"whole": b'{"choices": []}'}, {}, "completion", FAIL, "backbone.base_url=URL"),
        ({"longest": 0}, {}, "completion", FAIL, "backbone.context_tokens=N"),
        ({"message": {"content": ""}}, {}, "content", FAIL, "chat template"),
        ({"message": {"content": None}}, {}, "content", FAIL, "chat template"),
        ({"finish": "length"}, {}, "finish", WARN, "exec.max_tokens=256"),
        ({"finish": None}, {}, "finish", WARN, "update the server"),
        (
            {"message": {"content": "<think>Hm.</think>Paris."}},
            {},
            "thinking",
            WARN,
            "+backbone.chat_template_kwargs.enable_thinking=false",
        ),
        (
            {"message": {"reasoning_content": "Hm."}},
            THINKING_OFF,
            "thinking",
            WARN,
            "--reasoning-parser",
        ),
        (
            {"message": {"content": "<think>Hm. Is it"}},
            {},
            "thinking",
            FAIL,
            "+backbone.chat_template_kwargs.enable_thinking=false",
        ),
        ({"counted": None}, {}, "usage", WARN, "budget.calls"),
        ({"structured": None}, {}, "schema", FAIL, "backbone.schema_style=none"),
        ({"structured": '{"colour": "red"}'}, {}, "schema", FAIL, "backbone.schema_style=none"),
        (
            {"refuse": {"response_format": (400, "no schemas")}},
            {},
            "schema",
            FAIL,
            "backbone.schema_style=strict (hosted models), or backbone.schema_style=none",
        ),
        (
            {"refuse": {"response_format": (400, "no schemas")}},
            {"schema_style": "strict"},
            "schema",
            FAIL,
            "backbone.schema_style=none",
        ),
        ({}, {"context_tokens": 8192}, "context", FAIL, "backbone.context_tokens=4096"),
        ({"models": [{"id": "tiny"}], "props": SLOT}, {}, "context", FAIL, "context_tokens=2048"),
        ({}, {"context_tokens": None}, "context", WARN, "backbone.context_tokens=4096"),
        ({"counted": 900}, {}, "long prompt", FAIL, "backbone.context_tokens=900"),
        ({"longest": 3000}, {}, "long prompt", FAIL, "backbone.context_tokens=N"),
        (
            {"text": lambda question, in_flight, number: f"{question} {in_flight > 1}"},
            {},
            "flips",
            WARN,
            "backbone.concurrency=1",
        ),
        (
            {"text": lambda question, in_flight, number: str(number)},
            {},
            "flips",
            WARN,
            "the gate's table",
        ),
        ({"status": 429, "after": 9}, {}, "crowd", FAIL, "backbone.concurrency=2"),
        ({"close": 1}, {}, "retries", WARN, "backbone.max_retries"),
    ],
)
async def test_a_fault_is_named_with_its_mend(examined, server, faults, changes, name, level, mend):
    for attribute, value in faults.items():
        setattr(server, attribute, value)
    found = await examined(changes)
    assert found[name].level is level
    assert mend in found[name].mend
    # a reply without text, or with the wrong one, is no JSON of the schema either; flips have a
    # table of their own
    also = {"content": {"schema"}, "thinking": {"schema"}, "flips": {"gate"}}.get(name, set())
    assert {f.name for f in found.values() if f.level in (WARN, FAIL)} <= {name} | also
