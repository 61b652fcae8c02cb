"""Fast credit f_r of a rollout: how good a message looks before any score is known (§4.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from sero.credit import CreditConfig, CreditState, fast_credit, historical
from sero.inference.parts import Parts
from sero.inference.repair import Repair
from sero.inference.retrieval import Team
from sero.inference.trace import RoleMessage
from sero.roles.card import RoleCard, RoleType

ADOPTED, ASKED_TO_REVISE, SAID_OK, NOT_ASKED = 1.0, 0.75, 0.55, 0.35
"""Floors of a validator's fast credit by what it did in the repair pass."""
NO_RATINGS: Mapping[str, float] = MappingProxyType({})


def rollout_fast_credit(
    prompt: str,
    messages: Sequence[RoleMessage],
    team: Team,
    credit: CreditState,
    cfg: CreditConfig,
    parts: Parts,
    importance: Mapping[str, float] = NO_RATINGS,
) -> dict[str, float]:
    """f_r of one message per role: query similarity and consensus, plus the weighted extras.

    The extras of `credit.fast_weights` (all 0 by default): retrieval similarity ρ_r, history c_r,
    agreement (share of the messages with the same extracted answer), validity (1 when the
    message is not empty and was not cut short), and peer: what other roles hold of the role's draft
    (`importance`, I_j), or reviewers of who plays it; 0 where nobody was asked.
    """
    encode = parts.encoder.encode
    base = fast_credit(encode(prompt), [encode(m.text) for m in messages], alpha=cfg.fast_alpha)
    fast = {m.role: value for m, value in zip(messages, base, strict=True)}
    weights = cfg.fast_weights
    if weights.similarity:
        for role in fast:
            fast[role] += weights.similarity * team.similarity[role]
    if weights.history:
        for role in fast:
            fast[role] += weights.history * historical(credit[role], cfg)
    if weights.agreement:
        answers = {m.role: parts.parse(prompt, m.text).answer for m in messages}
        shared = Counter(answer for answer in answers.values() if answer is not None)
        for role, answer in answers.items():
            share = shared[answer] / len(messages) if answer is not None else 0.0
            fast[role] += weights.agreement * share
    if weights.validity:
        for m in messages:
            valid = bool(m.text.strip()) and m.finish_reason != "length"
            fast[m.role] += weights.validity * float(valid)
    if weights.peer:
        held = importance or team.assignment.suitability
        for role in fast:
            fast[role] += weights.peer * held.get(role, 0.0)
    return fast


def with_validator_floors(
    fast: Mapping[str, float], members: Sequence[RoleCard], repair: Repair
) -> dict[str, float]:
    """Final fast credit: a validator gets at least the floor its part in the repair earned."""
    floors = {c.name: NOT_ASKED for c in members if c.role_type is RoleType.VALIDATOR}
    if repair.validator is not None:
        if repair.adopted:
            floors[repair.validator] = ADOPTED
        elif repair.revised:
            floors[repair.validator] = ASKED_TO_REVISE
        elif repair.said_ok:
            floors[repair.validator] = SAID_OK
        else:
            floors[repair.validator] = NOT_ASKED
    return {**fast, **{name: max(fast.get(name, 0.0), floor) for name, floor in floors.items()}}
