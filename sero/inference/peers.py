"""Peer ratings: the importance of roles in DyLAN's sense, a fast credit that asks for no score.

Every role of B_t rates the others' drafts once. The drafts are the layer 0 of DyLAN's network, the
raters its layer 1, the last:

    w_{j,i} = rating of j by i / sum over j' != i of the ratings by i
    I_{1,i} = 1/n,   I_{0,j} = sum_i I_{1,i} w_{j,i},   I_j = I_{0,j} + I_{1,j}

A rater sees its own card, the task, and texts under numbers whose order differs from rater to
rater. What is missing in a reply, or is no whole number from 1 to 5, is dropped and counted.

Source: Liu et al. (2024), A Dynamic LLM-Powered Agent Network (DyLAN), agent importance score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sero.backbones.base import CallContext, OutputSchema
from sero.credit import CreditConfig
from sero.inference.layout import fill, role_chat, template
from sero.inference.marked import NO_TEXT, fitted, mark_for
from sero.inference.parts import Parts, speak, together
from sero.inference.trace import CallKind, RoleMessage
from sero.roles.card import RoleCard
from sero.roles.load import json_objects
from sero.seeding import rng_for
from sero.storage import dumps

Ratings = NDArray[np.float64]
FILE = "peer_rating"
SCALE = range(1, 6)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerRatings:
    """What the roles of a team hold of each other's drafts.

    Attributes:
        importance: I_j by role; empty where nobody was asked.
        messages: the replies, in the order of the members.
        dropped: ratings that were asked for and are missing or no whole number from 1 to 5.
        undecided: raters without any rating that counts; their weights are uniform.
    """

    importance: Mapping[str, float] = field(default_factory=dict)
    messages: tuple[RoleMessage, ...] = ()
    dropped: int = 0
    undecided: int = 0

    @property
    def metrics(self) -> dict[str, float]:
        """Figures of the rollout; none where nobody was asked."""
        if not self.messages:
            return {}
        return {
            "peer_ratings_dropped": float(self.dropped),
            "peer_raters_undecided": float(self.undecided),
        }


NOBODY_ASKED = PeerRatings()


async def peer_ratings(
    prompt: str,
    members: Sequence[RoleCard],
    drafts: Sequence[RoleMessage],
    parts: Parts,
    cfg: CreditConfig,
    *,
    call: CallContext,
) -> PeerRatings:
    """Ask every member once for its ratings of the others' drafts (`credit.peer_ratings`).

    Args:
        drafts: m⁰_r of every member, in the members' order.

    Raises:
        BackboneError: the machine failed.
    """
    n = len(members)
    if not cfg.peer_ratings or n < 2:
        return NOBODY_ASKED
    texts = [draft.text.strip() or NO_TEXT for draft in drafts]
    seen = [_order(members[i], texts, skip=i) for i in range(n)]
    replies = await together(
        _rate(card, prompt, [texts[j] for j in order], parts, call=call)
        for card, order in zip(members, seen, strict=True)
    )
    ratings = np.full((n, n), np.nan)
    for i, (order, reply) in enumerate(zip(seen, replies, strict=True)):
        ratings[order, i] = read_ratings(reply.text, len(order))
    kept = ~np.isnan(ratings)
    return PeerRatings(
        importance={
            card.name: float(value)
            for card, value in zip(members, importance(ratings), strict=True)
        },
        messages=tuple(replies),
        dropped=n * (n - 1) - int(kept.sum()),
        undecided=int((~kept.any(axis=0)).sum()),
    )


def importance(ratings: Ratings) -> Ratings:
    """I_j of every role over the two layers; they sum to 2.

    The 1/n of the last layer lifts all roles of a team alike, so the order is that of I_{0,j}.

    Args:
        ratings: of row j by column i, above 0; nan where there is none. The diagonal is passed
            over. Shape (n, n), n >= 2. A rater without ratings spreads its weight uniformly over
            the others.

    Raises:
        ValueError: fewer than two roles, or no square.
    """
    n = len(ratings)
    if n < 2 or ratings.shape != (n, n):
        raise ValueError(f"importance got shape {ratings.shape}; pass (n, n) of two roles or more")
    others = 1.0 - np.eye(n)
    weights = np.nan_to_num(ratings, nan=0.0) * others
    weights = np.where(weights.sum(axis=0) > 0.0, weights, others)
    weights /= weights.sum(axis=0)
    last = np.full(n, 1.0 / n)
    found: Ratings = weights @ last + last
    return found


def read_ratings(text: str, n_drafts: int) -> list[float]:
    """The ratings of a reply in the order shown, nan for whatever is none.

    A reply may quote an object, of a draft's for one. Those without a rating decide nothing; where
    two hold other ratings than each other, nobody knows which are the rater's.
    """
    read = [_ratings_in(raw, n_drafts) for raw in json_objects(text)]
    rated = [ratings for ratings in read if any(value is not None for value in ratings)]
    agreed = rated and all(other == rated[-1] for other in rated)
    found = rated[-1] if agreed else [None] * n_drafts
    return [float("nan") if value is None else float(value) for value in found]


def _ratings_in(raw: Mapping[str, Any], n_drafts: int) -> list[int | None]:
    values = (raw.get(draft_key(number)) for number in range(1, n_drafts + 1))
    return [
        int(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and value in SCALE
        else None
        for value in values
    ]


async def _rate(
    card: RoleCard, prompt: str, texts: Sequence[str], parts: Parts, *, call: CallContext
) -> RoleMessage:
    room = parts.backbone_of(card).max_prompt_chars
    if room is not None:
        chat = role_chat(card, prompt, (), max_chars=None)
        room -= sum(len(message.content) for message in chat.messages)
    sheet, cut = rating_sheet(texts, max_chars=room)
    reply = await speak(
        card,
        prompt,
        (),
        parts,
        call=call,
        kind=CallKind.RATING,
        suffix=sheet,
        schema=rating_schema(len(texts)),
    )
    return replace(reply, trimmed=cut)


def rating_sheet(texts: Sequence[str], *, max_chars: int | None) -> tuple[str, int]:
    """What stands behind the task in a rater's chat, and how many drafts were cut to make it fit.

    Args:
        texts: the drafts in the order shown, none of them empty.
        max_chars: characters the sheet may have, None for no bound.
    """
    mark = mark_for(texts)
    keys = [draft_key(number) for number in range(1, len(texts) + 1)]
    form = dumps(dict.fromkeys(keys, "...")).replace('"..."', "...")

    def filled(texts: Sequence[str]) -> str:
        blocks = [
            fill(template(FILE, "draft_block"), {"number": str(number), "mark": mark, "text": text})
            for number, text in enumerate(texts, 1)
        ]
        values = {
            "n": str(len(texts)),
            "mark": mark,
            "drafts": "\n".join(blocks).strip("\n"),
            "form": form,
        }
        return fill(template(FILE, "ask"), values)

    return fitted(texts, filled, max_chars)


@cache
def rating_schema(n_drafts: int) -> OutputSchema:
    """`{"draft_1": 4, ...}`: a whole number from 1 to 5 for each draft, and nothing else."""
    keys = [draft_key(number) for number in range(1, n_drafts + 1)]
    schema = {
        "type": "object",
        "additionalProperties": False,
        "required": keys,
        "properties": {key: {"type": "integer", "enum": list(SCALE)} for key in keys},
    }
    return OutputSchema("ratings", dumps(schema))


def draft_key(number: int) -> str:
    """How a reply names the draft that was shown under a number."""
    return fill(template(FILE, "key"), {"number": str(number)})


def _order(rater: RoleCard, texts: Sequence[str], *, skip: int) -> list[int]:
    """In which order a rater sees the drafts of the others: a function of rater and texts alone, so
    that equal prompts repeat."""
    shuffling = rng_for(0, "peer rating", rater.name, *texts)
    return [int(j) for j in shuffling.permutation(len(texts)) if j != skip]
