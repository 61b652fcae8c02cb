"""Tokens of calls, from the characters of the prompts they will have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sero.assignment.players import META_DEBATE
from sero.assignment.roster import Roster
from sero.backbones.base import Phase
from sero.benchmarks.base import Task
from sero.config import RunConfig
from sero.inference.layout import system_message, template
from sero.inference.span import ZERO, Span
from sero.methods.base import PlannedCalls
from sero.planning.assigning import (
    asked_chars,
    longest_reply,
    shown_task_chars,
    strategy_chars,
)
from sero.planning.assumed import (
    CHARS_PER_TOKEN,
    LINE_CHARS,
    REASON_LINES,
    TEMPLATE_TOKENS,
    Assumed,
)
from sero.roles.card import MAX_LABEL_CHARS, MAX_NAME_CHARS, MAX_PROTOCOL_CHARS
from sero.roles.pool import RolePool

HEADING_CHARS = 150
"""Characters around one shown message: its heading with name and family, line ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Prompt and completion tokens, least and most."""

    prompt: Span = ZERO
    completion: Span = ZERO

    @property
    def total(self) -> Span:
        return self.prompt + self.completion

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            prompt=self.prompt + other.prompt, completion=self.completion + other.completion
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prompts:
    """Characters of the fixed part of a phase's prompts, per call, least and most."""

    low: float
    high: float


def planned_tokens(
    planned: PlannedCalls,
    config: RunConfig,
    pool: RolePool,
    train: Sequence[Task],
    heldout: Sequence[Task],
    *,
    roster: Roster | None = None,
    context_tokens: int | None,
    assumed: Assumed,
) -> dict[Phase, Tokens]:
    """Tokens of each phase's calls.

    A prompt is a card, a task, and completions of calls before it, of which nothing is known but
    their limit. Cards that an editor may write are as short, and as long, as they can be.

    Args:
        pool: the cards the method starts with.
        roster: who may play them, None where they stand as they are.
        context_tokens: bound on a prompt, None for none.
    """
    trained = any(phase is not Phase.EVAL for phase in planned.by_phase)
    found = {}
    for phase, calls in planned.by_phase.items():
        if phase is Phase.EDIT:
            limit = config.editor.max_tokens
            prompts, shown = _editor_prompts(config), 0.0
        else:
            limit = config.exec.max_tokens
            tasks = train if phase is not Phase.EVAL else heldout
            cards = _card_chars(pool, config, edited=trained)
            prompts = _role_prompts(cards, [len(task.prompt) for task in tasks], phase, config)
            if roster is not None:
                if config.assign.by == META_DEBATE:
                    limit = max(limit, longest_reply(config.assign))
                prompts = _with_assignment(prompts, cards, tasks, phase, roster, config)
            shown = planned.shown_per_call
        said = _completion(assumed, limit)
        dense, loose = CHARS_PER_TOKEN
        most = (prompts.high + shown * HEADING_CHARS) / dense + shown * said.high + TEMPLATE_TOKENS
        if context_tokens is not None:
            most = min(most, float(context_tokens))
        found[phase] = Tokens(
            prompt=Span(int(calls.low * prompts.low / loose), round(calls.high * most)),
            completion=Span(calls.low * said.low, calls.high * said.high),
        )
    return found


def _completion(assumed: Assumed, limit: int) -> Span:
    """Tokens of one completion."""
    if assumed.completion_tokens is None:
        return Span(1, limit)
    return Span(*(min(assumed.completion_tokens, limit),) * 2)


def _card_chars(pool: RolePool, config: RunConfig, *, edited: bool) -> Span:
    """Characters of a card's system message."""
    sizes = [len(system_message(card).content) for card in pool]
    if not edited:
        # a single agent's prompt is sent without the layout of a role's
        return Span(min(len(card.prompt_text) for card in pool), max(sizes))
    layout = len(template("message_layout", "system"))
    longest = layout + config.schema.max_prompt_chars + MAX_NAME_CHARS + MAX_PROTOCOL_CHARS
    return Span(0, max(*sizes, longest))


def _role_prompts(cards: Span, lengths: Sequence[int], phase: Phase, config: RunConfig) -> _Prompts:
    """A card and a task. Every held-out task has as many calls as the others, so their mean counts;
    which training tasks are asked how often is open."""
    behind = sum(len(template("repair", name)) for name in ("draft", "report", "check", "revise"))
    if config.credit.peer_ratings:
        behind = max(behind, len(template("peer_rating", "ask")))
    if phase is Phase.EVAL:
        mean = sum(lengths) / len(lengths)
        return _Prompts(low=cards.low + mean, high=cards.high + behind + mean)
    return _Prompts(low=cards.low + min(lengths), high=cards.high + behind + max(lengths))


def _with_assignment(
    played: _Prompts,
    cards: Span,
    tasks: Sequence[Task],
    phase: Phase,
    roster: Roster,
    config: RunConfig,
) -> _Prompts:
    """A card behind its player's strategy, or what is asked to find out who plays it."""
    played = _Prompts(low=played.low, high=played.high + strategy_chars(roster))
    if config.assign.by != META_DEBATE:
        return played
    asked = asked_chars(cards, roster, config.assign)
    shown = _role_prompts(asked, shown_task_chars(tasks, config.assign), phase, config)
    whole = _role_prompts(asked, [len(task.prompt) for task in tasks], phase, config)
    return _Prompts(low=min(played.low, shown.low), high=max(played.high, whole.high))


def _editor_prompts(config: RunConfig) -> _Prompts:
    """The editor's template, filled with as little and as much as it can be."""
    fixed = sum(len(template("add_role", name)) for name in ("system", "user"))
    families = 2 * config.pool.p_max * (MAX_LABEL_CHARS + 2)
    lines = config.pool.p_max + 2 * config.editor.recent + REASON_LINES
    anchor = MAX_NAME_CHARS + MAX_PROTOCOL_CHARS + 13 * MAX_LABEL_CHARS
    filled = config.editor.excerpt_chars + families + lines * LINE_CHARS + anchor
    return _Prompts(low=fixed * 0.8, high=fixed + filled)


def total_of(by_phase: Mapping[Phase, Tokens]) -> Tokens:
    found = Tokens()
    for tokens in by_phase.values():
        found = found + tokens
    return found
