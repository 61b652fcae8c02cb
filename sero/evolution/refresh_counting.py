"""Logical calls of a credit refresh on one task, for every `credit.estimator` (method.md §4.5)."""

from __future__ import annotations

from math import comb

from sero.inference.counting import (
    Makeup,
    coalition_calls,
    repair_calls,
    rollout_calls,
    spoken_calls,
    team_of,
)
from sero.inference.operator import InferenceConfig
from sero.inference.span import ZERO, Span, exactly
from sero.roles.card import RoleType


def refresh_calls(pool: Makeup, cfg: InferenceConfig) -> Span:
    """The base run, the estimator's counterfactual runs, and CAPE's (`credit.causal`)."""
    if not pool.aggregators:
        return ZERO
    base = rollout_calls(pool, cfg)
    match cfg.credit.estimator:
        case "loo":
            found = base + _reduced_runs(pool, cfg)
        case "clamp":
            found = base + _clamped_runs(pool, cfg, same_checker=not cfg.credit.loo_sequential)
            found += _clamped_checker(pool, cfg)
        case "shapley_mc" | "tmc":
            found = base + _coalition_runs(pool, cfg)
    if cfg.credit.causal:
        found += base + _clamped_runs(pool, cfg, same_checker=True)
    return found


def _outside_checker(pool: Makeup, cfg: InferenceConfig) -> Span:
    """Whether the base run's repair asked a validator that is not in the team: 0 or 1 of them."""
    if not cfg.repair.enabled or pool.validators == team_of(pool, cfg).validators:
        return ZERO
    return Span(1 if cfg.repair.always else 0, 1)


def _reduced_runs(pool: Makeup, cfg: InferenceConfig) -> Span:
    """A run of the pool without each role that spoke: the team, and the validator of the repair."""
    team = team_of(pool, cfg)
    found = ZERO
    for role_type in RoleType:
        asked = exactly(team[role_type.stage])
        if role_type is RoleType.VALIDATOR:
            asked += _outside_checker(pool, cfg)
        if asked.high:
            run = rollout_calls(pool.changed(role_type, -1), cfg)
            found += Span(asked.low * run.low, asked.high * run.high)
    return found


def _clamped_runs(pool: Makeup, cfg: InferenceConfig, *, same_checker: bool) -> Span:
    """A run of the whole team for each member, its messages put in its mouth.

    A validator of the team that is also the one who checks gives no verdict then, so that run has
    no repair. Which one checks is certain only while the credit stands still (`same_checker`).
    """
    team = team_of(pool, cfg)
    spoken = spoken_calls(team.size, cfg, silenced=1)
    repaired = spoken + repair_calls(pool, cfg)
    inside = team.validators if pool.validators == team.validators else 0
    if same_checker:
        inside = min(inside, 1)
        return repaired * (team.size - inside) + spoken * inside
    whole = repaired * team.size
    return Span((repaired * (team.size - inside) + spoken * inside).low, whole.high)


def _clamped_checker(pool: Makeup, cfg: InferenceConfig) -> Span:
    """A run in which the validator of the repair, not in the team, says nothing.

    Under `credit.loo_sequential` another validator may check by then, and be heard.
    """
    asked = _outside_checker(pool, cfg)
    spoken = spoken_calls(team_of(pool, cfg).size, cfg)
    another = repair_calls(pool, cfg).high if cfg.credit.loo_sequential else 0
    return Span(asked.low * spoken.low, asked.high * (spoken.high + another))


def _coalition_runs(pool: Makeup, cfg: InferenceConfig) -> Span:
    """A run of every prefix of the random orders but the whole team, no coalition twice.

    k of n roles make up C(n, k) coalitions at most. Two orders that are each other's reverse have
    no proper prefix in common. A truncated scan (`tmc`) may end at the empty one.
    """
    n, credit = team_of(pool, cfg).size, cfg.credit
    if not n:
        return ZERO
    sure = 2 if credit.antithetic and credit.orders > 1 else 1
    found = ZERO
    for k in range(n):
        runs = Span(min(sure, comb(n, k)), min(credit.orders, comb(n, k)))
        if k and credit.estimator == "tmc":
            runs = Span(0, runs.high)
        one = coalition_calls(pool, k, cfg)
        found += Span(runs.low * one.low, runs.high * one.high)
    # role by role, every role of the team asks for the whole table again
    return found * n if credit.loo_sequential else found
