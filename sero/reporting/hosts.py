"""What is run apart from its names: whether two rows are assignments of one host (method.md §5).

`method=mad assign.by=random` and a method file of another name that says the same are one host.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from sero.assignment.players import META_DEBATE, ORACLE, RANDOM
from sero.assignment.rules import AssignMode
from sero.reporting.records import RunRecord
from sero.volatile import comparable

ASSIGN = "assign"
NAMES = ("experiment", "row")
BACKBONES = ("backbone", "backbones")
APART = ("seed", "paths", "logger", "progress", "budget", "evaluate")
"""Sections that tell no two hosts of a block apart, and neither do `BACKBONES`."""

SEED = "seed"
SEEDED = "world"
"""Key that follows the seed unless it is given: of the simulated benchmark, backbone, encoder."""


def host_of(run: RunRecord) -> str:
    """Digest of the settings without names, worlds and the section `assign`.

    Equal for the seeds of a row, and for rows in which other candidates play the same roles.
    """
    kept = {
        key: _without(value, SEEDED)
        for key, value in run.config.items()
        if key not in (ASSIGN, *NAMES, *APART, *BACKBONES)
    }
    kept["method"] = _without(kept.get("method"), "name")
    return _digest(kept)


def rules_of(run: RunRecord) -> str:
    """Digest of the section `assign` apart from `by`: the candidates, and how they are chosen."""
    return _digest(_without(run.config.get(ASSIGN), "by"))


def roster_of(run: RunRecord) -> str:
    """Digest of who may play: with the host's, equal for rows whose candidates compare."""
    return _digest(_assign(run).get("roster"))


def may_reuse(run: RunRecord) -> bool:
    """One candidate may play several roles before everybody has one."""
    return _assign(run).get("mode") == AssignMode.ARGMAX


def answers_of(run: RunRecord) -> str:
    """Digest of all settings that a run's answers follow from, its seed left out.

    A world that is the seed's is left out with it; one that is given counts. Equal for runs that
    differ only in how they are done and in what their decider never reads of `assign`.
    """
    seed = run.config.get(SEED)
    kept = {
        key: _seedless(value, seed)
        for key, value in comparable(run.config).items()
        if key not in (SEED, ASSIGN)
    }
    read = {key: value for key, value in _assign(run).items() if is_read(key, run.played_by)}
    if "mode" in read and run.played_by != META_DEBATE:
        read["mode"] = may_reuse(run)
    names = (run.experiment, run.method, run.benchmark, run.played_by)
    return _digest([names, kept, read])


def is_read(key: str, by: str) -> bool:
    """Whether a decider reads a key of `assign` beside its own name.

    Of the rule a random assignment and the oracle's ask whether one candidate may play several
    roles; a candidate who plays every role asks nothing.
    """
    if by == META_DEBATE:
        return key != "by"
    return key == "roster" or (key == "mode" and by in (RANDOM, ORACLE))


def _assign(run: RunRecord) -> Mapping[str, Any]:
    section = run.config.get(ASSIGN)
    return section if isinstance(section, Mapping) else {}


def _seedless(value: object, seed: object) -> object:
    """A section whose worlds, where they are the seed's, say so in the place of the number."""
    if not isinstance(value, Mapping):
        return value
    return {
        key: SEED if key == SEEDED and inner == seed else _seedless(inner, seed)
        for key, inner in value.items()
    }


def _without(section: object, name: str) -> object:
    if not isinstance(section, Mapping):
        return section
    return {key: value for key, value in section.items() if key != name}


def _digest(settings: Any) -> str:
    text = json.dumps(settings, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
