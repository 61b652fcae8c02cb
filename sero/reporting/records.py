"""The files of a run directory as typed records; what is missing reads as absent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter

from sero.errors import UserError
from sero.reporting.entries import (
    AssignmentLine,
    Episode,
    Prediction,
    Record,
    Result,
    Status,
    checked,
)
from sero.storage import read_json, read_lines

MARKS = ("status.json", "config.yaml", "manifest.json", "result.json")
"""A directory with one of these is a run directory."""

SEARCH_DEPTH = 6
"""Levels below a given directory that are searched for run directories."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """A run directory. The small files are read; the long ones are streamed when asked for."""

    directory: Path
    status: Status
    result: Result | None
    config: Mapping[str, Any]
    manifest: Mapping[str, Any]

    @property
    def method(self) -> str:
        return self.result.method if self.result else self._chosen("method", parent=1)

    @property
    def benchmark(self) -> str:
        return self.result.benchmark if self.result else self._chosen("benchmark", parent=0)

    @property
    def variant(self) -> str:
        return (self.result.variant if self.result else "") or self._parent(2)

    @property
    def experiment(self) -> str:
        return str(self.config.get("experiment") or self._parent(3))

    @property
    def seed(self) -> str:
        """The run's seed as text; a question mark when nothing tells."""
        if self.result:
            return str(self.result.seed)
        return str(self.config.get("seed", self.directory.name.removeprefix("seed_") or "?"))

    @property
    def backbone(self) -> str:
        if self.result and self.result.backbone:
            return self.result.backbone
        found = self.manifest.get("backbone")
        if isinstance(found, Mapping):
            found = found.get("id")
        return str(found or _name_in(self.config, "backbone") or "?")

    @property
    def backbone_setting(self) -> str:
        """The models with what else of their settings moves answers: revision, template arguments.

        Runs that differ in it are not compared. Of a simulated backbone the name says it all. What
        candidates add to their requests belongs to the row and not to the setting.
        """
        own = self.manifest.get("backbone")
        parts = [self._setting(self.backbone, own, _mapping(self.config, "backbone"))]
        sections, found = (_mapping(tree, "backbones") for tree in (self.config, self.manifest))
        for name in sorted({**sections, **found}):
            if "#" not in name:
                section = _mapping(sections, name)
                model = _mapping(found, name).get("id") or section.get("name") or "?"
                setting = self._setting(str(model), found.get(name), section)
                parts.append(f"{name}: {setting}")
        return "; ".join(parts)

    def _setting(self, model: str, found: object, cfg: Mapping[str, Any]) -> str:
        """One backbone's, from its entry of the manifest and its section of the configuration."""
        if self.simulated:
            return model
        revision = found.get("revision") if isinstance(found, Mapping) else cfg.get("revision")
        parts = [f"revision {_short(str(revision))}"] if revision else []
        for name in ("chat_template_kwargs", "extra_body"):
            given = _mapping(cfg, name)
            parts += [f"{key}={json.dumps(given[key], default=str)}" for key in sorted(given)]
        style = cfg.get("schema_style") or "json_schema"
        parts += [f"schema_style={style}"] if style != "json_schema" else []
        return f"{model} ({', '.join(parts)})" if parts else model

    @property
    def simulated(self) -> bool:
        """Scores come from a simulated world; an unfinished run says so in its manifest."""
        found = self.result.simulated if self.result else self.manifest.get("simulated", False)
        return bool(found)

    @property
    def played_by(self) -> str:
        """`assign.by`: who decided who plays the roles; empty where every card stands as it is."""
        section = self.config.get("assign")
        found = section.get("by") if isinstance(section, Mapping) else None
        return str(found or "")

    @property
    def note(self) -> str:
        """What the backbones' configurations say a reader must know of the scores; often empty."""
        further = _mapping(self.config, "backbones")
        sections = [_mapping(self.config, "backbone"), *(_mapping(further, n) for n in further)]
        notes = dict.fromkeys(str(section.get("note") or "") for section in sections)
        return " ".join(note for note in notes if note)

    def episodes(self) -> Iterator[Episode]:
        return self._records("episodes.jsonl", Episode)

    def predictions(self) -> Iterator[Prediction]:
        return self._records("predictions.jsonl", Prediction)

    def assignments(self) -> Iterator[AssignmentLine]:
        return self._records("assignments.jsonl", AssignmentLine)

    def metrics(self) -> Iterator[Mapping[str, Any]]:
        return self._mappings("metrics.jsonl")

    def traces(self) -> Iterator[Mapping[str, Any]]:
        """Rollouts and editor calls as plain data, one at a time."""
        return self._mappings("traces.jsonl")

    def _mappings(self, name: str) -> Iterator[Mapping[str, Any]]:
        path = self.directory / name
        if not path.exists():
            return
        try:
            for number, raw in enumerate(read_lines(path), 1):
                if not isinstance(raw, Mapping):
                    raise UserError(f"{path}:{number}: got {type(raw).__name__}; a JSON object")
                yield raw
        except (ValueError, RecursionError) as error:
            raise UserError(f"{path}: damaged: {error}") from error

    def _records(self, name: str, kind: type[Record]) -> Iterator[Record]:
        adapter: TypeAdapter[Record] = TypeAdapter(kind)
        for number, raw in enumerate(self._mappings(name), 1):
            yield checked(raw, adapter, f"{self.directory / name}:{number}")

    def _chosen(self, section: str, *, parent: int) -> str:
        return _name_in(self.config, section) or self._parent(parent)

    def _parent(self, level: int) -> str:
        """Part of `<experiment>/<variant>/<method>/<benchmark>/seed_<seed>`, from its end."""
        parents = self.directory.resolve().parents
        return parents[level].name if level < len(parents) else ""


def read_run(directory: Path) -> RunRecord:
    """Open a run directory.

    Raises:
        UserError: not a run directory, or a damaged file in it.
    """
    if not is_run(directory):
        raise UserError(_not_a_run(directory))
    status = _small(directory / "status.json") or {"state": "unknown"}
    result = _small(directory / "result.json")
    return RunRecord(
        directory=directory,
        status=checked(status, TypeAdapter(Status), str(directory / "status.json")),
        result=checked(result, TypeAdapter(Result), str(directory / "result.json"))
        if result
        else None,
        config=_small(directory / "config.yaml"),
        manifest=_small(directory / "manifest.json"),
    )


def is_run(directory: Path) -> bool:
    return any((directory / name).is_file() for name in MARKS)


def find_runs(path: Path) -> tuple[Path, ...]:
    """The run directory itself, or those below it, in order of their paths.

    Raises:
        UserError: there is none.
    """
    if is_run(path):
        return (path,)
    found = tuple(_below(path, SEARCH_DEPTH)) if path.is_dir() else ()
    if not found:
        raise UserError(_not_a_run(path))
    return found


def _below(path: Path, depth: int) -> Iterator[Path]:
    for child in sorted(path.iterdir()):
        if not child.is_dir() or child.name.startswith("."):
            continue
        if is_run(child):
            yield child
        elif depth > 1:
            yield from _below(child, depth - 1)


def _not_a_run(path: Path) -> str:
    if not path.exists():
        return f"{path}: no such directory; name a run directory, <runs>/…/seed_<seed>"
    if not path.is_dir():
        return f"{path}: a file; name a run directory, <runs>/…/seed_<seed>"
    inside = list(_below(path, SEARCH_DEPTH))
    hint = f"; below it there is {inside[0]}" if inside else ""
    return f"{path}: not a run directory, it holds none of {', '.join(MARKS)}{hint}"


def _small(path: Path) -> Mapping[str, Any]:
    """A JSON or YAML file of a run as a mapping; empty if there is no such file."""
    if not path.is_file():
        return {}
    try:
        if path.suffix == ".json":
            raw = read_json(path)
        else:
            raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise UserError(f"{path}: damaged: {error}") from error
    if not isinstance(raw, Mapping):
        raise UserError(f"{path}: got {type(raw).__name__}; it should hold a mapping")
    return raw


def _short(revision: str) -> str:
    """A hash by its first twelve digits."""
    is_hash = len(revision) >= 40 and all(c in "0123456789abcdef" for c in revision)
    return revision[:12] if is_hash else revision


def _mapping(tree: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = tree.get(key)
    return found if isinstance(found, Mapping) else {}


def _name_in(config: Mapping[str, Any], section: str) -> str:
    found = config.get(section)
    if isinstance(found, Mapping):
        found = found.get("name")
    return str(found) if found else ""
