"""What a rollout leaves behind: every call with its text, and the structure they ran in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

from sero.backbones.base import Completion


class CallKind(StrEnum):
    """Which step of the operator a call belongs to."""

    DRAFT = "draft"
    RATING = "rating"
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
    role's mouth by a counterfactual, which costs nothing; `backbone` names who answered, None for
    the run's own.
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
    backbone: str | None = None


def spoken(
    role: str,
    kind: CallKind,
    completion: Completion,
    *,
    trimmed: int,
    round: int = 1,
    backbone: str | None = None,
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
        backbone=backbone,
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
    """Logical cost: what a method asked for, cache hits included.

    Attributes:
        elsewhere: the part of it that backbones other than the run's own answered, by their names.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    elsewhere: Mapping[str, Cost] = field(default_factory=dict)

    def __add__(self, other: Cost) -> Cost:
        names = dict.fromkeys((*self.elsewhere, *other.elsewhere))
        nothing = Cost()
        return Cost(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            elsewhere={
                name: self.elsewhere.get(name, nothing) + other.elsewhere.get(name, nothing)
                for name in names
            },
        )

    def to_data(self) -> dict[str, Any]:
        """Plain data; `elsewhere` only where there is any."""
        own = {
            "calls": self.calls,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
        }
        if not self.elsewhere:
            return own
        return {**own, "elsewhere": {name: c.to_data() for name, c in self.elsewhere.items()}}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Cost:
        """The inverse of `to_data`; further keys of a record are passed over."""
        return cls(
            calls=data["calls"],
            prompt_tokens=data["prompt_tokens"],
            completion_tokens=data["completion_tokens"],
            elsewhere={n: cls.from_data(c) for n, c in data.get("elsewhere", {}).items()},
        )


def cost_of(messages: Iterable[RoleMessage]) -> Cost:
    """Logical calls and tokens of messages; what was put in a mouth costs nothing."""
    total = Cost()
    for m in messages:
        if m.replaced:
            continue
        one = Cost(calls=1, prompt_tokens=m.prompt_tokens, completion_tokens=m.completion_tokens)
        total += one if m.backbone is None else replace(one, elsewhere={m.backbone: one})
    return total


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
        assignment: who played which role and why, where that was decided for this task; plain data,
            the item's line of `assignments.jsonl`.
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
    assignment: Mapping[str, Any] | None = None

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
        return cost_of(self.messages)

    def final_message(self, role: str) -> str:
        """The role's last message before aggregation."""
        texts = [m.text for m in self.messages if m.role == role and m.kind is CallKind.MESSAGE]
        return texts[-1] if texts else ""

    def to_data(self) -> dict[str, Any]:
        """The rollout as plain data; `assignment` only where there was one."""
        data = {name: getattr(self, name) for name in _ROLLOUT}
        for name in ("similarity", "fast", "final_fast", "metrics"):
            data[name] = dict(data[name])
        # not `asdict`: it copies every string of every message, which is most of a training step
        data["messages"] = tuple([{n: getattr(m, n) for n in _MESSAGE} for m in self.messages])
        return data if self.assignment is None else {**data, "assignment": self.assignment}


_MESSAGE = tuple(one.name for one in fields(RoleMessage))
_ROLLOUT = tuple(one.name for one in fields(Rollout) if one.name != "assignment")
