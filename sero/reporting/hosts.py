"""What is run apart from its names: whether two rows are assignments of one host (method.md §5).

`method=mad assign.by=random` and a method file of another name that says the same are one host.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from sero.reporting.records import RunRecord

ASSIGN = "assign"
NAMES = ("experiment", "row")
APART = ("seed", "paths", "logger", "progress", "budget", "evaluate", "backbone", "backbones")
"""Sections that tell no two rows of a block apart: its setting names the backbone."""

SEEDED = "world"
"""Key of any section that follows the seed: the simulated benchmark, backbone and encoder."""


def host_of(run: RunRecord) -> str:
    """Digest of the settings without names, worlds and the section `assign`.

    Equal for the seeds of a row, and for rows in which other candidates play the same roles.
    """
    kept = {
        key: _without(value, SEEDED)
        for key, value in run.config.items()
        if key not in (ASSIGN, *NAMES, *APART)
    }
    kept["method"] = _without(kept.get("method"), "name")
    return _digest(kept)


def rules_of(run: RunRecord) -> str:
    """Digest of the section `assign` apart from `by`: the candidates, and how they are chosen."""
    return _digest(_without(run.config.get(ASSIGN), "by"))


def _without(section: object, name: str) -> object:
    if not isinstance(section, Mapping):
        return section
    return {key: value for key, value in section.items() if key != name}


def _digest(settings: Any) -> str:
    text = json.dumps(settings, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
