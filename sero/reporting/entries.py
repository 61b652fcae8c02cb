"""The records of a run directory's files, checked where they are read."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeVar

from annotated_types import Ge, Le
from pydantic import AllowInfNan, TypeAdapter, ValidationError

from sero.errors import UserError
from sero.validation import faults_of

Verdict = Literal["committed", "rejected", "unchanged"]
Record = TypeVar("Record")


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """`status.json`: how far a run came."""

    state: str
    reason: str | None = None
    phase: str | None = None
    episode: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Logical calls and tokens of a part of a run."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class BackboneSpending(Spending):
    """The part of a run's logical cost that one backbone answered."""

    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """`result.json`: the figures of a finished evaluation; `usd` where the price is known."""

    method: str
    benchmark: str
    seed: int
    n: int
    mean_score: float | None
    schema_version: int = 1
    variant: str = ""
    scorer: str = ""
    backbone: str = ""
    simulated: bool = False
    split: str = ""
    groups: Mapping[str, Any] = field(default_factory=dict)
    failures: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    training_cost: Spending | None = None
    evaluation_cost: Spending | None = None
    requests: int = 0
    retries: int = 0
    cache_hits: int = 0
    pool_hash: str | None = None
    wall_s: float = 0.0
    usd: float | None = None
    usd_sent: float | None = None
    cost_by_backbone: Mapping[str, BackboneSpending] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contracts:
    """The contract report of a candidate pool, five booleans."""

    capability: bool
    communication: bool
    validation: bool
    aggregation: bool
    output: bool

    @property
    def broken(self) -> tuple[str, ...]:
        """Names of the contracts that do not hold."""
        return tuple(f.name for f in dataclasses.fields(self) if not getattr(self, f.name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One line of `episodes.jsonl`: one proposed edit and what became of it.

    Attributes:
        episode: counted from 1.
        phase: `warmup` or `main`; `edges` where edges are learnt instead.
        action: `add`, `remove` or `noop`; `sample` for a graph drawn in that phase.
        target: the role removed, or the anchor of an Add.
        role: name of the new card, if there was one.
        reasons: stable codes of why nothing was committed; `details` says it in sentences.
        score_before, score_after: s⁻, s⁺; the latter only if the candidate was run.
        gate_delta: what the gate decided on, if it was asked.
        contracts: the candidate's contract report, if there was a candidate.
        loo: mean credit φ per role when a refresh followed.
        loo_stderr: its standard error, where the estimator has one.
        edge_probabilities: of every edge, by its ends, after a gradient step of that phase.
    """

    episode: int
    phase: str
    task: str
    action: str
    verdict: Verdict
    epoch: int = 0
    group: str = ""
    target: str | None = None
    role: str | None = None
    reasons: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    score_before: float | None = None
    score_after: float | None = None
    reward: float = 0.0
    gate_delta: float | None = None
    committed: bool = False
    contracts: Contracts | None = None
    pool_size: int | None = None
    pool_hash: str | None = None
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    loo: Mapping[str, float] | None = None
    loo_stderr: Mapping[str, float] | None = None
    edge_probabilities: Mapping[str, Mapping[str, float]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """One line of `predictions.jsonl`: a held-out item. A failed item has no score."""

    id: str
    group: str
    score: Annotated[float, Ge(0), Le(1), AllowInfNan(False)] | None
    response: str = ""
    answer: str | None = None
    reason: str = ""
    failure: str | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentLine:
    """One line of `assignments.jsonl`: who played which role in one rollout, and why.

    Attributes:
        phase, episode: of the rollout; no episode in an evaluation.
        assignment: role to candidate; None where the rollout failed, or had no team.
        rule: who decided, or by which rule.
        roles, candidates: rows and columns of `means`, where scores decided.
        means: M̄, None without a score. Shape (roles, candidates).
        reasons: a sentence for each role.
        fallback, flat: roles without a mean above the threshold; those whose means differ less than
            their reviewers do.
        self_excluded: evaluators whose scores for themselves were left out.
        dropped: scores that could not be read.
        hearings: of each role, its criteria, proposals and reviews.
    """

    item: str
    phase: str
    episode: int | None = None
    assignment: Mapping[str, str] | None
    rule: str = ""
    roles: tuple[str, ...] = ()
    candidates: tuple[Mapping[str, Any], ...] = ()
    means: tuple[tuple[float | None, ...], ...] = ()
    reasons: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    fallback: tuple[str, ...] = ()
    flat: tuple[str, ...] = ()
    self_excluded: tuple[str, ...] = ()
    dropped: int = 0
    hearings: tuple[Mapping[str, Any], ...] = ()
    calls: int = 0


def checked(raw: Mapping[str, Any], adapter: TypeAdapter[Record], where: str) -> Record:
    """Plain data as a record; fields this version does not know are left out.

    Raises:
        UserError: every fault, with the file and line in `where`.
    """
    try:
        return adapter.validate_python(raw)
    except ValidationError as error:
        raise UserError(f"{where}: {'; '.join(faults_of(error, {}))}") from error
