"""Tokens of calls, from the characters of the prompts they will have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sero.backbones.base import Phase
from sero.benchmarks.base import Task
from sero.config import RunConfig
from sero.inference.counting import ZERO, Span
from sero.inference.layout import system_message, template
from sero.methods.base import PlannedCalls
from sero.planning.assumed import CHARS_PER_TOKEN, TEMPLATE_TOKENS, Assumed
from sero.roles.card import MAX_LABEL_CHARS, MAX_NAME_CHARS, MAX_PROTOCOL_CHARS
from sero.roles.pool import RolePool

HEADING_CHARS = 150
"""Characters around one shown message: its heading with name and family, line ends."""

LINE_CHARS = 200
"""Characters of a line of the editor's prompt, at most: a role, a failure, a reason."""

REASON_LINES = 20
"""Lines of reasons after a refused card, at most."""


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
    context_tokens: int | None,
    assumed: Assumed,
) -> dict[Phase, Tokens]:
    """Tokens of each phase's calls.

    A prompt is a card, a task, and completions of calls before it, of which nothing is known but
    their limit. Cards that an editor may write are as short, and as long, as they can be.

    Args:
        pool: the cards the method starts with.
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
            cards = _card_chars(pool, config, edited=trained)
            prompts = _role_prompts(cards, train if phase is not Phase.EVAL else heldout, phase)
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


def _role_prompts(cards: Span, tasks: Sequence[Task], phase: Phase) -> _Prompts:
    """A card and a task. Every held-out task has as many calls as the others, so their mean counts;
    which training tasks are asked how often is open."""
    lengths = [len(task.prompt) for task in tasks]
    repair = sum(len(template("repair", name)) for name in ("draft", "report", "check", "revise"))
    if phase is Phase.EVAL:
        mean = sum(lengths) / len(lengths)
        return _Prompts(low=cards.low + mean, high=cards.high + repair + mean)
    return _Prompts(low=cards.low + min(lengths), high=cards.high + repair + max(lengths))


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
