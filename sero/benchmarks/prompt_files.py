"""The texts a benchmark puts into prompts: YAML files in one folder, packaged or a user's own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from sero.errors import CardError
from sero.roles.load import load_yaml

ANSWER_FORMAT, SINGLE_AGENT, SEED_POOL = "answer_format", "single_agent", "seed_pool"


@cache
def text(folder: str, file: str, name: str) -> str:
    """One text of `<folder>/<file>.yaml`; `folder` is a path or `package:<benchmark>`.

    Raises:
        CardError: no such file, or no text of this name in it.
    """
    where = f"{folder}/{file}.yaml"
    found = load_yaml(where)
    if not isinstance(found, dict) or not isinstance(found.get(name), str):
        raise CardError(where, [f"{name}: missing; a text is wanted"])
    return str(found[name])


@cache
def texts(folder: str, file: str) -> tuple[str, ...]:
    """Every text of `<folder>/<file>.yaml`, or none where there is no such file."""
    try:
        return tuple(_strings(load_yaml(f"{folder}/{file}.yaml")))
    except CardError as error:
        if error.faults == ("no such file",):
            return ()
        raise


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
