"""From the composed tree to a RunConfig: one pass, every fault with its key path."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import json
import re
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from omegaconf import MISSING, DictConfig, OmegaConf
from omegaconf.errors import InterpolationToMissingValueError, OmegaConfBaseException
from pydantic import ConfigDict, TypeAdapter, ValidationError

from sero.config.consistency import contradictions
from sero.config.named_backbones import FAULT, FILE, TARGET
from sero.config.named_backbones import SECTION as BACKBONES
from sero.config.playing import playing_faults
from sero.config.sections import COMPONENTS, PLAIN, Component, RunConfig
from sero.errors import ConfigError
from sero.validation import faults_of

_REFERENCE = re.compile(r"\$\{([A-Za-z_]\w*)[.}]")
_ELSEWHERE = {
    "encoder": """ (encoder=minilm with pip install -e ".[offline]", or encoder=hashing)""",
    "backbone": " (backbone=qwen3_8b, openai, local, or scripted for a dry run)",
}
"""What fits any benchmark, for parts that only fit the simulated one."""
Check = Callable[[DictConfig, Mapping[str, str]], tuple[Any | None, list[str]]]
"""Types a composed tree under its choices, or tells every fault, as `checked` does."""
_STRICT = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


def parse_config(cfg: DictConfig, choices: Mapping[str, str] | None = None) -> RunConfig:
    """Check the composed tree and give it types.

    Args:
        cfg: the tree Hydra composed, without its `hydra` node.
        choices: group to chosen file, for messages and `Component.choice`; without it a component
            is called by its class.

    Raises:
        ConfigError: every unknown or missing key, wrong type, value out of range, contradiction
            and part that does not fit its neighbours.
    """
    config, faults = checked(cfg, choices or {})
    if config is None:
        raise ConfigError("conf/ and the command line", faults)
    return config


def checked(cfg: DictConfig, choices: Mapping[str, str]) -> tuple[RunConfig | None, list[str]]:
    """A RunConfig, or every fault; see `parse_config`."""
    more = {"from_pool": str | None} if "from_pool" in cfg else {}
    own = OmegaConf.masked_copy(cfg, [str(key) for key in cfg if key != BACKBONES])
    fields, faults = checked_fields(
        own, choices, groups=COMPONENTS, plain={**PLAIN, **more}, across=contradictions
    )
    backbones, wrong = _named_backbones(cfg)
    if fields is None or wrong:
        return None, [*faults, *wrong]
    config = RunConfig(**{"from_pool": None, **fields}, backbones=backbones)
    faults = playing_faults(config, trains="from_pool" not in cfg)
    return (None if faults else config), faults


def _named_backbones(cfg: DictConfig) -> tuple[dict[str, Component], list[str]]:
    """The run's further backbones by name, each checked like the run's own."""
    backbones: dict[str, Component] = {}
    faults: list[str] = []
    section = cfg.get(BACKBONES)
    if section is not None and not isinstance(section, DictConfig):
        return {}, [f"{BACKBONES}: got {section!r}; write {{NAME: {{KEY: VALUE}}}}"]
    for key, node in (section or {}).items():
        name = str(key)
        if FAULT in node:
            faults.append(f"{BACKBONES}.{name}: {node[FAULT]}")
            continue
        try:
            data = OmegaConf.to_container(node, resolve=True)
        except OmegaConfBaseException as error:
            faults.append(f"{BACKBONES}.{name}: {str(error).splitlines()[0]}")
            continue
        assert isinstance(data, dict)
        file = str(data.pop(FILE, name))
        fields, wrong = checked_fields(
            OmegaConf.create({"backbone": data}),
            {"backbone": file},
            groups=("backbone",),
            plain={},
            across=contradictions,
        )
        faults += [line.replace("backbone.", f"{BACKBONES}.{name}.") for line in wrong]
        if fields is not None:
            backbones[name] = fields["backbone"]
    return backbones, faults


def checked_fields(
    cfg: DictConfig,
    choices: Mapping[str, str],
    *,
    groups: Sequence[str],
    plain: Mapping[str, Any],
    across: Callable[[Mapping[str, Any]], list[str]] = lambda data: [],
) -> tuple[dict[str, Any] | None, list[str]]:
    """The typed values of a tree by key, or None and every fault.

    Args:
        groups: keys whose section names a class under `_target_`; each becomes a `Component`.
        plain: every other key, with its type.
        across: faults between the values.
    """
    data, broken = resolve(cfg)
    faults = _broken_lines(broken, choices)
    targets: list[tuple[str, type[Any]]] = []
    for group in groups:
        node = data.get(group)
        # A part with values that cannot be found is reported for that reason alone.
        if any(path.startswith(f"{group}.") for path in broken):
            data.pop(group, None)
        elif not isinstance(node, dict) or not isinstance(node.get(TARGET), str):
            faults.append(f"{group}: missing; a part names its class under {TARGET}")
            data.pop(group, None)
        else:
            found = _import_target(node.pop(TARGET))
            if isinstance(found, str):
                faults.append(f"{group}.{TARGET}: {found}")
                data.pop(group)
            else:
                targets.append((group, found))
    faults += across(data)

    tree = _tree(tuple(targets), tuple(plain.items()))
    try:
        values = tree.validate_json(json.dumps(data, default=str))
    except ValidationError as error:
        known = dict(_known_fields({**plain, **_configs(targets)}))
        lines: dict[str, str] = {}
        for line in faults_of(error, known):  # of a union the first type that did not fit
            lines.setdefault(line.partition(":")[0], line)
        faults += [
            line
            for path, line in lines.items()
            if path not in broken and _reference(cfg, path) not in lines
        ]
        return None, faults
    if faults:
        return None, faults
    fields: dict[str, Any] = {name: getattr(values, name) for name in plain}
    for group, target in targets:
        choice = choices.get(group, target.__name__)
        fields[group] = Component(choice=choice, target=target, config=getattr(values, group))
    return fields, []


def resolve(cfg: DictConfig) -> tuple[dict[str, Any], dict[str, str]]:
    """Plain data of a tree, and the values that could not be resolved: key path to their text.

    Values still to be given (`???`) and unresolvable ones are left out of the data.
    """
    broken: dict[str, str] = {}
    raw = OmegaConf.to_container(cfg, resolve=False)
    assert isinstance(raw, dict)
    return _resolve(cfg, raw, "", broken), broken


def _resolve(
    node: DictConfig, raw: Mapping[Any, Any], path: str, broken: dict[str, str]
) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for key in node:
        where = f"{path}{key!s}"
        if OmegaConf.is_missing(node, key):
            continue
        try:
            value = node[key]
            if isinstance(value, DictConfig) and isinstance(raw[key], dict):
                data[str(key)] = _resolve(value, raw[key], f"{where}.", broken)
            elif OmegaConf.is_config(value):
                data[str(key)] = OmegaConf.to_container(value, resolve=True)
            else:
                data[str(key)] = value
        except InterpolationToMissingValueError:
            broken[where] = MISSING  # said of the value it is taken from
        except OmegaConfBaseException:
            broken[where] = str(raw[key])
    return data


def _reference(cfg: DictConfig, path: str) -> str | None:
    """The key a value is taken from (`${seed}`), where a fault in it is better reported."""
    parent, _, key = path.rpartition(".")
    node = OmegaConf.select(cfg, parent) if parent else cfg
    if (
        not isinstance(node, DictConfig)
        or key not in node
        or not OmegaConf.is_interpolation(node, key)
    ):
        return None
    raw = OmegaConf.to_container(node, resolve=False)
    assert isinstance(raw, dict)
    return str(raw[key]).removeprefix("${").removesuffix("}")


def _broken_lines(broken: Mapping[str, str], choices: Mapping[str, str]) -> list[str]:
    """One line per part that reads values another part does not have, one per other value."""
    lines = []
    wanted: dict[tuple[str, str], list[str]] = {}
    for path, text in broken.items():
        if text == MISSING:
            continue
        group, _, key = path.partition(".")
        reference = _REFERENCE.search(text)
        if group in COMPONENTS and reference and reference[1] in COMPONENTS:
            wanted.setdefault((group, reference[1]), []).append(key)
        else:
            lines.append(f"{path}: got {text!r}, which names a value that does not exist")
    for (group, other), keys in wanted.items():
        lines.append(
            f"{group}: {group}={choices.get(group, '?')} takes {', '.join(keys)} from the {other}, "
            f"and {other}={choices.get(other, '?')} has no such values; choose another {group}"
            f"{_ELSEWHERE.get(group, '')}, or the {other} it belongs to"
        )
    return lines


def _import_target(path: str) -> type[Any] | str:
    """The class a dotted path names, or what is wrong with it."""
    module, _, name = path.rpartition(".")
    if not module:
        return f"got {path!r}; a dotted path to a class is expected"
    try:
        target = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        return f"cannot import {path}: {error}"
    if not isinstance(target, type) or not dataclasses.is_dataclass(getattr(target, "Config", 0)):
        return f"{path} is not a class with a `Config` dataclass"
    return target


@functools.cache
def _tree(
    targets: tuple[tuple[str, type[Any]], ...], plain: tuple[tuple[str, Any], ...]
) -> TypeAdapter[Any]:
    """The checker of a whole tree whose parts are of these classes."""
    fields = {**dict(plain), **_configs(targets)}
    record = dataclasses.make_dataclass(
        "Tree",
        list(fields.items()),
        kw_only=True,
        frozen=True,
        # Sections are plain dataclasses without a pydantic setting, so they inherit this one.
        namespace={"__pydantic_config__": _STRICT},
    )
    return TypeAdapter(record)


def _configs(targets: typing.Iterable[tuple[str, type[Any]]]) -> dict[str, Any]:
    return {group: target.Config for group, target in targets}


def _known_fields(types: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, list[str]]]:
    """Path of each record of the tree, and the keys it knows."""
    yield path, list(types)
    for name, kind in types.items():
        if dataclasses.is_dataclass(kind):
            inner = f"{path}.{name}" if path else name
            assert isinstance(kind, type)
            yield from _known_fields(typing.get_type_hints(kind, include_extras=True), inner)
