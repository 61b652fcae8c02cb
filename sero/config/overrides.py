"""The check of the command line before Hydra runs: every fault of every override, together."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hydra.core.object_type import ObjectType
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from sero.config.composing import Composed, Composer
from sero.config.named_backbones import SECTION
from sero.config.parse import Check, checked
from sero.errors import ConfigError
from sero.validation import did_you_mean

WHERE = "conf/ and the command line"
MAX_CHECKED = 256
"""Values of one sweep that are checked before it starts; the jobs check the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A command line without a fault.

    Attributes:
        first: the composition of the first job.
        multirun: the command line or the experiment asks for a sweep.
    """

    first: Composed
    multirun: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    """One override: its key without a prefix, and one override text per value it takes."""

    text: str
    key: str
    kind: str
    group: bool
    values: tuple[str, ...]
    sweeps: bool


def check_overrides(
    composer: Composer, overrides: Sequence[str], check: Check = checked
) -> Checked:
    """Check every override's key, every choice and every value of the run or sweep.

    Keys are checked against the tree composed from the chosen experiment and groups, values by
    `check`; the values of a sweep one at a time, beside the first value of the others.

    Raises:
        ConfigError: all faults.
    """
    faults: list[str] = []
    given = [item for text in overrides if (item := _parse(composer, text, faults))]
    hydras = [item for item in given if _hydra_fits(composer, given, item, faults)]
    if not any(item.key == "hydra.searchpath" for item in hydras):  # Hydra alone knows its files
        given = [item for item in given if _choices_exist(composer, item, faults)]
    items = [*_own_sweep(composer, hydras, given, faults), *given]
    fixed = [*hydras, *(item for item in items if item.group)]
    base = _composed(composer, fixed, faults)

    known = OmegaConf.to_container(base.config, resolve=False)
    assert isinstance(known, dict)
    values = [item for item in items if not item.group and item.kind != "hydra"]
    values = [item for item in values if item.kind != "set" or _known(item.key, known, faults)]
    values = [item for item in values if _composes(composer, fixed, item, faults)]

    everything = [*fixed, *values]
    first = _composed(composer, everything, faults)
    faults += check(first.config, first.choices)[1]
    faults += _others(composer, first, everything, check)
    faults += _hidden_by_a_sweep(composer, fixed, values)
    if faults:
        raise ConfigError(WHERE, list(dict.fromkeys(faults)))
    return Checked(first=first, multirun=first.multirun or any(item.sweeps for item in items))


def _others(composer: Composer, first: Composed, items: Sequence[_Item], check: Check) -> list[str]:
    """Faults of every further value of a sweep, each beside the first values of the others."""
    faults: list[str] = []
    for changed in items:
        for value in changed.values[1:]:
            one = [value if item is changed else item.values[0] for item in items]
            try:
                composed = composer.compose(one)
            except (HydraException, OmegaConfBaseException) as error:
                faults.append(f"{value}: {_first_line(error)}")
            else:
                faults += check(composed.config, composed.choices)[1]
    return faults


def _parse(composer: Composer, text: str, faults: list[str]) -> _Item | None:
    """One override, or None and a fault."""
    try:
        override = _read(composer, text)
        values = tuple(itertools.islice(_each(override), MAX_CHECKED))
    except HydraException as error:
        faults.append(
            f"{text}: cannot be read ({_first_line(error)}); write key=value, and "
            "'key=\"value\"' for a value with = or , in it"
        )
        return None
    key = override.key_or_group
    group = is_group(composer, key.partition("@")[0])
    if group and override.is_add():
        faults.append(f"{key}: has a choice already; write {text.lstrip('+')}")
        return None
    if key == "experiment" and override.is_sweep_override():
        faults.append(f"{key}: got {text!r}; one experiment at a time, it carries its own sweep")
        return None
    kind = "set"
    if override.is_hydra_override() or key == "hydra":
        kind = "hydra"
    elif override.is_delete():
        kind = "delete"
    elif override.is_add() or override.is_force_add():
        kind = "add"
    return _Item(
        text=text,
        key=key,
        kind=kind,
        group=group and kind == "set",
        values=values,
        sweeps=override.is_sweep_override(),
    )


def _each(override: Override) -> Iterator[str]:
    """The override once per value of its sweep; itself where it has one value."""
    if not override.is_sweep_override():
        assert override.input_line is not None
        yield override.input_line
        return
    if not override.is_discrete_sweep():
        raise HydraException("a sweep lists its values or gives a range")
    key = override.get_key_element()
    count = 0
    for value in override.sweep_string_iterator():
        count += 1
        yield f"{key}={value}"
    if count == 0:
        raise HydraException("the sweep has no values")


def _own_sweep(
    composer: Composer, hydras: Sequence[_Item], given: Sequence[_Item], faults: list[str]
) -> list[_Item]:
    """What the chosen experiment sweeps by itself, less the keys the command line sets."""
    chosen = [item for item in given if item.key == "experiment" and item.group]
    sweep = _composed(composer, [*hydras, *chosen], faults).sweep
    keys = {item.key for item in given}
    parsed = (_parse(composer, f"{k}={v}", faults) for k, v in sweep.items() if k not in keys)
    return [item for item in parsed if item]


def _composed(composer: Composer, items: Sequence[_Item], faults: list[str]) -> Composed:
    """The composition under the items' first values; what is wrong with it ends the check."""
    try:
        return composer.compose(_firsts(items))
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(WHERE, [*faults, _first_line(error)]) from error


def _firsts(items: Iterable[_Item]) -> list[str]:
    return [item.values[0] for item in items]


def _hidden_by_a_sweep(
    composer: Composer, fixed: Sequence[_Item], values: Sequence[_Item]
) -> list[str]:
    """Settings of keys that only a swept choice brings.

    Hydra composes a sweep once without the swept overrides; what is set there must exist there.
    """
    if not any(item.sweeps for item in fixed):
        return []
    tree = composer.compose(_firsts(item for item in fixed if not item.sweeps)).config
    known = OmegaConf.to_container(tree, resolve=False)
    assert isinstance(known, dict)
    paths = set(_paths(known))
    return [
        f"{item.key}: only a swept choice has this key; write it as a sweep of one value, "
        f"{item.key}=choice({item.text.partition('=')[2]})"
        for item in values
        if item.kind == "set" and not item.sweeps and item.key not in paths
    ]


def _read(composer: Composer, text: str) -> Override:
    return OverridesParser.create(config_loader=composer.loader).parse_overrides([text])[0]


def _composes(composer: Composer, fixed: Sequence[_Item], item: _Item, faults: list[str]) -> bool:
    """Whether Hydra takes the override; a known key, or a choice that exists, it always does.

    Keys of a further backbone's file are known here and not to Hydra.
    """
    if item.kind == "set" and not item.key.startswith(f"{SECTION}."):
        return True
    try:
        composer.compose(_firsts([*fixed, item]))
    except (HydraException, OmegaConfBaseException) as error:
        hint = f"; write +{item.text}" if item.kind == "set" else ""
        faults.append(f"{item.text}: {_first_line(error)}{hint}")
        return False
    return True


def _hydra_fits(composer: Composer, given: Sequence[_Item], item: _Item, faults: list[str]) -> bool:
    """Whether Hydra takes an override of its own, alone or beside what may have made its key.

    `hydra.launcher.n_jobs` exists only where a launcher was chosen, by the experiment or beside it.
    """
    if item.kind != "hydra":
        return False
    beside = [o for o in given if o is not item and (o.kind == "hydra" or o.key == "experiment")]
    found: list[str] = []
    fits = any(_composes(composer, fixed, item, found) for fixed in ([], beside))
    faults += [] if fits else found[:1]
    return fits


def is_group(composer: Composer, key: str) -> bool:
    """Whether a key of an override chooses a file."""
    return composer.loader.repository.group_exists(key)


def _options(composer: Composer, group: str) -> list[str]:
    """Every file of a group, those of its folders included, but for files others build on."""
    options = [
        name
        for name in composer.loader.get_group_options(group, ObjectType.CONFIG)
        if not name.startswith("_")
    ]
    for folder in composer.loader.list_groups(group):
        options += [f"{folder}/{name}" for name in _options(composer, f"{group}/{folder}")]
    return options


def _choices_exist(composer: Composer, item: _Item, faults: list[str]) -> bool:
    """Whether every choice of a group's override is one of its files; true of other overrides."""
    if not item.group or "@" in item.key:
        return True
    options = _options(composer, item.key)
    wrong = []
    for value in item.values:
        choice = value.partition("=")[2].strip("'\"")
        if choice not in options:
            wrong.append(choice)
            faults.append(
                f"{item.key}: no choice {choice!r}; there are {', '.join(sorted(options))}"
                f"{did_you_mean(choice, options)}"
            )
    return not wrong


def _known(key: str, tree: Mapping[Any, Any], faults: list[str]) -> bool:
    """Whether the tree has the key; else a fault with the closest key it has."""
    paths = list(_paths(tree))
    if key in paths:
        return True
    if key.startswith(f"{SECTION}."):
        faults.append(f"{key}: unknown key; write +{key}=..., which adds it")
        return False
    name = key.rpartition(".")[2]
    same_name = [path for path in paths if path.rpartition(".")[2] == name]
    close = same_name or difflib.get_close_matches(key, paths, n=1, cutoff=0.6)
    if close:
        faults.append(f"{key}: unknown key; did you mean '{close[0]}'?")
    else:
        faults.append(f"{key}: unknown key; an open mapping takes a new one as +{key}=...")
    return False


def _paths(tree: Mapping[Any, Any], path: str = "") -> Iterator[str]:
    for key, value in tree.items():
        yield f"{path}{key}"
        if isinstance(value, Mapping):
            yield from _paths(value, f"{path}{key}.")


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0].rstrip(".")
