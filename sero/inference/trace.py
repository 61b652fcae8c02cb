"""What a rollout leaves behind: every call with its text, and the structure they ran in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from sero.backbones.base import Completion


class CallKind(StrEnum):
    """Which step of the operator a call belongs to."""

    DRAFT = "draft"
    MESSAGE = "message"
    AGGREGATE = "aggregate"
    VALIDATE = "validate"
    REVISE = "revise"
    SAMPLE = "sample"
    CRITERIA = "criteria"
    PROPOSAL = "proposal"
    REVIEW = "review"
    JUDGE = "judge"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleMessage:
    """One logical call: who spoke, in which step, what came back and what it cost.

    `trimmed` counts upstream messages cut to fit the context; `replaced` marks a text put in the
    role's mouth by a counterfactual, which costs nothing.
    """

    role: str
    kind: CallKind
    round: int
    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    cached: bool
    latency_s: float
    retries: int
    trimmed: int
    replaced: bool = False


def spoken(
    role: str, kind: CallKind, completion: Completion, *, trimmed: int, round: int = 1
) -> RoleMessage:
    """A completion as the role's message."""
    return RoleMessage(
        role=role,
        kind=kind,
        round=round,
        text=completion.text,
        finish_reason=completion.finish_reason,
        prompt_tokens=completion.usage.prompt_tokens,
        completion_tokens=completion.usage.completion_tokens,
        cached=completion.cached,
        latency_s=completion.latency_s,
        retries=completion.retries,
        trimmed=trimmed,
    )


def put_in_mouth(role: str, kind: CallKind, text: str, *, round: int = 1) -> RoleMessage:
    """A counterfactual: the text stands for a call that is not made."""
    return RoleMessage(
        role=role,
        kind=kind,
        round=round,
        text=text,
        finish_reason="replaced",
        prompt_tokens=0,
        completion_tokens=0,
        cached=False,
        latency_s=0.0,
        retries=0,
        trimmed=0,
        replaced=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Logical cost: what a method asked for, cache hits included."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """One run of F(P, C, x).

    Attributes:
        team: names of A_t, the aggregator last; without it when the pool lost its terminal.
        order: B_t in stage order (Eq. 7).
        edges: DAG edges among B_t as (from, to); every role of B_t also feeds the aggregator. A
            graph written by hand lists its edges to the terminal as well, and only those exist. A
            debate has none: who heard whom follows from the rounds of its messages.
        levels: dependency level of each role in `order`.
        similarity: ρ_r per role of B_t, its cosine with the task.
        fast: f_r the order was made from.
        final_fast: f_r recomputed from the final messages (validators with their floor).
        messages: every logical call in the order it is counted.
        answer: the final answer's text.
        reason: why there is no answer (`no_terminal`), or an empty string.
        validator: who checked the draft, or None.
        revised: the validator asked for a revision.
        adopted: the revision changed the answer.
        metrics: named figures of the rollout that are not its score, for the item's prediction.
    """

    team: tuple[str, ...]
    order: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    levels: tuple[int, ...]
    similarity: dict[str, float]
    fast: dict[str, float]
    final_fast: dict[str, float]
    messages: tuple[RoleMessage, ...]
    answer: str
    reason: str = ""
    validator: str | None = None
    revised: bool = False
    adopted: bool = False
    metrics: dict[str, float] = field(default_factory=dict)

    @classmethod
    def without_terminal(cls, team: tuple[str, ...], similarity: Mapping[str, float]) -> Rollout:
        """The rollout of a pool that lost its terminal role: nobody is asked, nothing answered."""
        return cls(
            team=team,
            order=(),
            edges=(),
            levels=(),
            similarity=dict(similarity),
            fast={},
            final_fast={},
            messages=(),
            answer="",
            reason="no_terminal",
        )

    @property
    def cost(self) -> Cost:
        """Logical calls and tokens of this rollout."""
        asked = [m for m in self.messages if not m.replaced]
        return Cost(
            calls=len(asked),
            prompt_tokens=sum(m.prompt_tokens for m in asked),
            completion_tokens=sum(m.completion_tokens for m in asked),
        )

    def final_message(self, role: str) -> str:
        """The role's last message before aggregation."""
        texts = [m.text for m in self.messages if m.role == role and m.kind is CallKind.MESSAGE]
        return texts[-1] if texts else ""

    def to_data(self) -> dict[str, Any]:
        """The rollout as plain data for `traces.jsonl`."""
        return asdict(self)
