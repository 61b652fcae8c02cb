"""Faults as lines a user can act on."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import pytest
from annotated_types import Gt
from pydantic import BeforeValidator, ConfigDict, TypeAdapter, ValidationError

from sero.validation import did_you_mean, faults_of, key_path


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    hidden: Annotated[int, Gt(0)]
    rule: Literal["nearest", "farthest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outer:
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    policy: Inner
    sizes: tuple[int, ...] = ()
    widths: Mapping[str, int] | None = None
    checked: Annotated[int | str, BeforeValidator(lambda value: value)] = 0


KNOWN = {"": ("policy", "sizes", "widths", "checked"), "policy": ("hidden", "rule")}
GOOD = {"policy": {"hidden": 1, "rule": "nearest"}}


def faults(data, prefix=""):
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(Outer).validate_python(data)
    return faults_of(caught.value, KNOWN, prefix)


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("protcted", "; did you mean 'protected'?"),
        ("pro", ""),  # 2 · 3 of 3 + 9 letters: 0.5, below 0.6
        ("famly", "; did you mean 'family'?"),
        ("", ""),
        ("PROTECTED", ""),
    ],
)
def test_did_you_mean(word, hint):
    assert did_you_mean(word, {"protected", "family", "name"}) == hint


def test_of_two_equally_close_words_the_choice_is_decided():
    assert {did_you_mean("lop", names) for names in (("log", "lot"), ("lot", "log"))} == {
        "; did you mean 'lot'?"
    }


@pytest.mark.parametrize(
    ("location", "prefix", "path"),
    [
        ((), "", ""),
        (("policy", "hidden"), "", "policy.hidden"),
        (("roles", 2, "name"), "", "roles[2].name"),
        ((0,), "", "[0]"),
        (("name",), "solver", "solver.name"),
        ((1,), "solver.system_prompt", "solver.system_prompt[1]"),
    ],
)
def test_key_paths(location, prefix, path):
    assert key_path(location, prefix) == path


def test_every_fault_at_once_in_the_order_of_the_fields():
    found = faults(
        {
            "policy": {"hidden": 0, "rule": "nearst", "hiden": 3},
            "sizes": [1, "x"],
            "polcy": {},
        }
    )
    assert sorted(found) == sorted(
        [
            "policy.hidden: got 0. Input should be greater than 0",
            "policy.rule: got 'nearst'. Input should be 'nearest' or 'farthest'",
            "policy.hiden: unknown field; did you mean 'hidden'?",
            "sizes[1]: got 'x'. Input should be a valid integer, "
            "unable to parse string as an integer",
            "polcy: unknown field; did you mean 'policy'?",
        ]
    )


def test_missing_fields_and_the_prefix():
    assert faults({"policy": {"hidden": 1}}, "file") == ["file.policy.rule: missing"]
    assert faults({}) == ["policy: missing"]


@pytest.mark.parametrize("key", ["a[b]", "[", "function-x", "list[int]", "ключ"])
def test_an_unknown_field_may_look_like_anything(key):
    assert faults({**GOOD, key: 1}, "card") == [f"card.{key}: unknown field"]


def test_words_the_checker_adds_are_no_part_of_a_path():
    lines = faults({**GOOD, "widths": {"a": "x"}, "checked": []})
    assert lines[0].startswith("widths.a: got 'x'. ")
    assert [line.split(":")[0] for line in lines[1:]] == ["checked.int", "checked.str"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("x" * 100, "got '" + "x" * 56 + "...."),  # 57 of the 60 characters, and three dots
        ([[[[[1]]]]], "got [[[[...]]]]. "),
        (list(range(10)), "got [0, 1, 2, 3, 4, 5, ...]. "),
    ],
)
def test_a_long_or_deep_value_is_cut(value, shown):
    (line,) = faults({"policy": {"hidden": value, "rule": "nearest"}})
    assert line.startswith(f"policy.hidden: {shown}")


def test_a_long_unknown_word_is_cut():
    (line,) = faults({**GOOD, "k" * 10**6: 1})
    assert line == "k" * 57 + "...: unknown field"


def test_a_value_that_unfolds_without_end_is_shown_at_once():
    nested = ["x"]
    for _ in range(60):
        nested = [nested, nested]  # 2^60 items when written out
    start = time.perf_counter()
    (line,) = faults({"policy": {"hidden": nested, "rule": "nearest"}})
    assert time.perf_counter() - start < 2
    assert len(line) < 200
