"""Workflow and Static DAG: a graph read from YAML, run by the executor that runs every team.

Everything else is switched off: no bootstrap, credit, retrieval, repair or edit. A role sees the
task and its predecessors' messages, and so does the terminal (method.md §4.9). A chain and a DAG
differ in their file alone, so a new baseline graph needs no new class.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar

from annotated_types import MinLen

from sero.backbones.base import CallContext
from sero.backbones.settling import settled
from sero.benchmarks.base import Benchmark
from sero.credit import PoolState
from sero.inference.execution import run_dag, upstream_of
from sero.inference.graph import Dag
from sero.inference.parts import Parts, speak
from sero.inference.role_assignment import Assigner, assign_cards
from sero.inference.trace import CallKind, Rollout
from sero.methods.base import Lab, Start
from sero.methods.frozen import Frozen
from sero.methods.graph_file import RoleGraph, load_graph


@dataclass(frozen=True, slots=True, kw_only=True)
class HandwrittenConfig:
    """`method=workflow`, `method=static_dag`.

    Attributes:
        graph: YAML file of cards and edges, `package:<benchmark>/workflow.yaml` or a path.
    """

    name: str
    graph: Annotated[str, MinLen(1)]


class HandwrittenGraph(Frozen):
    """A fixed graph of roles."""

    Config: ClassVar[type[HandwrittenConfig]] = HandwrittenConfig
    takes_players: ClassVar[bool] = True

    def __init__(self, cfg: HandwrittenConfig, *, lab: Lab, state: PoolState) -> None:
        super().__init__(cfg.name, lab=lab, state=state)
        self._graph = load_graph(cfg.graph, max_prompt_chars=lab.schema.max_prompt_chars)

    @classmethod
    def start(cls, cfg: HandwrittenConfig, benchmark: Benchmark) -> Start:
        graph = load_graph(cfg.graph, max_prompt_chars=sys.maxsize)  # the limit is __init__'s
        return Start(pool=graph.pool, more=graph.edges)

    @property
    def calls_per_task(self) -> int:
        """The roles and the terminal."""
        return len(self._graph.order) + 1

    @property
    def shown_per_task(self) -> int:
        return len(self._graph.edges)

    async def answer(self, prompt: str, call: CallContext) -> Rollout:
        assigner = self._lab.inference.assigner
        run = partial(run_graph, prompt, self._graph, self._lab.parts, assigner, call=call)
        return await settled(run, self._lab.commit)


async def run_graph(
    prompt: str,
    graph: RoleGraph,
    parts: Parts,
    assigner: Assigner | None = None,
    *,
    call: CallContext,
) -> Rollout:
    """m_r = f(π_r, x, {m_p : p → r}) along the edges; the terminal's message is the answer.

    Raises:
        BackboneError: the machine failed.
    """
    assigned = await assign_cards(prompt, (*graph.order, graph.terminal), assigner, call=call)
    *order, terminal = assigned.cards
    dag = Dag(order=tuple(order), predecessors=graph.predecessors)
    said = await run_dag(prompt, dag, parts, rounds=1, call=call)
    heard = upstream_of(dag, said)
    final = await speak(
        terminal,
        prompt,
        [heard[i] for i in graph.feeding],
        parts,
        call=call,
        kind=CallKind.AGGREGATE,
    )
    return Rollout(
        team=(*(card.name for card in graph.order), graph.terminal.name),
        order=tuple(card.name for card in graph.order),
        edges=graph.edges,
        levels=dag.levels,
        similarity={},
        fast={},
        final_fast={},
        messages=(*assigned.messages, *said, final),
        answer=final.text,
        assignment=assigned.record,
    )
