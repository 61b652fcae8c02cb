"""The candidate generator: asks the backbone for a role card (method.md §4.8, editor E)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sero.backbones.base import (
    Backbone,
    CallContext,
    ChatMessage,
    Completion,
    OutputSchema,
    Phase,
    Request,
)
from sero.backbones.settling import settled
from sero.benchmarks.base import Task
from sero.evolution.leak import leaks
from sero.evolution.reasons import Code, Reason
from sero.evolution.rolling import Ledger
from sero.evolution.sections import EditorConfig
from sero.inference.layout import fill, template
from sero.inference.trace import Cost
from sero.roles.card import RoleCard
from sero.roles.load import add_card_schema, card_from_json
from sero.roles.pool import RolePool
from sero.storage import dumps

EDITOR = "editor"
"""Name the editor's calls carry in accounting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What an Add prompt tells beside the task: pool, coverage, recent history, anchor."""

    pool: RolePool
    seed_families: tuple[str, ...]
    anchor: RoleCard | None
    failures: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A usable card, or why there is none: the reasons of the last attempt."""

    card: RoleCard | None
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CardEditor:
    """Asks for one card per Add, under a JSON schema, `editor.attempts` times at most.

    Attributes:
        known_texts: what a card may say although the task says it too (leak check).
        commit: makes the replies durable before anything depends on them.
        ledger: where costs and traces are noted.
    """

    backbone: Backbone
    cfg: EditorConfig
    max_prompt_chars: int
    known_texts: tuple[str, ...]
    run_seed: int
    commit: Callable[[], int]
    ledger: Ledger

    async def propose(self, task: Task, situation: Situation, episode: int) -> Offer:
        """A card for the pool, task-agnostic and under a free name.

        Raises:
            BackboneError: the machine failed.
        """
        offer = Offer(card=None)
        for attempt in range(self.cfg.attempts):
            call = CallContext(
                run_seed=self.run_seed,
                phase=Phase.EDIT,
                episode=episode,
                item=task.id,
                repeat=attempt,
            )
            request = self._request(task, situation, offer.reasons, call)
            completion = await settled(partial(self.backbone.generate, request), self.commit)
            offer = self._read(completion.text, task, situation, episode)
            self._note(call, completion, offer)
            if offer.card is not None:
                break
        return offer

    def _request(
        self, task: Task, situation: Situation, refused: Sequence[Reason], call: CallContext
    ) -> Request:
        schema = add_card_schema(max_prompt_chars=self.max_prompt_chars)
        return Request(
            messages=(
                ChatMessage("system", template("add_role", "system")),
                ChatMessage("user", add_prompt(task, situation, refused, self.cfg.excerpt_chars)),
            ),
            temperature=self.cfg.temperature,
            max_tokens=self.cfg.max_tokens,
            sample_index=call.sample_index(self.cfg.temperature),
            schema=OutputSchema("role_card", dumps(schema)),
            role=EDITOR,
        )

    def _read(self, reply: str, task: Task, situation: Situation, episode: int) -> Offer:
        """The door for model text: schema, name, leak; every fault is a reason."""
        card, faults = card_from_json(reply, max_prompt_chars=self.max_prompt_chars)
        if card is None:
            return Offer(card=None, reasons=tuple(Reason(Code.INVALID_CARD, f) for f in faults))
        reasons = []
        if card.name in situation.pool:
            reasons.append(Reason(Code.DUPLICATE_NAME, f"the pool already has '{card.name}'"))
        if self.cfg.leak_check:
            # labels are lower-case by schema and names often are; a proper name may hide in them
            labels = " ".join((card.name, card.capability_family, *card.capability_tags)).title()
            said = "\n".join((labels, card.name, card.prompt_text, card.communication_protocol))
            taken = leaks(said, task.prompt, self.known_texts)
            if taken:
                reasons.append(Reason(Code.LEAK, "taken from the task: " + ", ".join(taken)))
        if reasons:
            return Offer(card=None, reasons=tuple(reasons))
        parent = situation.anchor.name if situation.anchor else None
        return Offer(card=replace(card, parent=parent, created_at=episode))

    def _note(self, call: CallContext, completion: Completion, offer: Offer) -> None:
        usage = completion.usage
        cost = Cost(
            calls=1,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
        )
        self.ledger.add(
            cost,
            {
                "episode": call.episode,
                "phase": str(call.phase),
                "item": call.item,
                "messages": [
                    {
                        "role": EDITOR,
                        "kind": "add",
                        "round": call.repeat + 1,
                        "text": completion.text,
                        "finish_reason": completion.finish_reason,
                        "prompt_tokens": usage.prompt_tokens,
                        "completion_tokens": usage.completion_tokens,
                        "cached": completion.cached,
                        "latency_s": completion.latency_s,
                        "retries": completion.retries,
                    }
                ],
                "outcome": [f"{r.code}: {r.detail}" for r in offer.reasons] or ["card"],
            },
        )


def add_prompt(
    task: Task, situation: Situation, refused: Sequence[Reason], excerpt_chars: int
) -> str:
    """The user message of an Add request; pinned by a golden file."""
    pool, anchor = situation.pool, situation.anchor
    present = pool.families
    missing = [family for family in situation.seed_families if family not in present]
    values = {
        "excerpt": task.prompt[:excerpt_chars],
        "pool": "\n".join(f"- {c.name} ({c.role_type}, {c.capability_family})" for c in pool),
        "present": ", ".join(present),
        "missing": ", ".join(missing) or "none",
        "failures": "\n".join(f"- {line}" for line in situation.failures) or "none",
        "removed": ", ".join(situation.removed) or "none",
        "anchor_name": anchor.name if anchor else "none",
        "anchor_tags": ", ".join(anchor.capability_tags) if anchor else "none",
        "anchor_protocol": anchor.communication_protocol if anchor else "none",
    }
    text = fill(template("add_role", "user"), values)
    if refused:
        lines = "\n".join(f"- {reason.detail}" for reason in refused)
        text += fill(template("add_role", "retry"), {"reasons": lines})
    return text
