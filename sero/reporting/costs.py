"""Logical cost per phase and role, summed over the calls of `traces.jsonl` in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sero.inference.trace import CallKind

SEATS: Mapping[str, str] = {
    CallKind.PROPOSAL: "candidate",
    CallKind.CRITERIA: "evaluator",
    CallKind.REVIEW: "evaluator",
}
"""What the speaker of such a call is: no role of the pool, whatever its name."""


@dataclass(slots=True, kw_only=True)
class Spent:
    """A running sum over calls; tokens are logical, cache hits included."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cache_hits: int = 0
    retries: int = 0
    truncated: int = 0
    trimmed: int = 0
    latency_s: float = 0.0

    def add(self, message: Mapping[str, Any]) -> None:
        """Count one call; fields an older trace lacks count as zero."""
        self.calls += 1
        self.prompt_tokens += int(_number(message, "prompt_tokens"))
        self.completion_tokens += int(_number(message, "completion_tokens"))
        self.cache_hits += bool(message.get("cached"))
        self.retries += int(_number(message, "retries"))
        self.truncated += message.get("finish_reason") == "length"
        self.trimmed += int(_number(message, "trimmed"))
        self.latency_s += _number(message, "latency_s")

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Sums per phase in order of appearance, and per role, the dearest first.

    Who speaks for an assignment of roles is `candidate NAME` or `evaluator NAME` there.
    """

    by_phase: Mapping[str, Spent]
    by_role: Mapping[str, Spent]


def sum_costs(traces: Iterable[Mapping[str, Any]]) -> Costs:
    """Read the traces once; texts put in a role's mouth by a counterfactual cost nothing."""
    phases: dict[str, Spent] = {}
    roles: dict[str, Spent] = {}
    for trace in traces:
        phase = str(trace.get("phase", "?"))
        for message in _messages(trace):
            if message.get("replaced"):
                continue
            role = _speaker(message, phase)
            phases.setdefault(phase, Spent()).add(message)
            roles.setdefault(role, Spent()).add(message)
    dearest = sorted(roles.items(), key=lambda item: (-item[1].tokens, item[0]))
    return Costs(by_phase=phases, by_role=dict(dearest))


def _speaker(message: Mapping[str, Any], phase: str) -> str:
    name = str(message.get("role", "editor" if phase == "edit" else "?"))
    seat = SEATS.get(str(message.get("kind")))
    return f"{seat} {name}" if seat else name


def _messages(trace: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The calls of a rollout, or of an editor record, which holds them at its top."""
    rollout = trace.get("rollout")
    found = rollout.get("messages") if isinstance(rollout, Mapping) else trace.get("messages")
    for message in found if isinstance(found, list) else []:
        if isinstance(message, Mapping):
            yield message


def _number(message: Mapping[str, Any], key: str) -> float:
    value = message.get(key)
    return float(value) if isinstance(value, int | float) else 0.0
