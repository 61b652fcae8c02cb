"""A run directory: the names of its files, and what its content says about the run in it.

The same command resumes an unfinished run and leaves a finished one alone; another configuration
is refused. Nothing here asks whether a process is alive: whoever holds the lock of
`sero.running.lock` may read a status `running` as left behind by a process that died.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import yaml

from sero.errors import RunConflict
from sero.running.saved import dump_yaml
from sero.storage import naming_the_directory, read_json, write_atomic, write_json

log = logging.getLogger(__name__)

PlainData = dict[str, Any]
Comparable = Callable[[PlainData], PlainData]
DescribeChanges = Callable[[PlainData, PlainData], list[str]]


class RunStatus(StrEnum):
    """`state` in status.json."""

    RUNNING = "running"
    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


class RunState(StrEnum):
    """What there is to do in a run directory."""

    FRESH = "fresh"
    UNFINISHED = "unfinished"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The content of status.json.

    Attributes:
        reason: why the run stopped, for `interrupted` and `failed`.
        phase: `warmup`, `main`, `eval`, ... where it stood.
        episode: last whole training episode, 1-based.
    """

    state: RunStatus
    reason: str | None
    phase: str | None
    episode: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The answer of `RunDirectory.open`.

    Attributes:
        state: fresh, unfinished or finished.
        failures: held-out items of a finished run that failed and may be tried again; else 0.
        status: what the process before left behind, None if nothing.
    """

    state: RunState
    failures: int
    status: Status | None


@dataclass(frozen=True, slots=True)
class RunDirectory:
    """The files of one run (product contract, section 4), and their state."""

    path: Path

    @property
    def config(self) -> Path:
        return self.path / "config.yaml"

    @property
    def manifest(self) -> Path:
        return self.path / "manifest.json"

    @property
    def status(self) -> Path:
        return self.path / "status.json"

    @property
    def metrics(self) -> Path:
        return self.path / "metrics.jsonl"

    @property
    def episodes(self) -> Path:
        return self.path / "episodes.jsonl"

    @property
    def traces(self) -> Path:
        return self.path / "traces.jsonl"

    @property
    def predictions(self) -> Path:
        return self.path / "predictions.jsonl"

    @property
    def result(self) -> Path:
        return self.path / "result.json"

    @property
    def assignments(self) -> Path:
        return self.path / "assignments.jsonl"

    @property
    def report(self) -> Path:
        return self.path / "report.html"

    @property
    def checkpoint(self) -> Path:
        return self.path / "checkpoint" / "last.pt"

    @property
    def pool_seed(self) -> Path:
        return self.path / "pool" / "seed.yaml"

    @property
    def pool_final(self) -> Path:
        return self.path / "pool" / "final.yaml"

    def pool_episode(self, episode: int) -> Path:
        """The pool after the commit of a 1-based episode."""
        return self.path / "pool" / f"episode_{episode:04d}.yaml"

    def open(
        self, resolved: PlainData, comparable: Comparable, describe_changes: DescribeChanges
    ) -> Opened:
        """Decide what there is to do, and write config.yaml, always the first file of a run.

        Call it under the run's lock. A value that is not comparable (a budget, a server's
        address) may change in an unfinished run; config.yaml then holds the new one.

        Args:
            resolved: the resolved configuration, plain data.
            comparable: a configuration without the values that cannot change a result.
            describe_changes: one `key: old -> new` line per difference of two of those.

        Raises:
            RunConflict: the directory holds a run of another configuration, a config.yaml that
                cannot be read, or files of something that is no run.
            StorageError: the disk refused.
        """
        with naming_the_directory(self.config):
            self.path.mkdir(parents=True, exist_ok=True)
            self._sweep_temporaries()
        new = dump_yaml(resolved)
        if not self.config.exists():
            strangers = sorted(p.name for p in self.path.iterdir() if p.name[0] != ".")
            if strangers:
                raise RunConflict(
                    f"{self.path} holds {', '.join(strangers[:5])} but no config.yaml, so it is "
                    "not a run of Sero. Directories are never overwritten: move it away, or "
                    "choose another paths.runs."
                )
            write_atomic(self.config, new)
            return Opened(state=RunState.FRESH, failures=0, status=None)

        old = self._read_config()
        # Through YAML once, so that a tuple equals the list that was read back.
        changes = describe_changes(comparable(old), comparable(yaml.safe_load(new)))
        if changes:
            lines = "\n".join(f"  {line}" for line in changes)
            raise RunConflict(
                f"{self.path} holds a run with another configuration:\n{lines}\n"
                "Directories are never overwritten: give the old values to go on with that run, "
                "or start a new one with another paths.runs, or move the directory away."
            )
        status = self.read_status()
        failures = self._failures()
        if status is not None and status.state is RunStatus.COMPLETED and failures is not None:
            return Opened(state=RunState.FINISHED, failures=failures, status=status)
        if dump_yaml(old) != new:
            write_atomic(self.config, new)
        return Opened(state=RunState.UNFINISHED, failures=0, status=status)

    def write_status(
        self,
        state: RunStatus,
        *,
        reason: str | None = None,
        phase: str | None = None,
        episode: int | None = None,
    ) -> None:
        """Replace status.json.

        Raises:
            StorageError: the disk refused.
        """
        record = {"state": state.value, "reason": reason, "phase": phase, "episode": episode}
        write_json(self.status, record)

    def read_status(self) -> Status | None:
        """status.json, or None when there is none or it cannot be read.

        An unreadable one counts as none: resuming a run is harmless at any point of its life.
        """
        try:
            raw = read_json(self.status)
            return Status(
                state=RunStatus(raw["state"]),
                reason=raw["reason"],
                phase=raw["phase"],
                episode=raw["episode"],
            )
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            log.warning("%s: not a status file; taken as an unfinished run", self.status)
            return None

    def _failures(self) -> int | None:
        """`failures` of result.json; None when there is none or it cannot be read."""
        try:
            return int(read_json(self.result)["failures"])
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            log.warning("%s: not a result file; the run is taken up again", self.result)
            return None

    def _read_config(self) -> PlainData:
        try:
            raw = yaml.safe_load(self.config.read_text(encoding="utf-8"))
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise RunConflict(f"{self.config}: not readable as YAML: {error}") from None
        if not isinstance(raw, dict):
            raise RunConflict(
                f"{self.config}: got {type(raw).__name__}; a configuration is a mapping. "
                "Restore the file or move the directory away."
            )
        return raw

    def _sweep_temporaries(self) -> None:
        """Remove what a killed atomic write left; under the lock nobody is writing one."""
        for folder in (self.path, self.path / "pool", self.path / "checkpoint"):
            for leftover in folder.glob(".*.tmp"):
                leftover.unlink(missing_ok=True)
