"""Peer review: anonymous proposals in, scores out.

What a reviewer sees is a number and a text. The texts are other models' and are not trusted: each
stands between two lines with a mark that occurs in none of them, so no text can end its proposal,
begin another or continue the prompt. That guards the form of a review, not its judgement: a text
may still flatter, threaten or name its author, and a reviewer may still believe it.

What a reviewer answers is read for numbers from 1 to 5 under the expected names. Whatever is
missing or something else is dropped and counted, and decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sero.assignment.asking import Floor, ask, text_of, unstopped
from sero.assignment.criteria import criteria_lines, oriented
from sero.assignment.roster import MAX_SCORE, MIN_SCORE, Candidate, Criterion, DebateRole
from sero.assignment.schemas import proposal_key, review_schema
from sero.assignment.scores import Floats
from sero.inference.marked import NO_TEXT, fitted, mark_for
from sero.inference.parts import together
from sero.inference.trace import CallKind, RoleMessage
from sero.roles.load import json_objects
from sero.seeding import rng_for
from sero.storage import dumps


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """One evaluator's scores of one role's proposals.

    Attributes:
        order: the candidates in the order in which they were shown; proposal 1 is the first.
        scores: per candidate and criterion, larger is better; nan where it was dropped or never
            asked for. Shape (J, C).
        dropped: scores that were asked for and are missing or no number from 1 to 5.
        unreadable: replies without a JSON object, or with two whose scores disagree; all their
            scores are dropped.
    """

    evaluator: str
    order: tuple[int, ...]
    scores: Floats
    dropped: int
    unreadable: int
    messages: tuple[RoleMessage, ...]


async def review(
    task: str,
    role: DebateRole,
    criteria: Sequence[Criterion],
    proposals: Sequence[str],
    evaluator: Candidate,
    floor: Floor,
    *,
    skip: int | None,
    single: bool,
    max_tokens: int,
) -> Review:
    """Ask one evaluator for its scores: one call for all proposals, or one for each.

    Args:
        proposals: of the role, by candidate.
        skip: a candidate whose proposal is not shown, None shows all. Only with `single`.
        single: one call per proposal (`assign.review=single`).
        max_tokens: bound on each reply.

    Raises:
        BackboneError: the machine failed.
    """
    shuffling = rng_for(floor.call.run_seed, "review", floor.call.item, role.name, evaluator.name)
    order = [int(j) for j in shuffling.permutation(len(proposals)) if j != skip]
    room = floor.backbone_of(evaluator).max_prompt_chars
    room = None if room is None else room - len(evaluator.prompt)

    async def ask_about(shown: Sequence[int]) -> RoleMessage:
        texts = [proposals[j] for j in shown]
        prompt, trimmed = review_prompt(task, role, criteria, texts, max_chars=room)
        return await ask(
            evaluator,
            prompt,
            floor,
            kind=CallKind.REVIEW,
            max_tokens=max_tokens,
            schema=review_schema(len(shown), len(criteria)),
            trimmed=trimmed,
        )

    sheets = [[j] for j in order] if single else [order]
    replies = await together(ask_about(shown) for shown in sheets)
    scores = np.full((len(proposals), len(criteria)), np.nan)
    dropped = unreadable = 0
    for shown, reply in zip(sheets, replies, strict=True):
        raw = scores_object(reply.text, len(shown), criteria)
        unreadable += raw is None
        scores[shown] = read_scores(raw, len(shown), criteria)
        dropped += int(np.isnan(scores[shown]).sum())
    return Review(
        evaluator=evaluator.name,
        order=tuple(order),
        scores=scores,
        dropped=dropped,
        unreadable=unreadable,
        messages=tuple(replies),
    )


def scores_object(
    text: str, n_proposals: int, criteria: Sequence[Criterion]
) -> dict[str, Any] | None:
    """The JSON object of a reply that holds its scores.

    A reply may quote an object, of a proposal's for one. Those without a score decide nothing;
    where two hold other scores than each other, nobody knows which are the reviewer's.

    Returns:
        The last object with scores; an empty one where no object has any; None without an object,
        or with two that disagree.
    """
    objects = list(json_objects(text))
    read = [(raw, read_scores(raw, n_proposals, criteria)) for raw in objects]
    scored = [(raw, scores) for raw, scores in read if not np.isnan(scores).all()]
    if not scored:
        return {} if objects else None
    last, scores = scored[-1]
    agreed = all(np.array_equal(scores, other, equal_nan=True) for _, other in scored)
    return last if agreed else None


def read_scores(raw: Any, n_proposals: int, criteria: Sequence[Criterion]) -> Floats:
    """The scores of a reply in the order shown, more is better; nan for whatever is no score.

    Args:
        raw: the reply's JSON object, None where it holds none.

    Returns:
        Shape (proposals shown, C).
    """
    found = np.full((n_proposals, len(criteria)), np.nan)
    for row in range(n_proposals):
        entry = raw.get(proposal_key(row + 1)) if isinstance(raw, dict) else None
        for c, criterion in enumerate(criteria):
            value = entry.get(f"c{c + 1}") if isinstance(entry, dict) else None
            if isinstance(value, bool) or not isinstance(value, int | float):
                continue
            if MIN_SCORE <= value <= MAX_SCORE:
                found[row, c] = oriented(float(value), criterion)
    return found


def review_prompt(
    task: str,
    role: DebateRole,
    criteria: Sequence[Criterion],
    texts: Sequence[str],
    *,
    max_chars: int | None,
) -> tuple[str, int]:
    """What a reviewer is asked, and how many proposals were cut to make it fit.

    Where the prompt would be longer than `max_chars` the longest proposals are cut to one common
    length, so that none is shown more of than another that needed it too; the task never is.
    """
    shown = [text.strip() or NO_TEXT for text in texts]
    mark = mark_for(shown)
    entry = {f"c{c + 1}": "..." for c in range(len(criteria))}
    form = dumps({proposal_key(k + 1): entry for k in range(len(shown))}).replace('"..."', "...")

    def filled(texts: Sequence[str]) -> str:
        blocks = [
            text_of("proposal_block", number=str(k), mark=mark, text=text)
            for k, text in enumerate(texts, 1)
        ]
        return text_of(
            "review",
            role=role.name,
            criteria="; ".join(criteria_lines(criteria)),
            description=role.description,
            task=task.strip(),
            n=str(len(texts)),
            mark=mark,
            proposals="\n".join(blocks).strip("\n"),
            form=form,
        )

    return fitted(shown, filled, max_chars)


def proposal_prompt(task: str, role: DebateRole) -> str:
    """What every candidate is asked; the paper's template, word for word."""
    return text_of(
        "proposal",
        role=role.name,
        description=unstopped(role.description),
        task=unstopped(task),
    )
