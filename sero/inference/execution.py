"""Bootstrap drafts, and the DAG: a role starts when its predecessors are done (method.md §4.4)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Gt

from sero.backbones.base import CallContext
from sero.inference.graph import Dag
from sero.inference.layout import Upstream
from sero.inference.parts import Parts, speak, together
from sero.inference.trace import CallKind, RoleMessage, put_in_mouth
from sero.roles.card import RoleCard


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecConfig:
    """The `exec` section."""

    rounds: Annotated[int, Gt(0)]
    max_tokens: Annotated[int, Gt(0)]


async def bootstrap(
    prompt: str, members: Sequence[RoleCard], parts: Parts, *, call: CallContext
) -> list[RoleMessage]:
    """m⁰_r = f(π_r, x) for every role of B_t, in parallel."""
    return await together(
        speak(card, prompt, (), parts, call=call, kind=CallKind.DRAFT) for card in members
    )


async def run_dag(
    prompt: str,
    dag: Dag,
    parts: Parts,
    *,
    rounds: int,
    call: CallContext,
    replace: Mapping[str, str] | None = None,
) -> list[RoleMessage]:
    """m_r = f(π_r, x, {m_p : p → r}) along the edges, `rounds` times.

    From the second round on a role also sees its own message of the round before.

    Args:
        replace: texts put in roles' mouths instead of asking them (counterfactuals).

    Returns:
        The messages in round, then stage order; the last `len(dag.order)` are the final ones.
    """
    replaced = replace or {}
    done: list[RoleMessage] = []
    for number in range(1, rounds + 1):
        before = done[-len(dag.order) :] if number > 1 else None
        tasks: list[asyncio.Task[RoleMessage]] = []

        async def turn(
            i: int,
            number: int,
            before: list[RoleMessage] | None,
            tasks: list[asyncio.Task[RoleMessage]],
        ) -> RoleMessage:
            card = dag.order[i]
            if card.name in replaced:
                return put_in_mouth(card.name, CallKind.MESSAGE, replaced[card.name], round=number)
            upstream = [_upstream(dag.order[p], await tasks[p]) for p in dag.predecessors[i]]
            return await speak(
                card,
                prompt,
                upstream,
                parts,
                call=call,
                kind=CallKind.MESSAGE,
                round=number,
                own=before[i].text if before else None,
            )

        for i in range(len(dag.order)):
            tasks.append(asyncio.ensure_future(turn(i, number, before, tasks)))
        done += await together(tasks)
    return done


def upstream_of(dag: Dag, messages: Sequence[RoleMessage]) -> list[Upstream]:
    """The final messages as the aggregator and the validator see them, in stage order."""
    return [_upstream(card, m) for card, m in zip(dag.order, messages, strict=True)]


def _upstream(card: RoleCard, message: RoleMessage) -> Upstream:
    return Upstream(card.name, card.capability_family, message.text)
