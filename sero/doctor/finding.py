"""What a check says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Level(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The outcome of one check.

    Attributes:
        name: of the check; the same in every run.
        level: `warn` where a run works but a figure may suffer, `fail` where it does not work.
        said: what was found, in one line, without secrets.
        mend: the command or override that mends it; empty for what is ok or skipped.
        subject: the part it is about, `backbone=qwen3_8b`; empty for the machine itself.
        details: further lines, such as a table.
        figures: what was measured, as plain data.
    """

    name: str
    level: Level
    said: str
    mend: str = ""
    subject: str = ""
    details: tuple[str, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)


def ok(name: str, said: str, **figures: Any) -> Finding:
    return Finding(name=name, level=Level.OK, said=said, figures=figures)


def warn(name: str, said: str, mend: str, **figures: Any) -> Finding:
    return Finding(name=name, level=Level.WARN, said=said, mend=mend, figures=figures)


def fail(name: str, said: str, mend: str, **figures: Any) -> Finding:
    return Finding(name=name, level=Level.FAIL, said=said, mend=mend, figures=figures)


def skipped(name: str, why: str) -> Finding:
    return Finding(name=name, level=Level.SKIPPED, said=why)
