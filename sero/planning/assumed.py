"""What nobody can know before a run, and what the plan assumes in its place."""

from __future__ import annotations

from dataclasses import dataclass

CHARS_PER_TOKEN = (2.5, 5.0)
"""Characters of a prompt per token: tables and formulas, plain prose."""

TEMPLATE_TOKENS = 40
"""Tokens a server's chat template adds to a prompt, at most."""

LINE_CHARS = 200
"""Characters of a line of a written prompt, at most: a role, a failure, a reason."""

REASON_LINES = 20
"""Lines of reasons after a refused reply, at most."""

SERVER_LATENCY_S = (1.0, 30.0)
"""Seconds of one call to a model server."""

IN_PROCESS_LATENCY_S = (0.0001, 0.02)
"""Seconds of one call answered in this process by rules, its share of the bookkeeping included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumed:
    """The assumptions of one plan.

    Attributes:
        completion_tokens: mean length of a completion; None is anything from one token to the
            limit of the call.
        latency_s: seconds of one call, least and most; None is what kind of backbone it is.
        tokens_per_second: completion tokens a server gives over all calls in flight; where it is
            set, time follows from it alone.
    """

    completion_tokens: int | None = None
    latency_s: tuple[float, float] | None = None
    tokens_per_second: float | None = None
