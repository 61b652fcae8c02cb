"""Who played which role over a run, from its `assignments.jsonl`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sero.reporting.doubts import EVAL, Doubts, doubts_in
from sero.reporting.entries import AssignmentLine

SHOWN = 200
"""Most tasks that are shown one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRow:
    """A role on one task: its candidate, and every candidate's mean, None without one."""

    role: str
    player: str
    means: tuple[float | None, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Assigned:
    """One task: who played, by which rule, and what was noticed.

    Attributes:
        columns: candidates behind `means`; empty where nobody was scored.
        notes: warnings, and whose scores for themselves were left out.
    """

    item: str
    where: str
    rule: str
    columns: tuple[str, ...]
    rows: tuple[ScoreRow, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignments:
    """A run's assignments: of its evaluation, or of its training while there is none.

    Attributes:
        evaluated: they are those of the evaluation.
        candidates: in order of appearance.
        counts: role to how often each candidate played it, in the order of `candidates`.
        rules: each rule with the tasks it decided.
        warnings: each warning with the tasks that had it, the most frequent first.
        tasks: the first `SHOWN` one by one.
        n: lines counted.
        none: lines among them without an assignment.
        training: lines of training rollouts.
        doubts: tasks of the evaluation on which scores or criteria were missing.
    """

    evaluated: bool = False
    candidates: tuple[str, ...] = ()
    counts: tuple[tuple[str, tuple[int, ...]], ...] = ()
    rules: tuple[tuple[str, int], ...] = ()
    warnings: tuple[tuple[str, int], ...] = ()
    tasks: tuple[Assigned, ...] = ()
    n: int = 0
    none: int = 0
    training: int = 0
    doubts: Doubts = field(default_factory=Doubts)


def gather_assignments(lines: Iterable[AssignmentLine]) -> Assignments:
    """Read the lines once; training's come first and are only counted where others follow."""
    trained, evaluated = _Sum(), _Sum()
    for line in lines:
        (evaluated if line.phase == EVAL else trained).add(line)
    found = evaluated if evaluated.n else trained
    return found.result(evaluated=found is evaluated, training=trained.n)


class _Sum:
    """Running counts over lines."""

    def __init__(self) -> None:
        self.n = self.none = 0
        self._doubts = Doubts()
        self._played: dict[str, Counter[str]] = {}
        self._candidates: dict[str, None] = {}
        self._rules: Counter[str] = Counter()
        self._warnings: Counter[str] = Counter()
        self._tasks: list[Assigned] = []

    def add(self, line: AssignmentLine) -> None:
        self.n += 1
        if line.assignment is None:
            self.none += 1
            return
        self._candidates.update(dict.fromkeys(_names(line)))
        for role, player in line.assignment.items():
            self._candidates.setdefault(player)
            self._played.setdefault(role, Counter())[player] += 1
        self._doubts += doubts_in(line)
        self._rules[line.rule] += 1
        self._warnings.update(line.warnings)
        if len(self._tasks) < SHOWN:
            self._tasks.append(_assigned(line, line.assignment))

    def result(self, *, evaluated: bool, training: int) -> Assignments:
        candidates = tuple(self._candidates)
        counts = tuple((r, tuple(n[one] for one in candidates)) for r, n in self._played.items())
        return Assignments(
            evaluated=evaluated,
            candidates=candidates,
            counts=counts,
            rules=tuple(self._rules.most_common()),
            warnings=tuple(self._warnings.most_common()),
            tasks=tuple(self._tasks),
            n=self.n,
            none=self.none,
            training=training,
            doubts=self._doubts if evaluated else Doubts(),
        )


def _names(line: AssignmentLine) -> tuple[str, ...]:
    return tuple(str(candidate.get("name", "?")) for candidate in line.candidates)


def _assigned(line: AssignmentLine, players: Mapping[str, str]) -> Assigned:
    means = dict(zip(line.roles, line.means, strict=False))
    reasons = dict(zip(line.roles, line.reasons, strict=False))
    notes = list(line.warnings)
    if line.self_excluded:
        notes.append(f"scores for oneself left out: {', '.join(line.self_excluded)}")
    return Assigned(
        item=line.item,
        where="" if line.episode is None else f"episode {line.episode}, {line.phase}",
        rule=line.rule,
        columns=_names(line) if means else (),
        rows=tuple(
            ScoreRow(
                role=role,
                player=player,
                means=means.get(role, ()),
                reason=reasons.get(role, ""),
            )
            for role, player in players.items()
        ),
        notes=tuple(notes),
    )
