"""One run as the figures a results table needs, or the reason why it has none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sero.errors import UserError
from sero.reporting.diagnostics import harmful_roles
from sero.reporting.doubts import Doubts, doubts_of
from sero.reporting.entries import Spending
from sero.reporting.hosts import answers_of, host_of, is_read, may_reuse, roster_of, rules_of
from sero.reporting.pools import load_state
from sero.reporting.records import RunRecord
from sero.reporting.rows import Scored, read_row

USABLE = ("completed", "unknown")
"""States whose result.json counts; `unknown` is a directory without a status.json."""

WORLD_KEYS = ("scenario", "dim", "noise", "n_train", "n_heldout")
"""Settings of a simulated benchmark that make its scores another quantity."""

_HASH = re.compile(r"-?[0-9a-f]{6}\Z")
_ROW = "row-"
_BACKBONE = "backbone"
_ASSIGN = "assign."
_BY = f"{_ASSIGN}by-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What runs of one block share; runs that differ in any of it are not compared.

    Attributes:
        backbone: the model, with its revision and what else moves its answers.
        data: sha256 of the data; empty in simulation, where every seed may be its own world.
        world: `WORLD_KEYS` as text; empty for real benchmarks.
    """

    benchmark: str
    backbone: str
    scorer: str
    simulated: bool
    data: str
    world: str


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class RowKey:
    """What the seeds of one row share.

    Attributes:
        name: the choice of the group `row`, else the method.
        extra: overrides beyond the row, the backbone and `by`, as the variant's slug says them.
        by: `assign.by`, empty where every card stands as it is.
        host: what is run apart from its names, as a digest; empty without `by`.
        rules: who may play and how that is decided, likewise. Rows that differ in `by` and in
            their names alone have both in common, whatever of it the slugs have room for.
        roster: who may play, likewise.
        reuse: one candidate may play several roles.
        answers: all that the answers follow from, likewise: rows that have it in common in all of
            their runs are one.
    """

    experiment: str
    method: str
    variant: str
    name: str
    extra: str
    by: str = ""
    host: str = field(default="", compare=False)
    rules: str = field(default="", compare=False)
    roster: str = field(default="", compare=False)
    reuse: bool = field(default=False, compare=False)
    answers: str = field(default="", compare=False)

    @property
    def title(self) -> str:
        """The name with who plays the roles."""
        return with_players(self.name, self.by, self.variant)

    @property
    def host_title(self) -> str:
        """The name without who plays: one that says its own players loses them."""
        if not self.by or self.title != self.name:
            return self.name
        return f"_{self.name}_".replace(f"_{self.by}_", "_", 1).strip("_") or self.name

    def without_unread(self, extra: str) -> str:
        """Overrides but for those of `assign` that whoever decides here never reads."""
        return "+".join(
            word
            for word in extra.split("+")
            if not word.startswith(_ASSIGN)
            or is_read(word.removeprefix(_ASSIGN).partition("-")[0], self.by)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFigures:
    """A finished run.

    Attributes:
        data: sha256 of its data, the world included; empty when nothing tells.
        scored: item id to (group, score), failed items left out; at least one.
        usd, usd_sent: price of the logical tokens, and of those that were sent; None where the
            price is not known.
        training, evaluation: logical cost of the two parts; None in an older result.
        commits: edits committed, None without training.
        candidates: edits whose candidate pool was run, None without training.
        roles: size of the pool that was evaluated, None if it was not saved.
        harmful: harmful roles left in it; None outside the simulated world.
        lost_aggregator: it has no aggregator left; None if it was not saved.
        doubts: tasks on which Meta-Debate lacked scores or criteria.
    """

    directory: Path
    setting: Setting
    row: RowKey
    seed: str
    data: str
    scored: Scored
    failures: int
    calls: int
    tokens: int
    usd: float | None
    usd_sent: float | None
    training: Spending | None
    evaluation: Spending | None
    commits: int | None
    candidates: int | None
    roles: int | None
    harmful: int | None
    lost_aggregator: bool | None
    doubts: Doubts = field(default_factory=Doubts)

    @property
    def score(self) -> float:
        """Mean over the scored items."""
        return sum(value for _, value in self.scored.values()) / len(self.scored)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unusable:
    """A run that is failed, unfinished, damaged or without any scored item."""

    directory: Path
    state: str
    reason: str


def read_figures(directory: Path) -> RunFigures | Unusable:
    """Read one run directory; a damaged one is reported, so that the others still make a table."""
    try:
        return _read(directory)
    except UserError as error:
        return Unusable(directory=directory, state="damaged", reason=str(error))


def _read(directory: Path) -> RunFigures | Unusable:
    row = read_row(directory)
    run, status = row.run, row.run.status
    if run.result is None or status.state not in USABLE:
        where = f" in phase {status.phase}" if status.phase else ""
        reason = status.reason or f"not finished{where}, no reason recorded"
        return Unusable(directory=directory, state=status.state, reason=reason)
    if not row.scored:
        reason = f"no held-out item was scored, {row.failures} failed"
        return Unusable(directory=directory, state=status.state, reason=reason)
    result = run.result
    episodes = list(run.episodes())
    saved = directory / "pool" / "final.yaml"
    pool = load_state(saved).pool if saved.is_file() else None
    return RunFigures(
        directory=directory,
        setting=_setting(run),
        row=row_key(run),
        seed=run.seed,
        data=_fingerprint(run),
        scored=row.scored,
        failures=row.failures,
        calls=result.calls,
        tokens=result.prompt_tokens + result.completion_tokens,
        usd=result.usd,
        usd_sent=result.usd_sent,
        training=result.training_cost,
        evaluation=result.evaluation_cost,
        commits=sum(e.committed for e in episodes) if episodes else None,
        candidates=sum(e.score_after is not None for e in episodes) if episodes else None,
        roles=None if pool is None else len(pool),
        harmful=None if pool is None else harmful_roles(run, pool),
        lost_aggregator=None if pool is None else pool.terminal is None,
        doubts=doubts_of(run),
    )


def row_key(run: RunRecord) -> RowKey:
    """Which row of the table a run belongs to, and what the row is called."""
    words = [word for word in _HASH.sub("", run.variant).split("+") if word]
    chosen = run.config.get("row")
    if isinstance(chosen, Mapping):
        chosen = chosen.get("name")
    named = chosen or next((w.removeprefix(_ROW) for w in words if w.startswith(_ROW)), "")
    shown = (_ROW, _BACKBONE, *([_BY] if run.played_by else []))
    extra = [w for w in words if not w.startswith(shown) and w != "base"]
    return RowKey(
        experiment=run.experiment,
        method=run.method,
        variant=run.variant,
        name=str(named or run.method),
        extra="+".join(extra),
        by=run.played_by,
        host=host_of(run) if run.played_by else "",
        rules=rules_of(run) if run.played_by else "",
        roster=roster_of(run) if run.played_by else "",
        reuse=may_reuse(run),
        answers=answers_of(run) if run.played_by else "",
    )


def with_players(name: str, by: str, variant: str) -> str:
    """A method's name with who plays its roles, where the name does not say so already.

    It does where its own file sets `by` and its name has it: no override, and `by` a part of it.
    """
    overridden = any(word.startswith(_BY) for word in variant.split("+"))
    said = not overridden and f"_{by}_" in f"_{name}_"
    return f"{name} · by {by}" if by and not said else name


def _setting(run: RunRecord) -> Setting:
    world = _section(run, "benchmark") if run.simulated else {}
    known = [f"{key} {_plain(world[key])}" for key in WORLD_KEYS if key in world]
    return Setting(
        benchmark=run.benchmark,
        backbone=run.backbone_setting,
        scorer=run.result.scorer if run.result else "",
        simulated=run.simulated,
        data="" if run.simulated else _fingerprint(run),
        world=", ".join(known),
    )


def _plain(value: object) -> str:
    # 0 and 0.0 are one setting.
    return f"{value:g}" if isinstance(value, float) else str(value)


def _fingerprint(run: RunRecord) -> str:
    found = run.manifest.get("benchmark")
    return str(found.get("data_sha256") or "") if isinstance(found, Mapping) else ""


def _section(run: RunRecord, name: str) -> Mapping[str, Any]:
    found = run.config.get(name)
    return found if isinstance(found, Mapping) else {}
